import { newArray } from '../../../keys/array.js';
import type { Dtype } from '../../../keys/dtype.js';
import type { Call, Sort } from '../../calls/call.js';
import { assertOffsets } from '../../host/host-segments.js';
import { type Column, column, isOnDevice, type Place, type Values } from '../../model/column.js';
import { bindOutputs } from '../bind-columns.js';
import type { SegmentColumn } from './segment-column.js';

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
export async function enqueueSegmentedSort(call: Call, job: SegmentedJob): Promise<void> {
  const { keys, offsets, longest } = job;
  const { algorithm } = call.settings;
  const sort = segmentedSortOf(call, job);
  if (!sort.segments) return call.sort(sort);
  if (SEGMENT_ALGORITHMS.has(algorithm) && keys.n > 0 && (await call.canSort(sort))) return call.sort(sort);
  if (longest === undefined) assertOffsets(await offsetsOnHost(call, offsets), keys.n);
  if (keys.n > 0) await sortBySegmentNumber(call, job);
}

/** Returns the sort of all segments at once; the only segment needs none. */
export function segmentedSortOf(
  call: Call,
  { keys, offsets, longest, isRows, fromSegment, ...to }: SegmentedJob,
): Sort {
  const known = longest !== undefined; // the offsets have been checked
  if (known && offsets.n === 2 && call.settings.algorithm !== 'segmented') return { keys, ...to };
  const segments = {
    offsets,
    ...(known && { longest }),
    ...(isRows && { isRows }),
    ...(fromSegment && { fromSegment }),
  };
  return { keys, ...to, segments };
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
  await kernels.segmentIds(column('u32', segments, offsets.place), ids);
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
  await bindOutputs(call, to, async (out) => {
    if (out.length > 0) await kernels.gatherRows(from, order, out);
  });
  if (carriedValues) return;
  if (fromSegment) await kernels.subtractBegins(order, idsInOrder, offsets);
  await call.copy(order, column('u32', n, moved));
}
