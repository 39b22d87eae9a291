/** What a sort does with the memory that it may take. */
import { UsageError } from '../../util/errors.js';
import type { UnitOrder } from '../unit-order.js';
import { MAX_PARTITIONS } from './splitters.js';

/** Least memory that a sort is made with: a mebibyte to gather what goes to partitions, and some to sort them. */
const MIN_BYTES = 16 * 2 ** 20;
/** Units that the least memory holds of large ones. */
const MIN_UNITS = 64;

/** Larger partitions gain nothing, and all buffers together are one array. */
const MAX_PARTITION_BYTES = 2 ** 29;

/** How full partitions are on the average, so that most that come out larger than that still fit. */
const FILL = 0.75;

/** Partitions of an input whose size is not known. */
const UNKNOWN_PARTITIONS = 128;

/** Partitions of what is sorted in memory: small ones need little beside it. */
const MEMORY_PARTITIONS = 24;

/** Bytes of a partition that caches help to sort, and part of the partitions of a pass that it takes no more than for that. */
const CACHED_BYTES = 32 * 2 ** 20;
const CACHED_SHARE = 0.5;

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
  readonly mostPartitions: number;
}

/**
 * What a partition takes for each of its bytes: two are read into and two are sorted into, by turns, and the
 * device, or the host where it sorts, has as much again in scratch twice.
 */
const takenFor = ({ unit, sortBytes }: UnitOrder): number => 2 + (4 * sortBytes) / unit;

/** Most memory that is made use of: partitions are no larger. */
export const mostMemory = (order: UnitOrder): number => MAX_PARTITION_BYTES * takenFor(order);

/** Least memory that units of an order are sorted with, in bytes. */
export const leastMemory = (order: UnitOrder): number =>
  Math.max(MIN_BYTES, Math.ceil(MIN_UNITS * order.unit * takenFor(order)));

/**
 * How partitions are made with so much memory.
 *
 * @throws UsageError when it is too little; `details.least` has what would do
 */
export function budgetOf(memory: number, order: UnitOrder): Budget {
  const least = leastMemory(order);
  if (memory < least) {
    throw new UsageError(
      `${memory} bytes of memory are too little to sort ${order.units}: the least is ${least} ` +
        `(--memory ${Math.ceil(least / 2 ** 20)}M)`,
      { details: { memory, least } },
    );
  }
  return {
    memory,
    partitionBytes: whole(Math.min(MAX_PARTITION_BYTES, memory / takenFor(order)), order),
    shardBytes: SHARD_BYTES,
    // Some units of each are gathered in a part of the memory.
    mostPartitions: Math.min(MAX_PARTITIONS, Math.floor(memory / (16 * order.unit))),
  };
}

/** How so many bytes are sorted in memory; undefined when they do not fit with what their sort takes. */
export function memoryBudget(memory: number, order: UnitOrder, bytes: number): Budget | undefined {
  const partitionBytes = whole(bytes / MEMORY_PARTITIONS / FILL + MIN_UNITS * order.unit, order);
  const needed = bytes + partitionBytes * takenFor(order) + MIN_BYTES;
  if (needed > memory) return undefined;
  return { memory, partitionBytes, shardBytes: Number.POSITIVE_INFINITY, mostPartitions: MAX_PARTITIONS };
}

/**
 * The same memory with partitions of a size at which a CPU's caches still help to sort them; those of a device with memory
 * of its own are as large as can be.
 *
 * @param bytes of all units; undefined while that is not known
 */
export function inCaches(budget: Budget, order: UnitOrder, bytes: number | undefined): Budget {
  if (bytes === undefined) return budget;
  const fewest = bytes / (FILL * budget.mostPartitions * CACHED_SHARE);
  const wanted = Math.max(CACHED_BYTES, MIN_UNITS * order.unit, fewest);
  return { ...budget, partitionBytes: Math.min(budget.partitionBytes, whole(wanted, order)) };
}

/** Into how many partitions so many bytes are cut. */
export function partitionsOf({ partitionBytes, mostPartitions }: Budget, bytes: number | undefined): number {
  const wanted = bytes === undefined ? UNKNOWN_PARTITIONS : Math.ceil(bytes / (FILL * partitionBytes));
  return Math.max(2, Math.min(mostPartitions, wanted));
}

/** Whole units, so that what stands behind so many bytes is aligned for any of them. */
const whole = (bytes: number, { unit }: UnitOrder): number => Math.floor(bytes / (8 * unit)) * 8 * unit;
