/** Policy of sorts of files: their heuristics, with their units and measurements. */
import { policy } from '../../util/policy.js';

/**
 * Maximum size of an array in bytes; larger arrays occupy a device on their own. scripts/results/NOTES.md,
 * "Batches on an H200".
 */
export const MAX_ARRAY_BYTES = policy('fileBatches', 2 ** 18, 0);

/** Maximum total bytes of one combined sort. */
export const MAX_BATCH_BYTES = 2 ** 24;

/** Memory of a sort as a whole, per input byte: keys, result and scratch. */
export const WHOLE_MEMORY = 3.2;

/** The same for a pipe, whose bytes arrive in pieces. */
export const WHOLE_MEMORY_OF_PIPES = 4.2;

/** The same for keys of a file and a device with dedicated memory: keys and result. */
export const WHOLE_MEMORY_DEDICATED = 2.1;

/**
 * Maximum bytes sorted as a whole when that takes `WHOLE_MEMORY`. Partitions in memory take half as much, and
 * sort larger inputs as fast, since reading and writing overlap.
 */
export const MAX_WHOLE_BYTES = 64 * 2 ** 20;

/** The same with pooled arrays, when other files are read and written during the sort. */
export const MAX_POOLED_BYTES = 2 ** 29;

/** Keys per sort, unless one row has more; limits the additional memory. */
export const GROUP_KEYS = 2 ** 24;

/** Bytes per piece: enough to hide the cost of a transfer, and few enough to be copied from the cache. */
export const PIECE_BYTES = 8 * 2 ** 20;

/** Pieces read concurrently, when they may arrive in any order. */
export const READ_AHEAD = 3;

/** Number of copies on the device: input, output, and an alternate buffer. */
export const COPIES = 3;

/** Maximum share of the device memory that a sort may use. */
export const MEMORY_SHARE = 0.9;
