import { keyCodec } from '../../keys/key-codec.js';
import { bitWindow } from '../api/options.js';
import type { Column } from '../backend/column.js';
import type { Call } from '../calls/call.js';
import { type SegmentColumn, segmentedSort } from './segmented-sort.js';

/**
 * The first keys of each segment in order, at most k of each, and where they stood.
 *
 * @param make makes the columns of the results, once their length is known; positions and offsets are u32
 */
export async function topSegments<
  R extends { readonly keys: Column; readonly positions: Column; readonly offsets: Column },
>(
  call: Call,
  keys: Column,
  segments: SegmentColumn & { readonly k: number; readonly fromSegment: boolean },
  make: (total: number) => R,
): Promise<R> {
  const { n } = keys;
  const { columns } = call;
  const { steps } = columns;
  const { k, fromSegment, ...where } = segments;
  const order = columns.temporary('u32', n);
  if (n > 0) await segmentedSort(call, { keys, ...where, moved: order.place });
  const offsets = await call.bring(where.offsets);
  const counts = columns.temporary('u32', offsets.n);
  await steps.topCounts(offsets, k, counts);
  const begins = columns.temporary('u32', offsets.n);
  await steps.scan(counts, begins, 'sum', false);
  const sum = await steps.reduce(counts, 'sum');
  await call.settle();
  const result = make(Number(sum()));
  await call.copy(begins, result.offsets);
  const total = result.keys.n;
  if (total === 0) {
    await call.verify(async () => () => (n === 0 || k === 0 ? undefined : 'no keys of any segment'));
    return result;
  }
  const positions = columns.temporary('u32', total);
  await steps.topPositions(order, offsets, begins, positions);
  const input = await call.bring(keys);
  await call.into(result.keys, async (to) => {
    await steps.gather(input, positions, to);
    if (fromSegment) {
      const ids = columns.temporary('u32', total);
      await steps.segmentIds(begins, ids);
      await steps.subtractBegins(positions, ids, offsets);
    }
    await call.verify((checks) => {
      const codec = keyCodec(keys.dtype, call.settings);
      const bits = bitWindow(call.settings.bits, keys.info);
      const segments = { offsets, begins, fromSegment };
      return checks.top(input, { keys: to, positions, segments, k, codec, bits });
    });
  });
  await call.copy(positions, result.positions);
  return result;
}
