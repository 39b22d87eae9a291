import type { Readable } from 'node:stream';
import { bytesOf } from '../keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../keys/dtype.js';
import type { Sorter } from '../sort/api/sorter.js';
import { type AdvancedOptions, bitWindow, groupAdvanced, type SortOptions } from '../sort/model/options.js';
import type { SortReport } from '../sort/model/report.js';
import { UsageError } from '../util/errors.js';
import { invalidArgument } from '../util/invalid-argument.js';
import type { FileSortBatcher } from './file-sort-batcher.js';
import { type Lines, linesOf } from './formats/axis.js';
import { withInputs } from './formats/inputs.js';
import { readKeys, writeKeys } from './formats/key-array.js';
import type { KeyFacts, KeyReader, KeyWriter } from './formats/key-file.js';
import { type InputOptions, inputOptionsOf, type KeyTarget, keyTarget } from './formats/keys.js';
import { positionDtype } from './positions.js';
import type { LargeOptions, LargeReport } from './sort-large.js';
import { onlyReport } from './sort-reports.js';
import type { ArrayPool } from './streams/array-pool.js';
import { assertSeparate, type Output, type OutputContext, withOutput } from './streams/output.js';
import { assertNotAborted, isStdin, isStdout } from './streams/raw.js';
import { measureSpan, now, type OnSpan, type WorkSpan } from './streams/spans.js';
import { warnOfText } from './text-warning.js';

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

/** A file sort that may exceed memory. */
export interface LargeFileJob extends FileJob, DistinctOptions, LargeOptions {}

