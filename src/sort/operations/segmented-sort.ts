import { InputError } from '../../util/errors.js';
import { type Column, column } from '../backend/column.js';
import type { Call } from '../calls/call.js';

/** Where segments begin, and at last where the last one ends. */
export type Offsets = Uint32Array | readonly number[];

/**
 * Checks offsets of segments of n elements.
 *
 * @throws InputError when they do not begin with 0, rise and end with n
 */
export function checkOffsets(offsets: Offsets, n: number): Uint32Array {
  if (offsets.length === 0 || offsets[0] !== 0 || offsets[offsets.length - 1] !== n) {
    throw new InputError(
      `offsets of segments of ${n} keys go from ${offsets[0]} to ${offsets[offsets.length - 1]}: expected ` +
        `where each segment begins, from 0 on, and at last ${n}`,
    );
  }
  for (let i = 1; i < offsets.length; i++) {
    const [begin, end] = [offsets[i - 1] as number, offsets[i] as number];
    if (!(end >= begin) || !Number.isInteger(end)) {
      throw new InputError(`offset ${i} is ${end}, after ${begin}: expected whole numbers that never fall`);
    }
  }
  return Uint32Array.from(offsets);
}

/**
 * Sorts the keys of each segment, all segments at once: by key, with the number of the segment as a value,
 * then stably by that number, on as many bits as it takes. So the cost depends on the keys and hardly on
 * the segments, be they millions of tiny ones or few huge ones.
 *
 * @param offsets of at least one segment, as `checkOffsets` returns them
 */
export async function segmentedSort(
  call: Call,
  keys: Column,
  offsets: Uint32Array,
  sorted: Column,
): Promise<void> {
  const { n, dtype, info } = keys;
  const { columns } = call;
  const segments = offsets.length - 1;
  const ids = columns.temporary('u32', n);
  await columns.steps.segmentIds(await call.bring(column('u32', offsets.length, offsets)), ids);
  const byKey = columns.temporary(dtype, n);
  const idsByKey = columns.temporary('u32', n);
  await call.sort({
    keys: await call.bring(keys),
    sorted: byKey.place,
    values: { place: ids.place, bytes: 4 },
    moved: idsByKey.place,
  });
  const { bits: _, ...whole } = call.settings;
  await call.sort({
    keys: idsByKey,
    settings: { ...whole, descending: false, bits: [0, 32 - Math.clz32(segments - 1)] },
    values: { place: byKey.place, bytes: info.bytes },
    moved: sorted.place,
  });
}
