/** Policy of batches: their heuristics, with their units and measurements. */
import { policy } from '../util/policy.js';

/** Memory per file byte of a sort as a whole: keys, result, scratch, and read-ahead. */
export const MEMORY_PER_BYTE = 4.5;

/** Memory per byte of a compressed file, which decompresses to more. */
export const MEMORY_PER_COMPRESSED_BYTE = 16;

export const MIN_MEMORY = 64 * 2 ** 20;

/**
 * Maximum size in bytes of a small file, which the process of the batch may sort itself.
 * scripts/results/NOTES.md, "Batches on an H200".
 */
export const SMALL_BYTES = policy('smallJobs', 2 ** 18, 0);

/** Number of small jobs that count as one job, since system overhead dominates them. */
export const SMALL_JOBS_PER_SLOT = 16;

export const SMALL_MEMORY = 4 * 2 ** 20;

/**
 * Minimum of the default concurrency per device: one job sorts while one reads or writes. With two processors a third
 * job only delays the others and needs memory of its own. scripts/results/NOTES.md, "Batches on PoCL".
 */
export const MIN_PARALLEL = 2;

/**
 * Maximum of the default concurrency. More processors allow more jobs, since a device may sort faster than
 * files are read. scripts/results/NOTES.md, "Batches on an H200".
 */
export const MAX_PARALLEL = 8;

/** Share of the memory that idle buffers may occupy; estimates of job memory leave this margin. */
export const IDLE_MEMORY_SHARE = 0.25;
