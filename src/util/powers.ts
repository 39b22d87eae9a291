/** Returns the largest power of two that is at most x, for x of at least 1. */
export const powerAtMost = (x: number): number => 2 ** Math.floor(Math.log2(x));

/** Returns the smallest power of two that is at least x, for x of at least 1. */
export const powerAtLeast = (x: number): number => 2 ** Math.ceil(Math.log2(x));

/** Returns the largest power of two below x, for x above 1. */
export const powerBelow = (x: number): number => powerAtLeast(x) / 2;
