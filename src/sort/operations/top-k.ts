import { keyCodec } from '../../keys/key-codec.js';
import type { Call } from '../calls/call.js';
import type { Column } from '../model/column.js';
import { bitWindow } from '../model/options.js';

/** Maximum fraction of the keys that is selected before the sort; beyond it, sorting all keys is faster. */
const SELECT_SHARE = 1 / 4;

/**
 * Computes the first keys of the sorted order and their positions, as a stable sort of all keys would.
 *
 * @param out as many keys and positions (u32) as are wanted, at most as many as there are keys
 */
export async function topK(
  call: Call,
  keys: Column,
  out: { readonly keys: Column; readonly positions: Column },
): Promise<void> {
  const { n, dtype, info } = keys;
  const k = out.keys.n;
  const { columns, settings } = call;
  const input = await call.bindInput(keys);
  const bits = bitWindow(settings.bits, info);
  const whole = bits[0] === 0 && bits[1] === info.width;
  const codec = keyCodec(dtype, settings);
  /** The verifier needs results that the device can read, so they are copied afterwards. */
  const verifyAndCopy = async (found: {
    readonly keys: Column;
    readonly positions: Column;
  }): Promise<void> => {
    await call.verify((verifier) => verifier.top(input, { ...found, k, codec, bits }));
    await call.copy(found.keys, out.keys);
    await call.copy(found.positions, out.positions);
  };
  if (whole && k <= n * SELECT_SHARE && columns.prefersSelect(n)) {
    const selected = { keys: columns.temporary(dtype, k), positions: columns.temporary('u32', k) };
    await columns.kernels.select(input, codec, selected);
    const found = settings.verify
      ? { keys: columns.temporary(dtype, k), positions: columns.temporary('u32', k) }
      : out;
    await call.sort({
      keys: selected.keys,
      sorted: found.keys.place,
      values: { place: selected.positions.place, bytes: 4 },
      moved: found.positions.place,
    });
    return found === out ? undefined : verifyAndCopy(found);
  }
  const sorted = columns.temporary(dtype, n);
  const positions = columns.temporary('u32', n);
  await call.sort({ keys: input, sorted: sorted.place, moved: positions.place });
  await verifyAndCopy({ keys: { ...sorted, n: k }, positions: { ...positions, n: k } });
}
