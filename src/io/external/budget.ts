/** Memory budgets of partitioned sorts. */
import { UsageError } from '../../util/errors.js';
import type { RecordOrdering } from '../records/record-ordering.js';
import { MAX_PARTITIONS } from './splitters.js';

/** Minimum memory of a sort in bytes: 1 MiB to gather partitions, the rest to sort them. */
const MIN_BYTES = 16 * 2 ** 20;
/** Minimum number of large records that the memory must hold. */
const MIN_RECORDS = 64;

/** Maximum partition size in bytes. Larger ones are not faster, and all buffers share one array. */
const MAX_PARTITION_BYTES = 2 ** 29;

/** Average fill of partitions, so that most of those above the average still fit. */
const FILL_FACTOR = 0.75;

/** Number of partitions of an input of unknown size: a quarter of the maximum. */
const DEFAULT_PARTITIONS = 128;

/** Number of partitions of a sort in memory; small ones need little additional memory. */
const MEMORY_PARTITIONS = 24;

/**
 * Partition size in bytes that CPU caches favour. Its use is limited to this share of the maximum number of partitions.
 */
const CACHE_PARTITION_BYTES = 32 * 2 ** 20;
const MAX_CACHE_SHARE = 0.5;

/** Input bytes between two task records of the partitioning pass. */
const SHARD_BYTES = 2 ** 28;

export interface Budget {
  /** Memory limit in bytes. */
  readonly memory: number;
  /** Maximum bytes of a partition that is sorted. */
  readonly partitionBytes: number;
  /** Input bytes between two task records. */
  readonly shardBytes: number;
  /** Maximum number of partitions per pass. */
  readonly maxPartitions: number;
}

/**
 * Returns the memory per partition byte: two input buffers and two output buffers in alternation, and scratch of twice
 * that size on the device, or on the host when it sorts.
 */
const memoryFactor = ({ recordBytes, sortBytes }: RecordOrdering): number =>
  2 + (4 * sortBytes) / recordBytes;

/** Returns the maximum useful memory in bytes; partitions do not grow beyond it. */
export const maxMemory = (order: RecordOrdering): number => MAX_PARTITION_BYTES * memoryFactor(order);

/** Returns the minimum memory for records of an order, in bytes. */
export const minMemory = (order: RecordOrdering): number =>
  Math.max(MIN_BYTES, Math.ceil(MIN_RECORDS * order.recordBytes * memoryFactor(order)));

/**
 * Returns the budget for a memory limit.
 *
 * @param memory memory limit in bytes
 * @param order order of the records
 * @throws UsageError when the limit is too low; `details.least` has the minimum
 */
export function partitionBudget(memory: number, order: RecordOrdering): Budget {
  const minBytes = minMemory(order);
  if (memory < minBytes) {
    throw insufficientMemory(`sort ${order.description}`, memory, minBytes);
  }
  return {
    memory,
    partitionBytes: wholeRecords(Math.min(MAX_PARTITION_BYTES, memory / memoryFactor(order)), order),
    shardBytes: SHARD_BYTES,
    // A part of the memory gathers some records of each partition.
    maxPartitions: Math.min(MAX_PARTITIONS, Math.floor(memory / (16 * order.recordBytes))),
  };
}

/** Returns the budget to sort `bytes` bytes in memory; undefined when they do not fit together with their sort. */
export function memoryBudget(memory: number, order: RecordOrdering, bytes: number): Budget | undefined {
  const partitionBytes = wholeRecords(
    bytes / MEMORY_PARTITIONS / FILL_FACTOR + MIN_RECORDS * order.recordBytes,
    order,
  );
  const needed = bytes + partitionBytes * memoryFactor(order) + MIN_BYTES;
  if (needed > memory) return undefined;
  return { memory, partitionBytes, shardBytes: Number.POSITIVE_INFINITY, maxPartitions: MAX_PARTITIONS };
}

/**
 * Returns a budget of the same memory with partitions that suit the caches of a CPU. Devices with dedicated memory use
 * the largest partitions instead.
 *
 * @param budget the budget to change
 * @param order order of the records
 * @param bytes size of all records; undefined while unknown
 */
export function cacheSizedBudget(budget: Budget, order: RecordOrdering, bytes: number | undefined): Budget {
  if (bytes === undefined) return budget;
  const minPartitionBytes = bytes / (FILL_FACTOR * budget.maxPartitions * MAX_CACHE_SHARE);
  const wanted = Math.max(CACHE_PARTITION_BYTES, MIN_RECORDS * order.recordBytes, minPartitionBytes);
  return { ...budget, partitionBytes: Math.min(budget.partitionBytes, wholeRecords(wanted, order)) };
}

/** Returns the number of partitions for `bytes` bytes; `undefined` means an unknown size. */
export function partitionCount({ partitionBytes, maxPartitions }: Budget, bytes: number | undefined): number {
  const wanted = bytes === undefined ? DEFAULT_PARTITIONS : Math.ceil(bytes / (FILL_FACTOR * partitionBytes));
  return Math.max(2, Math.min(maxPartitions, wanted));
}

/** Rounds down to a multiple of eight records, so that the memory after them stays aligned. */
const wholeRecords = (bytes: number, { recordBytes }: RecordOrdering): number =>
  Math.floor(bytes / (8 * recordBytes)) * 8 * recordBytes;

/**
 * Creates the error of a memory limit that is too small.
 *
 * @param action what needs the memory, as an infinitive
 * @param memory the limit in bytes
 * @param least the least memory that suffices, in bytes
 */
export const insufficientMemory = (action: string, memory: number, least: number): UsageError =>
  new UsageError(
    `cannot ${action} with ${memory} bytes of memory: it takes at least ${least}. Use --memory ${Math.ceil(least / 2 ** 20)}M or more`,
    { details: { memory, least } },
  );
