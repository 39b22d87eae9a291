import { Admission } from '../../util/admission.js';
import { UsageError } from '../../util/errors.js';
import { after, promised, type Soon } from '../../util/soon.js';

/** The second half of a call, which waits for what the first half enqueued. */
export type Completion<T> = () => Soon<T>;

/** Most calls that are made side by side, and most keys of theirs: beyond, nothing more overlaps. */
const MAX_CALLS = 256;
const MAX_KEYS = 2 ** 24;

/** The order of calls: each begins when those before it have enqueued all they do, or are done. */
export class Turns {
  /** The turn of the call that was asked for last. */
  #last: Promise<unknown> = Promise.resolve();
  /** Calls that have the turn, or wait for it. */
  #taken = 0;
  /** Calls that are not done, those that wait for their turn among them. */
  readonly #underWay = new Set<Promise<unknown>>();
  /** What is under way beside all calls. */
  readonly #apart = new Set<Promise<unknown>>();
  #closed = false;
  readonly #besides = new Admission(MAX_KEYS, MAX_CALLS);

  /** Nothing runs or waits. */
  get idle(): boolean {
    return this.#underWay.size === 0 && this.#apart.size === 0;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** @throws UsageError after `close()` */
  assertOpen(): void {
    if (this.#closed) throw new UsageError('this Sorter is closed: open another one');
  }

  /** Runs `use` when everything that was asked for before is done, and nothing beside it. */
  async alone<T>(use: () => Soon<T>): Promise<T> {
    this.assertOpen();
    const before = Promise.all(this.#underWay);
    const done = this.#last.then(() => before).then(use);
    this.#take(done);
    return this.#track(done);
  }

  /**
   * Runs a call in two halves. The first one has the turn; the next call need not wait for the second one.
   * In an in-order queue its commands come later all the same. Where nobody has the turn, the first half runs at once.
   */
  inOrder<T>(enqueue: () => Soon<Completion<T>>): Promise<T> {
    const begin = (): Soon<T> => {
      this.assertOpen();
      const enqueued = this.#taken > 0 ? this.#last.then(enqueue) : enqueue();
      if (enqueued instanceof Promise) this.#take(enqueued);
      return after(enqueued, completed);
    };
    return this.#track(promised(begin));
  }

  /**
   * Runs a call of n keys that nobody's order matters to, as it uses memory of the host only: beside others like it, and
   * beside those that come later. Where nobody has the turn, and there is room, it runs at once.
   */
  beside<T>(n: number, use: () => Soon<T>): Promise<T> {
    const begin = (): Soon<T> => this.#besides.run(n, use);
    return this.#track(
      promised(() => {
        this.assertOpen();
        return this.#taken > 0 ? this.#last.then(begin) : begin();
      }),
    );
  }

  /** Runs at once what uses only memory that no call knows of, and what no call waits for. */
  async apart<T>(use: () => Promise<T>): Promise<T> {
    this.assertOpen();
    return track(this.#apart, use());
  }

  /** Waits for everything that was asked for up to now. */
  async settled(): Promise<void> {
    await Promise.all([...this.#underWay, ...this.#apart]);
  }

  /** Lets nothing more in, and waits for what is. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.settled();
  }

  /** Gives the turn to a call until it settles. */
  #take(call: Promise<unknown>): void {
    this.#taken++;
    const end = () => {
      this.#taken--;
    };
    this.#last = call.then(end, end);
  }

  #track<T>(call: Promise<T>): Promise<T> {
    return track(this.#underWay, call);
  }
}

const completed = <T>(complete: Completion<T>): Soon<T> => complete();

/** Has a call in a set until it is done. */
function track<T>(under: Set<Promise<unknown>>, call: Promise<T>): Promise<T> {
  const end = () => {
    under.delete(done);
  };
  const done: Promise<unknown> = call.then(end, end);
  under.add(done);
  return call;
}
