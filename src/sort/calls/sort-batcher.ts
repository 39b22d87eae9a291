import { bytesOf } from '../../keys/array.js';
import { ConcurrencyLimiter } from '../../util/concurrency-limiter.js';
import { BuildError, ClsortError, MismatchError } from '../../util/errors.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import { oncePer } from '../../util/memo.js';
import { drainMicrotasks } from '../../util/microtasks.js';
import type { Backend, Session } from '../backend/backend.js';
import { assertNotDetached, spansOf } from '../model/array-assertions.js';
import { byteLengthOf, column, isOnDevice, type Place } from '../model/column.js';
import { requestOf, type SortJob } from '../model/job.js';
import { type SortSettings, throwIfAborted } from '../model/options.js';
import { type Plan, type PlanRequest, variantOf } from '../model/plan.js';
import type { Call } from './call.js';
import type { CallScheduler } from './call-scheduler.js';
import { Execution } from './call-scheduler.js';
import { MAX_BATCH_BYTES, MAX_BATCHES, MAX_SORT_BYTES, MAX_SORTS, MIN_SORTS } from './policy.js';

/** Bytes of the segment offsets, which precede the data in staging memory. */
const OFFSET_BYTES = (MAX_SORTS + 1) * 4;
const STAGING_BYTES = OFFSET_BYTES + MAX_BATCH_BYTES;
/** Alignment in bytes of each column of a batch: a cache line. */
const CACHE_LINE_BYTES = 64;

/** Host memory that a batch is copied through on its way to a device. */
interface StagingMemory {
  readonly backend: Backend;
  readonly memory: Uint8Array;
}

/** Columns of a sort: keys, values, sorted keys, and moved values or positions. */
type JobColumns<T> = readonly [keys: T, values: T | undefined, sorted: T | undefined, moved: T | undefined];

const placesOf = ({ keys, values, sorted, moved }: SortJob): JobColumns<Place> => [
  keys.place,
  values?.place,
  sorted,
  moved,
];

/** Returns the bytes per key of each column; undefined for columns that the sort does not have. */
const elementBytesOf = ({ keys: { info }, values, sorted, moved }: SortJob): JobColumns<number> => [
  info.bytes,
  values?.bytes,
  sorted && info.bytes,
  moved && (values?.bytes ?? 4),
];

/** Compatible sorts, to run as one segmented sort. */
class SortBatch {
  readonly jobs: SortJob[] = [];
  readonly #elementBytes: JobColumns<number>;
  #n = 0;
  #maxSortKeys = 0;
  #end: (made: MaybePromise<boolean>) => void = () => undefined;
  /** Resolves to whether the sorts ran as a batch; if not, each one must run separately. */
  readonly made = new Promise<boolean>((resolve) => {
    this.#end = resolve;
  });

  constructor(first: SortJob) {
    this.#elementBytes = elementBytesOf(first);
    this.add(first);
  }

