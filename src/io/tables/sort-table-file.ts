/** Sorts table files by columns. */
import type { Sorter } from '../../sort/api/sorter.js';
import type { FileContext, FileReport } from '../file-sort/file-job.js';
import { type Output, withOutput } from '../streams/output.js';
import { assertOneStdin, openSource, type Source } from '../streams/raw.js';
import { measure } from '../streams/spans.js';
import { type AnyTable, openTable } from './table-file.js';
import type { TableJob } from './table-job.js';
import { assertTableOptions } from './table-options.js';
import { firstRows, planTables } from './table-plan.js';
import { TableRows } from './table-rows.js';
import { tableBatches, tableWriter, totalRows } from './table-stream.js';

export type { TableJob };

/**
 * Sorts the rows of one table, or of several tables together. Values are copied unchanged.
 *
 * @throws UsageError when the options are invalid or a column does not exist
 * @throws DtypeError when a key column has no order, or the output format cannot hold a column
 * @throws FormatError when an input is damaged
 * @throws IoError when reading or writing fails
 * @throws UnsupportedError when the platform or the number of rows is not supported
 * @throws AbortedError when the signal is aborted
 * @throws the errors of the Sorter
 */
export async function sortTableFile(
  sorter: Sorter,
  job: TableJob,
  context: FileContext,
): Promise<FileReport> {
  assertTableOptions(job);
  const inputs = typeof job.in === 'string' ? [job.in] : job.in;
  assertOneStdin(inputs);
  const opened: (Source | AnyTable)[] = [];
  try {
    const sources: Source[] = [];
    for (const path of inputs) {
      const source = await openSource(path, context.stdin, context.signal);
      sources.push(source);
      opened.push(source);
    }
    // Opened first, so that an unwritable output fails before an input pipe is awaited.
    return await withOutput(job.out, context, async (output) => {
      const tables: AnyTable[] = [];
      const how = { ...job, signal: context.signal, isSearched: firstRows(job) !== undefined };
      for (const [i, source] of sources.entries()) {
        const table = await openTable(source, inputs[i] ?? '', how);
        tables.push(table);
        opened.push(table);
      }
      return sortTables(sorter, tables, job, context, output);
    });
  } finally {
    for (const one of opened.reverse()) await one.close();
  }
}

async function sortTables(
  sorter: Sorter,
  tables: readonly AnyTable[],
  job: TableJob,
  context: FileContext,
  output: Output,
): Promise<FileReport> {
  const plan = await planTables(tables, job, context);
  const [first] = tables;
  const rows = new TableRows(sorter, { job, context });
  try {
    const open = (): ReturnType<typeof tableWriter> => tableWriter(plan, job, output, context.signal);
    // A process that writes the table starts while rows are read. A text begins with its header, which waits for them.
    const isText = plan.text && plan.text.plan.to.as !== 'values';
    const started = isText ? undefined : await open();
    const [, readSeconds] = await measure(() =>
      rows.read(tableBatches(tables, plan, context), totalRows(tables)),
    );
    const made = await rows.sorted(async () => started ?? open(), plan.reportColumns.columns.length);
    return {
      ...made,
      descending: false,
      argsort: false,
      formats: [first?.kind.id ?? plan.target.id, plan.target.id],
      readSeconds,
      table: { ...plan.reportColumns, ...rows.facts },
    };
  } finally {
    await rows.close();
  }
}
