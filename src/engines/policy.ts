/** Policy of sorts over many machines: their heuristics, with their units and measurements. */

/** Average partition size in bytes; sorting takes three to four times as much memory. */
export const PARTITION_BYTES = 384 * 2 ** 20;

/** Minimum number of partitions, unless they would become smaller than `MIN_PARTITION_BYTES`. */
export const MIN_PARTITIONS = 16;

export const MIN_PARTITION_BYTES = 4 * 2 ** 20;

/** Number of partitions of inputs of unknown size, enough for 24 GiB at the average size. */
export const UNKNOWN_PARTITIONS = 64;

export const MIN_SHARD_BYTES = 16 * 2 ** 20;

export const SHARD_BYTES = 256 * 2 ** 20;

/** Each shard writes one file per partition, which limits their number. */
export const MAX_SHARDS = 1024;

/** Target number of shards; larger inputs get larger shards up to `SHARD_BYTES`, and then more of them. */
export const TARGET_SHARDS = 64;

/**
 * Oversampling factor: shards differ in size, so small ones sample more than their share, and only some of it is used.
 */
export const OVERSAMPLING = 4;

/** Maximum bytes of all samples, which one task holds; independent of a worker's memory, so that all workers agree. */
export const MAX_SAMPLE_BYTES = 128 * 2 ** 20;
