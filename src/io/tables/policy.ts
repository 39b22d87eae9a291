/** Policy of tables: its heuristics, with their units and measurements. */

/** Minimum bytes that are read from a run at a time. */
export const MIN_WINDOW = 2 ** 16;

/** Maximum bytes that are read from a run at a time. */
export const MAX_WINDOW = 2 ** 22;

/** Share of the memory for rows, including their sort. */
export const ROWS_PART = 1 / 2;

/** Share of the memory for the read windows of a merge. */
export const WINDOWS_PART = 1 / 4;

/** Memory per row beside the row and its code: lengths, words, positions, and groups while ties are broken. */
export const ORDER_BYTES = 64;

/** Maximum rows of a batch that is sent at once. */
export const BATCH_ROWS = 2 ** 16;

/** Maximum bytes of a batch that is sent at once. */
export const BATCH_BYTES = 2 ** 22;

/** Minimum memory for sorting with temporary files. */
export const MIN_BYTES = 16 * 2 ** 20;

/** Bytes at which the write buffer is flushed: enough for the full speed of a disk. */
export const WRITE_BYTES = 2 ** 22;
