/** What is sorted: keys alone, keys with 4-byte values, or positions. */
export const MODES = ['keys', 'pairs', 'argsort'] as const;

export type Mode = (typeof MODES)[number];
