/** The stages from the input to sortable partitions: sample, splitters, partition, split. */

import type { Multiset } from '../checks/multiset.js';
import type { ReadAt } from '../records/record-input.js';
import type { RecordOrdering } from '../records/record-ordering.js';
import { type Budget, partitionCount } from './budget.js';
import { piecesOf } from './input.js';
import { Partitioner } from './partition.js';
import { MAX_PIECE_BYTES, MAX_PLACED_RECORDS, SAMPLES_PER_PARTITION } from './policy.js';
import { takeSample } from './sample.js';
import type { Leaf } from './sort.js';
import type { Spill } from './spill.js';
import { Splitters } from './splitters.js';
import type { ShardRecord, SplitRecord } from './state.js';

/** Storage of task records. */
export interface Tasks {
  get<R>(task: string): Promise<R | undefined>;
  put(task: string, record: ShardRecord | SplitRecord): Promise<void>;
}

export interface StageWork {
  readonly order: RecordOrdering;
  readonly budget: Budget;
  readonly spill: Spill;
  readonly tasks: Tasks;
  /** Memory of all stages. */
  readonly memory: Uint8Array;
  readonly signal: AbortSignal;
  readonly seed: bigint | number;
}

/** Returns the size in bytes of a piece of at most `maxBytes` bytes: whole records, aligned to words. */
export function pieceBytes({ recordBytes }: RecordOrdering, maxBytes: number): number {
  const bytes = Math.min(MAX_PIECE_BYTES, MAX_PLACED_RECORDS * recordBytes, Math.floor(maxBytes));
  const count = Math.max(1, Math.floor(bytes / recordBytes));
  return (count < 8 ? count : count - (count % 8)) * recordBytes;
}

/** Divides the memory into buffers for two pieces to read and two to place. */
function splitMemory({ memory, order }: StageWork): { reading: Uint8Array; placing: Uint8Array } {
  const bytes = 2 * pieceBytes(order, memory.length / 4);
  return { reading: memory.subarray(0, bytes), placing: memory.subarray(bytes, 2 * bytes) };
}

/** Returns the memory for pieces to read. */
export const readBuffer = (work: StageWork): Uint8Array => splitMemory(work).reading;

/** Chooses splitters from a sample of the bytes that can be read at any position. */
export async function chooseSplitters(
  readAt: ReadAt,
  recordCount: number,
  bytes: number | undefined,
  work: StageWork,
): Promise<Splitters> {
  const { order, budget, seed } = work;
  const partitions = partitionCount(budget, bytes);
  const count = partitions * SAMPLES_PER_PARTITION;
  const sample = await takeSample(readAt, { n: recordCount, recordBytes: order.recordBytes, count, seed });
  return Splitters.of(order, sample, partitions);
}

export const partitionName = (p: number, parent?: string): string =>
  `${parent === undefined ? '' : `${parent}.`}${String(p).padStart(4, '0')}`;

const shardName = (i: number): string => `shard-${String(i).padStart(6, '0')}`;

/** Returns the number of completed shards and the task record of the last one. */
export async function lastShard(tasks: Tasks): Promise<{ shards: number; record: ShardRecord | undefined }> {
  let record: ShardRecord | undefined;
  for (let shards = 0; ; shards++) {
    const next = await tasks.get<ShardRecord>(shardName(shards));
    if (!next) return { shards, record };
    record = next;
  }
}

/**
 * Distributes an input to its partitions, shard by shard, starting after the last task record.
 *
 * @param pieces records after the last completed shard
 * @param splitters bounds of the partitions
 * @param from completed shards
 * @param work memory, spill and task records
 * @returns the size of each partition in bytes
 */
export async function partitionInput(
  pieces: AsyncGenerator<Uint8Array>,
  splitters: Splitters,
  from: { readonly shards: number; readonly record: ShardRecord | undefined },
  { checksum, onDone, ...work }: StageWork & { checksum: Multiset | undefined; onDone(bytes: number): void },
): Promise<number[]> {
  const { order, spill, budget, tasks, signal } = work;
  const names = splitters.single.map((_, p) => partitionName(p));
  const to = { spill, names, buffer: splitMemory(work).placing, sizes: from.record?.sizes };
  const partitioner = new Partitioner(order, splitters, to);
  if (from.record?.products) checksum?.include(from.record.products);
  let { shards } = from;
  let end = from.record?.end ?? 0;
  let recorded = end;
  const record = async (): Promise<void> => {
    await partitioner.flush();
    const products = checksum?.stored;
    await tasks.put(shardName(shards++), { end, sizes: partitioner.sizes, ...(products && { products }) });
    recorded = end;
  };
  await partitioner.addAll(pieces, {
    signal,
    checksum,
    async onAdded(bytes) {
      end += bytes;
      onDone(bytes);
      if (end - recorded >= budget.shardBytes) await record();
    },
  });
  if (end > recorded || shards === 0) await record();
  for (const name of names) await spill.leave(name);
  return partitioner.sizes;
}

/**
 * Splits partitions that are too large to sort, recursively, with new splitters.
 *
 * @param leaves the partitions
 * @param work memory, spill and task records; `onSplit` receives each partition to split
 */
export async function splitLarge(
  leaves: readonly Leaf[],
  work: StageWork & { onSplit(leaf: Leaf): void },
): Promise<Leaf[]> {
  const all: Leaf[] = [];
  for (const leaf of leaves) {
    const record = await work.tasks.get<SplitRecord>(splitTask(leaf));
    // A different budget does not undo earlier splits or sorts.
    const fits = leaf.single || leaf.bytes <= work.budget.partitionBytes;
    const isLeaf = !record && (fits || (await work.tasks.get(sortedTask(leaf))) !== undefined);
    if (isLeaf) all.push(leaf);
    else all.push(...(await splitLarge(await splitPartition(leaf, record, work), work)));
  }
  return all;
}

const splitTask = ({ name }: Leaf): string => `split-${name}`;

/** Returns the name of the task record of a sorted partition. */
export const sortedTask = ({ name }: Pick<Leaf, 'name'>): string => `sorted-${name}`;

async function splitPartition(
  leaf: Leaf,
  done: SplitRecord | undefined,
  work: StageWork & { onSplit(leaf: Leaf): void },
): Promise<Leaf[]> {
  const { order, spill, tasks, signal } = work;
  const { name, bytes } = leaf;
  let record = done;
  if (!record) {
    work.onSplit(leaf);
    const readAt: ReadAt = (into, position) => spill.read(name, position, into);
    const splitters = await chooseSplitters(readAt, bytes / order.recordBytes, bytes, work);
    const { reading, placing } = splitMemory(work);
    const names = splitters.single.map((_, p) => partitionName(p, name));
    for (const child of names) await spill.drop(child); // left by an interrupted run
    const partitioner = new Partitioner(order, splitters, { spill, names, buffer: placing });
    const { recordBytes } = order;
    const pieces = piecesOf(readAt, { begin: 0, end: bytes, recordBytes, buffer: reading });
    await partitioner.addAll(pieces, { signal });
    await spill.sync(names); // before their source is removed
    for (const child of names) await spill.leave(child);
    record = { sizes: partitioner.sizes, ...splitters.facts };
    await tasks.put(splitTask(leaf), record);
  }
  await spill.drop(name);
  return leavesOf(record, name);
}

/** Returns partitions as leaves of the partition tree. */
export const leavesOf = ({ sizes, single, differing }: SplitRecord, parent?: string): Leaf[] =>
  sizes.map((bytes, p) => ({
    name: partitionName(p, parent),
    bytes,
    single: single[p] ?? false,
    differing: differing?.[p],
  }));
