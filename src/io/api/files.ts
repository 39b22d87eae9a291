/** Sorting of files from a program. */
import type { FileHandle } from 'node:fs/promises';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { sorterFor } from '../../sort/api/default-sorter.js';
import type { Sorter } from '../../sort/api/sorter.js';
import type { SortOptions } from '../../sort/model/options.js';
import { parseSortOptions } from '../../sort/model/parse-options.js';
import { UsageError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { renamedError } from '../../util/renamed.js';
import { invalidName } from '../../util/suggest.js';
import type { DistinctOptions, FileReport, FileSortOptions } from '../file-sort/file-job.js';
import { sortFile as sortJob } from '../file-sort/sort-file.js';
import { STDIO } from '../streams/raw.js';
import type { TableOptions } from '../tables/table-options.js';

/** Options of `sortFile`. */
export interface SortFileOptions
  extends FileSortOptions,
    DistinctOptions,
    Partial<TableOptions>,
    Pick<SortOptions, 'device' | 'signal' | 'onProgress' | 'onWarning'> {
  /**
   * Sorter to use; it stays open.
   *
   * @defaultValue a shared sorter for `device`
   */
  readonly sorter?: Sorter | undefined;
}

const NAMES: Readonly<Record<keyof SortFileOptions, true>> = {
  dtype: true,
  format: true,
  to: true,
  column: true,
  axis: true,
  header: true,
  delimiter: true,
  comment: true,
  skip: true,
  ragged: true,
  na: true,
  decimal: true,
  thousands: true,
  types: true,
  descending: true,
  nan: true,
  bitRange: true,
  argsort: true,
  unique: true,
  duplicatesOnly: true,
  counts: true,
  algorithm: true,
  advanced: true,
  verify: true,
  by: true,
  columns: true,
  head: true,
  uniqueBy: true,
  device: true,
  sorter: true,
  signal: true,
  onProgress: true,
  onWarning: true,
};

/**
 * Sorts the keys of one or several files into a file, as `clsort sort` does.
 *
 *     await sortFile('prices.f64', 'sorted.npy');
 *     await sortFile(['a.npy', 'b.npy'], 'order.u32', { argsort: true, descending: true });
 *     await sortFile('words.u64', 'distinct.u64', { unique: true, counts: 'counts.npy' });
 *     await sortFile('trades.parquet', 'top.csv', { by: 'price:desc,time', head: 10 }); // rows of a table
 *     await sortFile(request, response, { dtype: 'u32' }); // any Readable, any Writable
 *
 * The format follows from `format` and `to`, from the extension (`.f64`, `.u32be`, `.npy`, also before `.gz` or
 * `.zst`), or from the first bytes of a file. An input name that implies no format means raw keys of `dtype`; such an
 * output name means the format of the input. The output is written to a temporary file that replaces the destination on
 * success, so input and output may be the same file. All keys are held in memory, except those of a matrix that is
 * sorted by rows.
 *
 * @param from path or `file:` URL, an array of these, a stream of bytes, or a FileHandle; the handle is read from its
 * position and stays open
 * @param to path or `file:` URL, a stream, which is not ended, or a FileHandle, which stays open
 * @param options formats, order, columns and callbacks; all are optional
 * @returns a report of the sort, with its duration
 * @throws UsageError when an argument or option is invalid
 * @throws DtypeError when the dtype is missing or contradicts the file
 * @throws FormatError when a file is not valid in its format
 * @throws IoError when reading or writing fails
 * @throws AbortedError when the signal aborts
 * @throws the errors of `sort`
 */
export async function sortFile(
  from: string | URL | readonly (string | URL)[] | Readable | FileHandle,
  to: string | URL | Writable | FileHandle,
  options: SortFileOptions = {},
): Promise<FileReport> {
  const input = inputOf(from);
  const output = outputOf(to);
  if (typeof options !== 'object' || options === null) throw invalidArgument('options', 'an object', options);
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(NAMES, name)) continue;
    throw renamedError('option', name) ?? invalidName('an option', name, Object.keys(NAMES));
  }
  const {
    sorter,
    device,
    signal = new AbortController().signal,
    onProgress,
    onWarning,
    advanced,
    ...rest
  } = options;
  parseSortOptions(advanced && { advanced });
  if (sorter && device !== undefined) {
    throw new UsageError(
      'cannot use option device with option sorter: the sorter has a device. Pass device to Sorter.open',
    );
  }
  const job = {
    ...rest,
    ...advanced,
    in: input instanceof Readable ? STDIO : input,
    out: output instanceof Writable ? STDIO : output,
  };
  assertPaths(job, input, output);
  const context = {
    stdin: input instanceof Readable ? input : Readable.from([]),
    stdout: output instanceof Writable ? output : new Writable(),
    signal,
    ...(onProgress && { onProgress }),
    ...(onWarning && { onWarning }),
  };
  const opened =
    sorter ??
    (await sorterFor<Sorter>({ ...(device !== undefined && { device }), ...(onWarning && { onWarning }) }));
  const { by } = job;
  if (by === undefined) {
    assertNoTable(job);
    return sortJob(opened, { ...job, ...(job.bitRange && { bits: job.bitRange }) }, context);
  }
  const { sortTableFile } = await import('../tables/sort-table-file.js');
  return sortTableFile(opened, { ...job, by }, context);
}

