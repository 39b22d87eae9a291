/** A key as people write it, the sign of a zero too. */
export const numberText = (number: number | bigint): string =>
  Object.is(number, -0) ? '-0' : String(number);
