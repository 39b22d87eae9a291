/** Values of texts in statements. Runs in the child. */
import { dtypeOfSql, literal } from '../../formats/foreign/duckdb.js';
import { castOf, isBroken } from '../../formats/foreign/text-column.js';

/** How dates and times of a text are written, where that is not as usual. */
export interface TimeFormats {
  readonly date?: string | undefined;
  readonly timestamp?: string | undefined;
}

/** A text as a value of a type of DuckDB; a statement with it fails at what is none. */
export function sqlValue(text: string, type: string, { date, timestamp }: TimeFormats = {}): string {
  if (type === 'VARCHAR') return text;
  const given = `NULLIF(${text}, '')`;
  const dtype = dtypeOfSql(type);
  if (dtype) return castOf(given, dtype);
  if (type === 'HUGEINT') {
    return `CASE WHEN ${isBroken(given)} THEN error('''' || ${text} || ''' is no whole number') ELSE CAST(${given} AS HUGEINT) END`;
  }
  if (type === 'DATE' && date) return `CAST(strptime(${given}, ${literal(date)}) AS DATE)`;
  if (type === 'TIMESTAMP' && timestamp) return `strptime(${given}, ${literal(timestamp)})`;
  return `CAST(${given} AS ${type})`;
}
