import { FILE, literal } from './duckdb.js';
import type { ReadMessage } from './protocol.js';
import { type Ask, columnsOf, type SqlTable } from './sql-table.js';
import { castOf, SAMPLE_ROWS } from './text-column.js';

/** A name in a statement. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Objects, or numbers alone, a line each. */
export async function ndjsonTable(ask: Ask, { compression }: ReadMessage): Promise<SqlTable> {
  const options = `format = 'newline_delimited'${compression ? `, compression = ${literal(compression)}` : ''}`;
  const columns = await columnsOf(ask, `read_json(${FILE}, ${options}, sample_size = ${SAMPLE_ROWS})`);
  return {
    columns,
    rows: null,
    select: (wanted) => {
      const names = wanted.map(({ index }) => columns[index]?.name ?? '');
      const texts = [...new Set(names)].map((name) => `${literal(name)}: 'VARCHAR'`);
      const casts = wanted.map(({ dtype }, i) => castOf(quoted(names[i] ?? ''), dtype));
      return `SELECT ${casts.join()} FROM read_json(${FILE}, ${options}, columns = {${texts.join()}})`;
    },
  };
}
