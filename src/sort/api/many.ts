/** Many arrays of the host, each sorted by itself and all in one go, as segments of one array. */
import {
  assertAttached,
  dtypeOf,
  emptyLike,
  keyColumn,
  type MemorySource,
  newArray,
} from '../../keys/array.js';
import type { DtypeInfo, KeyArray } from '../../keys/dtype.js';
import { DtypeError, InputError } from '../../util/errors.js';
import { runYielding, type Steps } from '../host/steps.js';
import { HostBufferPool } from '../transfer/host-buffer-pool.js';
import { assertIndexable, parse } from './arguments.js';
import { type SortOptions, throwIfAborted } from './options.js';
import type { SegmentedArgsortOptions } from './segment-operations.js';

/** Bytes that are copied in one step, arrays that are looked at: either takes a millisecond or so. */
const STEP_BYTES = 2 ** 21;
const STEP_ARRAYS = 2 ** 12;

/** Arrays of fewer bytes, on the average, are copied by this thread: to tell others where each is takes as long. */
const MIN_THREADED_BYTES = 2 ** 10;

/** Bytes of the memory that a part passes through, and bytes of a part, by and large: while one is sorted, the next one is copied. */
const POOLED_BUFFER_BYTES = 2 ** 24;
const PART_BYTES = (POOLED_BUFFER_BYTES / 8) * 7;
/** Smaller parts get memory of their own, which costs less than to keep a room. */
const MIN_POOLED_BYTES = 2 ** 20;
/** Parts that are under way at a time, each in memory of its own. */
const MAX_CONCURRENT_PARTS = 2;

/** What arrays pass through on their way. */
export const createPartPool = (): HostBufferPool => new HostBufferPool(POOLED_BUFFER_BYTES);

/** Memory that is written, and that nobody has seen before. */
type OwnOutput<R> = { readonly into: R };

/** Who sorts the segments of one array. */
interface SegmentSorter {
  /** Where large arrays come from, of which every byte is written before anybody sees it. */
  readonly memory: MemorySource | undefined;
  /** Of `partRooms`. */
  readonly pool: HostBufferPool;
  /** Copies arrays to where they lie one behind the other, while this thread does other things; where somebody can. */
  readonly join: ((from: readonly ArrayBufferView[], to: ArrayBufferView) => Promise<void>) | undefined;
  segmentedSort(
    keys: KeyArray,
    offsets: Uint32Array,
    options: SortOptions & OwnOutput<KeyArray>,
  ): Promise<KeyArray>;
  segmentedArgsort(
    keys: KeyArray,
    offsets: Uint32Array,
    options: SegmentedArgsortOptions & OwnOutput<Uint32Array>,
  ): Promise<Uint32Array>;
}

/** Arrays as they would lie one behind the other. */
interface ArrayLayout {
  readonly arrays: readonly KeyArray[];
  readonly first: KeyArray;
  readonly info: DtypeInfo;
  /** In keys: where each array begins, and at last where they end. */
  readonly offsets: Uint32Array;
  /** Elements of the arrays that make a key. */
  readonly perKey: number;
}

/** See `SorterOperations.sortMany`. */
export async function sortMany<K extends KeyArray>(
  sorter: SegmentSorter,
  arrays: readonly K[],
  options: SortOptions = {},
): Promise<K[]> {
  const layout = await measureLayout(arrays, options);
  if (!layout) return [];
  const { first, offsets, perKey } = layout;
  return sortInParts(layout, options, sorter, () => {
    const sorted = emptyLike(first as K, (offsets.at(-1) as number) * perKey, sorter.memory);
    return {
      sort: (keys, begins, start, end) => {
        const into = sorted.subarray(start * perKey, end * perKey);
        return sorter.segmentedSort(keys, begins, { ...options, into });
      },
      views: () => viewsOf(sorted, offsets, perKey),
    };
  });
}

/** See `SorterOperations.argsortMany`. */
export async function argsortMany(
  sorter: SegmentSorter,
  arrays: readonly KeyArray[],
  options: SortOptions = {},
): Promise<Uint32Array[]> {
  const layout = await measureLayout(arrays, options);
  if (!layout) return [];
  const { offsets } = layout;
  return sortInParts(layout, options, sorter, () => {
    const positions = newArray('u32', offsets.at(-1) as number, sorter.memory);
    return {
      sort: (keys, begins, start, end) => {
        const into = positions.subarray(start, end);
        return sorter.segmentedArgsort(keys, begins, { ...options, positions: 'segment', into });
      },
      views: () => viewsOf(positions, offsets, 1),
    };
  });
}

