/** What is sorted: keys alone, keys with a 4-byte value, or positions. */
export const MODES = ['keys', 'pairs', 'argsort'] as const;

export type Mode = (typeof MODES)[number];
