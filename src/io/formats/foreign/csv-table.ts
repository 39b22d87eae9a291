import { dtypeOfSql, FILE, literal } from './duckdb.js';
import type { ReadMessage } from './protocol.js';
import type { Ask, SqlTable } from './sql-table.js';
import { castOf, wholeColumns } from './text-column.js';

/** What the sniffer says where there is none. */
const NONE = '(empty)';

interface Sniffed {
  readonly Delimiter: string;
  readonly Quote: string;
  readonly Escape: string;
  readonly Comment: string;
  readonly SkipRows: number;
  readonly HasHeader: boolean;
  readonly Columns: readonly { readonly name: string; readonly type: string }[];
}

/** Arguments: the file, and options by their names, with values as a statement takes them. */
const given = (options: Readonly<Record<string, string | undefined>>): string =>
  [FILE, ...Object.entries(options).flatMap(([name, value]) => (value ? [`${name} = ${value}`] : []))].join();

/** CSV: how it is made is found out once, and then taken as that. */
export async function csvTable(ask: Ask, message: ReadMessage): Promise<SqlTable> {
  const { header, delimiter, compression } = message;
  const told = {
    compression: compression && literal(compression),
    header: header?.toString(),
    delim: delimiter === undefined ? undefined : literal(delimiter),
  };
  const [sniffed] = (await ask(`FROM sniff_csv(${given(told)})`)) as unknown as Sniffed[];
  if (!sniffed) throw new Error('nothing can be told about the text');
  const orQuotes = (found: string): string => literal(found === NONE ? '"' : found);
  const names = sniffed.Columns.map((_, i) => `c${i}`);
  const options = {
    compression: told.compression,
    auto_detect: 'false',
    header: String(sniffed.HasHeader),
    delim: literal(delimiter ?? sniffed.Delimiter),
    quote: orQuotes(sniffed.Quote),
    escape: orQuotes(sniffed.Escape),
    comment: sniffed.Comment === NONE ? undefined : literal(sniffed.Comment),
    skip: String(sniffed.SkipRows),
    columns: `{${names.map((name) => `${name}: 'VARCHAR'`).join()}}`,
  };
  const from = `read_csv(${given(options)})`;
  const columns = sniffed.Columns.map(({ name, type }) => ({ name, type, dtype: dtypeOfSql(type) }));
  return {
    columns: await wholeColumns(ask, columns, from, names),
    rows: null,
    select: (wanted) =>
      `SELECT ${wanted.map(({ index, dtype }) => castOf(`c${index}`, dtype)).join()} FROM ${from}`,
  };
}
