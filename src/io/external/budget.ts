/** What a sort does with the memory that it may take. */
import { UsageError } from '../../util/errors.js';
import type { RecordOrdering } from '../record-ordering.js';
import { MAX_PARTITIONS } from './splitters.js';

/** Least memory that a sort is made with: a mebibyte to gather what goes to partitions, and some to sort them. */
const MIN_BYTES = 16 * 2 ** 20;
/** Units that the least memory holds of large ones. */
const MIN_RECORDS = 64;

/** Larger partitions gain nothing, and all buffers together are one array. */
const MAX_PARTITION_BYTES = 2 ** 29;

/** How full partitions are on the average, so that most that come out larger than that still fit. */
const FILL_FACTOR = 0.75;

/** Partitions of an input whose size is not known. */
const DEFAULT_PARTITIONS = 128;

/** Partitions of what is sorted in memory: small ones need little beside it. */
const MEMORY_PARTITIONS = 24;

/** Bytes of a partition that caches help to sort, and part of the partitions of a pass that it takes no more than for that. */
const CACHE_PARTITION_BYTES = 32 * 2 ** 20;
const MAX_CACHE_SHARE = 0.5;

/** Bytes between two records of the pass that fills partitions. */
const SHARD_BYTES = 2 ** 28;

export interface Budget {
  /** Bytes of all that is taken. */
  readonly memory: number;
  /** Most bytes of a partition that is sorted. */
  readonly partitionBytes: number;
  /** Bytes of the input between two records. */
  readonly shardBytes: number;
  /** Most partitions that one pass makes. */
  readonly maxPartitions: number;
}

/**
 * What a partition takes for each of its bytes: two are read into and two are sorted into, by turns, and the
 * device, or the host where it sorts, has as much again in scratch twice.
 */
const memoryFactor = ({ recordBytes, sortBytes }: RecordOrdering): number =>
  2 + (4 * sortBytes) / recordBytes;

/** Most memory that is made use of: partitions are no larger. */
export const maxMemory = (order: RecordOrdering): number => MAX_PARTITION_BYTES * memoryFactor(order);

/** Least memory that units of an order are sorted with, in bytes. */
export const minMemory = (order: RecordOrdering): number =>
  Math.max(MIN_BYTES, Math.ceil(MIN_RECORDS * order.recordBytes * memoryFactor(order)));

/**
 * How partitions are made with so much memory.
 *
 * @throws UsageError when it is too little; `details.least` has what would do
 */
export function partitionBudget(memory: number, order: RecordOrdering): Budget {
  const minBytes = minMemory(order);
  if (memory < minBytes) {
    throw new UsageError(
      `${memory} bytes of memory are too little to sort ${order.description}: the least is ${minBytes} ` +
        `(--memory ${Math.ceil(minBytes / 2 ** 20)}M)`,
      { details: { memory, least: minBytes } },
    );
  }
  return {
    memory,
    partitionBytes: wholeRecords(Math.min(MAX_PARTITION_BYTES, memory / memoryFactor(order)), order),
    shardBytes: SHARD_BYTES,
    // Some units of each are gathered in a part of the memory.
    maxPartitions: Math.min(MAX_PARTITIONS, Math.floor(memory / (16 * order.recordBytes))),
  };
}

/** How so many bytes are sorted in memory; undefined when they do not fit with what their sort takes. */
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
 * The same memory with partitions of a size at which a CPU's caches still help to sort them; those of a device with memory
 * of its own are as large as can be.
 *
 * @param bytes of all units; undefined while that is not known
 */
export function cacheSizedBudget(budget: Budget, order: RecordOrdering, bytes: number | undefined): Budget {
  if (bytes === undefined) return budget;
  const minPartitionBytes = bytes / (FILL_FACTOR * budget.maxPartitions * MAX_CACHE_SHARE);
  const wanted = Math.max(CACHE_PARTITION_BYTES, MIN_RECORDS * order.recordBytes, minPartitionBytes);
  return { ...budget, partitionBytes: Math.min(budget.partitionBytes, wholeRecords(wanted, order)) };
}

/** Into how many partitions so many bytes are cut. */
export function partitionCount({ partitionBytes, maxPartitions }: Budget, bytes: number | undefined): number {
  const wanted = bytes === undefined ? DEFAULT_PARTITIONS : Math.ceil(bytes / (FILL_FACTOR * partitionBytes));
  return Math.max(2, Math.min(maxPartitions, wanted));
}

/** Whole units, so that what stands behind so many bytes is aligned for any of them. */
const wholeRecords = (bytes: number, { recordBytes }: RecordOrdering): number =>
  Math.floor(bytes / (8 * recordBytes)) * 8 * recordBytes;
