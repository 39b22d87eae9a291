import { ConcurrencyLimiter } from '../../util/concurrency-limiter.js';
import { UsageError } from '../../util/errors.js';
import { chain, type MaybePromise, toPromise } from '../../util/maybe-promise.js';

/** The second half of a call, which waits for what the first half enqueued. */
export type Completion<T> = () => MaybePromise<T>;

/** Most calls that are made side by side, and most keys of theirs: beyond, nothing more overlaps. */
const MAX_CALLS = 256;
const MAX_KEYS = 2 ** 24;

/** The order of calls: each begins when those before it have enqueued all they do, or are done. */
export class CallScheduler {
  /** The turn of the call that was asked for last. */
  #tail: Promise<unknown> = Promise.resolve();
  /** Calls that have the turn, or wait for it. */
  #queued = 0;
  /** Calls that are not done, those that wait for their turn among them. */
  readonly #active = new Set<Promise<unknown>>();
  /** What is under way beside all calls. */
  readonly #runIndependently = new Set<Promise<unknown>>();
  #closed = false;
  readonly #concurrent = new ConcurrencyLimiter(MAX_KEYS, MAX_CALLS);

  /** Nothing runs or waits. */
  get isIdle(): boolean {
    return this.#active.size === 0 && this.#runIndependently.size === 0;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** @throws UsageError after `close()` */
  assertOpen(): void {
    if (this.#closed) throw new UsageError('this Sorter is closed: open another one');
  }

  /** Runs `use` when everything that was asked for before is done, and nothing beside it. */
  async runExclusive<T>(use: () => MaybePromise<T>): Promise<T> {
    this.assertOpen();
    const before = Promise.all(this.#active);
    const done = this.#tail.then(() => before).then(use);
    this.#occupy(done);
    return this.#track(done);
  }

  /**
   * Runs a call in two halves. The first one has the turn; the next call need not wait for the second one.
   * In an in-order queue its commands come later all the same. Where nobody has the turn, the first half runs at once.
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
   * Runs a call of n keys that nobody's order matters to, as it uses memory of the host only: beside others like it, and
   * beside those that come later. Where nobody has the turn, and there is room, it runs at once.
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

  /** Runs at once what uses only memory that no call knows of, and what no call waits for. */
  async runIndependently<T>(use: () => Promise<T>): Promise<T> {
    this.assertOpen();
    return track(this.#runIndependently, use());
  }

  /** Waits for everything that was asked for up to now. */
  async waitForAll(): Promise<void> {
    await Promise.all([...this.#active, ...this.#runIndependently]);
  }

  /** Lets nothing more in, and waits for what is. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.waitForAll();
  }

  /** Gives the turn to a call until it settles. */
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

/** Has a call in a set until it is done. */
function track<T>(active: Set<Promise<unknown>>, call: Promise<T>): Promise<T> {
  const end = () => {
    active.delete(done);
  };
  const done: Promise<unknown> = call.then(end, end);
  active.add(done);
  return call;
}
