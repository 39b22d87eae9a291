import { bytesOf } from '../../keys/array.js';
import { ConcurrencyLimiter } from '../../util/concurrency-limiter.js';
import { BuildError, ClsortError, MismatchError } from '../../util/errors.js';
import { chain, finallyDo, type MaybePromise, recover, toPromise } from '../../util/maybe-promise.js';
import { drainMicrotasks } from '../../util/microtasks.js';
import { type SortSettings, throwIfAborted } from '../api/options.js';
import type { Backend, Session } from '../backend/backend.js';
import { byteLengthOf, column, isOnDevice, type Place } from '../backend/column.js';
import { requestOf, type SortJob } from '../backend/job.js';
import type { PlanRequest } from '../backend/plan.js';
import { assertNotDetached, spansOf } from './assert-not-detached.js';
import type { BackgroundCompiler } from './background-compiler.js';
import { executeCall } from './call.js';

/** Arrays of more bytes are sorted by themselves: nothing is gained there, as the copies take this thread as long as they do without. */
const MAX_SORT_BYTES = 2 ** 17;
/** Fewer sorts are made one by one: that takes fewer launches. */
const MIN_SORTS = 4;
/** Bytes that the sorts of a bundle read and make at most. The device works on it while the next one is copied. */
const MAX_BATCH_BYTES = 2 ** 22;
/** Sorts in a bundle at most. */
const MAX_SORTS = 1023;
/** Bytes of a passage: where each sort begins comes first. */
const OFFSET_BYTES = (MAX_SORTS + 1) * 4;
const STAGING_BYTES = OFFSET_BYTES + MAX_BATCH_BYTES;
/** Bundles that are under way at a time, each in a passage of its own. */
const MAX_BATCHES = 8;
/** What a bundle reads and makes begins on its multiples: on lines of the cache. */
const CACHE_LINE_BYTES = 64;

/** Memory of the host that a bundle passes through on its way to a device. */
interface StagingMemory {
  readonly backend: Backend;
  readonly memory: Uint8Array;
}

/** What a sort reads and makes: keys, values, sorted keys, and values or positions that moved along. */
type JobColumns<T> = readonly [keys: T, values: T | undefined, sorted: T | undefined, moved: T | undefined];

const placesOf = ({ keys, values, sorted, moved }: SortJob): JobColumns<Place> => [
  keys.place,
  values?.place,
  sorted,
  moved,
];

/** Bytes of each for a key, where it is there. */
const elementBytesOf = ({ keys: { info }, values, sorted, moved }: SortJob): JobColumns<number> => [
  info.bytes,
  values?.bytes,
  sorted && info.bytes,
  moved && (values?.bytes ?? 4),
];

/** Sorts that are alike, to be made as one of segments. */
class SortBatch {
  readonly jobs: SortJob[] = [];
  readonly #elementBytes: JobColumns<number>;
  #n = 0;
  #maxSortKeys = 0;
  #end: (made: MaybePromise<boolean>) => void = () => undefined;
  /** Were the sorts made together? Else each is to be made by itself. */
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

  /** Is a sort like these? */
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

  /** What is to be planned. */
  get request(): PlanRequest {
    return { ...requestOf(this.#first), n: this.#n, segments: this.jobs.length };
  }

  /** Says what has become of it, or is going to. */
  end(made: MaybePromise<boolean>): void {
    this.#end(made);
  }

  /** Copies what the sorts read. */
  load({ backend, memory }: StagingMemory): MaybePromise<void> {
    const { own, parts } = this.#slices(memory, [0, 1]);
    return backend.memory.copyArrays(own, parts);
  }

  /** Copies what was made to where it belongs. */
  unload({ backend, memory }: StagingMemory): MaybePromise<void> {
    const { own, parts } = this.#slices(memory, [2, 3]);
    return backend.memory.copyArrays(parts, own);
  }

  /** The sort of all that was loaded, in the same memory. */
  combined({ memory }: StagingMemory): SortJob {
    const { keys, settings, values } = this.#first;
    const { signal: _, ...order } = settings; // each has its own
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
        forAnyLength: true, // the next bundle may have longer ones
        fromSegment: moved !== undefined && values === undefined,
      },
    };
  }

