/** Returns the mask of the code bits that a comparison sort compares, at their positions in the code. */
export const windowMask = ([begin, end]: readonly [number, number]): bigint =>
  ((1n << BigInt(end - begin)) - 1n) << BigInt(begin);
