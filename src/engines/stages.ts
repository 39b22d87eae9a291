/**
 * The stages before the sort, from files to files. They are idempotent, also on two workers at once: output is written
 * to a temporary file and renamed, and the task record comes last.
 */
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Multiset } from '../io/checks/multiset.js';
import { Partitioner } from '../io/external/partition.js';
import { SAMPLES_PER_PARTITION } from '../io/external/policy.js';
import { takeSample } from '../io/external/sample.js';
import { FileSpill } from '../io/external/spill.js';
import { Splitters } from '../io/external/splitters.js';
import { pieceBytes } from '../io/external/stages.js';
import type { RecordOrdering } from '../io/records/record-ordering.js';
import { ioError } from '../io/streams/raw.js';
import { writeFileAtomic } from '../io/streams/write-file-atomic.js';
import { MismatchError } from '../util/errors.js';
import { Random } from '../util/random.js';
import type { JobFolder } from './job-folder.js';
import { openShard, orderOf, type RecordReader } from './job-records.js';
import { type PartitionRecord, pieceName, type SampleRecord, type SplittersRecord } from './layout.js';
import { MAX_SAMPLE_BYTES, OVERSAMPLING } from './policy.js';
import type { SortJob } from './sort-job.js';
import type { WorkerContext } from './worker-context.js';

/** The job of a task, with folder and context. */
export interface StageWork {
  readonly job: SortJob;
  readonly folder: JobFolder;
  readonly context: WorkerContext;
}

/** Allocates memory for two pieces to read and two to place. */
function pieceBuffers(
  order: RecordOrdering,
  memory: number,
): readonly [reading: Uint8Array, placing: Uint8Array] {
  const bytes = 2 * pieceBytes(order, memory / 8);
  return [new Uint8Array(bytes), new Uint8Array(bytes)];
}

/** Returns the checksum points of a job. */
export const pointsOf = ({ points }: SortJob): BigUint64Array => BigUint64Array.from(points, BigInt);

const sampleName = (shard: number): string => `sample-${String(shard).padStart(6, '0')}.units`;

/**
 * Returns the total number of sampled records.
 *
 * @param partitions number of partitions
 * @param recordBytes record size in bytes
 */
export const sampleSize = (partitions: number, recordBytes: number): number =>
  Math.min(OVERSAMPLING * SAMPLES_PER_PARTITION * partitions, Math.floor(MAX_SAMPLE_BYTES / recordBytes));

/** Samples a shard into a file. */
export async function sample({ job, folder, context }: StageWork, shard: number): Promise<void> {
  const { recordBytes } = orderOf(job.units);
  const wanted = Math.ceil(sampleSize(job.partitions, recordBytes) / job.shards.length);
  const seed = job.seed + shard;
  const reader = await openShard(job, shard, context.shared, context.signal);
  let n: number;
  let sampled: Uint8Array;
  try {
    const { bytes, readAt } = reader;
    if (readAt && bytes !== undefined) {
      n = bytes / recordBytes;
      sampled = await takeSample(readAt, { n, recordBytes: recordBytes, count: wanted, seed });
    } else {
      const [buffer] = pieceBuffers(orderOf(job.units), context.memory);
      [n, sampled] = await sampleInOrder(reader, { recordBytes, wanted, seed }, buffer);
    }
  } finally {
    await reader.close();
  }
  const name = sampleName(shard);
  await writeFileAtomic(folder.file(name), sampled, folder.temporaryPath(name));
  const record: SampleRecord = { n, samples: sampled.length / recordBytes };
  await folder.put('sample', shard, record);
}

