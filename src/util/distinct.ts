/**
 * Returns values without duplicates, compared as JSON. Of duplicates the last one is kept, in the place of the first.
 */
export const distinct = <T>(values: readonly T[]): T[] => [
  ...new Map(values.map((one) => [JSON.stringify(one), one])).values(),
];