/**
 * Converts a path or `file:` URL to a path.
 *
 * @throws UsageError when `path` is neither
 */
function pathOf(path: unknown, name: string): string {
  if (typeof path === 'string') return path;
  if (path instanceof URL && path.protocol === 'file:') return fileURLToPath(path);
  const got = path instanceof URL ? { text: path.href } : path;
  throw invalidArgument(name, 'a path, a file: URL, a stream or a FileHandle', got);
}

const isHandle = (file: unknown): file is FileHandle =>
  typeof (file as Partial<FileHandle> | null)?.createReadStream === 'function';

/** Bytes per read of a handle. */
const HANDLE_BYTES = 2 ** 20;

/** Reads a handle from its position on and leaves it open; a stream of Node would close it. */
async function* bytesOfHandle(handle: FileHandle): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { bytesRead, buffer } = await handle.read(new Uint8Array(HANDLE_BYTES));
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

const handleOutput = (handle: FileHandle): Writable =>
  new Writable({ write: (chunk, _, done) => void handle.writeFile(chunk).then(() => done(), done) });

/** @throws UsageError when `from` is not readable */
function inputOf(from: unknown): string | readonly string[] | Readable {
  if (from instanceof Readable) return from;
  if (isHandle(from)) return Readable.from(bytesOfHandle(from));
  return Array.isArray(from) ? from.map((one) => pathOf(one, 'input')) : pathOf(from, 'input');
}

/** @throws UsageError when `to` is not writable */
function outputOf(to: unknown): string | Writable {
  if (to instanceof Writable) return to;
  return isHandle(to) ? handleOutput(to) : pathOf(to, 'output');
}

/** @throws UsageError when an option for tables is set without `by` */
function assertNoTable(job: Partial<TableOptions>): void {
  const name = (['columns', 'head', 'uniqueBy'] as const).find((one) => job[one] !== undefined);
  if (name)
    throw new UsageError(
      `cannot use option ${name} without by: it applies to tables, and by names their key columns`,
    );
}

/** @throws UsageError for `-`, since a library does not own stdin and stdout */
function assertPaths(
  job: { readonly in: string | readonly string[]; readonly out: string },
  from: unknown,
  to: unknown,
): void {
  const paths = [
    ...(from instanceof Readable ? [] : [job.in].flat()),
    ...(to instanceof Writable ? [] : [job.out]),
  ];
  if (!paths.includes(STDIO)) return;
  throw new UsageError("cannot open '-': it is not a path here. Pass the stream itself for stdin or stdout");
}
