import { decode, keyCodec } from '../../../keys/key-codec.js';
import { enqueueRankSelect } from '../../../primitives/rank-select.js';
import type { DeviceContext } from '../../backend/column-kernel.js';
import { selectionLimits } from '../../backend/device-column-kernels.js';
import { bufferOf, type Column } from '../../model/column.js';
import type { SortSettings } from '../../model/options.js';

/** Ranks of keys, and the order in which they count. */
export interface Ranks extends Pick<SortSettings, 'nan'> {
  /** Ascending, each below the number of keys. */
  readonly ranks: readonly number[];
}

/**
 * Selects keys by their ranks without a wait.
 *
 * @returns a function that returns their bits after the wait
 * @throws BuildError
 */
export async function selectRanksOnDevice(
  { device }: DeviceContext,
  keys: Column,
  { nan, ranks }: Ranks,
): Promise<() => readonly bigint[]> {
  const { n, dtype } = keys;
  const codec = keyCodec(dtype, { nan });
  const work = { keys: bufferOf(keys), n, codec, ranks, ...selectionLimits(device, n) };
  const codes = await enqueueRankSelect(device, work);
  return () => codes().map((code) => decode(codec, code));
}
