/** Policy of merges: their heuristics, with their units and measurements. */

/** Target for the total memory in bytes; less is slow, and more is not faster. */
export const TARGET_BYTES = 2 ** 28;

/** Minimum window size in bytes for efficient reads; many inputs raise the total accordingly. */
export const TARGET_WINDOW_BYTES = 2 ** 20;

/** Minimum number of records per window. */
export const MIN_RECORDS = 4;