/** Samples a stream with a reservoir (Vitter's algorithm R). */
async function sampleInOrder(
  reader: RecordReader,
  { recordBytes, wanted, seed }: { recordBytes: number; wanted: number; seed: number },
  buffer: Uint8Array,
): Promise<[n: number, units: Uint8Array]> {
  const random = new Random(seed);
  const reservoir = new Uint8Array(wanted * recordBytes);
  let n = 0;
  for await (const piece of reader.pieces(buffer)) {
    for (let at = 0; at < piece.length; at += recordBytes, n++) {
      const place = n < wanted ? n : random.below(n + 1);
      if (place < wanted) reservoir.set(piece.subarray(at, at + recordBytes), place * recordBytes);
    }
  }
  return [n, reservoir.subarray(0, Math.min(n, wanted) * recordBytes)];
}

/** Chooses splitters from the samples of all shards, weighted by shard size. */
export async function splitters({ job, folder }: StageWork): Promise<void> {
  const order = orderOf(job.units);
  const { recordBytes } = order;
  const records: SampleRecord[] = [];
  for (const i of job.shards.keys()) records.push(await folder.expect<SampleRecord>('sample', i));
  // Uses the lowest sampling rate for all shards.
  const rate = Math.min(...records.map(({ n, samples }) => (n === 0 ? 1 : samples / n)));
  const taken: Uint8Array[] = [];
  for (const [i, { n, samples }] of records.entries()) {
    const path = folder.file(sampleName(i));
    const sampled = await readFile(path).catch((error) => {
      throw ioError('read', path, error);
    });
    const count = Math.min(samples, Math.round(rate * n));
    for (let k = 0; k < count; k++) {
      const at = Math.floor((k * samples) / count) * recordBytes;
      taken.push(sampled.subarray(at, at + recordBytes));
    }
  }
  const found = Splitters.of(order, new Uint8Array(Buffer.concat(taken)), job.partitions);
  const record: SplittersRecord = { splitters: found.stored, single: found.single };
  await folder.put('splitters', 0, record);
}

/** Distributes the records of a shard to one piece per partition, in order. */
export async function partition({ job, folder, context }: StageWork, shard: number): Promise<void> {
  const { signal, onProgress } = context;
  const order = orderOf(job.units);
  const stored = await folder.expect<SplittersRecord>('splitters', 0);
  const chosenSplitters = new Splitters(order, stored.splitters);
  const [reading, placing] = pieceBuffers(order, context.memory);
  const multiset = new Multiset(order.recordBytes, pointsOf(job));
  const reader = await openShard(job, shard, context.shared, signal);
  const temporaryFolder = folder.temporaryPath(`partition-${shard}`);
  await mkdir(temporaryFolder).catch((error) => {
    throw ioError('write', temporaryFolder, error);
  });
  const spill = new FileSpill(temporaryFolder);
  const names = chosenSplitters.single.map((_, p) => String(p));
  const partitioner = new Partitioner(order, chosenSplitters, { spill, names, buffer: placing });
  let bytes = 0;
  try {
    await partitioner.addAll(reader.pieces(reading), {
      signal,
      checksum: multiset,
      onAdded(added) {
        bytes += added;
        onProgress?.({ phase: 'partition', done: bytes, total: reader.bytes ?? Number.NaN });
      },
    });
    if (reader.bytes !== undefined && reader.bytes !== bytes) {
      throw new MismatchError(
        `cannot partition shard ${shard + 1}: it has ${bytes} bytes instead of ${reader.bytes}`,
      );
    }
    const { sizes } = partitioner;
    const filled = names.filter((_, p) => (sizes[p] ?? 0) > 0);
    await spill.sync(filled);
    await spill.close();
    for (const name of filled) {
      const piece = folder.file(...pieceName(Number(name), shard));
      await mkdir(dirname(piece), { recursive: true });
      await rename(join(temporaryFolder, `partition-${name}`), piece).catch((error) => {
        throw ioError('write', piece, error);
      });
    }
    const record: PartitionRecord = { bytes, sizes, products: multiset.stored };
    await folder.put('partition', shard, record);
  } finally {
    await spill.close();
    await reader.close();
    await rm(temporaryFolder, { recursive: true, force: true }).catch(() => undefined);
  }
}
