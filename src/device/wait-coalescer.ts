import { drainMicrotasks } from '../util/microtasks.js';

/** A point of a queue that the driver will be asked for, when somebody waits for it. */
interface PendingWait {
  readonly wait: Promise<void>;
  /** When somebody asked for the first time. */
  readonly since: number;
  /** Asks the driver, if nobody has. */
  start(): void;
}

/**
 * Waits for points of a queue. The driver is asked for one point at a time, and when nothing else is to be done at once: whoever asks
 * until then is told with that point, which lies behind all that is enqueued by then. So any number of waits costs few events.
 *
 * Where enqueuing takes long, points may be asked for in between, so that those who wait for the first ones have done what comes then
 * before the device has come to the last one.
 */
export class WaitCoalescer {
  readonly #startWait: (before: Promise<void> | undefined) => Promise<void>;
  readonly #maxDelay: number;
  readonly #now: () => number;
  /** The last point that the driver was asked for. */
  #current: Promise<void> | undefined;
  #next: PendingWait | undefined;

  /**
   * @param startWait asks the driver to tell when everything that was enqueued so far is done; resolves behind the point before, if one is
   * under way
   * @param maxDelay milliseconds after which who asks does not wait for others any more
   * @param now tells milliseconds
   */
  constructor(
    startWait: (before: Promise<void> | undefined) => Promise<void>,
    maxDelay = Number.POSITIVE_INFINITY,
    now = () => performance.now(),
  ) {
    this.#startWait = startWait;
    this.#maxDelay = maxDelay;
    this.#now = now;
  }

  /** Resolves when everything that was enqueued so far is done, and maybe some more. */
  wait(): Promise<void> {
    this.#next ??= this.#createWait(this.#current);
    const { wait, since, start } = this.#next;
    if (this.#now() - since >= this.#maxDelay) start();
    return wait;
  }

  /** Resolves when no wait is under way any more, well or not. */
  async settled(): Promise<void> {
    for (let last = this.#last; last; last = this.#last) await last.catch(() => undefined);
  }

  /** The wait behind all others. */
  get #last(): Promise<void> | undefined {
    return this.#next?.wait ?? this.#current;
  }

  /** A wait that starts when the current one has ended. */
  #createWait(current: Promise<void> | undefined): PendingWait {
    let resolveWait: (pending: Promise<void>) => void;
    const wait = new Promise<void>((resolve) => {
      resolveWait = resolve;
    });
    const start = (): void => {
      if (this.#next !== pending) return;
      this.#next = undefined;
      resolveWait(this.#run());
    };
    const pending: PendingWait = { wait, since: this.#now(), start };
    const startWhenIdle = async (): Promise<void> => {
      await current?.catch(() => undefined); // its own waiters get the error
      await drainMicrotasks();
      start();
    };
    startWhenIdle();
    return pending;
  }

  async #run(): Promise<void> {
    const pending = this.#startWait(this.#current);
    this.#current = pending;
    try {
      await pending;
    } finally {
      if (this.#current === pending) this.#current = undefined;
    }
  }
}
