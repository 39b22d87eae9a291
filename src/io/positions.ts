/** Positions in a sorted order, as files hold them. */
import type { Dtype } from '../keys/dtype.js';

/** Keys from which on positions are u64: the last one would be the first that u32 does not hold, were there one more. */
const WIDE_POSITIONS_FROM = 2 ** 32;

/**
 * What the positions of so many keys are written as.
 *
 * @param n undefined for keys that are in memory, of which there are fewer
 */
export const positionDtype = (
  n: number | undefined,
  wideFrom: number = WIDE_POSITIONS_FROM,
): Dtype & ('u32' | 'u64') => (n !== undefined && n >= wideFrom ? 'u64' : 'u32');
