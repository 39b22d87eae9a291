/**
 * Waits for points of a queue. The driver is asked for one point at a time: a caller who asks meanwhile is told
 * with the next one, which lies behind all that is enqueued by then. So any number of waits costs few events.
 */
export class Milestones {
  readonly #reach: () => Promise<void>;
  /** The point that the driver was asked for. */
  #current: Promise<void> | undefined;
  /** The one after it, when somebody waits for it. */
  #next: Promise<void> | undefined;

  /** @param reach asks the driver to tell when everything that was enqueued so far is done */
  constructor(reach: () => Promise<void>) {
    this.#reach = reach;
  }

  /** Resolves when everything that was enqueued so far is done, and maybe some more. */
  reached(): Promise<void> {
    if (!this.#current) return this.#ask();
    this.#next ??= this.#current.then(
      () => this.#ask(),
      () => this.#ask(),
    );
    return this.#next;
  }

  #ask(): Promise<void> {
    this.#next = undefined;
    const point = this.#reach().finally(() => {
      if (this.#current === point) this.#current = undefined;
    });
    this.#current = point;
    return point;
  }
}
