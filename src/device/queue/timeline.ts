/** Position of a queue, in commands since its creation. */
export class Timeline {
  #enqueued = 0;
  /** Commands that the driver has, and the part of them that was flushed to the device. */
  #submitted = 0;
  #flushed = 0;
  /** Commands that are known to be done. */
  #completed = 0;

  get enqueued(): number {
    return this.#enqueued;
  }

  /** Commands that the driver has. */
  get submitted(): number {
    return this.#submitted;
  }

  /** Whether everything before that position is done. */
  hasPassed(position: number): boolean {
    return position <= this.#completed;
  }

  /** Whether the driver has commands that were not flushed to the device. */
  get hasUnflushed(): boolean {
    return this.#submitted > this.#flushed;
  }

  /** Whether all flushed commands are done. */
  get isIdle(): boolean {
    return this.#flushed <= this.#completed;
  }

  /** Counts commands. */
  enqueue(commands = 1): void {
    this.#enqueued += commands;
  }

  /** Records that the driver has all commands counted so far. */
  submit(): void {
    this.#submitted = this.#enqueued;
  }

  /** Records that everything the driver has was flushed to the device. */
  flush(): void {
    this.#flushed = this.#submitted;
  }

  /**
   * Marks the current position for a wait, which submits and flushes everything.
   *
   * @returns callback for when the queue has reached the position
   */
  mark(): () => void {
    const position = this.#enqueued;
    this.submit();
    this.flush();
    return () => {
      this.#completed = Math.max(this.#completed, position);
    };
  }
}

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
