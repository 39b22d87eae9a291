/** Memory budgets of partitioned sorts. */
import { UsageError } from '../../util/errors.js';
import type { RecordOrdering } from '../records/record-ordering.js';
import {
  CACHE_PARTITION_BYTES,
  DEFAULT_PARTITIONS,
  FILL_FACTOR,
  MAX_CACHE_SHARE,
  MAX_PARTITION_BYTES,
  MEMORY_PARTITIONS,
  MIN_BYTES,
  MIN_RECORDS,
  SHARD_BYTES,
} from './policy.js';
import { MAX_PARTITIONS } from './splitters.js';

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
  if (memory < minBytes) throw insufficientMemory(`sort ${order.description}`, memory, minBytes);
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
