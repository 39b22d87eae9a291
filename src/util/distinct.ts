/** Values that say the same, as JSON tells, once each: the last of them, in the place of the first. */
export const distinct = <T>(values: readonly T[]): T[] => [
  ...new Map(values.map((one) => [JSON.stringify(one), one])).values(),
];
