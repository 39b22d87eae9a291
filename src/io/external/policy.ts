/** Policy of external sorts: their heuristics, with their units and measurements. */
import { policy } from '../../util/policy.js';

/** Minimum memory of a sort in bytes: 1 MiB to gather partitions, the rest to sort them. */
export const MIN_BYTES = 16 * 2 ** 20;

/** Minimum number of large records that the memory must hold. */
export const MIN_RECORDS = 64;

/** Maximum partition size in bytes. Larger ones are not faster, and all buffers share one array. */
export const MAX_PARTITION_BYTES = 2 ** 29;

/** Average fill of partitions, so that most of those above the average still fit. */
export const FILL_FACTOR = 0.75;

/** Number of partitions of an input of unknown size: a quarter of the maximum. */
export const DEFAULT_PARTITIONS = 128;

/** Number of partitions of a sort in memory; small ones need little additional memory. */
export const MEMORY_PARTITIONS = 24;

/** Partition size in bytes that CPU caches favour. */
export const CACHE_PARTITION_BYTES = 32 * 2 ** 20;

/**
 * Largest share of the maximum number of partitions that partitions of that size may have.
 * scripts/results/NOTES.md, "Larger than memory".
 */
export const MAX_CACHE_SHARE = policy('cachePartitions', 0.5, 0);

/** Input bytes between two task records of the partitioning pass. */
export const SHARD_BYTES = 2 ** 28;

/** Number of samples in the checksum, and bytes of each: reading them takes milliseconds. */
export const SAMPLE_PLACES = 64;

export const SAMPLE_BYTES = 4096;

/** Share of the memory that an input of unknown size may fill before it counts as large. */
export const HELD_SHARE = 0.5;

/** Bytes of records placed per step. */
export const SLICE_BYTES = 2 ** 19;

/** The same in records. */
export const MAX_SLICE_RECORDS = 2 ** 15;

/** Maximum number of records of a piece; each needs two additional bytes. */
export const MAX_PLACED_RECORDS = 2 ** 22;

/** Sampled records per partition; most partitions then deviate from the mean size by less than a fifth. */
export const SAMPLES_PER_PARTITION = 256;

/** Maximum concurrent reads, which keep a disk busy. */
export const MAX_READS_IN_FLIGHT = 16;

/** Maximum number of written partitions that wait for a sync; their files stay until then. */
export const MAX_UNSETTLED = 3;

/** Maximum concurrent writes; leaves a pool thread for reading. */
export const MAX_WRITES = 3;

/** Maximum bytes of a piece; larger ones are not faster. */
export const MAX_PIECE_BYTES = 32 * 2 ** 20;
