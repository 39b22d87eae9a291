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
import { inTurns, type Steps } from '../host/steps.js';
import { assertIndexable, parse } from './arguments.js';
import type { Into, SortOptions } from './options.js';
import type { SegmentedArgsortOptions } from './segment-operations.js';

/** Bytes that are copied in one step, arrays that are looked at: either takes a millisecond or so. */
const STEP_BYTES = 2 ** 21;
const STEP_ARRAYS = 2 ** 12;

/** Bytes of a part: while one is sorted, the next one is copied. */
const PART_BYTES = 2 ** 23;
/** Parts that are under way at a time, each in memory that a later one gets. */
const PARTS_AT_A_TIME = 2;

/** Who sorts the segments of one array. */
interface Segmented {
  /** Where large arrays come from, of which every byte is written before anybody sees it. */
  readonly memory: MemorySource | undefined;
  segmentedSort(
    keys: KeyArray,
    offsets: Uint32Array,
    options: SortOptions & Into<KeyArray>,
  ): Promise<KeyArray>;
  segmentedArgsort(
    keys: KeyArray,
    offsets: Uint32Array,
    options: SegmentedArgsortOptions & Into<Uint32Array>,
  ): Promise<Uint32Array>;
}

/** Arrays as they would lie one behind the other. */
interface Measured {
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
  sorter: Segmented,
  arrays: readonly K[],
  options: SortOptions = {},
): Promise<K[]> {
  const measured = await measure(arrays, options);
  if (!measured) return [];
  const { first, offsets, perKey } = measured;
  const sorted = emptyLike(first, (offsets.at(-1) as number) * perKey, sorter.memory);
  await inParts(measured, options, sorter.memory, (keys, begins, { start, end }) =>
    sorter.segmentedSort(keys, begins, { ...options, into: sorted.subarray(start * perKey, end * perKey) }),
  );
  return cut(sorted as K, offsets, perKey);
}

/** See `SorterOperations.argsortMany`. */
export async function argsortMany(
  sorter: Segmented,
  arrays: readonly KeyArray[],
  options: SortOptions = {},
): Promise<Uint32Array[]> {
  const measured = await measure(arrays, options);
  if (!measured) return [];
  const { offsets } = measured;
  const positions = newArray('u32', offsets.at(-1) as number, sorter.memory);
  await inParts(measured, options, sorter.memory, (keys, begins, { start, end }) => {
    const into = positions.subarray(start, end);
    return sorter.segmentedArgsort(keys, begins, { ...options, positions: 'segment', into });
  });
  return cut(positions, offsets, 1);
}

/** Views of an array, one for each segment. */
function cut<A extends KeyArray>(all: A, offsets: Uint32Array, perKey: number): A[] {
  const views: A[] = new Array(offsets.length - 1);
  for (let i = 0; i < views.length; i++) {
    views[i] = all.subarray((offsets[i] as number) * perKey, (offsets[i + 1] as number) * perKey) as A;
  }
  return views;
}

/**
 * Looks at all arrays, and copies nothing.
 *
 * @returns undefined when there are none
 * @throws UsageError, DtypeError, InputError, AbortedError, UnsupportedError
 */
async function measure(arrays: readonly KeyArray[], options: SortOptions): Promise<Measured | undefined> {
  const { signal, dtype } = parse(options);
  if (!Array.isArray(arrays)) throw new InputError('expected an array of typed arrays, each to be sorted');
  if (arrays.length === 0) return undefined;
  const given = [...arrays] as const; // a caller who changes the list meanwhile changes nothing here
  const first = given[0] as KeyArray;
  const { info } = keyColumn(first, dtype);
  const offsets = new Uint32Array(given.length + 1);
  await inTurns(measureSteps(given, info, offsets), signal);
  return { arrays: given, first, info, offsets, perKey: info.bytes / first.BYTES_PER_ELEMENT };
}

/** Tells where each array begins among all. */
function* measureSteps(arrays: readonly KeyArray[], { bytes }: DtypeInfo, offsets: Uint32Array): Steps {
  const own = dtypeOf(arrays[0]);
  let total = 0;
  for (const [i, array] of arrays.entries()) {
    const dtype = dtypeOf(array);
    if (dtype !== own) {
      throw new DtypeError(`array 0 is of ${own} and array ${i} of ${dtype}: expected arrays of one dtype`);
    }
    assertAttached(array, `array ${i}`);
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

/** Keys of a part, among all. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** Sorts arrays part by part; what is to be told of the call as a whole is told of one part. */
async function inParts(
  measured: Measured,
  options: SortOptions,
  from: MemorySource | undefined,
  sortPart: (keys: KeyArray, offsets: Uint32Array, span: Span) => Promise<unknown>,
): Promise<void> {
  const { offsets, info, first, perKey } = measured;
  const { onReport, onProgress, timeout, signal } = options;
  const isWhole = onReport !== undefined || onProgress !== undefined || timeout !== undefined;
  const most = isWhole ? Number.POSITIVE_INFINITY : PART_BYTES / info.bytes;
  const underWay: { readonly memory: KeyArray; readonly done: Promise<unknown> }[] = [];
  try {
    for (let begin = 0; begin + 1 < offsets.length; ) {
      let end = begin + 1;
      const start = offsets[begin] as number;
      while (end + 1 < offsets.length && (offsets[end + 1] as number) - start <= most) end++;
      const span = { start, end: offsets[end] as number };
      const begins = offsets.slice(begin, end + 1).map((offset) => offset - start);
      const elements = (span.end - start) * perKey;
      const before = underWay.length >= PARTS_AT_A_TIME ? underWay.shift() : undefined;
      await before?.done;
      const isEnough = before !== undefined && before.memory.length >= elements;
      const memory = isEnough ? before.memory : emptyLike(first, elements, from);
      const keys = memory.subarray(0, elements);
      await inTurns(copySteps(measured, keys, begin, end), signal);
      const done = sortPart(keys, begins, span);
      done.catch(() => undefined); // told when it is awaited
      underWay.push({ memory, done });
      begin = end;
    }
    for (const { done } of underWay) await done;
  } catch (error) {
    await Promise.allSettled(underWay.map(({ done }) => done));
    throw error;
  }
}

/** Copies arrays one behind the other. @throws InputError when one is no longer as long as it was */
function* copySteps({ arrays, offsets, perKey }: Measured, to: KeyArray, begin: number, end: number): Steps {
  const start = offsets[begin] as number;
  let since = 0;
  for (let i = begin; i < end; i++) {
    const array = arrays[i] as KeyArray;
    const at = ((offsets[i] as number) - start) * perKey;
    if (array.length !== ((offsets[i + 1] as number) - (offsets[i] as number)) * perKey) {
      throw new InputError(`array ${i} has changed its length, or was transferred, while arrays were read`);
    }
    // All are of one type, which the compiler cannot know.
    to.set(array as never, at);
    since += array.byteLength + STEP_BYTES / STEP_ARRAYS;
    if (since >= STEP_BYTES) {
      since = 0;
      yield;
    }
  }
}
