import { newArray } from '../../keys/array.js';
import type { Dtype } from '../../keys/dtype.js';
import { InputError } from '../../util/errors.js';
import { formatValue } from '../../util/format-value.js';
import { type Column, column, isOnDevice, type Place, type Values } from '../backend/column.js';
import type { Call } from '../calls/call.js';
import { assertOffsets } from '../host/host-segments.js';
import { intoAll } from './column-primitives.js';
import { RowOffsets } from './row-offsets.js';

/** Where segments begin, and at last where the last one ends; or how many keys every segment has. */
export type Offsets = Uint32Array | readonly number[] | number;

/** Where segments begin, as a column, and what is known of their lengths. */
export interface SegmentColumn {
  /** u32 */
  readonly offsets: Column;
  /** No segment has more keys; left out where nobody knows. */
  readonly longest?: number;
  /** Every segment has as many. */
  readonly isRows?: boolean;
}

/** Up to so many offsets are looked at here; of more, who sorts finds what is wrong with them. */
const MAX_CHECKED_OFFSETS = 2 ** 16;
/**
 * The same where segments have so many keys on average: tiles that are no larger than the longest one spare the device more
 * than the look takes.
 */
const LONG_SEGMENT_LIMITS = { most: 2 ** 20, keysEach: 64 };

/**
 * Offsets of segments of n elements, as they are now.
 *
 * @param isOwn they do not change any more, so that words need not be copied
 * @throws InputError when they do not begin with 0, rise and end with n, as far as that is looked at here
 */
export function segmentColumn(offsets: Offsets, n: number, isOwn = false): SegmentColumn {
  if (typeof offsets === 'number') return rowsOf(offsets, n);
  if (!Array.isArray(offsets) && !(ArrayBuffer.isView(offsets) && 'length' in offsets)) {
    throw new InputError(
      `offsets are ${formatValue(offsets)}: expected a Uint32Array or a list of where each segment begins, and at last ${n}, ` +
        'or the number of keys that every segment has',
    );
  }
  const isTyped = offsets instanceof Uint32Array;
  const { most: maxOffsets, keysEach: minKeysEach } = LONG_SEGMENT_LIMITS;
  const maxChecked = n >= minKeysEach * offsets.length ? maxOffsets : MAX_CHECKED_OFFSETS;
  if (isTyped && offsets.length > maxChecked) {
    return { offsets: column('u32', offsets.length, isOwn ? offsets : offsets.slice()) };
  }
  if (!isTyped) assertOffsets(offsets, n); // words would be other numbers than these
  const words = isTyped && isOwn ? offsets : Uint32Array.from(offsets);
  let longest = 0;
  let isValid = words[0] === 0 && words[words.length - 1] === n;
  for (let i = 1; i < words.length; i++) {
    const length = (words[i] as number) - (words[i - 1] as number);
    if (length > longest) longest = length;
    else if (length < 0) isValid = false;
  }
  if (!isValid) assertOffsets(words, n);
  // All are as long as the longest then: rows, of which the device needs to be told nothing else.
  if (n > 0 && longest * (words.length - 1) === n) return rowsOf(longest, n, words);
  return { offsets: column('u32', words.length, words), longest };
}

/** @throws InputError when n keys are no rows of so many */
function rowsOf(rowLength: number, n: number, words?: Uint32Array): SegmentColumn {
  if (!Number.isSafeInteger(rowLength) || rowLength < 1 || n % rowLength !== 0) {
    throw new InputError(
      `offsets are ${rowLength}, as the keys of each segment: expected a whole number from 1 on that divides the ${n} keys`,
    );
  }
  return { offsets: new RowOffsets(n / rowLength, rowLength, words), longest: rowLength, isRows: true };
}

/** A sort of segments, as an operation of its own. */
export interface SegmentedJob extends SegmentColumn {
  readonly keys: Column;
  /** The positions that are made are counted from the beginning of each segment. */
  readonly fromSegment?: boolean;
  /** Where sorted keys go; left out when only values or positions are wanted. */
  readonly sorted?: Place;
  /** What travels along, of 1, 2, 4 or 8 bytes; without it, positions do. */
  readonly values?: Values;
  readonly moved?: Place;
}

/**
 * Sorts the keys of each segment by itself, all at once: by an algorithm for segments, or, where there is none that can be
 * used, by sorts of all keys.
 */
export async function segmentedSort(call: Call, job: SegmentedJob): Promise<void> {
  const { keys, offsets, longest, isRows, fromSegment, ...to } = job;
  const { algorithm } = call.settings;
  const known = longest !== undefined; // the offsets have been looked at
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

/** Algorithms that sort segments. The registry, which knows as much, brings all others along, also where the host sorts. */
export const SEGMENT_ALGORITHMS: ReadonlySet<string> = new Set(['auto', 'host', 'segmented']);

/** Offsets in host memory, wherever they are. */
async function offsetsOnHost(call: Call, offsets: Column): Promise<Uint32Array> {
  if (!isOnDevice(offsets.place)) return offsets.place as Uint32Array;
  const copy = column('u32', offsets.n, newArray('u32', offsets.n));
  await call.copy(offsets, copy);
  await call.settle();
  return copy.place as Uint32Array;
}

/** Dtypes by their bytes, for what is moved only. */
const WORDS: Readonly<Record<number, Dtype>> = { 1: 'u8', 2: 'u16', 4: 'u32', 8: 'u64' };

/**
 * Sorts by key, with the number of the segment as a value, then stably by that number, on as many bits as it takes. So
 * the cost depends on the keys and hardly on the segments, be they millions of tiny ones or few huge ones.
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
