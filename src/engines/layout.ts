/**
 * The division of the result into parts: one per partition. Partitions of equal records are divided further, so that no
 * part is much larger than the others. The layout follows from the records of earlier stages, so all workers compute
 * the same.
 */

import type { StoredProducts } from '../io/checks/multiset.js';
import type { StoredSplitters } from '../io/external/splitters.js';
import type { RecordEnds, RecordVerifier } from '../io/records/record-verifier.js';
import { IoError, MismatchError } from '../util/errors.js';
import type { JobFolder } from './job-folder.js';
import { orderOf } from './job-records.js';
import type { SortJob } from './sort-job.js';

/** Record of a `sample` task; the sample is in a file. */
export interface SampleRecord {
  /** Number of records in the shard and in the sample. */
  readonly n: number;
  readonly samples: number;
}

/** Record of the `splitters` task. */
export interface SplittersRecord {
  readonly splitters: StoredSplitters;
  /** Whether all records of a partition are equal. */
  readonly single: readonly boolean[];
}

/** Record of a `partition` task. */
export interface PartitionRecord {
  readonly bytes: number;
  /** Bytes per partition. */
  readonly sizes: readonly number[];
  readonly products: StoredProducts;
}

/** Record of a `sort` task. */
export interface SortedPartRecord {
  /** Number of records, and file size in bytes. */
  readonly n: number;
  readonly bytes: number;
  /** The first and last record, as base64. */
  readonly ends: RecordEnds | null;
  readonly products: StoredProducts;
}

/**
 * Returns the facts of a verified part.
 *
 * @throws MismatchError when its records are not in order
 */
export function partFacts(verifier: RecordVerifier): Omit<SortedPartRecord, 'bytes'> {
  const { n, descent, ends, products } = verifier;
  if (descent === undefined) return { n, ends: ends ?? null, products };
  throw new MismatchError(`cannot verify the part: record ${descent} belongs before the previous one`);
}

/** The output of a `sort` task. */
export interface Part {
  readonly name: string;
  readonly partition: number;
  /** Byte range in the records of the partition. */
  readonly begin: number;
  readonly end: number;
  readonly single: boolean;
  /** Bytes of the partition per shard. */
  readonly sizes: readonly number[];
}

export interface Layout {
  readonly parts: readonly Part[];
  /** Size of all records in bytes. */
  readonly bytes: number;
}

/** A partition of equal records is divided when it exceeds the average size by this factor. */
const MAX_SINGLE_KEY_RATIO = 1.5;

/**
 * Computes the layout of the result.
 *
 * @throws IoError when an earlier stage is incomplete
 */
export async function layoutOf(job: SortJob, folder: JobFolder): Promise<Layout> {
  const { single } = await folder.expect<SplittersRecord>('splitters', 0);
  const shards: PartitionRecord[] = [];
  for (const i of job.shards.keys()) shards.push(await folder.expect<PartitionRecord>('partition', i));
  const bytes = shards.reduce((sum, shard) => sum + shard.bytes, 0);
  const { recordBytes } = orderOf(job.units);
  const average = Math.max(recordBytes, bytes / job.partitions);
  const parts: Omit<Part, 'name'>[] = [];
  for (const [partition, isSingle] of single.entries()) {
    const sizes = shards.map((shard) => shard.sizes[partition] ?? 0);
    const all = sizes.reduce((sum, size) => sum + size, 0);
    if (all === 0) continue;
    const pieces = isSingle && all > MAX_SINGLE_KEY_RATIO * average ? Math.ceil(all / average) : 1;
    const cut = (i: number): number => Math.floor(((all / recordBytes) * i) / pieces) * recordBytes;
    for (let i = 0; i < pieces; i++) {
      parts.push({ partition, begin: cut(i), end: cut(i + 1), single: isSingle, sizes });
    }
  }
  // An empty result has one empty part, which defines the dtype.
  if (parts.length === 0) parts.push({ partition: 0, begin: 0, end: 0, single: false, sizes: [] });
  const digits = Math.max(5, String(parts.length - 1).length);
  const named = parts.map((part, i) => ({
    ...part,
    name: `part-${String(i).padStart(digits, '0')}${job.part.extension}`,
  }));
  return { parts: named, bytes };
}

/** Returns the path of a shard's piece of a partition, relative to the job folder. */
export const pieceName = (partition: number, shard: number): readonly [string, string, string] => [
  'pieces',
  String(partition).padStart(4, '0'),
  String(shard).padStart(6, '0'),
];

/** Folder of the parts while they are written. */
export const PARTS = 'parts';

/** @throws IoError when there is no such part */
export function partAt({ parts }: Layout, index: number): Part {
  const part = parts[index];
  if (part) return part;
  throw new IoError(`cannot find part ${index + 1}: the result has ${parts.length} parts`);
}
