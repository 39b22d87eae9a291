/** Tables in files, sorted by columns. */
import type { SortReport } from '../../sort/api/report.js';
import type { Sorter } from '../../sort/api/sorter.js';
import { MemoryError, UsageError } from '../../util/errors.js';
import type { ForeignKind } from '../formats/foreign/foreign-reader.js';
import { MOST_BYTES } from '../formats/foreign/frames.js';
import type { RowsAs, RowsMessage } from '../formats/foreign/protocol.js';
import { type Output, withOutput } from '../output.js';
import { assertGoing, isStdin, openSource, type Source } from '../raw.js';
import { type FileContext, type FileReport, type FileSortOptions, sortOptions, timed } from '../sort-file.js';
import { columnIndex, columnNames, foundKeys, keyText, tableKeys } from './by.js';
import { ByteStrings } from './byte-strings.js';
import { assertHeld } from './holds.js';
import { knownFields, TableFile, TableWriter, tableTarget } from './table-file.js';
import { assertTableOptions, type TableOptions } from './table-options.js';
import { tablePositions, verifyOrder } from './table-order.js';
import type { TableField } from './table-type.js';

/** Which tables to sort, from where to where, and how. */
export interface TableJob
  extends TableOptions,
    Pick<
      FileSortOptions,
      'nan' | 'algorithm' | 'scan' | 'radixBits' | 'verify' | 'format' | 'to' | 'header' | 'delimiter'
    > {
  /** File, `-` for stdin; of several the rows of all, whose columns have to be the same. */
  readonly in: string | readonly string[];
  /** Result, `-` for stdout. An existing file is replaced when all is well. */
  readonly out: string;
  /** Most bytes that rows and their order may take; default: no limit. */
  readonly memory?: number | undefined;
}

/** Bytes for each row beside it and its codes: lengths, words, positions and groups while ties are broken. */
const ORDER_BYTES = 64;

/**
 * Sorts a table, or the rows of several together. Values pass as they are.
 *
 * @throws UsageError, DtypeError for a column that has no order or that the output cannot hold, FormatError, IoError,
 *   MemoryError where the rows take more than `memory`, UnsupportedError, AbortedError, and what the Sorter throws
 */
export async function sortTableFile(
  sorter: Sorter,
  job: TableJob,
  context: FileContext,
): Promise<FileReport> {
  assertTableOptions(job);
  const inputs = typeof job.in === 'string' ? [job.in] : job.in;
  if (inputs.filter(isStdin).length > 1) {
    throw new UsageError("two files are '-': only one can be read from stdin");
  }
  const opened: (Source | TableFile)[] = [];
  try {
    const sources: Source[] = [];
    for (const path of inputs) {
      const source = await openSource(path, context.stdin, context.signal);
      sources.push(source);
      opened.push(source);
    }
    let report: FileReport | undefined;
    // That the result cannot be written is told before anybody waits for a pipe.
    await withOutput(job.out, context, async (output) => {
      const { format, header, delimiter } = job;
      const tables: TableFile[] = [];
      for (const [i, source] of sources.entries()) {
        const options = { format, header, delimiter, signal: context.signal };
        const table = await TableFile.open(source, inputs[i] ?? '', options);
        tables.push(table);
        opened.push(table);
      }
      report = await sortTables(sorter, tables, job, context, output);
    });
    return report as unknown as FileReport;
  } finally {
    for (const one of opened.reverse()) await one.close();
  }
}

/** What is read of each table, and what is written. */
interface TablePlan {
  readonly wanted: Omit<RowsMessage, 'is'>;
  readonly fields: readonly TableField[];
  readonly target: ForeignKind;
  readonly told: NonNullable<FileReport['table']>;
}

/** @throws UsageError, DtypeError, FormatError: all that can be known before rows are read */
async function planOf(table: TableFile, job: TableJob): Promise<TablePlan> {
  const { by, columns, unique = false, uniqueBy, head, out, to = 'auto', nan } = job;
  const { fields, name, kind } = table;
  const keys = tableKeys(by);
  const found = foundKeys(keys, fields, { name, nan });
  const indexOf = (column: string | number): number => columnIndex(fields, column, name);
  const kept = columns === undefined ? fields.map((_, i) => i) : columnNames(columns).map(indexOf);
  const distinct = uniqueBy === undefined ? null : columnNames(uniqueBy).map(indexOf);
  const target = await tableTarget(out, { to, input: kind.id });
  const as = rowsAs(kind, target, columns !== undefined);
  const chosen = kept.map((i) => fields[i] as (typeof fields)[number]);
  const texts: TableField[] =
    as === 'lines'
      ? [{ name: 'json', type: { is: 'json' } }]
      : as === 'texts'
        ? chosen.map((field) => ({ name: field.name, type: { is: 'text' } }))
        : knownFields(chosen, name);
  if (as !== 'lines') assertHeld(texts, { name: out, format: target.format, id: target.id });
  if (distinct)
    knownFields(
      distinct.map((i) => fields[i] as (typeof fields)[number]),
      name,
    );
  const told = {
    by: found.map(({ index, ...order }) => keyText({ ...order, column: fields[index]?.name ?? '' })),
    columns: chosen.map((field) => field.name),
    ...(head !== undefined && { head }),
    ...(unique && { unique }),
    ...(distinct && { uniqueBy: distinct.map((i) => fields[i]?.name ?? '') }),
  };
  const wanted = { columns: kept, as, keys: found.map(({ kind: _, ...key }) => key), distinct };
  return { wanted, fields: texts, target, told };
}

/** Texts stay as they are written, where the output is such a text, too. */
function rowsAs({ format }: ForeignKind, target: ForeignKind, isChosen: boolean): RowsAs {
  if (format !== target.format) return 'values';
  if (format === 'csv') return 'texts';
  return format === 'ndjson' && !isChosen ? 'lines' : 'values';
}

