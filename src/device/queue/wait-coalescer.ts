import { drainMicrotasks } from '../../util/microtasks.js';

/** A wait that the driver has not been asked for yet. */
interface PendingWait {
  readonly wait: Promise<void>;
  /** Time of the first request, in milliseconds. */
  readonly since: number;
  /** Asks the driver, unless it has been asked. */
  start(): void;
}

/**
 * Merges the waits for a queue. The driver is asked for one wait at a time, after the current microtasks. All
 * requests until then share that wait, which covers everything enqueued by then. So any number of waits costs few
 * events.
 *
 * If enqueuing takes long, waits may start in between. The first waiters then continue before the device has reached
 * the last command.
 */
export class WaitCoalescer {
  readonly #startWait: (before: Promise<void> | undefined) => Promise<void>;
  readonly #maxDelay: number;
  readonly #now: () => number;
  /** The last wait that the driver was asked for. */
  #current: Promise<void> | undefined;
  #next: PendingWait | undefined;

  /**
   * @param startWait waits until everything enqueued so far is done; resolves after the wait before, if one is in
   *   progress
   * @param maxDelay milliseconds after which a request does not wait for others any more; default: no limit
   * @param now returns the time in milliseconds
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

  /** Resolves when everything enqueued so far is done, and possibly later commands. */
  wait(): Promise<void> {
    this.#next ??= this.#createWait(this.#current);
    const { wait, since, start } = this.#next;
    if (this.#now() - since >= this.#maxDelay) start();
    return wait;
  }

  /** Resolves when no wait is in progress. Failed waits do not reject it. */
  async settled(): Promise<void> {
    for (let last = this.#last; last; last = this.#last) await last.catch(() => undefined);
  }

  /** The last wait. */
  get #last(): Promise<void> | undefined {
    return this.#next?.wait ?? this.#current;
  }

  /** Creates a wait that starts when the current one has ended. */
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
