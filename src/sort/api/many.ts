/** Many arrays of the host, each sorted by itself and all in one go, as segments of one array. */
import { assertAttached, dtypeOf, emptyLike, keyColumn } from '../../keys/array.js';
import type { DtypeInfo, KeyArray } from '../../keys/dtype.js';
import { DtypeError, InputError } from '../../util/errors.js';
import { inTurns, type Steps } from '../host/steps.js';
import { assertIndexable, parse } from './arguments.js';
import { type SortOptions, throwIfAborted } from './options.js';
import type { SegmentedArgsortOptions } from './segment-operations.js';

/** Bytes that are copied in one step, arrays that are looked at: either takes a millisecond or so. */
const STEP_BYTES = 2 ** 21;
const STEP_ARRAYS = 2 ** 12;

/** Who sorts the segments of one array. */
interface Segmented {
  segmentedSort(keys: KeyArray, offsets: Uint32Array, options?: SortOptions): Promise<KeyArray>;
  segmentedArgsort(
    keys: KeyArray,
    offsets: Uint32Array,
    options?: SegmentedArgsortOptions,
  ): Promise<Uint32Array>;
}

/** Arrays that lie one behind the other in one. */
interface Packed {
  readonly keys: KeyArray;
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
  const packed = await pack(arrays, options);
  if (!packed) return [];
  const sorted = await sorter.segmentedSort(packed.keys, packed.offsets, options);
  return cut(sorted as K, packed);
}

/** See `SorterOperations.argsortMany`. */
export async function argsortMany(
  sorter: Segmented,
  arrays: readonly KeyArray[],
  options: SortOptions = {},
): Promise<Uint32Array[]> {
  const packed = await pack(arrays, options);
  if (!packed) return [];
  const { keys, offsets } = packed;
  const positions = await sorter.segmentedArgsort(keys, offsets, { ...options, positions: 'segment' });
  return cut(positions, { offsets, perKey: 1 });
}

/** Views of an array, one for each segment. */
function cut<A extends KeyArray>(all: A, { offsets, perKey }: Pick<Packed, 'offsets' | 'perKey'>): A[] {
  const views: A[] = new Array(offsets.length - 1);
  for (let i = 0; i < views.length; i++) {
    views[i] = all.subarray((offsets[i] as number) * perKey, (offsets[i + 1] as number) * perKey) as A;
  }
  return views;
}

/**
 * Copies arrays into one.
 *
 * @returns undefined when there are none
 * @throws UsageError, DtypeError, InputError, AbortedError, UnsupportedError
 */
async function pack(arrays: readonly KeyArray[], options: SortOptions): Promise<Packed | undefined> {
  const { signal, dtype } = parse(options);
  throwIfAborted(signal);
  if (!Array.isArray(arrays)) throw new InputError('expected an array of typed arrays, each to be sorted');
  const [first] = arrays;
  if (first === undefined && arrays.length === 0) return undefined;
  const { info } = keyColumn(first as KeyArray, dtype);
  const offsets = new Uint32Array(arrays.length + 1);
  const inTotal = await inTurns(measure(arrays, info, offsets), signal);
  const keys = emptyLike(first as KeyArray, (inTotal * info.bytes) / (first as KeyArray).BYTES_PER_ELEMENT);
  await inTurns(copy(arrays, keys, offsets, info), signal);
  return { keys, offsets, perKey: info.bytes / keys.BYTES_PER_ELEMENT };
}

/** Looks at each array, and where it begins among all. @returns keys in all */
function* measure(arrays: readonly KeyArray[], { bytes }: DtypeInfo, offsets: Uint32Array): Steps<number> {
  const own = dtypeOf(arrays[0]);
  let total = 0;
  for (const [i, array] of arrays.entries()) {
    const dtype = dtypeOf(array);
    if (dtype !== own) {
      throw new DtypeError(`array 0 is of ${own} and array ${i} of ${dtype}: expected arrays of one dtype`);
    }
    const n = array.byteLength / bytes;
    if (!Number.isInteger(n)) {
      throw new InputError(`array ${i} has ${array.byteLength} bytes, which are no whole number of keys`);
    }
    assertAttached(array, `array ${i}`);
    total += n;
    assertIndexable(total);
    offsets[i + 1] = total;
    if (i % STEP_ARRAYS === STEP_ARRAYS - 1) yield;
  }
  return total;
}

/** @throws InputError when an array is no longer as long as it was */
function* copy(
  arrays: readonly KeyArray[],
  keys: KeyArray,
  offsets: Uint32Array,
  { bytes: unit }: DtypeInfo,
): Steps {
  const perKey = unit / keys.BYTES_PER_ELEMENT;
  let since = 0;
  for (const [i, array] of arrays.entries()) {
    const [begin, end] = [offsets[i] as number, offsets[i + 1] as number];
    if (array.byteLength !== (end - begin) * unit) {
      throw new InputError(`array ${i} has changed its length, or was transferred, while arrays were read`);
    }
    // All are of one type, which the compiler cannot know.
    keys.set(array as never, begin * perKey);
    since += array.byteLength + STEP_BYTES / STEP_ARRAYS;
    if (since >= STEP_BYTES) {
      since = 0;
      yield;
    }
  }
}
