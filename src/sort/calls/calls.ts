import { type ClsortError, DeviceLostError, MemoryError } from '../../util/errors.js';
import { after, promised, rescued, type Soon } from '../../util/soon.js';
import type { SortSettings } from '../api/options.js';
import type { Backend, Keeper } from '../backend/backend.js';
import { isOnDevice } from '../backend/column.js';
import { HostBackend } from '../backend/host-backend.js';
import type { HostJob, SortJob } from '../backend/job.js';
import { Ahead } from './ahead.js';
import { Bundles } from './bundles.js';
import { type By, make, type Started, start, type Use } from './call.js';
import { failedInput, isPromise, Link } from './link.js';
import type { Completion, Turns } from './turns.js';

/** Who sorts fewer keys than `below`. */
export interface Few {
  readonly keeper: Keeper;
  readonly below: number;
}

/** Several devices, of which as many as it takes least time with do what is in host memory. */
export interface Sharing {
  /** The job, where they are to be asked for it. */
  jobOf(job: SortJob): HostJob | undefined;
  sort(job: HostJob): Promise<void>;
}

/** A call, as far as it matters who makes it, and when. */
export interface Task {
  readonly n: number;
  readonly settings: SortSettings;
  /** What other calls may know of it, and it of them. */
  readonly link: Link;
  /** All of its keys and results are in host memory. */
  readonly onHost: boolean;
  /** It may be made once more when the device was lost. */
  again: boolean;
  /** It writes to an array of the caller's. */
  readonly overwrites?: boolean;
  /** Does the call on several devices, by the keeper of each. */
  shared?: (() => Promise<unknown>) | undefined;
  /** What it is, where it is one sort, and what the caller gets. */
  sort?: { readonly job: SortJob; readonly made: unknown };
}

/**
 * May the next call begin before this one is done? Not where others would be in its time or in its report, and
 * not where it overwrites what a call before may have to read once more.
 */
const isOpenEnded = ({ settings, overwrites = false }: Task): boolean =>
  !overwrites && settings.timeout === undefined && settings.onReport === undefined;

/** The calls of a Sorter: who makes each, when, and what others may know of it before it is done. */
export class Calls {
  readonly #keeper: Keeper;
  /** Who sorts fewer host keys than `below` when nobody asked for a device. */
  readonly #few: Few | undefined;
  readonly #turns: Turns;
  readonly #team: Sharing | undefined;
  readonly #ahead: Ahead;
  readonly #bundles: Bundles;
  readonly #onWarning: (warning: ClsortError) => void;
  /** What is known of calls, by the promises that they returned. */
  readonly #links = new WeakMap<PromiseLike<unknown>, Link>();

  /**
   * @param onWarning gets warnings of calls that name nobody
   * @param team who shares large sorts, if somebody does
   */
  constructor(
    keeper: Keeper,
    few: Few | undefined,
    turns: Turns,
    onWarning: (warning: ClsortError) => void,
    team?: Sharing,
  ) {
    this.#team = team;
    this.#keeper = keeper;
    this.#few = few;
    this.#turns = turns;
    this.#ahead = new Ahead(keeper, turns);
    this.#bundles = new Bundles(keeper, this.#ahead, onWarning);
    this.#onWarning = onWarning;
  }

  /**
   * Makes a call that is one sort.
   *
   * @param made what the caller gets
   * @param into an array that it overwrites
   * @returns `made`
   */
  sort<T>(job: SortJob, link: Link, made: T, into?: unknown): Promise<T> {
    const places = [job.keys.place, job.sorted, job.values?.place, job.moved];
    const onHost = !places.some((place) => place && isOnDevice(place));
    const { keys, settings } = job;
    const host = this.#team?.jobOf(job);
    const share = async (all: HostJob): Promise<T> => {
      await this.#team?.sort(all);
      return made;
    };
    const shared = host && (() => share(host));
    const overwrites = into !== undefined;
    const sort = { job, made };
    const task = { n: keys.n, settings, link, onHost, again: onHost, overwrites, shared, sort };
    const result = () => made;
    return this.operate(task, (call) => after(call.sort(job), () => result));
  }

  /**
   * Makes a call on arrays, or on promises of them. Where a promise is of another call whose result is known, the
   * call need not wait for it.
   *
   * @param make gets what tells the arrays; does not wait before it has made its call
   */
  linked<T>(inputs: readonly unknown[], make: (link: Link) => Soon<T>): Promise<T> {
    const link = new Link();
    const unknown: PromiseLike<unknown>[] = [];
    for (const input of inputs) {
      if (!isPromise(input)) continue;
      input.then(undefined, () => undefined); // this call tells of a failure
      const from = this.#links.get(input);
      if (from?.result && !from.failure) link.takes(input, from);
      else unknown.push(input);
    }
    const isKnown = unknown.length === 0;
    const result = promised(() => (isKnown ? make(link) : awaited(unknown, link, make))).then(
      (made) => {
        link.end();
        return made;
      },
      (error) => {
        link.end();
        throw error;
      },
    );
    if (!isKnown || link.result) this.#links.set(result, link);
    return result;
  }

