import { bytesOf } from '../../keys/array.js';
import { Admission } from '../../util/admission.js';
import { allCaughtUp } from '../../util/caught-up.js';
import { BuildError, ClsortError, MismatchError } from '../../util/errors.js';
import { after, ended, promised, rescued, type Soon } from '../../util/soon.js';
import { type SortSettings, throwIfAborted } from '../api/options.js';
import type { Backend, Keeper } from '../backend/backend.js';
import { byteLengthOf, column, isOnDevice, type Place } from '../backend/column.js';
import { requestOf, type SortJob } from '../backend/job.js';
import type { PlanRequest } from '../backend/plan.js';
import type { Ahead } from './ahead.js';
import { make } from './call.js';
import { assertIntact, spansOf } from './intact.js';

/** Arrays of more bytes are sorted by themselves: nothing is gained there, as the copies take this thread as long as they do without. */
const MOST_BYTES = 2 ** 17;
/** Fewer sorts are made one by one: that takes fewer launches. */
const FEWEST = 4;
/** Bytes that the sorts of a bundle read and make at most. The device works on it while the next one is copied. */
const BUNDLE_BYTES = 2 ** 22;
/** Sorts in a bundle at most. */
const MAX_SORTS = 1023;
/** Bytes of a passage: where each sort begins comes first. */
const OFFSET_BYTES = (MAX_SORTS + 1) * 4;
const PASSAGE_BYTES = OFFSET_BYTES + BUNDLE_BYTES;
/** Bundles that are under way at a time, each in a passage of its own. */
const MAX_BUNDLES = 8;
/** What a bundle reads and makes begins on its multiples: on lines of the cache. */
const LINE = 64;

/** Memory of the host that a bundle passes through on its way to a device. */
interface Passage {
  readonly backend: Backend;
  readonly memory: Uint8Array;
}

/** What a sort reads and makes: keys, values, sorted keys, and values or positions that moved along. */
type Four<T> = readonly [keys: T, values: T | undefined, sorted: T | undefined, moved: T | undefined];

const placesOf = ({ keys, values, sorted, moved }: SortJob): Four<Place> => [
  keys.place,
  values?.place,
  sorted,
  moved,
];

/** Bytes of each for a key, where it is there. */
const unitsOf = ({ keys: { info }, values, sorted, moved }: SortJob): Four<number> => [
  info.bytes,
  values?.bytes,
  sorted && info.bytes,
  moved && (values?.bytes ?? 4),
];

/** Sorts that are alike, to be made as one of segments. */
class Bundle {
  readonly jobs: SortJob[] = [];
  readonly #units: Four<number>;
  #n = 0;
  #longest = 0;
  #end: (made: Soon<boolean>) => void = () => undefined;
  /** Were the sorts made together? Else each is to be made by itself. */
  readonly made = new Promise<boolean>((resolve) => {
    this.#end = resolve;
  });

  constructor(first: SortJob) {
    this.#units = unitsOf(first);
    this.add(first);
  }

