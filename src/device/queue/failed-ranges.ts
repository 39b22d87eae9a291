/** Exceeds the number of calls in flight, so that no failure is dropped before its call checks for it. */
const MAX_RANGES = 64;

/** Ranges of commands that were counted as enqueued and that the driver refused later, by queue position. */
export class FailedRanges {
  readonly #ranges: { readonly from: number; readonly to: number; readonly cause: unknown }[] = [];

  /** Records that the commands after position `from`, up to `to`, failed. */
  add(from: number, to: number, cause: unknown): void {
    this.#ranges.push({ from, to, cause });
    if (this.#ranges.length > MAX_RANGES) this.#ranges.shift();
  }

  /** Returns why commands after position `from`, up to `to`, failed; undefined if none did. */
  causeBetween(from: number, to: number): unknown {
    return this.#ranges.findLast((range) => range.from < to && range.to > from)?.cause;
  }

  /** Whether a range failed with this cause. */
  hasCause(cause: unknown): boolean {
    return this.#ranges.some((range) => range.cause === cause);
  }
}