  /** Makes a call when it is its turn, and waits for it. */
  operate<T>(task: Task, use: Use<T>): Promise<T> {
    const done = this.#make(task, use);
    task.link.done = done;
    return done;
  }

  #make<T>(task: Task, use: Use<T>): Promise<T> {
    const keeper = this.keeperFor(task.n, task.settings, task.onHost);
    if (task.onHost || !isOpenEnded(task)) return this.#makeWhole(task, use, keeper);
    const by = { settings: task.settings, onWarning: this.#onWarning, ahead: this.#ahead };
    const call = new OpenCall(task, use, keeper, by);
    return this.#turns.inOrder(() => call.enqueue());
  }

  /** Makes a call that others do not begin behind, or that the order does not matter to. */
  #makeWhole<T>(task: Task, use: Use<T>, keeper: Keeper): Promise<T> {
    const { n, settings, link, onHost } = task;
    const made = keeper.backend;
    const by = { settings, onWarning: this.#onWarning, ahead: this.#ahead };
    const whole = (backend: Backend) => make({ ...by, backend }, use);
    const beside = onHost && made.overlaps && isOpenEnded(task);
    // The first of several goes ahead, so that who waits for each call does not wait for more.
    const bundled = beside && !this.#turns.idle ? task.sort : undefined;
    const alone = () => keeper.run(whole, task);
    const run = (): Soon<T> => {
      link.assertInputs();
      if (!onHost) assertSame(keeper, made);
      if (task.shared) return task.shared() as Promise<T>;
      return (bundled && this.#bundles.join(bundled.job, bundled.made as T, alone)) ?? alone();
    };
    const failed = (error: unknown): Soon<T> => {
      const fallsBack = task.again && !task.shared && this.#few && keeper !== this.#few.keeper;
      if (!(error instanceof MemoryError) || !fallsBack) return link.fails(error);
      return link.noting(() => this.#withoutDevice(error, settings, use));
    };
    const noted = () => rescued(run, failed);
    return beside ? this.#turns.beside(n, noted) : this.#turns.alone(noted);
  }

  /** Does on the host what the device has no room for, when nobody asked for a device. */
  async #withoutDevice<T>(cause: MemoryError, settings: SortSettings, use: Use<T>): Promise<T> {
    const warn = settings.onWarning ?? this.#onWarning;
    warn(new MemoryError(`${cause.message}; the host does without the device`, { cause }));
    this.#keeper.backend.memory.trim();
    const backend = new HostBackend('the device has no room for this');
    return make({ backend, settings: { ...settings, algorithm: 'auto' }, onWarning: this.#onWarning }, use);
  }

  /**
   * Chooses who makes a call of n keys: the host engine where so few are sorted there in less time, else the device. Options that only a
   * device knows keep the call there.
   */
  keeperFor(n: number, { algorithm, scan, radixBits }: SortSettings, onHost: boolean): Keeper {
    const open = algorithm === 'auto' && scan === 'auto' && radixBits === undefined;
    return this.#few && onHost && open && n < this.#few.below ? this.#few.keeper : this.#keeper;
  }
}

/** A call on device arrays that the next one may begin behind, before it is done. */
class OpenCall<T> {
  readonly #task: Task;
  readonly #use: Use<T>;
  readonly #keeper: Keeper;
  readonly #by: Omit<By, 'backend'>;
  /** Who has the arrays, and then who makes the call. */
  #backend: Backend;

  constructor(task: Task, use: Use<T>, keeper: Keeper, by: Omit<By, 'backend'>) {
    this.#task = task;
    this.#use = use;
    this.#keeper = keeper;
    this.#by = by;
    this.#backend = keeper.backend;
  }

  /** @returns waits for the call */
  enqueue(): Soon<Completion<T>> {
    const { link } = this.#task;
    return link.noting(() => {
      link.assertInputs();
      assertSame(this.#keeper, this.#backend);
      return after(
        this.#keeper.run((alive) => this.#start(alive), this.#task),
        (started) => this.#completion(started),
      );
    });
  }

  #start(backend: Backend): Soon<Started<T>> {
    this.#backend = backend;
    return start({ ...this.#by, backend }, this.#use, true);
  }

  #completion(started: Started<T>): Completion<T> {
    const { link } = this.#task;
    link.starts(started);
    const inputs = link.hasInputs ? () => link.inputsDone() : undefined;
    const failed = (error: unknown) => link.fails(error);
    return () => this.#keeper.complete(this.#backend, () => started.complete(inputs, failed), this.#task);
  }
}

/** @throws DeviceLostError when the arrays of a call have gone since it was made */
function assertSame(keeper: Keeper, made: Backend): void {
  if (!made.lost && made === keeper.backend) return;
  throw new DeviceLostError('the arrays of this call were lost with their device, which failed');
}

/**
 * Makes a call when promises of arrays have come to something, in the turn of the last one: before code that waited for it later
 * disposes of the array.
 *
 * @throws InputError when one is rejected
 */
async function awaited<T>(
  promises: readonly PromiseLike<unknown>[],
  link: Link,
  make: (link: Link) => Soon<T>,
): Promise<T> {
  for (const promise of promises) {
    try {
      link.takes(promise, await promise);
    } catch (error) {
      throw failedInput(error);
    }
  }
  return make(link);
}
