import { allCaughtUp } from '../util/caught-up.js';

/**
 * Waits for points of a queue. The driver is asked for one point at a time, and when nothing else is to be done at once: whoever asks
 * until then is told with that point, which lies behind all that is enqueued by then. So any number of waits costs few events.
 */
export class Milestones {
  readonly #reach: () => Promise<void>;
  /** The point that the driver was asked for. */
  #current: Promise<void> | undefined;
  /** The one that it will be asked for, when somebody waits for it. */
  #next: Promise<void> | undefined;

  /** @param reach asks the driver to tell when everything that was enqueued so far is done */
  constructor(reach: () => Promise<void>) {
    this.#reach = reach;
  }

  /** Resolves when everything that was enqueued so far is done, and maybe some more. */
  reached(): Promise<void> {
    this.#next ??= this.#askBehind(this.#current);
    return this.#next;
  }

  /** Resolves when no wait is under way any more, well or not. */
  async ended(): Promise<void> {
    for (let last = this.#last; last; last = this.#last) await last.catch(() => undefined);
  }

  /** The wait behind all others. */
  get #last(): Promise<void> | undefined {
    return this.#next ?? this.#current;
  }

  async #askBehind(current: Promise<void> | undefined): Promise<void> {
    await current?.catch(() => undefined); // told to those who wait for it
    await allCaughtUp();
    this.#next = undefined;
    const point = this.#reach();
    this.#current = point;
    try {
      await point;
    } finally {
      if (this.#current === point) this.#current = undefined;
    }
  }
}
