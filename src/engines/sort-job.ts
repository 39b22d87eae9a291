/** What is sorted over many workers, as `job.json` has it: files by their shared names, how they are cut, and the order. */
import type { Dtype } from '../keys/dtype.js';

/** Of a file that is sorted. */
export interface JobInput {
  /** Its shared name. */
  readonly name: string;
  readonly bytes: number;
  /** Nanoseconds. */
  readonly modified: string;
  /** Of bytes from all over the file. */
  readonly checksum: string;
}

/** A stretch of the input, which one task reads. */
export interface Shard {
  /** Which of the inputs. */
  readonly input: number;
  /** Bytes of its units, as they are sorted; `end` is null for what can be read only from beginning to end. */
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

/** Records, whose keys are as the command line has them. */
export interface RecordFormat {
  readonly is: 'records';
  readonly record: number;
  readonly keys: readonly string[];
  readonly nan: 'first' | 'last';
  readonly format?: string | undefined;
}

/** How parts are written. */
export interface PartFormat {
  /** With its dot; empty where the input has none. */
  readonly extension: string;
  /** As `--to` takes it. */
  readonly format: string;
  readonly bigEndian: boolean;
  readonly header?: boolean | undefined;
  readonly delimiter?: string | undefined;
  readonly column?: string | undefined;
}

export interface SortJob {
  readonly schema: typeof SORT_SCHEMA;
  /** Of clsort: workers of another one do none of it. */
  readonly version: string;
  /** Shared name of the folder of the result. */
  readonly out: string;
  readonly inputs: readonly JobInput[];
  readonly units: KeyFormat | RecordFormat;
  readonly shards: readonly Shard[];
  readonly partitions: number;
  readonly part: PartFormat;
  /** Chooses samples. */
  readonly seed: number;
  /** The points that checksums are taken at, as decimal numbers. */
  readonly points: readonly string[];
  readonly how: {
    readonly algorithm?: string;
    readonly scan?: 3 | 5 | 'auto';
    readonly radixBits?: number;
  };
}

export const SORT_SCHEMA = 'clsort.sort-job/1';
