/** Formats a key as a decimal number; keeps the sign of -0. */
export const numberText = (number: number | bigint): string =>
  Object.is(number, -0) ? '-0' : String(number);
