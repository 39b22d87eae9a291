import type { Readable } from 'node:stream';
import { bytesOf } from '../keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../keys/dtype.js';
import { bitWindow, type SortOptions } from '../sort/api/options.js';
import type { SortReport } from '../sort/api/report.js';
import type { Sorter } from '../sort/api/sorter.js';
import { UsageError } from '../util/errors.js';
import type { ArrayPool } from './array-pool.js';
import { type Lines, linesOf } from './axis.js';
import type { FileSortBatcher } from './file-sort-batcher.js';
import type { KeyFacts, KeyReader, KeyWriter } from './formats/key-file.js';
import { withInputs } from './inputs.js';
import { readKeys, writeKeys } from './key-array.js';
import { type InputOptions, inputOptionsOf, type KeyTarget, keyTarget } from './keys.js';
import { isSameFile, type Output, type OutputContext, withOutput } from './output.js';
import { positionDtype } from './positions.js';
import { assertNotAborted, isStdin, isStdout } from './raw.js';
import type { LargeOptions, LargeReport } from './sort-large.js';
import { measureSpan, now, type OnSpan, type WorkSpan } from './spans.js';
import { warnOfText } from './text-warning.js';

/** How files are sorted: what they hold, in what order, and as what the result is written. */
export interface FileSortOptions
  extends Pick<SortOptions, 'descending' | 'nan' | 'bits' | 'algorithm' | 'scan' | 'radixBits' | 'verify'>,
    Omit<InputOptions, 'signal'> {
  /**
   * Format of the result, as `format` names them.
   *
   * @defaultValue as its name says, else that of the (first) input
   */
  readonly to?: string | undefined;
  /**
   * Of a matrix: the dimension along which keys are sorted, 0 for each column, 1 for each row, −1 for the last one.
   *
   * @defaultValue `-1`
   */
  readonly axis?: number | undefined;
  /**
   * Write positions (u32, u64 from 2^32 keys on) instead of keys; in a matrix those within the row or column.
   *
   * @defaultValue `false`
   */
  readonly argsort?: boolean | undefined;
}

/** What becomes of equal keys. */
export interface DistinctOptions {
  /**
   * Write of equal keys only the first; all NaNs are equal, and so are both zeros. A matrix is taken as the keys that it has.
   *
   * @defaultValue `false`
   */
  readonly unique?: boolean | undefined;
  /**
   * With `unique`: file for how often each key that is written was there, as u64.
   *
   * @defaultValue none
   * @throws UsageError without `unique`
   */
  readonly counts?: string | undefined;
}

/** What to sort, from where to where, and how. */
export interface FileJob extends FileSortOptions {
  /** File, `-` for stdin; of several the keys of all. */
  readonly in: string | readonly string[];
  /** Result, `-` for stdout. An existing file is replaced when all is well. */
  readonly out: string;
}

/** A job of which more may be than fits into memory. */
export interface LargeFileJob extends FileJob, DistinctOptions, LargeOptions {}

/** What is at hand while files are sorted. */
export interface FileContext extends Pick<SortOptions, 'onProgress' | 'onWarning'>, OutputContext {
  readonly stdin: Readable;
  /** Arrays that keys are read to and sorted to, for callers that sort one file after the other. */
  readonly arrays?: ArrayPool | undefined;
  /** Sorts the keys of small files together, for callers that sort many at once. */
  readonly batcher?: FileSortBatcher | undefined;
  /** Gets what people may want to know meanwhile, such as where temporary files are. */
  readonly onNote?: ((text: string) => void) | undefined;
}

/** The library's report, and what files cost. */
export interface FileReport extends SortReport {
  readonly descending: boolean;
  readonly argsort: boolean;
  /** Keys, or records, that were written, where only distinct ones were. */
  readonly distinct?: number;
  /** Formats of the input and of the result. */
  readonly formats: readonly [from: string, to: string];
  /** Dimensions of the result. */
  readonly shape: readonly number[];
  /** Of matrices both are part of the sort's own seconds, since they take turns with it. */
  readonly readSeconds: number;
  readonly writeSeconds: number;
  /** How it went in partitions; left out for what was sorted as a whole. */
  readonly external?: LargeReport;
  /** Of records: bytes of one, and their keys as the command line has them; the dtype is that of what was sorted for them. */
  readonly records?: { readonly record: number; readonly keys: readonly string[] };
  /** Of tables: what they were sorted by and what was kept, as the command line has it; `n` counts the rows that were read. */
  readonly table?: {
    readonly by: readonly string[];
    readonly columns: readonly string[];
    readonly head?: number;
    readonly unique?: boolean;
    readonly uniqueBy?: readonly string[];
    /** Of texts: how the first one was found to be written, and what each key was compared as. */
    readonly text?: {
      readonly delimiter?: string;
      readonly header?: boolean;
      readonly types: readonly string[];
    };
    /** Of those that did not fit into memory: runs that they were sorted in, and bytes of temporary files that were written. */
    readonly runs?: number;
    readonly spilledBytes?: number;
  };
}

