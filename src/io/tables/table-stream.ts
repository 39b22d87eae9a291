/** Reads the rows of tables in batches, and writes rows as a table. */
import type { FileContext } from '../file-sort/file-job.js';
import type { Batch } from '../formats/subprocess/protocol.js';
import { createTable } from '../formats/subprocess/table-writer.js';
import { textBatches } from '../formats/text/text-rows.js';
import { TextWriter } from '../formats/text/text-writer.js';
import type { Output } from '../streams/output.js';
import type { RowWriter } from './row-sink.js';
import { type AnyTable, isTextTable } from './table-file.js';
import type { TableJob } from './table-job.js';
import type { TablePlan } from './table-plan.js';

/** Yields the rows of all tables with the codes of their keys. */
export async function* tableBatches(
  tables: readonly AnyTable[],
  { text, wanted }: Pick<TablePlan, 'text' | 'wanted'>,
  { onNote }: Pick<FileContext, 'onNote'>,
): AsyncGenerator<Batch> {
  for (const table of tables) {
    if (!isTextTable(table)) yield* table.batches(wanted);
    else if (text && table.fields.length > 0) {
      yield* textBatches(table, text.plan, wanted.head);
      for (const note of table.skipSummary()) onNote?.(note);
    }
  }
}

/** Returns the total number of rows; undefined when it is unknown for a table. */
export const totalRows = (tables: readonly AnyTable[]): number | undefined =>
  tables.reduce<number | undefined>(
    (sum, { rows }) => (sum === undefined || rows === undefined ? undefined : sum + rows),
    0,
  );

export async function tableWriter(
  { text, target, fields, metadata }: TablePlan,
  { header, delimiter, out, verify = false }: Pick<TableJob, 'header' | 'delimiter' | 'out' | 'verify'>,
  output: Output,
  signal: AbortSignal,
): Promise<RowWriter> {
  if (text && text.plan.to.as !== 'values') {
    return TextWriter.create(output, { out, table: text.first, plan: text.plan, header });
  }
  const options = { header, delimiter, verify, signal };
  const table = await createTable(target, output, { layout: 'rows', fields, metadata }, options);
  return { write: (rows, bytes) => table.write({ rows, buffers: [bytes] }), end: () => table.end() };
}
