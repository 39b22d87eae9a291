/** Fewer calls are under way than would have to fail for one to be forgotten before somebody looks. */
const MAX_RANGES = 64;

/** Commands that were counted as enqueued and that the driver refused later, by their places in the queue. */
export class FailedRanges {
  readonly #ranges: { readonly from: number; readonly to: number; readonly cause: unknown }[] = [];

  /** Notes that commands behind the place `from`, up to the place `to`, were lost. */
  add(from: number, to: number, cause: unknown): void {
    this.#ranges.push({ from, to, cause });
    if (this.#ranges.length > MAX_RANGES) this.#ranges.shift();
  }

  /** Why some of the commands behind `from`, up to `to`, were lost; undefined when none was. */
  causeBetween(from: number, to: number): unknown {
    return this.#ranges.findLast((range) => range.from < to && range.to > from)?.cause;
  }

  /** Was something lost for this reason? */
  hasCause(cause: unknown): boolean {
    return this.#ranges.some((range) => range.cause === cause);
  }
}