/**
 * Sorts one file, or the keys of several.
 *
 * @param parts sorts what is larger than `memory`; without it everything is sorted as a whole
 * @throws UsageError, DtypeError, FormatError, IoError, AbortedError, and what the Sorter throws
 */
export async function sortFile(
  sorter: Sorter,
  job: LargeFileJob,
  context: FileContext,
  parts?: PartitionedSort,
): Promise<FileReport> {
  const inputs = inputsOf(job);
  const { dtype, format, header, delimiter, out, argsort, resume } = job;
  for (const input of argsort ? inputs : []) {
    if (!(await isSameFile(input, out))) continue;
    throw new UsageError('an argsort would replace the keys by their positions: name another output');
  }
  if (resume) assertFiles(inputs, out);
  await assertDistinct(job, inputs);
  return withInputs(inputs, context, async (open, areFiles) => {
    const sortTo = async (output?: Output): Promise<FileReport> => {
      const reader = await open(inputOptionsOf(job));
      if (format !== 'raw') await warnOfText(reader, context);
      const to = job.to ?? (format === 'raw' ? 'raw' : 'auto');
      const model = { ...reader, dtypeSaid: dtype !== undefined };
      const text = { header, delimiter, signal: context.signal };
      const target = await keyTarget(out, { to, ...text, verify: job.verify }, model);
      const formats = [reader.format, target.format] as const;
      const reportBase = { descending: job.descending ?? false, argsort: argsort ?? false, formats };
      return sortKeys({ sorter, reader, target, job, context, reportBase, output }, parts);
    };
    if (areFiles) return sortTo();
    // That the result cannot be written is told before anybody waits for a pipe.
    let report: FileReport | undefined;
    await withOutput(out, context, async (output) => {
      report = await sortTo(output);
    });
    return report as unknown as FileReport;
  });
}

/** One sort of a file, with all that it takes. */
export interface FileSort {
  readonly sorter: Sorter;
  readonly reader: KeyReader;
  readonly target: KeyTarget;
  readonly job: LargeFileJob;
  readonly context: FileContext;
  /** What is known of the report before. */
  readonly reportBase: Pick<FileReport, 'descending' | 'argsort' | 'formats'>;
  /** The output, where it is open already. */
  readonly output: Output | undefined;
}

/** Sorts in partitions what is not to be sorted as a whole: sort-parts.ts. */
export interface PartitionedSort {
  /** The keys, or as many of a pipe as it takes to know what is to be done with them. */
  prepare(work: FileSort): Promise<KeyReader>;
  /** @returns undefined where the keys are to be sorted as a whole */
  sort(work: FileSort): Promise<FileReport | undefined>;
}

async function sortKeys(work: FileSort, parts: PartitionedSort | undefined): Promise<FileReport> {
  const lines = work.job.unique ? undefined : linesOf(work.reader, work.job.axis);
  if (lines) return sortLines(work, lines);
  if (work.sorter.hasDedicatedMemory) {
    // Other sorts do without.
    const { sortOnDevice } = await import('./sort-on-device.js');
    const report = await sortOnDevice(work);
    if (report) return report;
  }
  const prepare = parts ? { ...work, reader: await parts.prepare(work) } : work;
  return (await parts?.sort(prepare)) ?? sortWhole(prepare);
}

/** Runs `write` with the output, which is committed by who opened it. */
export const writeToOutput = (
  { output, job, context }: FileSort,
  write: (output: Output) => Promise<void>,
): Promise<void> => (output ? write(output) : withOutput(job.out, context, write));

export const inputsOf = ({ in: inputs }: FileJob): readonly string[] =>
  typeof inputs === 'string' ? [inputs] : inputs;