/** Views of an array, one for each segment. */
function viewsOf<A extends KeyArray>(all: A, offsets: Uint32Array, perKey: number): A[] {
  const views: A[] = new Array(offsets.length - 1);
  // `subarray` takes five times as long as to make a view; of a Buffer only it makes a Buffer.
  const { buffer, byteOffset, BYTES_PER_ELEMENT: bytes } = all;
  const View = all.constructor as new (buffer: ArrayBufferLike, byteOffset: number, length: number) => A;
  const isBuffer = Buffer.isBuffer(all);
  for (let i = 0; i < views.length; i++) {
    const [begin, end] = [(offsets[i] as number) * perKey, (offsets[i + 1] as number) * perKey];
    const view = isBuffer
      ? all.subarray(begin, end)
      : new View(buffer, byteOffset + begin * bytes, end - begin);
    views[i] = view as A;
  }
  return views;
}

/**
 * Looks at all arrays, and copies nothing.
 *
 * @returns undefined when there are none
 * @throws UsageError, DtypeError, InputError, AbortedError, UnsupportedError
 */
async function measureLayout(
  arrays: readonly KeyArray[],
  options: SortOptions,
): Promise<ArrayLayout | undefined> {
  const { signal, dtype } = parse(options);
  if (!Array.isArray(arrays)) throw new InputError('expected an array of typed arrays, each to be sorted');
  if (arrays.length === 0) return undefined;
  const given = [...arrays] as const; // a caller who changes the list meanwhile changes nothing here
  const first = given[0] as KeyArray;
  dtypeOf(first, 'array 0 is'); // refused by that name
  const { info } = keyColumn(first, dtype);
  const offsets = new Uint32Array(given.length + 1);
  await runYielding(measureSteps(given, info, offsets), signal);
  return { arrays: given, first, info, offsets, perKey: info.bytes / first.BYTES_PER_ELEMENT };
}

/** Tells where each array begins among all. */
function* measureSteps(arrays: readonly KeyArray[], { bytes }: DtypeInfo, offsets: Uint32Array): Steps {
  const own = dtypeOf(arrays[0]);
  const like = Object.getPrototypeOf(arrays[0]);
  let total = 0;
  for (const [i, array] of arrays.entries()) {
    // Most are made alike, which takes less to see than what they are of.
    const dtype =
      ArrayBuffer.isView(array) && Object.getPrototypeOf(array) === like
        ? own
        : dtypeOf(array, `array ${i} is`);
    if (dtype !== own) {
      throw new DtypeError(`array 0 is of ${own} and array ${i} of ${dtype}: expected arrays of one dtype`);
    }
    if (array.byteLength === 0) assertAttached(array, `array ${i}`); // detached ones look empty
    const n = array.byteLength / bytes;
    if (!Number.isInteger(n)) {
      throw new InputError(`array ${i} has ${array.byteLength} bytes, which are no whole number of keys`);
    }
    total += n;
    assertIndexable(total);
    offsets[i + 1] = total;
    if (i % STEP_ARRAYS === STEP_ARRAYS - 1) yield;
  }
}

/** Arrays that are sorted together. */
interface Part {
  readonly begin: number;
  readonly end: number;
  /** In keys of the part: where each array begins, and at last where they end. */
  readonly offsets: Uint32Array;
}

/** Cuts arrays into so many parts, which have about as many keys each; into fewer where arrays are longer than that. */
function partsOf(offsets: Uint32Array, count: number): Part[] {
  const parts: Part[] = [];
  const all = offsets.at(-1) as number;
  for (let begin = 0, end = 0, part = 1; begin + 1 < offsets.length; begin = end) {
    const start = offsets[begin] as number;
    while (part < count && start >= (all * part) / count) part++;
    end = begin + 1;
    while (end + 1 < offsets.length && (part === count || (offsets[end] as number) < (all * part) / count))
      end++;
    const own = offsets.slice(begin, end + 1);
    for (let i = 0; i < own.length; i++) own[i] = (own[i] as number) - start;
    parts.push({ begin, end, offsets: own });
  }
  return parts;
}

/** Parts that are under way. */
class PendingParts {
  readonly #all: Promise<void>[] = [];

  get length(): number {
    return this.#all.length;
  }

  add(part: Promise<void>): void {
    part.catch(() => undefined); // told when it is awaited
    this.#all.push(part);
  }

