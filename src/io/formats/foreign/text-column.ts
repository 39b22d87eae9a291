/** Numbers in texts, which are read as they are written and cast where nothing is lost. */
import type { Dtype } from '../../../keys/dtype.js';
import { dtypeInfo } from '../../../keys/dtype.js';
import { dtypeOfSql, SQL_TYPES } from './duckdb.js';
import type { ForeignColumn } from './protocol.js';
import type { Ask } from './sql-table.js';

/** Rows that tell what a column is, as many as DuckDB itself looks at. */
export const SAMPLE_ROWS = 20480;

/** Whether a text has what only broken numbers have; casts to integers would round them. */
export const isBroken = (column: string): string =>
  `(${['.', 'e', 'E', 'n', 'N'].map((sign) => `contains(${column}, '${sign}')`).join(' OR ')})`;

/** A column of texts as numbers of a dtype; a statement with it fails at what is none. */
export function castOf(column: string, dtype: Dtype): string {
  const cast = `CAST(${column} AS ${SQL_TYPES[dtype]})`;
  if (dtypeInfo(dtype).kind === 'float') return cast;
  return (
    `CASE WHEN ${isBroken(column)} THEN error('''' || ${column} || ''' is no whole number') ` +
    `ELSE ${cast} END`
  );
}

/**
 * What columns of a text are, where DuckDB takes them for broken numbers: it does so with whole ones that i64 does not
 * hold, and would round them.
 *
 * @param from the text with every column as it is written
 * @param names of its columns, in a statement
 */
export async function wholeColumns(
  ask: Ask,
  columns: readonly ForeignColumn[],
  from: string,
  names: readonly string[],
): Promise<readonly ForeignColumn[]> {
  const asked = columns.flatMap(({ type }, i) => (type === 'DOUBLE' ? [i] : []));
  if (asked.length === 0) return columns;
  const tests = asked.map((i) => {
    const name = names[i] ?? '';
    return (
      `CASE WHEN bool_or(${isBroken(name)}) THEN 'DOUBLE' ` +
      `WHEN bool_and(${name} IS NULL OR TRY_CAST(${name} AS UBIGINT) IS NOT NULL) THEN 'UBIGINT' ELSE 'HUGEINT' END AS t${i}`
    );
  });
  const [found = {}] = await ask(`SELECT ${tests.join()} FROM (FROM ${from} LIMIT ${SAMPLE_ROWS})`);
  return columns.map((column, i) => {
    const type = found[`t${i}`];
    return typeof type === 'string' ? { ...column, type, dtype: dtypeOfSql(type) } : column;
  });
}
