import { dtypeOfSql, FILE, literal } from './duckdb.js';
import type { ForeignColumn, ReadMessage, TextOptions } from './protocol.js';
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
  readonly DateFormat: string | null;
  readonly TimestampFormat: string | null;
  readonly Columns: readonly { readonly name: string; readonly type: string }[];
}

/** Arguments: the file, and options by their names, with values as a statement takes them. */
const given = (options: Readonly<Record<string, string | undefined>>): string =>
  [FILE, ...Object.entries(options).flatMap(([name, value]) => (value ? [`${name} = ${value}`] : []))].join();

/** A text whose columns are read as they are written. */
export interface CsvText {
  /** What they hold, as far as the beginning tells. */
  readonly columns: readonly ForeignColumn[];
  /** What a statement selects from, and the names of its columns there. */
  readonly from: string;
  readonly names: readonly string[];
  /** How dates and times are written, where that is not as usual. */
  readonly formats: { readonly date?: string | undefined; readonly timestamp?: string | undefined };
}

export async function csvTable(ask: Ask, message: ReadMessage): Promise<SqlTable> {
  const { columns, from, names } = await readCsv(ask, message);
  return {
    columns: await wholeColumns(ask, columns, from, names),
    rows: null,
    select: (wanted) =>
      `SELECT ${wanted.map(({ index, dtype }) => castOf(`c${index}`, dtype)).join()} FROM ${from}`,
  };
}

/**
 * CSV: how it is made is found out once, and then taken as that.
 *
 * @param more options of the reader
 */
export async function readCsv(
  ask: Ask,
  message: TextOptions,
  more: Readonly<Record<string, string>> = {},
): Promise<CsvText> {
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
    ...more,
  };
  const from = `read_csv(${given(options)})`;
  const columns = sniffed.Columns.map(({ name, type }) => ({ name, type, dtype: dtypeOfSql(type) }));
  const formats = { date: sniffed.DateFormat ?? undefined, timestamp: sniffed.TimestampFormat ?? undefined };
  return { columns, from, names, formats };
}