  /** Memory of each sort, and the part of all that it is. What has gone meanwhile is left out: its own call tells of it. */
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

  /** Memory for each of the four, one behind the other. */
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
 * Small sorts of arrays of the host that are asked for at once, made together: as segments of one sort, whose launches, transfers and
 * wait they share. Those that are alike wait for each other until nothing else is to be done at once, or until there are many.
 */
export class SortBatcher {
  readonly #session: Session;
  readonly #compiler: BackgroundCompiler;
  readonly #onWarning: (warning: ClsortError) => void;
  /** Bundles that others may join. */
  readonly #open = new Set<SortBatch>();
  readonly #running = new ConcurrencyLimiter(Number.POSITIVE_INFINITY, MAX_BATCHES);
  /** Whose passages were made last, and those that no bundle uses. */
  #backend: Backend | undefined;
  #idle: StagingMemory[] = [];

  /** @param onWarning hears why sorts are made one by one after all */
  constructor(session: Session, compiler: BackgroundCompiler, onWarning: (warning: ClsortError) => void) {
    this.#session = session;
    this.#compiler = compiler;
    this.#onWarning = onWarning;
  }

  /**
   * Makes a sort together with others.
   *
   * @param alone makes it by itself, if that does not work or is no gain
   * @returns `made`; undefined for a sort that is none for a bundle
   * @throws AbortedError; InputError when memory of the sort has gone meanwhile; what `alone` throws
   */
  join<T>(job: SortJob, made: T, alone: () => MaybePromise<T>): Promise<T> | undefined {
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

  /** Makes what is in a bundle, which is done once. */
  #dispatch(batch: SortBatch): void {
    if (!this.#open.delete(batch)) return;
    batch.end(toPromise(() => this.#running.run(0, () => this.#sortBatch(batch))));
  }

  /** @returns whether it was made */
  #sortBatch(batch: SortBatch): MaybePromise<boolean> {
    return recover(
      () => {
        const staging = this.#isReady(batch) ? this.#staging() : undefined;
        return staging !== undefined && this.#sortInStaging(staging, batch);
      },
      (error) => {
        if (!(error instanceof ClsortError)) throw error;
        this.#warn(error);
        return false;
      },
    );
  }

  #sortInStaging(staging: StagingMemory, batch: SortBatch): MaybePromise<boolean> {
    const { backend } = staging;
    const sort = (): MaybePromise<unknown> => {
      const job = batch.combined(staging);
      const by = { backend, settings: job.settings, onWarning: this.#onWarning };
      const nothing = () => undefined;
      return this.#session.run(
        () => executeCall(by, (call) => chain(call.sort(job), () => nothing)),
        NO_RETRY,
      );
    };
    const steps = [() => batch.load(staging), sort, () => batch.unload(staging)];
    // With a device that is lost its memory is, too: nothing is done in it any more.
    const runNext = (made: MaybePromise<boolean>, step: () => MaybePromise<unknown>): MaybePromise<boolean> =>
      chain(made, (well) => well && chain(step(), () => !backend.lost));
    return finallyDo(
      () => steps.reduce(runNext, true),
      () => {
        if (backend === this.#backend) this.#idle.push(staging);
      },
    );
  }

  /** @returns undefined where there has been no memory for any @throws MemoryError the first time */
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

  /** Is it worth making, and is there all that it takes? What is to be compiled comes later: nobody waits for it. */
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
    this.#onWarning(new Kind(`sorts are made one by one, and not together: ${cause.message}`, { cause }));
  }
}

/** What is made for a bundle is made once: each of its sorts has another go. */
const NO_RETRY = { again: false };

/** Does a call ask for nothing that concerns how its keys are sorted, or what is told of it meanwhile? */
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