/** What is known of the result: keys, or positions. */
export const factsOf = (
  { reader: { dtype, column }, reportBase: { argsort }, job }: FileSort,
  n: number | undefined,
  shape: KeyFacts['shape'] = n === undefined ? undefined : [n],
): KeyFacts => ({ dtype: argsort ? positionDtype(n, job.wideFrom) : dtype, n, shape, column });

/** Sorts each row or column of a matrix. */
async function sortLines(work: FileSort, lines: Lines): Promise<FileReport> {
  // Other sorts do without.
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
    if (reports.length === 0) await sorter.sort(new Uint8Array(0), { ...options, dtype }); // to be told of no keys
    await writer.end();
  });
  const whole = addReports(reports, n ?? done, seconds);
  return { ...whole, ...reportBase, shape: reader.shape ?? [], readSeconds: 0, writeSeconds: 0 };
}

/** Sorts keys as a whole, in memory. */
async function sortWhole(work: FileSort): Promise<FileReport> {
  const { reader, target, job, context, reportBase } = work;
  const { dtype, n } = reader;
  const reports: SortReport[] = [];
  const options = { ...sortOptions(job, context, (one) => reports.push(one)), dtype };
  let times = { readSeconds: 0, writeSeconds: 0 };
  let length = 0;
  await writeToOutput(work, async (output) => {
    // Whether there is room is known before much is read, where the length is.
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
  const [report] = reports;
  if (!report) throw new Error('the Sorter sorted without a report');
  return { ...report, ...reportBase, ...(job.unique && { distinct: length }), shape: [length], ...times };
}

/** The keys, or their positions, in order: where the pool has room for them, and few keys together with those of others. */
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

/** Tells when a sort took place, as far as it is known: transfers at its two ends, and before it the wait for its turn. */
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

/** Brings the first ones of equal keys to the front of sorted ones, and writes the counts. @returns how many those are */
async function compactDistinct({ reader, job, context }: FileSort, sorted: KeyArray): Promise<number> {
  // Other sorts do without.
  const [{ withDistinct }, { keyOrdering: keyOrder }] = await Promise.all([
    import('./distinct-output.js'),
    import('./record-ordering.js'),
  ]);
  const { dtype } = reader;
  const { descending = false, nan = 'last' } = job;
  const order = keyOrder({ dtype, descending, nan, bits: bitWindow(job.bits, dtypeInfo(dtype)) });
  const to = bytesOf(sorted);
  let end = 0;
  const front: KeyWriter = {
    // What is written stands there already, or behind.
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

/** Refuses what cannot be had of distinct keys. @throws UsageError */
export async function assertDistinct(
  { unique = false, argsort, counts, out }: DistinctOptions & Pick<FileJob, 'argsort' | 'out'>,
  inputs: readonly string[],
): Promise<void> {
  if (unique && argsort) {
    throw new UsageError('positions are distinct: ask for an argsort or for distinct keys');
  }
  if (counts === undefined) return;
  if (!unique) throw new UsageError('counts are of distinct keys: ask for these as well (--unique)');
  if (isStdout(counts)) throw new UsageError(`counts are written to a file, not to ${counts}: name one`);
  for (const path of [...inputs, out]) {
    if (path !== counts && !(await isSameFile(path, counts))) continue;
    throw new UsageError(`the counts would replace ${path}: name another file for them`);
  }
}

/** @throws UsageError where a pipe is among them */
export function assertFiles(inputs: readonly string[], out: string): void {
  if (!inputs.some(isStdin) && !isStdout(out)) return;
  throw new UsageError('only a sort of a file into a file can be gone on with: a pipe comes once');
}

/** What may be said of a sort, of records as of keys. */
type SortSettings = {
  readonly [Name in keyof FileSortOptions]?: FileSortOptions[Name] | undefined;
};

/** What the Sorter takes of a job: names that are undefined are left out, since it knows of none. */
export function sortOptions(
  { descending, nan, bits, algorithm, scan, radixBits, verify }: SortSettings,
  { signal, onProgress, onWarning }: FileContext,
  onReport?: (report: SortReport) => void,
): SortOptions {
  const order = { descending, nan, bits, algorithm, scan, radixBits, verify };
  const options = { ...order, profile: true, signal, onReport, onProgress, onWarning };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** What `work` gives, and how long it took. */
export async function measure<T>(work: () => Promise<T>): Promise<[result: T, seconds: number]> {
  const started = performance.now();
  const result = await work();
  return [result, (performance.now() - started) / 1000];
}
