import { allCaughtUp } from '../util/caught-up.js';

/** A point of a queue that the driver will be asked for, when somebody waits for it. */
interface Point {
  readonly reached: Promise<void>;
  /** When somebody asked for the first time. */
  readonly since: number;
  /** Asks the driver, if nobody has. */
  ask(): void;
}

/**
 * Waits for points of a queue. The driver is asked for one point at a time, and when nothing else is to be done at once: whoever asks
 * until then is told with that point, which lies behind all that is enqueued by then. So any number of waits costs few events.
 *
 * Where enqueuing takes long, points may be asked for in between, so that those who wait for the first ones have done what comes then
 * before the device has come to the last one.
 */
export class Milestones {
  readonly #reach: (before: Promise<void> | undefined) => Promise<void>;
  readonly #patience: number;
  readonly #now: () => number;
  /** The last point that the driver was asked for. */
  #current: Promise<void> | undefined;
  #next: Point | undefined;

  /**
   * @param reach asks the driver to tell when everything that was enqueued so far is done; resolves behind the point before, if one is
   * under way
   * @param patience milliseconds after which who asks does not wait for others any more
   * @param now tells milliseconds
   */
  constructor(
    reach: (before: Promise<void> | undefined) => Promise<void>,
    patience = Number.POSITIVE_INFINITY,
    now = () => performance.now(),
  ) {
    this.#reach = reach;
    this.#patience = patience;
    this.#now = now;
  }

  /** Resolves when everything that was enqueued so far is done, and maybe some more. */
  reached(): Promise<void> {
    this.#next ??= this.#behind(this.#current);
    const { reached, since, ask } = this.#next;
    if (this.#now() - since >= this.#patience) ask();
    return reached;
  }

  /** Resolves when no wait is under way any more, well or not. */
  async ended(): Promise<void> {
    for (let last = this.#last; last; last = this.#last) await last.catch(() => undefined);
  }

  /** The wait behind all others. */
  get #last(): Promise<void> | undefined {
    return this.#next?.reached ?? this.#current;
  }

  /** The point behind another one. */
  #behind(current: Promise<void> | undefined): Point {
    let tell: (point: Promise<void>) => void;
    const reached = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const ask = (): void => {
      if (this.#next !== point) return;
      this.#next = undefined;
      tell(this.#asked());
    };
    const point = { reached, since: this.#now(), ask };
    const onTime = async (): Promise<void> => {
      await current?.catch(() => undefined); // told to those who wait for it
      await allCaughtUp();
      ask();
    };
    onTime();
    return point;
  }

  async #asked(): Promise<void> {
    const point = this.#reach(this.#current);
    this.#current = point;
    try {
      await point;
    } finally {
      if (this.#current === point) this.#current = undefined;
    }
  }
}