/** @throws UsageError where tables have other columns than the first one */
function assertAlike(tables: readonly TableFile[]): void {
  const [first, ...others] = tables;
  const shape = ({ fields }: TableFile): string =>
    JSON.stringify(fields.map(({ name, type, text }) => [name, type ?? text]));
  for (const other of others) {
    if (!first || (shape(other) === shape(first) && other.kind.format === first.kind.format)) continue;
    const listed = ({ fields }: TableFile): string =>
      fields.map(({ name, text }) => `${name} (${text})`).join(', ');
    throw new UsageError(
      `tables that are sorted together have the same columns in the same format: ${first.name} has ${listed(first)}, ` +
        `and ${other.name} has ${listed(other)}`,
    );
  }
}

async function sortTables(
  sorter: Sorter,
  tables: readonly TableFile[],
  job: TableJob,
  context: FileContext,
  output: Output,
): Promise<FileReport> {
  const { header, delimiter, head, unique = false, verify = false } = job;
  const { signal } = context;
  assertAlike(tables);
  const [first] = tables;
  if (!first) throw new UsageError('no file was named');
  const plan = await planOf(first, job);
  const { rows, codes, distinct, seconds: readSeconds } = await readRows(tables, plan, job, context);
  const reports: SortReport[] = [];
  const { algorithm, scan, radixBits } = job;
  const options = sortOptions({ algorithm, scan, radixBits, verify }, context, (one) => reports.push(one));
  const choice = { head, distinct: unique ? rows : distinct };
  const [positions, seconds] = await timed(() => tablePositions(sorter, codes, choice, options));
  const [report] = reports;
  if (!report) throw new Error('the Sorter sorted without a report');
  const verified = verify ? verifyOrder(codes, positions) : undefined;
  const [, writeSeconds] = await timed(async () => {
    const isLines = plan.wanted.as === 'lines';
    const text = { header, delimiter, signal };
    const writer = await TableWriter.create(plan.target, output, { fields: plan.fields, isLines }, text);
    await writeRows(writer, rows, positions, signal);
    await writer.end();
  });
  const { verified: _, ...made } = report;
  return {
    ...made,
    ...(verified && { verified }),
    n: rows.n,
    seconds,
    descending: false,
    argsort: false,
    formats: [first.kind.id, plan.target.id],
    shape: [positions.length, plan.told.columns.length],
    readSeconds,
    writeSeconds,
    table: plan.told,
  };
}

interface Rows {
  readonly rows: ByteStrings;
  readonly codes: ByteStrings;
  readonly distinct: ByteStrings | undefined;
  readonly seconds: number;
}

/** @throws MemoryError that says how much it takes, when that is more than there may be */
async function readRows(
  tables: readonly TableFile[],
  { wanted }: TablePlan,
  { memory = Number.POSITIVE_INFINITY }: TableJob,
  { signal, onProgress }: FileContext,
): Promise<Rows> {
  const [rows, codes, distinct] = [new ByteStrings(), new ByteStrings(), new ByteStrings()];
  const total = tables.reduce((sum, table) => sum + (table.rows ?? Number.NaN), 0);
  let [needed, n] = [0, 0];
  const [, seconds] = await timed(async () => {
    for (const table of tables) {
      for await (const batch of table.batches(wanted)) {
        assertGoing(signal);
        n += batch.rows;
        needed += batch.buffers.reduce((sum, { length }) => sum + length, 0) + batch.rows * ORDER_BYTES;
        onProgress?.({ phase: 'reading', done: n, total: Number.isNaN(total) ? n : total });
        if (needed > memory) continue; // what is left is counted, for the error that tells it
        const [codeLengths, codeBytes, rowLengths, rowBytes, lengths, bytes] = batch.buffers as Uint8Array[];
        codes.add(codeLengths as Uint8Array, codeBytes as Uint8Array);
        rows.add(rowLengths as Uint8Array, rowBytes as Uint8Array);
        if (lengths && bytes) distinct.add(lengths, bytes);
      }
    }
  });
  if (needed <= memory) return { rows, codes, distinct: wanted.distinct ? distinct : undefined, seconds };
  const mib = (bytes: number): number => Math.ceil(bytes / 2 ** 20);
  throw new MemoryError(
    `tables are sorted in memory, and these ${n} rows take ${mib(needed)} MiB of it, where ${mib(memory)} MiB are allowed: ` +
      `allow more with --memory ${mib(needed)}M, or keep fewer columns with --columns`,
    { details: { needed, memory, rows: n } },
  );
}

/** Rows and bytes that are sent at a time. */
const BATCH_ROWS = 2 ** 16;
const BATCH_BYTES = 2 ** 22;

/** Writes rows in order, gathered batch by batch. */
async function writeRows(
  writer: TableWriter,
  rows: ByteStrings,
  positions: Uint32Array,
  signal: AbortSignal,
): Promise<void> {
  for (let begin = 0; begin < positions.length; ) {
    assertGoing(signal);
    let end = begin;
    let bytes = 0;
    while (end < positions.length && end - begin < BATCH_ROWS && bytes < BATCH_BYTES) {
      bytes += rows.length(positions[end++] as number);
    }
    if (bytes > MOST_BYTES / 2)
      throw new MemoryError(`a row of ${bytes} bytes is longer than can be written`);
    const batch = new Uint8Array(bytes);
    let at = 0;
    for (let i = begin; i < end; i++) {
      const row = rows.at(positions[i] as number);
      batch.set(row, at);
      at += row.length;
    }
    await writer.write(end - begin, batch);
    begin = end;
  }
}
