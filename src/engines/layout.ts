/**
 * How the result is cut into parts: a partition each, but for those of equal units, which are cut anywhere so that
 * none is much larger than the others. It follows from the records of the stages before, so that all workers find the same.
 */

import type { StoredSplitters } from '../io/external/splitters.js';
import type { StoredProducts } from '../io/multiset.js';
import type { JobFolder } from './job-folder.js';
import { orderOf } from './job-records.js';
import type { SortJob } from './sort-job.js';

/** What `sample` records; the sample itself is in a file. */
export interface SampleRecord {
  /** Units of the shard, and of the sample. */
  readonly n: number;
  readonly samples: number;
}

/** What `splitters` records. */
export interface SplittersRecord {
  readonly splitters: StoredSplitters;
  /** Of each partition: are all its units equal? */
  readonly single: readonly boolean[];
}

/** What `partition` records. */
export interface PartitionRecord {
  readonly bytes: number;
  /** Of what goes to each partition. */
  readonly sizes: readonly number[];
  readonly products: StoredProducts;
}

/** What `sort` records. */
export interface SortedPartRecord {
  /** Units, and bytes of the file. */
  readonly n: number;
  readonly bytes: number;
  /** The first and the last unit, as base64. */
  readonly ends: readonly [first: string, last: string] | null;
  readonly products: StoredProducts;
}

/** What a task of `sort` makes. */
export interface Part {
  readonly name: string;
  readonly partition: number;
  /** Which bytes of the partition's units. */
  readonly begin: number;
  readonly end: number;
  readonly single: boolean;
  /** What each shard has of the partition. */
  readonly sizes: readonly number[];
}

export interface Layout {
  readonly parts: readonly Part[];
  /** Bytes of all units. */
  readonly bytes: number;
}

/** A partition of equal units is cut where it has more than so many times the bytes of an average one. */
const MAX_SINGLE_KEY_RATIO = 1.5;

/** @throws IoError where a stage before has no records yet */
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
  // Of no units at all there is a part, too, which says what they would be.
  if (parts.length === 0) parts.push({ partition: 0, begin: 0, end: 0, single: false, sizes: [] });
  const digits = Math.max(5, String(parts.length - 1).length);
  const named = parts.map((part, i) => ({
    ...part,
    name: `part-${String(i).padStart(digits, '0')}${job.part.extension}`,
  }));
  return { parts: named, bytes };
}

/** Of a shard's piece of a partition, below the job's folder. */
export const pieceName = (partition: number, shard: number): readonly [string, string, string] => [
  'pieces',
  String(partition).padStart(4, '0'),
  String(shard).padStart(6, '0'),
];

/** The folder of the parts, while they are made. */
export const PARTS = 'parts';
