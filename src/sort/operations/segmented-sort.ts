import { newArray } from '../../keys/array.js';
import type { Dtype } from '../../keys/dtype.js';
import { InputError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import type { Call } from '../calls/call.js';
import { ascendingOffsets, assertOffsets } from '../host/host-segments.js';
import { type Column, column, isOnDevice, type Place, type Values } from '../model/column.js';
import { intoAll } from './column-primitives.js';
import { RowOffsets } from './row-offsets.js';

/** Start of each segment, then the end of the last one; or the number of keys of every segment. */
export type Offsets = Uint32Array | readonly number[] | number;

/** Segment offsets as a column, and known facts about the segment lengths. */
export interface SegmentColumn {
  /** u32 */
  readonly offsets: Column;
  /** Upper bound of the segment lengths; missing if unknown. */
  readonly longest?: number;
  /** Whether all segments have the same length. */
  readonly isRows?: boolean;
}

/** Maximum number of offsets that are checked here; the sort checks longer lists. */
const MAX_CHECKED_OFFSETS = 2 ** 16;
/**
 * The limit for segments of at least `keysEach` keys on average: the device saves more by tiles that fit the longest
 * segment than the check costs.
 */
const LONG_SEGMENT_LIMITS = { maxOffsets: 2 ** 20, minKeysEach: 64 };

/**
 * Returns the offsets of segments of n elements as a column, with their current contents.
 *
 * @param isOwn whether no other code changes the offsets, so that words need no copy; default false
 * @throws InputError when the checked offsets do not start with 0, ascend and end with n
 */
export function segmentColumn(offsets: Offsets, n: number, isOwn = false): SegmentColumn {
  if (typeof offsets === 'number') return rowsOf(offsets, n);
  if (!Array.isArray(offsets) && !(ArrayBuffer.isView(offsets) && 'length' in offsets)) {
    const expected = `${ascendingOffsets(n)}, in a Uint32Array or a list, or the number of keys of each segment`;
    throw invalidArgument('offsets', expected, offsets, { type: InputError });
  }
  const isTyped = offsets instanceof Uint32Array;
  const { maxOffsets, minKeysEach } = LONG_SEGMENT_LIMITS;
  const maxChecked = n >= minKeysEach * offsets.length ? maxOffsets : MAX_CHECKED_OFFSETS;
  if (isTyped && offsets.length > maxChecked) {
    return { offsets: column('u32', offsets.length, isOwn ? offsets : offsets.slice()) };
  }
  if (!isTyped) assertOffsets(offsets, n); // conversion to words would change wrong values
  const words = isTyped && isOwn ? offsets : Uint32Array.from(offsets);
  let longest = 0;
  let isValid = words[0] === 0 && words[words.length - 1] === n;
  for (let i = 1; i < words.length; i++) {
    const length = (words[i] as number) - (words[i - 1] as number);
    if (length > longest) longest = length;
    else if (length < 0) isValid = false;
  }
  if (!isValid) assertOffsets(words, n);
  // All segments are as long as the longest one: these are rows, and the device needs no offsets.
  if (n > 0 && longest * (words.length - 1) === n) return rowsOf(longest, n, words);
  return { offsets: column('u32', words.length, words), longest };
}

/**
 * Returns the offsets of rows of equal length.
 *
 * @throws InputError when `rowLength` is not a whole number that divides n
 */
function rowsOf(rowLength: number, n: number, words?: Uint32Array): SegmentColumn {
  if (!Number.isSafeInteger(rowLength) || rowLength < 1 || n % rowLength !== 0) {
    const expected = `a positive whole number that divides the number of keys (${n})`;
    throw invalidArgument('offsets', expected, rowLength, { type: InputError });
  }
  return { offsets: new RowOffsets(n / rowLength, rowLength, words), longest: rowLength, isRows: true };
}

/** A segmented sort as an operation. */
export interface SegmentedJob extends SegmentColumn {
  readonly keys: Column;
  /** Whether the computed positions are counted from the start of each segment. */
  readonly fromSegment?: boolean;
  /** Destination of the sorted keys; missing if only values or positions are wanted. */
  readonly sorted?: Place;
  /** Values of 1, 2, 4 or 8 bytes that move with the keys; without them, positions move. */
  readonly values?: Values;
  readonly moved?: Place;
}

/**
 * Sorts the keys of each segment separately, all at once. If no algorithm for segments is usable, it sorts all keys and
 * then sorts them by segment.
 */
export async function segmentedSort(call: Call, job: SegmentedJob): Promise<void> {
  const { keys, offsets, longest, isRows, fromSegment, ...to } = job;
  const { algorithm } = call.settings;
  const known = longest !== undefined; // the offsets have been checked
  if (known && offsets.n === 2 && algorithm !== 'segmented') return call.sort({ keys, ...to });
  const segments = {
    offsets,
    ...(known && { longest }),
    ...(isRows && { isRows }),
    ...(fromSegment && { fromSegment }),
  };
  const sort = { keys, ...to, segments };
  if (SEGMENT_ALGORITHMS.has(algorithm) && keys.n > 0 && (await call.canSort(sort))) return call.sort(sort);
  if (!known) assertOffsets(await offsetsOnHost(call, offsets), keys.n);
  if (keys.n > 0) await sortBySegmentNumber(call, job);
}

/**
 * Algorithms that sort segments. The registry has the same information, but imports all algorithms, even on the host.
 */
export const SEGMENT_ALGORITHMS: ReadonlySet<string> = new Set(['auto', 'host', 'segmented']);

/** Returns the offsets in host memory, copied from the device if necessary. */
async function offsetsOnHost(call: Call, offsets: Column): Promise<Uint32Array> {
  if (!isOnDevice(offsets.place)) return offsets.place as Uint32Array;
  const copy = column('u32', offsets.n, newArray('u32', offsets.n));
  await call.copy(offsets, copy);
  await call.settle();
  return copy.place as Uint32Array;
}

/** Dtype for each element size, for moves only. */
const WORDS: Readonly<Record<number, Dtype>> = { 1: 'u8', 2: 'u16', 4: 'u32', 8: 'u64' };

/**
 * Sorts by key with the segment number as the value, then stably by the required bits of that number. The cost depends
 * on the number of keys and hardly on the segments, be they millions of tiny ones or a few long ones.
 */
async function sortBySegmentNumber(call: Call, job: SegmentedJob): Promise<void> {
  const { keys, fromSegment, sorted, values, moved } = job;
  const { n, dtype, info } = keys;
  const { columns } = call;
  const { kernels } = columns;
  const { bits: _, ...whole } = call.settings;
  const segmentNumberSettings = (segments: number) => ({
    ...whole,
    descending: false,
    bits: [0, 32 - Math.clz32(segments - 1)] as const,
  });
  const offsets = await call.bindInput(job.offsets);
  const segments = offsets.n - 1;
  const ids = columns.temporary('u32', n);
  await kernels.segmentIds(offsets, ids);
  const input = await call.bindInput(keys);
  const idsByKey = columns.temporary('u32', n);
  if (!moved) {
    if (!sorted) return;
    const byKey = columns.temporary(dtype, n);
    await call.sort({
      keys: input,
      sorted: byKey.place,
      values: { place: ids.place, bytes: 4 },
      moved: idsByKey.place,
    });
    return call.sort({
      keys: idsByKey,
      settings: segmentNumberSettings(segments),
      values: { place: byKey.place, bytes: info.bytes },
      moved: sorted,
    });
  }
  const byKey = columns.temporary('u32', n);
  await call.sort({ keys: input, moved: byKey.place });
  await kernels.gather(ids, byKey, idsByKey);
  const [order, idsInOrder] = [columns.temporary('u32', n), columns.temporary('u32', n)];
  await call.sort({
    keys: idsByKey,
    settings: segmentNumberSettings(segments),
    sorted: idsInOrder.place,
    values: { place: byKey.place, bytes: 4 },
    moved: order.place,
  });
  const carriedValues = values && column(WORDS[values.bytes] ?? 'u32', n, values.place);
  const from = [...(sorted ? [input] : []), ...(carriedValues ? [await call.bindInput(carriedValues)] : [])];
  const to = [
    ...(sorted ? [column(dtype, n, sorted)] : []),
    ...(carriedValues ? [{ ...carriedValues, place: moved }] : []),
  ];
  await intoAll(call, to, async (out) => {
    if (out.length > 0) await kernels.gatherRows(from, order, out);
  });
  if (carriedValues) return;
  if (fromSegment) await kernels.subtractBegins(order, idsInOrder, offsets);
  await call.copy(order, column('u32', n, moved));
}
