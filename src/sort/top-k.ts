import { keyCodec } from '../keys/key-codec.js';
import type { Column } from './column.js';
import type { Operation } from './operation.js';

/** Below this many keys, and above this share of them, sorting all takes less than selecting first. */
const SELECT_FROM = 4096;
const SELECT_SHARE = 1 / 4;

/**
 * The first keys of the sorted order and their positions: what a stable sort of all would begin with.
 *
 * @param out as many keys and positions (u32) as are wanted, at most as many as there are keys
 */
export async function topK(
  operation: Operation,
  keys: Column,
  out: { readonly keys: Column; readonly positions: Column },
): Promise<void> {
  const { n, dtype, info } = keys;
  const k = out.keys.n;
  const input = await operation.bring(keys);
  const { bits } = operation.settings;
  const whole = !bits || (bits[0] === 0 && bits[1] === info.width);
  if (whole && n >= SELECT_FROM && k <= n * SELECT_SHARE) {
    const selected = { keys: operation.temporary(dtype, k), positions: operation.temporary('u32', k) };
    await operation.steps.select(input, keyCodec(dtype, operation.settings), selected);
    await operation.sort({
      keys: selected.keys,
      sorted: out.keys.place,
      values: { place: selected.positions.place, bytes: 4 },
      moved: out.positions.place,
    });
    return;
  }
  const sorted = operation.temporary(dtype, n);
  const positions = operation.temporary('u32', n);
  await operation.sort({ keys: input, sorted: sorted.place, moved: positions.place });
  await operation.copy(sorted, out.keys);
  await operation.copy(positions, out.positions);
}
