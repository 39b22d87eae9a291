/** CSV and TSV as a table. Runs in the child. */
import { readCsv } from '../../formats/foreign/csv-table.js';
import type { ReadTableMessage } from '../../formats/foreign/protocol.js';
import type { Ask } from '../../formats/foreign/sql-table.js';
import { wholeColumns } from '../../formats/foreign/text-column.js';
import type { SqlSource } from './duckdb-table-reader.js';
import { sqlValue } from './text-values.js';

/** A null is nothing between two delimiters; what is between quotes is a text, be it empty. */
const NULLS = { allow_quoted_nulls: 'false' };

export async function openCsv(ask: Ask, message: ReadTableMessage): Promise<SqlSource> {
  const { columns: found, from, names, formats } = await readCsv(ask, message, NULLS);
  const columns = await wholeColumns(ask, found, from, names);
  return {
    columns,
    rows: null,
    select: (wanted) => {
      const values = wanted.map(({ index, as }) => {
        const text = `c${index}`;
        return as === 'texts' ? text : sqlValue(text, columns[index]?.type ?? 'VARCHAR', formats);
      });
      return `SELECT ${values.join()} FROM ${from}`;
    },
  };
}
