/** The bits of a code that are compared, in place: the host's part of a sort by comparison. */
export const windowMask = ([begin, end]: readonly [number, number]): bigint =>
  ((1n << BigInt(end - begin)) - 1n) << BigInt(begin);