  get #first(): SortJob {
    return this.jobs[0] as SortJob;
  }

  /** Whether a sort can join this batch. */
  isCompatible({ keys: { dtype }, settings, ...job }: SortJob): boolean {
    const { keys, settings: own, values, sorted, moved } = this.#first;
    return (
      dtype === keys.dtype &&
      settings.descending === own.descending &&
      settings.nan === own.nan &&
      job.values?.bytes === values?.bytes &&
      (job.sorted === undefined) === (sorted === undefined) &&
      (job.moved === undefined) === (moved === undefined)
    );
  }

  hasRoomFor({ keys: { n } }: SortJob): boolean {
    const bytes = this.#elementBytes.reduce<number>(
      (sum, elementBytes = 0) => sum + alignToCacheLine((this.#n + n) * elementBytes),
      0,
    );
    return bytes <= MAX_BATCH_BYTES && this.jobs.length < MAX_SORTS;
  }

  add(job: SortJob): void {
    const { n } = job.keys;
    this.jobs.push(job);
    this.#n += n;
    this.#maxSortKeys = Math.max(this.#maxSortKeys, n);
  }

  /** The request to plan the batch by. */
  get request(): PlanRequest {
    return { ...requestOf(this.#first), n: this.#n, segments: this.jobs.length };
  }

  /** Resolves `made`. */
  end(made: MaybePromise<boolean>): void {
    this.#end(made);
  }

  /** Copies the inputs of the sorts to staging memory. */
  load({ backend, memory }: StagingMemory): MaybePromise<void> {
    const { own, parts } = this.#slices(memory, [0, 1]);
    return backend.memory.copyArrays(own, parts);
  }

  /** Copies the results from staging memory to the outputs of the sorts. */
  unload({ backend, memory }: StagingMemory): MaybePromise<void> {
    const { own, parts } = this.#slices(memory, [2, 3]);
    return backend.memory.copyArrays(parts, own);
  }

  /** Returns the segmented sort of everything that was loaded, in place in the staging memory. */
  combined({ memory }: StagingMemory): SortJob {
    const { keys, settings, values } = this.#first;
    const { signal: _, ...order } = settings; // each sort has its own signal
    const all = this.#viewsOf(memory);
    const begins = new Uint32Array(memory.buffer, memory.byteOffset, this.jobs.length + 1);
    begins[0] = 0;
    for (const [i, job] of this.jobs.entries()) begins[i + 1] = (begins[i] as number) + job.keys.n;
    const [allKeys, allValues, sorted, moved] = all;
    return {
      keys: column(keys.dtype, this.#n, allKeys),
      settings: { ...order, onMismatch: 'throw' },
      ...(values && allValues && { values: { place: allValues, bytes: values.bytes } }),
      ...(sorted && { sorted }),
      ...(moved && { moved }),
      segments: {
        offsets: column('u32', begins.length, begins),
        longest: this.#maxSortKeys,
        forAnyLength: true, // the next batch may have longer segments
        fromSegment: moved !== undefined && values === undefined,
      },
    };
  }

  /**
   * Returns the memory of each sort and the matching slices of the staging memory. Detached memory is
   * skipped: its own call reports that.
   */
  #slices(
    memory: Uint8Array,
    columns: readonly (0 | 1 | 2 | 3)[],
  ): { readonly own: Uint8Array[]; readonly parts: Uint8Array[] } {
    const all = this.#viewsOf(memory);
    const [own, parts]: [Uint8Array[], Uint8Array[]] = [[], []];
    for (const index of columns) {
      const [elementBytes = 0, combined] = [this.#elementBytes[index], all[index]];
      let end = 0;
      for (const job of this.jobs) {
        const place = placesOf(job)[index];
        const begin = end;
        end += job.keys.n * elementBytes;
        if (!combined || !place || isOnDevice(place) || place.byteLength < end - begin) continue;
        own.push(bytesOf(place, 0, end - begin));
        parts.push(combined.subarray(begin, end));
      }
    }
    return { own, parts };
  }

  /** Returns the four columns, one after the other in the staging memory. */
  #viewsOf(memory: Uint8Array): JobColumns<Uint8Array> {
    let end = OFFSET_BYTES;
    const next = (elementBytes: number | undefined): Uint8Array | undefined => {
      if (elementBytes === undefined) return undefined;
      const begin = end;
      end += alignToCacheLine(this.#n * elementBytes);
      return memory.subarray(begin, begin + this.#n * elementBytes);
    };
    return this.#elementBytes.map(next) as unknown as JobColumns<Uint8Array>;
  }
}

const alignToCacheLine = (bytes: number): number => Math.ceil(bytes / CACHE_LINE_BYTES) * CACHE_LINE_BYTES;

/**
 * Compiles plans in the background, while no call waits for them. Each variant is compiled once per backend,
 * whether it succeeds or not.
 */
export class BackgroundCompiler {
  readonly #session: Session;
  readonly #scheduler: CallScheduler;
  /** Whether each variant that was started is still compiling. */
  readonly #startedOn = oncePer((_backend: Backend) => new Map<string, boolean>());

  constructor(session: Session, scheduler: CallScheduler) {
    this.#session = session;
    this.#scheduler = scheduler;
  }

  /**
   * Starts to compile the variant of a plan, unless that was started before.
   *
   * @param onFailure called with the error of a failed compilation; default: ignored, since the error recurs
   *   when the plan is used
   */
  prepare(backend: Backend, plan: Plan, onFailure: (error: unknown) => void = () => undefined): void {
    const started = this.#startedOn(backend);
    const variant = variantOf(plan);
    if (started.has(variant)) return;
    started.set(variant, true);
    const prepare = () => this.#session.run(() => backend.prepare(plan), { again: false });
    const end = () => void started.set(variant, false);
    this.#scheduler
      .runInBackground(prepare)
      .finally(end)
      .catch((error) => !this.#scheduler.isClosed && onFailure(error));
  }

  /** Returns whether the variant of a plan is compiling; undefined if that was never started. */
  isCompiling(backend: Backend, plan: Plan): boolean | undefined {
    return this.#startedOn(backend).get(variantOf(plan));
  }
}

/**
 * Runs concurrent small sorts of host arrays as segments of one sort, which share launches, transfers and the
 * wait. Compatible sorts are collected until the microtask queue is drained, or until a batch is full.
 */
export class SortBatcher {
  readonly #session: Session;
  readonly #compiler: BackgroundCompiler;
  readonly #onWarning: (warning: ClsortError) => void;
  /** Batches that other sorts may join. */
  readonly #open = new Set<SortBatch>();
  readonly #running = new ConcurrencyLimiter(Number.POSITIVE_INFINITY, MAX_BATCHES);
  /** Backend that the staging memory was allocated for, and the staging memory that no batch uses. */
  #backend: Backend | undefined;
  #idle: StagingMemory[] = [];

  /** @param onWarning receives the reasons why sorts run separately after all */
  constructor(session: Session, compiler: BackgroundCompiler, onWarning: (warning: ClsortError) => void) {
    this.#session = session;
    this.#compiler = compiler;
    this.#onWarning = onWarning;
  }

  /**
   * Adds a sort to a batch.
   *
   * @param made the result of the caller
   * @param alone runs the sort separately, if batching fails or does not pay
   * @returns `made`; undefined if the sort is not suited to a batch
   * @throws AbortedError when the signal is aborted
   * @throws InputError when memory of the sort was detached or shrunk
   * @throws the error of `alone`
   */
  join<T>(job: SortJob, made: T, alone: () => Promise<T>): Promise<T> | undefined {
    if (job.keys.n === 0 || byteLengthOf(job.keys) > MAX_SORT_BYTES || !hasOnlyOrderOptions(job.settings))
      return undefined;
    const { signal } = job.settings;
    throwIfAborted(signal);
    const spans = spansOf(job);
    return this.#batchFor(job).made.then((wasBatched) => {
      if (!wasBatched) return alone();
      throwIfAborted(signal);
      assertNotDetached(spans);
      return made;
    });
  }

  #batchFor(job: SortJob): SortBatch {
    for (const batch of this.#open) {
      if (!batch.isCompatible(job)) continue;
      if (batch.hasRoomFor(job)) {
        batch.add(job);
        return batch;
      }
      this.#dispatch(batch);
      break;
    }
    const batch = new SortBatch(job);
    this.#open.add(batch);
    drainMicrotasks().then(() => this.#dispatch(batch));
    return batch;
  }

  /** Runs a batch. Does nothing if it was dispatched before. */
  #dispatch(batch: SortBatch): void {
    if (!this.#open.delete(batch)) return;
    batch.end(this.#running.run(0, () => this.#sortBatch(batch)));
  }

  /** @returns whether the batch was sorted */
  async #sortBatch(batch: SortBatch): Promise<boolean> {
    try {
      const staging = this.#isReady(batch) ? this.#staging() : undefined;
      return staging !== undefined && (await this.#sortInStaging(staging, batch));
    } catch (error) {
      if (!(error instanceof ClsortError)) throw error;
      this.#warn(error);
      return false;
    }
  }

  async #sortInStaging(staging: StagingMemory, batch: SortBatch): Promise<boolean> {
    const { backend } = staging;
    try {
      const loaded = batch.load(staging);
      if (loaded) await loaded;
      // When a device is lost, its staging memory is lost as well and must not be used.
      if (backend.lost) return false;
      const job = batch.combined(staging);
      const context = { backend, settings: job.settings, onWarning: this.#onWarning };
      const sort = async (call: Call) => {
        await call.sort(job);
        return () => undefined;
      };
      await this.#session.run(() => Execution.run(context, sort), NO_RETRY);
      if (backend.lost) return false;
      await batch.unload(staging);
      return !backend.lost;
    } finally {
      if (backend === this.#backend) this.#idle.push(staging);
    }
  }

  /**
   * Returns idle staging memory.
   *
   * @returns undefined when allocation failed before
   * @throws MemoryError when the first allocation fails
   */
  #staging(): StagingMemory | undefined {
    const { backend } = this.#session;
    if (backend !== this.#backend) {
      this.#backend = backend;
      this.#idle = [];
      const all = backend.memory.allocateStaging(MAX_BATCHES * STAGING_BYTES);
      for (let i = MAX_BATCHES - 1; i >= 0; i--) {
        this.#idle.push({ backend, memory: new Uint8Array(all, i * STAGING_BYTES, STAGING_BYTES) });
      }
    }
    return this.#idle.pop();
  }

  /** Whether the batch pays and its plan is compiled. If it is not compiled, that happens in the background. */
  #isReady({ jobs, request }: SortBatch): boolean {
    const { backend } = this.#session;
    if (jobs.length < MIN_SORTS || backend.lost) return false;
    const [plan] = backend.plans(request);
    if (plan?.engine !== 'device' || !backend.trusts(plan)) return false;
    if (backend.isReady(plan)) return true;
    this.#compiler.prepare(backend, plan, (error) => {
      if (error instanceof BuildError || error instanceof MismatchError) this.#warn(error);
    });
    return false;
  }

  #warn(cause: ClsortError): void {
    const Kind = cause.constructor as new (message: string, details: { cause: unknown }) => ClsortError;
    this.#onWarning(
      new Kind(`cannot sort small arrays together: ${cause.message}; sorting them separately`, { cause }),
    );
  }
}

/** A batch is not retried: each of its sorts is retried separately. */
const NO_RETRY = { again: false };

/** Whether a call has no options beyond the order of keys: none for the algorithm and no callbacks. */
function hasOnlyOrderOptions(settings: SortSettings): boolean {
  const { algorithm, scan, radixBits, bits, tuning, verify, onMismatch, timeout } = settings;
  const { onProgress, onReport, onWarning } = settings;
  return (
    algorithm === 'auto' &&
    scan === 'auto' &&
    !verify &&
    onMismatch === 'retry' &&
    Object.keys(tuning).length === 0 &&
    [radixBits, bits, timeout, onProgress, onReport, onWarning].every((one) => one === undefined)
  );
}
