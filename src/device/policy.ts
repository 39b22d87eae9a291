/** Policy of a device: its heuristics, with their units and measurements. */
import { policy } from '../util/policy.js';

/** Share of device memory that idle pooled buffers may hold. Allocation takes a driver longer than a small sort. */
export const POOL_SHARE = policy('bufferPool', 0.25, 0);

/**
 * Smaller host memory comes from V8. Larger memory, in bytes, gets few large pages: scripts/results/NOTES.md,
 * "From array to new array beside NumPy on PoCL".
 */
export const LARGE_BYTES = policy('largePages', 2 ** 20, Number.POSITIVE_INFINITY);

/**
 * The same limit for a single result, which may reuse the memory of a collected result: its pages exist
 * already. Fresh memory costs 1 to 9 ms for 4 MiB: the same section.
 */
export const LARGE_RESULT_BYTES = policy('reusedPages', 2 ** 15, Number.POSITIVE_INFINITY);
