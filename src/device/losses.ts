/** Fewer calls are under way than would have to fail for one to be forgotten before somebody looks. */
const MOST = 64;

/** Commands that were counted as enqueued and that the driver refused later, by their places in the queue. */
export class Losses {
  readonly #all: { readonly from: number; readonly to: number; readonly why: unknown }[] = [];

  /** Notes that commands behind the place `from`, up to the place `to`, were lost. */
  add(from: number, to: number, why: unknown): void {
    this.#all.push({ from, to, why });
    if (this.#all.length > MOST) this.#all.shift();
  }

  /** Why some of the commands behind `from`, up to `to`, were lost; undefined when none was. */
  between(from: number, to: number): unknown {
    return this.#all.findLast((loss) => loss.from < to && loss.to > from)?.why;
  }

  /** Was something lost for this reason? */
  has(why: unknown): boolean {
    return this.#all.some((loss) => loss.why === why);
  }
}
