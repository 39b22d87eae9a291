import { UsageError } from '../util/errors.js';

/** Runs things one after the other: overlapping operations would only share the device and mix their times. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #closed = false;

  /** Nothing runs or waits. */
  get idle(): boolean {
    return this.#waiting === 0;
  }

  /** @throws UsageError after `close()` */
  assertOpen(): void {
    if (this.#closed) throw new UsageError('this Sorter is closed: open another one');
  }

  /** Runs `use` when everything that was asked for before is done. */
  async alone<T>(use: () => Promise<T>): Promise<T> {
    this.assertOpen();
    this.#waiting++;
    const result = this.#last.then(use).finally(() => this.#waiting--);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Lets nothing more in, and waits for what is. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#last;
  }
}