/** Streams, callbacks and pools of a file sort. */
export interface FileContext extends Pick<SortOptions, 'onProgress' | 'onWarning'>, OutputContext {
  readonly stdin: Readable;
  /** Pool of arrays for keys and results, for callers that sort several files one after the other. */
  readonly arrays?: ArrayPool | undefined;
  /** Combines small sorts, for callers that sort many files concurrently. */
  readonly batcher?: FileSortBatcher | undefined;
  /** Receives notes for users, such as the location of temporary files. */
  readonly onNote?: ((text: string) => void) | undefined;
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

/**
 * Sorts the keys of one or several files.
 *
 * @param sorter sorts the keys
 * @param job input, output and options
 * @param context streams, callbacks and pools
 * @param parts sorts input larger than `memory`; without it everything is sorted as a whole
 * @throws UsageError when an option is invalid
 * @throws DtypeError when the dtype is missing or contradicts the file
 * @throws FormatError when a file is not valid in its format
 * @throws IoError when reading or writing fails
 * @throws AbortedError when the signal aborts
 * @throws the errors of the sorter
 */
export async function sortFile(
  sorter: Sorter,
  job: LargeFileJob,
  context: FileContext,
  parts?: PartitionedSort,
): Promise<FileReport> {
  const inputs = inputsOf(job);
  const { dtype, format, header, delimiter, out, argsort, resume } = job;
  if (argsort) await assertSeparate('positions', out, inputs);
  if (resume) assertFiles(inputs, out);
  await assertDistinct(job, inputs);
  return withInputs(inputs, context, async (open, areFiles) => {
    const sortTo = async (output?: Output): Promise<FileReport> => {
      const reader = await open(inputOptionsOf(job));
      if (format !== 'raw') await warnOfText(reader, context);
      const to = job.to ?? (format === 'raw' ? 'raw' : 'auto');
      const model = { ...reader, isDtypeGiven: dtype !== undefined };
      const text = { header, delimiter, signal: context.signal };
      const target = await keyTarget(out, { to, ...text, verify: job.verify }, model);
      const formats = [reader.format, target.format] as const;
      const reportBase = { descending: job.descending ?? false, argsort: argsort ?? false, formats };
      return sortKeys({ sorter, reader, target, job, context, reportBase, output }, parts);
    };
    if (areFiles) return sortTo();
    // Opens the output first, so that an unwritable path is reported before waiting for a pipe.
    let report: FileReport | undefined;
    await withOutput(out, context, async (output) => {
      report = await sortTo(output);
    });
    return report as unknown as FileReport;
  });
}

/** The state of one file sort. */
export interface FileSort {
  readonly sorter: Sorter;
  readonly reader: KeyReader;
  readonly target: KeyTarget;
  readonly job: LargeFileJob;
  readonly context: FileContext;
  /** Fields of the report that are known in advance. */
  readonly reportBase: Pick<FileReport, 'descending' | 'argsort' | 'formats'>;
  /** The output, when it is already open. */
  readonly output: Output | undefined;
}

/** Sorts input in partitions; implemented in partitioned-sort.ts. */
export interface PartitionedSort {
  /** Returns the reader, with as much of a pipe prefetched as the choice of method requires. */
  prepare(work: FileSort): Promise<KeyReader>;
  /** @returns undefined when the keys are to be sorted as a whole */
  sort(work: FileSort): Promise<FileReport | undefined>;
}

async function sortKeys(work: FileSort, parts: PartitionedSort | undefined): Promise<FileReport> {
  const lines = work.job.unique ? undefined : linesOf(work.reader, work.job.axis);
  if (lines) return sortLines(work, lines);
  if (work.sorter.hasDedicatedMemory) {
    // Loaded on demand.
    const { sortOnDevice } = await import('./sort-on-device.js');
    const report = await sortOnDevice(work);
    if (report) return report;
  }
  const prepare = parts ? { ...work, reader: await parts.prepare(work) } : work;
  return (await parts?.sort(prepare)) ?? sortWhole(prepare);
}

/** Runs `write` with the output. An output that is already open is committed by its opener. */
export const writeToOutput = (
  { output, job, context }: FileSort,
  write: (output: Output) => Promise<void>,
): Promise<void> => (output ? write(output) : withOutput(job.out, context, write));

export const inputsOf = ({ in: inputs }: FileJob): readonly string[] =>
  typeof inputs === 'string' ? [inputs] : inputs;

/** Returns the properties of the result: keys or positions. */
export const factsOf = (
  { reader: { dtype, column }, reportBase: { argsort }, job }: FileSort,
  n: number | undefined,
  shape: KeyFacts['shape'] = n === undefined ? undefined : [n],
): KeyFacts => ({ dtype: argsort ? positionDtype(n, job.wideFrom) : dtype, n, shape, column });

/** Sorts each row or column of a matrix. */
async function sortLines(work: FileSort, lines: Lines): Promise<FileReport> {
  // Loaded on demand.
  const [{ sortMatrix }, { addReports }] = await Promise.all([
    import('./sort-matrix.js'),
    import('./sort-reports.js'),
  ]);
  const { sorter, reader, target, job, context, reportBase } = work;
  const { dtype, n } = reader;
  const reports: SortReport[] = [];
  const options = sortOptions(job, context, (one) => reports.push(one));
  let done = 0;
  const onDone = (keys: number): void => {
    assertNotAborted(context.signal);
    done += keys;
    context.onProgress?.({ phase: 'sorting', done, total: n ?? done });
  };
  let seconds = 0;
  await writeToOutput(work, async (output) => {
    const writer = await target.create(output, factsOf(work, n, reader.shape));
    const matrix = { sorter, dtype, argsort: reportBase.argsort, options, onDone };
    [, seconds] = await measure(() => sortMatrix(reader, lines, matrix, writer));
    if (reports.length === 0) await sorter.sort(new Uint8Array(0), { ...options, dtype }); // report of an empty sort
    await writer.end();
  });
  const whole = addReports(reports, n ?? done, seconds);
  return { ...whole, ...reportBase, shape: reader.shape ?? [], readSeconds: 0, writeSeconds: 0 };
}

/** Sorts all keys in memory. */
async function sortWhole(work: FileSort): Promise<FileReport> {
  const { reader, target, job, context, reportBase } = work;
  const { dtype, n } = reader;
  const reports: SortReport[] = [];
  const options = { ...sortOptions(job, context, (one) => reports.push(one)), dtype };
  let times = { readSeconds: 0, writeSeconds: 0 };
  let length = 0;
  await writeToOutput(work, async (output) => {
    // Reports a lack of space before reading, when the length is known.
    if (n !== undefined) await output.reserve(target.bytes(factsOf(work, n)) ?? 0);
    const { arrays, onSpan } = context;
    const [keys, readSeconds] = await measure(() =>
      measureSpan('read', onSpan, () => readKeys(reader, arrays)),
    );
    let result: KeyArray | undefined;
    try {
      assertNotAborted(context.signal);
      const began = now();
      result = await sortedKeys(work, keys, options);
      if (onSpan && reports[0]) reportSpans(onSpan, began, reports[0]);
    } catch (error) {
      arrays?.abandon(keys);
      throw error;
    }
    arrays?.release(keys);
    try {
      const sorted = result;
      const write = async (): Promise<void> => {
        length = job.unique ? await compactDistinct(work, sorted) : sorted.length;
        const writer = await target.create(output, factsOf(work, length));
        await writeKeys(writer, sorted.subarray(0, length));
        await writer.end();
      };
      const [, writeSeconds] = await measure(() => measureSpan('write', onSpan, write));
      times = { readSeconds, writeSeconds };
    } finally {
      arrays?.release(result);
    }
  });
  const report = onlyReport(reports);
  return { ...report, ...reportBase, ...(job.unique && { distinct: length }), shape: [length], ...times };
}

/** Returns the sorted keys or their positions. Uses the pool, and combines small sorts with those of other files. */
async function sortedKeys(
  { sorter, reportBase, context }: FileSort,
  keys: KeyArray,
  options: SortOptions & { readonly dtype: Dtype },
): Promise<KeyArray> {
  const { arrays, batcher } = context;
  if (!reportBase.argsort && batcher?.accepts(keys, options)) return batcher.sort(keys, options);
  const into = arrays?.take(reportBase.argsort ? 'u32' : options.dtype, keys.length);
  try {
    if (reportBase.argsort)
      return await sorter.argsort(keys, into ? { ...options, into: into as Uint32Array } : options);
    return await sorter.sort(keys, into ? { ...options, into } : options);
  } catch (error) {
    if (into) arrays?.abandon(into);
    throw error;
  }
}

/**
 * Reports the time spans of a sort: the wait for the device, upload, sort and download. Only durations are known, so
 * transfers are assumed to lie at the two ends.
 */
export function reportSpans(onSpan: OnSpan, began: number, { stages, seconds }: SortReport): void {
  const all = (now() - began) / 1000;
  const ofStage = (name: string): number =>
    stages.reduce((sum, { stage, seconds: took }) => sum + (stage === name ? (took ?? 0) : 0), 0);
  const [upload, download] = [ofStage('upload'), ofStage('download')];
  let at = began;
  const emitSpan = (kind: WorkSpan['kind'], took: number): void => {
    if (took > 0) onSpan({ kind, began: at, seconds: took });
    at += 1000 * Math.max(0, took);
  };
  emitSpan('wait', all - seconds);
  emitSpan('upload', upload);
  emitSpan('sort', seconds - upload - download);
  emitSpan('download', download);
}

/**
 * Moves the first of equal keys to the front of sorted keys, and writes the counts.
 *
 * @returns the number of distinct keys
 */
async function compactDistinct({ reader, job, context }: FileSort, sorted: KeyArray): Promise<number> {
  // Loaded on demand.
  const [{ withDistinct }, { keyOrdering }] = await Promise.all([
    import('./distinct-output.js'),
    import('./records/record-ordering.js'),
  ]);
  const { dtype } = reader;
  const { descending = false, nan = 'last' } = job;
  const order = keyOrdering({ dtype, descending, nan, bits: bitWindow(job.bits, dtypeInfo(dtype)) });
  const to = bytesOf(sorted);
  let end = 0;
  const front: KeyWriter = {
    // In place: the output never overtakes the input.
    async write(piece) {
      to.set(piece, end);
      end += piece.length;
    },
    end: async () => undefined,
  };
  const { counts } = job;
  const request = { order, unique: true, counts, model: reader, text: job };
  await withDistinct(
    request,
    async () => front,
    context,
    (writer) => writeKeys(writer, sorted),
  );
  return end / order.recordBytes;
}

/**
 * Rejects options that conflict with `unique` or `counts`.
 *
 * @throws UsageError when they conflict
 */
export async function assertDistinct(
  { unique = false, argsort, counts, out }: DistinctOptions & Pick<FileJob, 'argsort' | 'out'>,
  inputs: readonly string[],
): Promise<void> {
  if (unique && argsort) {
    throw new UsageError('cannot use argsort with unique: positions are distinct already');
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

/** Returns the result of `work` and its duration. */
export async function measure<T>(work: () => Promise<T>): Promise<[result: T, seconds: number]> {
  const started = performance.now();
  const result = await work();
  return [result, (performance.now() - started) / 1000];
}
