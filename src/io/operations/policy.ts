/** Policy of operations on files: their heuristics, with their units and measurements. */

/** Maximum keys per call; more are not faster. */
export const MAX_KEYS = 2 ** 24;

/** Memory per byte of a key: its pieces, the array, and twice as much when it is sorted. */
export const MEMORY_FACTOR = 6;

/** Maximum number of keys per call, which limits memory; the rest of a file is not in memory. */
export const GROUP_KEYS = 2 ** 24;

/** Positions per key that a set operation holds in memory: those of distinct keys, and those that a search found. */
export const POSITION_COPIES = 2;
