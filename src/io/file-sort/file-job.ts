/** A file sort as callers describe it, and its report. */
import type { Readable } from 'node:stream';
import { type AdvancedOptions, groupAdvanced, type SortOptions } from '../../sort/model/options.js';
import type { SortReport } from '../../sort/model/report.js';
import { UsageError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import type { ExternalContext, ExternalReport } from '../external/job.js';
import type { InputOptions } from '../formats/keys.js';
import type { ArrayPool } from '../streams/array-pool.js';
import { isStdin, isStdout } from '../streams/raw.js';
import { assertSeparate } from '../streams/same-file.js';
import type { FileSortBatcher } from './file-sort-batcher.js';

/** Options of a file sort: input format, order, and output format. */
export interface FileSortOptions
  extends Pick<SortOptions, 'descending' | 'nan' | 'bitRange' | 'algorithm' | 'advanced' | 'verify'>,
    Omit<InputOptions, 'signal'> {
  /**
   * Output format, with the same names as `format`.
   *
   * @defaultValue from the output name, otherwise the format of the (first) input
   */
  readonly to?: string | undefined;
  /**
   * For a matrix: the dimension along which keys are sorted; 0 sorts each column, 1 each row, −1 the last dimension.
   *
   * @defaultValue `-1`
   */
  readonly axis?: number | undefined;
  /**
   * Write positions instead of keys: u32, or u64 from 2^32 keys on. In a matrix, positions are relative to the row or
   * column.
   *
   * @defaultValue `false`
   */
  readonly argsort?: boolean | undefined;
}

/** Options for duplicate keys. */
export interface DistinctOptions {
  /**
   * Write only the first of equal keys. All NaNs are equal, and so are −0 and +0. A matrix is treated as one array.
   *
   * @defaultValue `false`
   */
  readonly unique?: boolean | undefined;
  /**
   * Write only the first of equal keys that occur more than once. Requires `unique`.
   *
   * @defaultValue `false`
   * @throws UsageError when `unique` is not set
   */
  readonly duplicatesOnly?: boolean | undefined;
  /**
   * Path of a file that receives the number of occurrences of each distinct key, as u64. Requires `unique`.
   *
   * @defaultValue none
   * @throws UsageError when `unique` is not set
   */
  readonly counts?: string | undefined;
}

/** A file sort: input, output and options, with the names of the batch manifest. */
export interface FileJob
  extends Omit<FileSortOptions, 'bitRange' | 'algorithm' | 'advanced'>,
    AdvancedOptions {
  readonly algorithm?: string | undefined;
  /** Option `bitRange`. */
  readonly bits?: SortOptions['bitRange'];
  /** Path, `-` for stdin; several files are concatenated. */
  readonly in: string | readonly string[];
  /** Path of the output, `-` for stdout. An existing file is replaced on success. */
  readonly out: string;
}

/** Options of file sorts that may exceed memory. */
export interface LargeOptions {
  /**
   * Memory limit of the sort in bytes, in addition to what the process uses anyway. Larger inputs are sorted through
   * temporary files. Default: everything is sorted in memory as a whole.
   */
  readonly memory?: number | undefined;
  /** Folder for temporary files; default the folder of the output. */
  readonly tmp?: string | undefined;
  /** Resumes an interrupted sort through temporary files, if there is one. */
  readonly resume?: boolean | undefined;
  /** Number of keys from which on positions are u64; default 2^32. */
  readonly wideFrom?: number | undefined;
}

/** Report of a partitioned sort. */
export type LargeReport = Omit<ExternalReport, 'sort' | 'verified'>;

/** A file sort that may exceed memory. */
export interface LargeFileJob extends FileJob, DistinctOptions, LargeOptions {}

/** Streams, callbacks and pools of a file sort. */
export interface FileContext extends ExternalContext, Pick<SortOptions, 'onWarning'> {
  readonly stdin: Readable;
  /** Pool of arrays for keys and results, for callers that sort several files one after the other. */
  readonly arrays?: ArrayPool | undefined;
  /** Combines small sorts, for callers that sort many files concurrently. */
  readonly batcher?: FileSortBatcher | undefined;
}

/** Report of a file sort: the sort report, with formats and I/O times. */
export interface FileReport extends SortReport {
  readonly descending: boolean;
  readonly argsort: boolean;
  /** Number of distinct keys or records written; only set with `unique`. */
  readonly distinct?: number;
  /** Formats of the input and the output. */
  readonly formats: readonly [from: string, to: string];
  /** Dimensions of the result. */
  readonly shape: readonly number[];
  /** For matrices, reading and writing overlap with the sort and count in `seconds` instead. */
  readonly readSeconds: number;
  readonly writeSeconds: number;
  /** Report of a partitioned sort; absent for a sort as a whole. */
  readonly external?: LargeReport;
  /**
   * For records: the record size in bytes and the keys in command-line syntax. `dtype` is that of the data sorted on
   * their behalf.
   */
  readonly records?: { readonly record: number; readonly keys: readonly string[] };
  /** For tables: sort keys and row selection, in command-line syntax; `n` is the number of rows read. */
  readonly table?: {
    readonly by: readonly string[];
    readonly columns: readonly string[];
    readonly head?: number;
    readonly unique?: boolean;
    readonly uniqueBy?: readonly string[];
    /** For text: the detected dialect of the first file, and the type that each key was compared as. */
    readonly text?: {
      readonly delimiter?: string;
      readonly header?: boolean;
      readonly types: readonly string[];
    };
    /** For tables that exceeded memory: number of sorted runs, and bytes written to temporary files. */
    readonly runs?: number;
    readonly spilledBytes?: number;
  };
}

export const inputsOf = ({ in: inputs }: Pick<FileJob, 'in'>): readonly string[] =>
  typeof inputs === 'string' ? [inputs] : inputs;

/**
 * Rejects options that conflict with `unique` or `counts`.
 *
 * @throws UsageError when they conflict
 */
export async function assertDistinct(
  {
    unique = false,
    duplicatesOnly = false,
    argsort,
    counts,
    out,
  }: DistinctOptions & Pick<FileJob, 'argsort' | 'out'>,
  inputs: readonly string[],
): Promise<void> {
  if (unique && argsort) {
    throw new UsageError('cannot use argsort with unique: positions are distinct already');
  }
  if (duplicatesOnly && !unique) {
    throw new UsageError('cannot write duplicates only: option unique writes each key once. Set unique');
  }
  if (counts === undefined) return;
  if (!unique) throw new UsageError('cannot write counts: they are counts of distinct keys. Pass --unique');
  if (isStdout(counts)) throw invalidArgument('counts', 'the path of a file', counts);
  await assertSeparate('counts', counts, [...inputs, out]);
}

/** @throws UsageError when stdin or stdout is among the files */
export function assertFiles(inputs: readonly string[], out: string): void {
  if (!inputs.some(isStdin) && !isStdout(out)) return;
  throw new UsageError('cannot resume the sort: its input or output is a pipe. Use files for both');
}

/** Sort options shared by sorts of records and keys. */
type SortSettings = {
  readonly [Name in keyof FileJob]?: FileJob[Name] | undefined;
};

/** Returns the sort options of a job whose order is not that of keys. */
export const orderingOptions = (
  { algorithm, scan, radixBits, tuning, verify }: SortSettings,
  context: FileContext,
  onReport?: (report: SortReport) => void,
): SortOptions => sortOptions({ algorithm, scan, radixBits, tuning, verify }, context, onReport);

/** Returns the sort options of a job, without undefined values, which the sorter rejects. */
export function sortOptions(
  { descending, nan, bits, algorithm, scan, radixBits, tuning, verify }: SortSettings,
  { signal, onProgress, onWarning }: FileContext,
  onReport?: (report: SortReport) => void,
): SortOptions {
  const order = { descending, nan, bitRange: bits, algorithm, verify };
  const options = { ...order, profile: true, signal, onReport, onProgress, onWarning };
  const grouped = groupAdvanced({ ...options, scan, radixBits, tuning });
  return Object.fromEntries(Object.entries(grouped).filter(([, value]) => value !== undefined));
}