  /** Waits for the first of them. */
  async settleFirst(): Promise<void> {
    await this.#all.shift();
  }

  /** Waits for all, also where one of them fails: who is told of that may do anything with the memory. */
  async settleAll(): Promise<void> {
    const ends = await Promise.allSettled(this.#all);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }
}

/** Memory for results, and what is made there. */
interface OutputMemory<A> {
  /** Sorts a part, whose keys are those from `start` to `end` among all. */
  sort(keys: KeyArray, offsets: Uint32Array, start: number, end: number): Promise<unknown>;
  views(): A[];
}

/**
 * Sorts arrays part by part; what is to be told of the call as a whole is told of one part.
 *
 * The memory for results is made after all other memory of V8's: V8 collects young objects when such memory is asked for while young
 * objects hold tens of megabytes. It would find the memory in use, each time, and hand it on to the old objects, which take
 * it much longer to collect. The memory of the call before is given back by a thread of V8's, a moment after it was collected.
 */
async function sortInParts<A>(
  layout: ArrayLayout,
  options: SortOptions,
  { memory, pool, join }: SegmentSorter,
  createResults: () => OutputMemory<A>,
): Promise<A[]> {
  const { offsets, info, first, perKey } = layout;
  const { onReport, onProgress, timeout, signal } = options;
  const isWhole = onReport !== undefined || onProgress !== undefined || timeout !== undefined;
  const all = (offsets.at(-1) as number) * info.bytes;
  const parts = partsOf(offsets, isWhole ? 1 : Math.max(1, Math.ceil(all / PART_BYTES)));
  let results: OutputMemory<A> | undefined;
  const pending = new PendingParts();
  try {
    for (const part of parts) {
      if (pending.length >= MAX_CONCURRENT_PARTS) await pending.settleFirst();
      throwIfAborted(signal);
      const elements = (part.offsets.at(-1) as number) * perKey;
      const bytes = elements * first.BYTES_PER_ELEMENT;
      const buffer = bytes >= MIN_POOLED_BYTES && bytes <= pool.bytes ? pool.take(memory) : undefined;
      const keys = emptyLike(first, elements, buffer ? () => buffer : memory).subarray(0, elements);
      const joined = await runYielding(copySteps(layout, keys, part, join), signal);
      results ??= createResults();
      const into = results;
      const sort = async () => {
        await Promise.all(joined);
        const [start, end] = [offsets[part.begin] as number, offsets[part.end] as number];
        await into.sort(keys, part.offsets, start, end);
        if (buffer) pool.give(buffer);
      };
      pending.add(sort());
    }
    const views = results?.views() ?? []; // while the last parts are sorted
    await pending.settleAll();
    return views;
  } catch (error) {
    await pending.settleAll().catch(() => undefined);
    throw error;
  }
}

/**
 * Copies arrays one behind the other.
 *
 * @returns what others copy meanwhile
 * @throws InputError when one is no longer as long as it was
 */
function* copySteps(
  { arrays, offsets, perKey }: ArrayLayout,
  to: KeyArray,
  { begin, end }: Part,
  join: SegmentSorter['join'],
): Steps<Promise<void>[]> {
  const at = (i: number): number => ((offsets[i] as number) - (offsets[begin] as number)) * perKey;
  const joined: Promise<void>[] = [];
  for (let i = begin; i < end; i += STEP_ARRAYS) {
    const stop = Math.min(end, i + STEP_ARRAYS);
    const some = arrays.slice(i, stop);
    for (const [j, { length }] of some.entries()) {
      if (length === at(i + j + 1) - at(i + j)) continue;
      throw new InputError(
        `array ${i + j} has changed its length, or was transferred, while arrays were read`,
      );
    }
    const target = to.subarray(at(i), at(stop));
    if (join && target.byteLength >= some.length * MIN_THREADED_BYTES) {
      const copied = join(some, target);
      copied.catch(() => undefined); // told when it is awaited
      joined.push(copied);
    } else yield* concatenateSteps(some, target);
    yield;
  }
  return joined;
}

/** Copies arrays one behind the other, by this thread. */
function* concatenateSteps(arrays: readonly KeyArray[], to: KeyArray): Steps {
  let at = 0;
  let bytesSinceYield = 0;
  for (const array of arrays) {
    // All are of one type, which the compiler cannot know.
    to.set(array as never, at);
    at += array.length;
    bytesSinceYield += array.byteLength;
    if (bytesSinceYield < STEP_BYTES) continue;
    bytesSinceYield = 0;
    yield;
  }
}
