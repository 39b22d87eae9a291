/** Sorting files from a program. */
import { Readable, Writable } from 'node:stream';
import { sorterFor } from '../sort/api/default-sorter.js';
import type { SortOptions } from '../sort/api/options.js';
import type { Sorter } from '../sort/api/sorter.js';
import { UsageError } from '../util/errors.js';
import { suggestion } from '../util/suggest.js';
import { STDIO } from './raw.js';
import {
  type DistinctOptions,
  type FileReport,
  type FileSortOptions,
  sortFile as sortJob,
} from './sort-file.js';
import type { TableOptions } from './tables/table-options.js';

/** What `sortFile` takes. */
export interface SortFileOptions
  extends FileSortOptions,
    DistinctOptions,
    Partial<TableOptions>,
    Pick<SortOptions, 'device' | 'signal' | 'onProgress' | 'onWarning'> {
  /**
   * Sorts on this Sorter, which stays open.
   *
   * @defaultValue one that is kept open for `device`
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
  descending: true,
  nan: true,
  bits: true,
  argsort: true,
  unique: true,
  counts: true,
  algorithm: true,
  scan: true,
  radixBits: true,
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
 * Sorts the keys of a file, or of several together, into a file, as `clsort sort` does.
 *
 *     await sortFile('prices.f64', 'sorted.npy');
 *     await sortFile(['a.npy', 'b.npy'], 'order.u32', { argsort: true, descending: true });
 *     await sortFile('words.u64', 'distinct.u64', { unique: true, counts: 'counts.npy' });
 *     await sortFile('trades.parquet', 'top.csv', { by: 'price:desc,time', head: 10 }); // rows of a table
 *     await sortFile(request, response, { dtype: 'u32' }); // any Readable, any Writable
 *
 * Formats are told by extensions (`.f64`, `.u32be`, `.npy`, behind `.gz` or `.zst`, too), by `format` and `to`, or by what a
 * file begins with. A name that says nothing is raw keys of `dtype` on the way in and the input's format on the way out.
 * The output is written aside and renamed when all is well, so that it may be the input, too. All keys are in memory at once,
 * but those of a matrix that is sorted by rows.
 *
 * @param from a path, several, or a stream of bytes
 * @param to a path, or a stream, which is not ended
 * @returns what was done, and how long it took
 * @throws UsageError, DtypeError where the dtype is missing or contradicts the file, FormatError, IoError, AbortedError, and as `sort`
 */
export async function sortFile(
  from: string | readonly string[] | Readable,
  to: string | Writable,
  options: SortFileOptions = {},
): Promise<FileReport> {
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(NAMES, name)) continue;
    throw new UsageError(`unknown option '${name}'${suggestion(name, Object.keys(NAMES))}`);
  }
  const { sorter, device, signal = new AbortController().signal, onProgress, onWarning, ...rest } = options;
  if (sorter && device !== undefined) {
    throw new UsageError(
      "option 'device' belongs to Sorter.open: the sorter that is given has its device already",
    );
  }
  const job = {
    ...rest,
    in: from instanceof Readable ? STDIO : from,
    out: to instanceof Writable ? STDIO : to,
  };
  assertPaths(job, from, to);
  const context = {
    stdin: from instanceof Readable ? from : Readable.from([]),
    stdout: to instanceof Writable ? to : new Writable(),
    signal,
    ...(onProgress && { onProgress }),
    ...(onWarning && { onWarning }),
  };
  const opened =
    sorter ?? (await sorterFor({ ...(device !== undefined && { device }), ...(onWarning && { onWarning }) }));
  const { by } = job;
  if (by === undefined) {
    assertNoTable(job);
    return sortJob(opened, job, context);
  }
  const { sortTableFile } = await import('./tables/sort-table-file.js');
  return sortTableFile(opened, { ...job, by }, context);
}

/** @throws UsageError for what only tables have, where nothing says what rows are sorted by */
function assertNoTable(job: Partial<TableOptions>): void {
  const name = (['columns', 'head', 'uniqueBy'] as const).find((one) => job[one] !== undefined);
  if (name)
    throw new UsageError(`option '${name}' is for tables: 'by' says which columns rows are sorted by`);
}

/** @throws UsageError for `-`: whose stdin it would be is the program's business */
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
  throw new UsageError("'-' is no file here: pass the stream itself, of stdin or stdout");
}
