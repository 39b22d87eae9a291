/** The dtype of positions in files. */
import type { Dtype } from '../../keys/dtype.js';

/** Number of keys from which on positions are u64. */
const WIDE_POSITIONS_FROM = 2 ** 32;

/**
 * Returns the dtype of the positions of `n` keys.
 *
 * @param n number of keys; undefined for keys in memory, which are fewer than `wideFrom`
 * @param wideFrom number of keys from which on positions are u64; default 2^32
 */
export const positionDtype = (
  n: number | undefined,
  wideFrom: number = WIDE_POSITIONS_FROM,
): Dtype & ('u32' | 'u64') => (n !== undefined && n >= wideFrom ? 'u64' : 'u32');