  get #first(): SortJob {
    return this.jobs[0] as SortJob;
  }

  /** Is a sort like these? */
  isLike({ keys: { dtype }, settings, ...job }: SortJob): boolean {
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
    const bytes = this.#units.reduce<number>((sum, unit = 0) => sum + onLines((this.#n + n) * unit), 0);
    return bytes <= BUNDLE_BYTES && this.jobs.length < MAX_SORTS;
  }

  add(job: SortJob): void {
    const { n } = job.keys;
    this.jobs.push(job);
    this.#n += n;
    this.#longest = Math.max(this.#longest, n);
  }

  /** What is to be planned. */
  get request(): PlanRequest {
    return { ...requestOf(this.#first), n: this.#n, segments: this.jobs.length };
  }

  /** Says what has become of it, or is going to. */
  end(made: Soon<boolean>): void {
    this.#end(made);
  }

  /** Copies what the sorts read. */
  load({ backend, memory }: Passage): Soon<void> {
    const { own, parts } = this.#pieces(memory, [0, 1]);
    return backend.memory.copyArrays(own, parts);
  }

  /** Copies what was made to where it belongs. */
  unload({ backend, memory }: Passage): Soon<void> {
    const { own, parts } = this.#pieces(memory, [2, 3]);
    return backend.memory.copyArrays(parts, own);
  }

  /** The sort of all that was loaded, in the same memory. */
  whole({ memory }: Passage): SortJob {
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
        longest: this.#longest,
        byAny: true, // the next bundle may have longer ones
        fromSegment: moved !== undefined && values === undefined,
      },
    };
  }

  /** Memory of each sort, and the part of all that it is. What has gone meanwhile is left out: its own call tells of it. */
  #pieces(
    memory: Uint8Array,
    columns: readonly (0 | 1 | 2 | 3)[],
  ): { readonly own: Uint8Array[]; readonly parts: Uint8Array[] } {
    const all = this.#viewsOf(memory);
    const [own, parts]: [Uint8Array[], Uint8Array[]] = [[], []];
    for (const which of columns) {
      const [unit = 0, whole] = [this.#units[which], all[which]];
      let end = 0;
      for (const job of this.jobs) {
        const place = placesOf(job)[which];
        const begin = end;
        end += job.keys.n * unit;
        if (!whole || !place || isOnDevice(place) || place.byteLength < end - begin) continue;
        own.push(bytesOf(place, 0, end - begin));
        parts.push(whole.subarray(begin, end));
      }
    }
    return { own, parts };
  }

  /** Memory for each of the four, one behind the other. */
  #viewsOf(memory: Uint8Array): Four<Uint8Array> {
    let end = OFFSET_BYTES;
    const next = (unit: number | undefined): Uint8Array | undefined => {
      if (unit === undefined) return undefined;
      const begin = end;
      end += onLines(this.#n * unit);
      return memory.subarray(begin, begin + this.#n * unit);
    };
    return this.#units.map(next) as unknown as Four<Uint8Array>;
  }
}

const onLines = (bytes: number): number => Math.ceil(bytes / LINE) * LINE;

/**
 * Small sorts of arrays of the host that are asked for at once, made together: as segments of one sort, whose launches, transfers and
 * wait they share. Those that are alike wait for each other until nothing else is to be done at once, or until there are many.
 */
export class Bundles {
  readonly #keeper: Keeper;
  readonly #ahead: Ahead;
  readonly #onWarning: (warning: ClsortError) => void;
  /** Bundles that others may join. */
  readonly #open = new Set<Bundle>();
  readonly #underWay = new Admission(Number.POSITIVE_INFINITY, MAX_BUNDLES);
  /** Whose passages were made last, and those that no bundle uses. */
  #backend: Backend | undefined;
  #idle: Passage[] = [];

  /** @param onWarning hears why sorts are made one by one after all */
  constructor(keeper: Keeper, ahead: Ahead, onWarning: (warning: ClsortError) => void) {
    this.#keeper = keeper;
    this.#ahead = ahead;
    this.#onWarning = onWarning;
  }

  /**
   * Makes a sort together with others.
   *
   * @param alone makes it by itself, if that does not work or is no gain
   * @returns `made`; undefined for a sort that is none for a bundle
   * @throws AbortedError; InputError when memory of the sort has gone meanwhile; what `alone` throws
   */
  join<T>(job: SortJob, made: T, alone: () => Soon<T>): Promise<T> | undefined {
    if (job.keys.n === 0 || byteLengthOf(job.keys) > MOST_BYTES || !isPlain(job.settings)) return undefined;
    const { signal } = job.settings;
    throwIfAborted(signal);
    const spans = spansOf(job);
    return this.#bundleWith(job).made.then((together) => {
      if (!together) return alone();
      throwIfAborted(signal);
      assertIntact(spans);
      return made;
    });
  }

  #bundleWith(job: SortJob): Bundle {
    for (const bundle of this.#open) {
      if (!bundle.isLike(job)) continue;
      if (bundle.hasRoomFor(job)) {
        bundle.add(job);
        return bundle;
      }
      this.#depart(bundle);
      break;
    }
    const bundle = new Bundle(job);
    this.#open.add(bundle);
    allCaughtUp().then(() => this.#depart(bundle));
    return bundle;
  }

  /** Makes what is in a bundle, which is done once. */
  #depart(bundle: Bundle): void {
    if (!this.#open.delete(bundle)) return;
    bundle.end(promised(() => this.#underWay.run(0, () => this.#make(bundle))));
  }

  /** @returns whether it was made */
  #make(bundle: Bundle): Soon<boolean> {
    return rescued(
      () => {
        const passage = this.#isReady(bundle) ? this.#passage() : undefined;
        return passage !== undefined && this.#makeIn(passage, bundle);
      },
      (error) => {
        if (!(error instanceof ClsortError)) throw error;
        this.#tell(error);
        return false;
      },
    );
  }

  #makeIn(passage: Passage, bundle: Bundle): Soon<boolean> {
    const { backend } = passage;
    const sort = (): Soon<unknown> => {
      const job = bundle.whole(passage);
      const by = { backend, settings: job.settings, onWarning: this.#onWarning };
      const nothing = () => undefined;
      return this.#keeper.run(() => make(by, (call) => after(call.sort(job), () => nothing)), ONCE);
    };
    const steps = [() => bundle.load(passage), sort, () => bundle.unload(passage)];
    // With a device that is lost its memory is, too: nothing is done in it any more.
    const inTurn = (made: Soon<boolean>, step: () => Soon<unknown>): Soon<boolean> =>
      after(made, (well) => well && after(step(), () => !backend.lost));
    return ended(
      () => steps.reduce(inTurn, true),
      () => {
        if (backend === this.#backend) this.#idle.push(passage);
      },
    );
  }

  /** @returns undefined where there has been no memory for any @throws MemoryError the first time */
  #passage(): Passage | undefined {
    const { backend } = this.#keeper;
    if (backend !== this.#backend) {
      this.#backend = backend;
      this.#idle = [];
      const all = backend.memory.passage(MAX_BUNDLES * PASSAGE_BYTES);
      for (let i = MAX_BUNDLES - 1; i >= 0; i--) {
        this.#idle.push({ backend, memory: new Uint8Array(all, i * PASSAGE_BYTES, PASSAGE_BYTES) });
      }
    }
    return this.#idle.pop();
  }

  /** Is it worth making, and is there all that it takes? What is to be compiled comes later: nobody waits for it. */
  #isReady({ jobs, request }: Bundle): boolean {
    const { backend } = this.#keeper;
    if (jobs.length < FEWEST || backend.lost) return false;
    const [plan] = backend.plans(request);
    if (plan?.engine !== 'device' || !backend.trusts(plan)) return false;
    if (backend.isReady(plan)) return true;
    this.#ahead.prepare(backend, plan, (error) => {
      if (error instanceof BuildError || error instanceof MismatchError) this.#tell(error);
    });
    return false;
  }

  #tell(cause: ClsortError): void {
    const Kind = cause.constructor as new (message: string, details: { cause: unknown }) => ClsortError;
    this.#onWarning(new Kind(`sorts are made one by one, and not together: ${cause.message}`, { cause }));
  }
}

/** What is made for a bundle is made once: each of its sorts has another go. */
const ONCE = { again: false };

/** Does a call ask for nothing that concerns how its keys are sorted, or what is told of it meanwhile? */
function isPlain(settings: SortSettings): boolean {
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
