/** The description of a distributed sort in `job.json`: inputs by shared name, shards, and order. */
import type { AlgorithmOption } from '../algorithms/algorithm-names.js';
import type { InputIdentity } from '../io/external/input.js';
import type { Dtype } from '../keys/dtype.js';

/** An input file, with its name relative to the shared folder. */
export type JobInput = InputIdentity;

/** A range of an input that one task reads. */
export interface Shard {
  /** Index of the input. */
  readonly input: number;
  /** Byte range in the records as they are sorted; `end` is null for an input that must be read sequentially. */
  readonly begin: number;
  readonly end: number | null;
}

/** Keys, and how their files are read. */
export interface KeyFormat {
  readonly is: 'keys';
  readonly dtype: Dtype;
  readonly descending: boolean;
  readonly nan: 'first' | 'last';
  readonly bits: readonly [begin: number, end: number];
  readonly read: {
    readonly dtype?: string | undefined;
    readonly format?: string | undefined;
    readonly column?: string | number | undefined;
    readonly header?: boolean | undefined;
    readonly delimiter?: string | undefined;
  };
}

/** Records, with keys in command-line syntax. */
export interface RecordFormat {
  readonly is: 'records';
  readonly record: number;
  readonly keys: readonly string[];
  readonly nan: 'first' | 'last';
  readonly format?: string | undefined;
}

export interface PartFormat {
  /** Extension with its dot; empty when the input has none. */
  readonly extension: string;
  readonly format: string;
  readonly bigEndian: boolean;
  readonly header?: boolean | undefined;
  readonly delimiter?: string | undefined;
  readonly column?: string | undefined;
}

export interface SortJob {
  readonly schema: typeof SORT_SCHEMA;
  /** Version of clsort; workers of other versions reject the job. */
  readonly version: string;
  /** Name of the result folder, relative to the shared folder. */
  readonly out: string;
  readonly inputs: readonly JobInput[];
  readonly units: KeyFormat | RecordFormat;
  readonly shards: readonly Shard[];
  readonly partitions: number;
  readonly part: PartFormat;
  /** Seed of the samples. */
  readonly seed: number;
  /** Points of the checksums, as decimal numbers. */
  readonly points: readonly string[];
  readonly how: {
    readonly algorithm?: AlgorithmOption;
    readonly scan?: 3 | 5 | 'auto';
    readonly radixBits?: number;
  };
}

export const SORT_SCHEMA = 'clsort.sort-job/1';
