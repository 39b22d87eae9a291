import type { Readable } from 'node:stream';
import type { SortOptions } from '../sort/api/options.js';
import type { SortReport } from '../sort/api/report.js';
import type { Sorter } from '../sort/api/sorter.js';
import { UsageError } from '../util/errors.js';
import { linesOf } from './axis.js';
import type { KeyFacts, KeyReader } from './formats/key-file.js';
import { withInputs } from './inputs.js';
import { readKeys, writeKeys } from './key-array.js';
import { type InputOptions, keyTarget } from './keys.js';
import { isSameFile, type Output, type OutputContext, withOutput } from './output.js';
import { assertGoing } from './raw.js';
import { sortMatrix } from './sort-matrix.js';
import { addReports } from './sort-reports.js';

/** How files are sorted: what they hold, in what order, and as what the result is written. */
export interface FileSortOptions
  extends Pick<SortOptions, 'descending' | 'nan' | 'bits' | 'algorithm' | 'scan' | 'radixBits' | 'verify'>,
    Omit<InputOptions, 'signal'> {
  /** Format of the result, as `format` names them; default: as its name says, else that of the (first) input. */
  readonly to?: string | undefined;
  /** Of a matrix: the dimension along which keys are sorted, 0 for each column, 1 for each row; default −1, the last one. */
  readonly axis?: number | undefined;
  /** Write positions (u32) instead of keys; in a matrix those within the row or column. Default false. */
  readonly argsort?: boolean | undefined;
}

/** What to sort, from where to where, and how. */
export interface FileJob extends FileSortOptions {
  /** File, `-` for stdin; of several the keys of all. */
  readonly in: string | readonly string[];
  /** Result, `-` for stdout. An existing file is replaced when all is well. */
  readonly out: string;
}

/** What is at hand while files are sorted. */
export interface FileContext extends Pick<SortOptions, 'onProgress' | 'onWarning'>, OutputContext {
  readonly stdin: Readable;
}

/** The library's report, and what files cost. */
export interface FileReport extends SortReport {
  readonly descending: boolean;
  readonly argsort: boolean;
  /** Formats of the input and of the result. */
  readonly formats: readonly [from: string, to: string];
  /** Dimensions of the result. */
  readonly shape: readonly number[];
  /** Of matrices both are part of the sort's own seconds, since they take turns with it. */
  readonly readSeconds: number;
  readonly writeSeconds: number;
  /** Of records: bytes of one, and their keys as the command line has them; the dtype is that of what was sorted for them. */
  readonly records?: { readonly record: number; readonly keys: readonly string[] };
}

/**
 * Sorts one file, or the keys of several.
 *
 * @throws UsageError, DtypeError, FormatError, IoError, AbortedError, and what the Sorter throws
 */
export async function sortFile(sorter: Sorter, job: FileJob, context: FileContext): Promise<FileReport> {
  const inputs = typeof job.in === 'string' ? [job.in] : job.in;
  const { dtype, format, column, header, delimiter, out, argsort } = job;
  for (const input of argsort ? inputs : []) {
    if (!(await isSameFile(input, out))) continue;
    throw new UsageError('an argsort would replace the keys by their positions: name another output');
  }
  let report: FileReport | undefined;
  await withInputs(inputs, context, (open) =>
    withOutput(out, context, async (output) => {
      const reader = await open({ dtype, format, column, header, delimiter });
      report = await sortKeys(sorter, reader, job, output, context);
    }),
  );
  if (!report) throw new Error('the Sorter returned without a report');
  return report;
}

async function sortKeys(
  sorter: Sorter,
  reader: KeyReader,
  job: FileJob,
  output: Output,
  context: FileContext,
): Promise<FileReport> {
  const { argsort = false, descending = false, format, header, delimiter } = job;
  const { dtype, n } = reader;
  const { signal } = context;
  const to = job.to ?? (format === 'raw' ? 'raw' : 'auto');
  const model = { ...reader, dtypeSaid: job.dtype !== undefined };
  const target = await keyTarget(job.out, { to, header, delimiter, signal }, model);
  const lines = linesOf(reader, job.axis);
  const facts = (count: number | undefined, shape: KeyFacts['shape']): KeyFacts => ({
    dtype: argsort ? 'u32' : dtype,
    n: count,
    shape,
    column: reader.column,
  });
  const told = { descending, argsort, formats: [reader.format, target.format] } as const;
  const reports: SortReport[] = [];
  const options = sortOptions(job, context, (one) => reports.push(one));
  if (lines) {
    const writer = await target.create(output, facts(n, reader.shape));
    let done = 0;
    const onDone = (keys: number): void => {
      assertGoing(signal);
      done += keys;
      context.onProgress?.({ phase: 'sorting', done, total: n ?? done });
    };
    const work = { sorter, dtype, argsort, options, onDone };
    const [, seconds] = await timed(() => sortMatrix(reader, lines, work, writer));
    if (reports.length === 0) await sorter.sort(new Uint8Array(0), { ...options, dtype }); // to be told of no keys
    await writer.end();
    const whole = addReports(reports, n ?? done, seconds);
    return { ...whole, ...told, shape: reader.shape ?? [], readSeconds: 0, writeSeconds: 0 };
  }
  // Whether there is room is known before much is read, where the length is.
  if (n !== undefined) await output.reserve(target.bytes(facts(n, [n])) ?? 0);
  const [keys, readSeconds] = await timed(() => readKeys(reader));
  assertGoing(signal);
  const given = { ...options, dtype };
  const result = argsort ? await sorter.argsort(keys, given) : await sorter.sort(keys, given);
  const [, writeSeconds] = await timed(async () => {
    const writer = await target.create(output, facts(keys.length, [keys.length]));
    await writeKeys(writer, result);
    await writer.end();
  });
  const [report] = reports;
  if (!report) throw new Error('the Sorter sorted without a report');
  return { ...report, ...told, shape: [keys.length], readSeconds, writeSeconds };
}

/** What the Sorter takes of a job: names that are undefined are left out, since it knows of none. */
function sortOptions(
  { descending, nan, bits, algorithm, scan, radixBits, verify }: FileJob,
  { signal, onProgress, onWarning }: FileContext,
  onReport: (report: SortReport) => void,
): SortOptions {
  const order = { descending, nan, bits, algorithm, scan, radixBits, verify };
  const options = { ...order, profile: true, signal, onReport, onProgress, onWarning };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** What `work` gives, and how long it took. */
export async function timed<T>(work: () => Promise<T>): Promise<[result: T, seconds: number]> {
  const started = performance.now();
  const result = await work();
  return [result, (performance.now() - started) / 1000];
}
