import { ConcurrencyLimiter } from '../../util/concurrency-limiter.js';
import { UsageError } from '../../util/errors.js';
import { chain, type MaybePromise, toPromise } from '../../util/maybe-promise.js';

/** The second half of a call, which waits for the commands that the first half enqueued. */
export type Completion<T> = () => MaybePromise<T>;

/** Most concurrent calls, and most keys of all of them: beyond that, overlap gains nothing. */
const MAX_CALLS = 256;
const MAX_KEYS = 2 ** 24;

/** Orders calls: each one begins when the calls before it have enqueued all their commands, or are done. */
export class CallScheduler {
  /** Settles when the last call in the order has enqueued its commands. */
  #tail: Promise<unknown> = Promise.resolve();
  /** Number of calls that are enqueuing, or that wait to do so. */
  #queued = 0;
  /** Calls that are not done, including those that wait for their turn. */
  readonly #active = new Set<Promise<unknown>>();
  /** Work that runs independently of all calls. */
  readonly #runIndependently = new Set<Promise<unknown>>();
  #closed = false;
  readonly #concurrent = new ConcurrencyLimiter(MAX_KEYS, MAX_CALLS);

  /** Whether nothing is running or waiting. */
  get isIdle(): boolean {
    return this.#active.size === 0 && this.#runIndependently.size === 0;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /**
   * Checks that the scheduler is open.
   *
   * @throws UsageError after `close()`
   */
  assertOpen(): void {
    if (this.#closed) throw new UsageError('cannot use this Sorter: it is closed. Open another one');
  }

  /** Runs `use` alone, after all earlier calls are done. */
  async runExclusive<T>(use: () => MaybePromise<T>): Promise<T> {
    this.assertOpen();
    const before = Promise.all(this.#active);
    const done = this.#tail.then(() => before).then(use);
    this.#occupy(done);
    return this.#track(done);
  }

  /**
   * Runs a call in two halves. Only the first half, `enqueue`, occupies the order; the next call does not
   * wait for the second one. In an in-order queue, commands of the next call still run later. If no call is
   * enqueuing, the first half runs at once.
   */
  runInOrder<T>(enqueue: () => MaybePromise<Completion<T>>): Promise<T> {
    const begin = (): MaybePromise<T> => {
      this.assertOpen();
      const enqueued = this.#queued > 0 ? this.#tail.then(enqueue) : enqueue();
      if (enqueued instanceof Promise) this.#occupy(enqueued);
      return chain(enqueued, runCompletion);
    };
    return this.#track(toPromise(begin));
  }

  /**
   * Runs a call of n keys that uses host memory only, concurrently with similar calls and with later ones. It
   * runs at once if no call is enqueuing and the limits on concurrent calls and keys allow it.
   */
  runConcurrently<T>(n: number, use: () => MaybePromise<T>): Promise<T> {
    const begin = (): MaybePromise<T> => this.#concurrent.run(n, use);
    return this.#track(
      toPromise(() => {
        this.assertOpen();
        return this.#queued > 0 ? this.#tail.then(begin) : begin();
      }),
    );
  }

  /** Runs `use` at once. It must use only memory that no call knows of, and no call waits for it. */
  async runIndependently<T>(use: () => Promise<T>): Promise<T> {
    this.assertOpen();
    return track(this.#runIndependently, use());
  }

  /** Waits for everything that was started or queued so far. */
  async waitForAll(): Promise<void> {
    await Promise.all([...this.#active, ...this.#runIndependently]);
  }

  /** Rejects new calls and waits for those that are pending. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.waitForAll();
  }

  /** Makes later calls wait until this one settles. */
  #occupy(call: Promise<unknown>): void {
    this.#queued++;
    const end = () => {
      this.#queued--;
    };
    this.#tail = call.then(end, end);
  }

  #track<T>(call: Promise<T>): Promise<T> {
    return track(this.#active, call);
  }
}

const runCompletion = <T>(complete: Completion<T>): MaybePromise<T> => complete();

/** Keeps a call in a set until it settles. */
function track<T>(active: Set<Promise<unknown>>, call: Promise<T>): Promise<T> {
  const end = () => {
    active.delete(done);
  };
  const done: Promise<unknown> = call.then(end, end);
  active.add(done);
  return call;
}
