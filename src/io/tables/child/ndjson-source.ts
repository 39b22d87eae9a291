/** NDJSON as a table. Runs in the child. */

import { FormatError } from '../../../util/errors.js';
import { dtypeOfSql, FILE, literal } from '../../formats/foreign/duckdb.js';
import { quoted } from '../../formats/foreign/ndjson-table.js';
import type { ReadTableMessage } from '../../formats/foreign/protocol.js';
import { type Ask, columnsOf } from '../../formats/foreign/sql-table.js';
import type { SqlSource } from './duckdb-table-reader.js';
import { sqlValue } from './text-values.js';

/** Types whose values are read as texts first, so that nothing is rounded. */
const isNumber = (type: string): boolean => dtypeOfSql(type) !== null || type === 'HUGEINT';

/** The path of a part of an object, by its name. */
const pointer = (name: string): string => literal(`/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);

export async function openNdjson(ask: Ask, { compression }: ReadTableMessage): Promise<SqlSource> {
  const packed = compression ? `, compression = ${literal(compression)}` : '';
  const options = `format = 'newline_delimited'${packed}`;
  // All lines are looked at: what is first there in a late one is a column, too.
  const columns = await columnsOf(ask, `read_json(${FILE}, ${options}, sample_size = -1)`);
  const fromLines = `read_ndjson_objects(${FILE}${packed})`;
  const names = columns.map(({ name }) => name);
  await assertApart(ask, names, fromLines);
  const typeOf = (index: number): string => columns[index]?.type ?? 'JSON';
  const nameOf = (index: number): string => columns[index]?.name ?? '';
  return {
    columns,
    rows: null,
    select(wanted) {
      if (wanted.some(({ as }) => as === 'lines')) {
        const values = wanted.map(({ index, as }) =>
          as === 'lines' ? 'json' : partOf(nameOf(index), typeOf(index)),
        );
        return `SELECT ${values.join()} FROM ${fromLines}`;
      }
      const read = new Map(
        wanted.map(({ index }) => [nameOf(index), isNumber(typeOf(index)) ? 'VARCHAR' : typeOf(index)]),
      );
      const types = [...read].map(([name, type]) => `${literal(name)}: ${literal(type)}`);
      const values = wanted.map(({ index }) => {
        const name = quoted(nameOf(index));
        return isNumber(typeOf(index)) ? sqlValue(name, typeOf(index)) : name;
      });
      return `SELECT ${values.join()} FROM read_json(${FILE}, ${options}, columns = {${types.join()}})`;
    },
  };
}

/** A part of a line that is an object, as a value. */
function partOf(name: string, type: string): string {
  const text = `(json ->> ${pointer(name)})`;
  return isNumber(type) || type === 'VARCHAR'
    ? sqlValue(text, type)
    : `CAST(json -> ${pointer(name)} AS ${type})`;
}

/**
 * DuckDB tells names apart by their letters only, not by capitals, and calls the second of two alike otherwise, so that nothing
 * would be found under its name.
 *
 * @throws FormatError where there are such names
 */
async function assertApart(ask: Ask, names: readonly string[], lines: string): Promise<void> {
  const small = new Set(names.map((name) => name.toLowerCase()));
  for (const name of names) {
    const [, stem] = /^(.*)_\d+$/s.exec(name) ?? [];
    if (stem === undefined || !small.has(stem.toLowerCase())) continue;
    const [found] = await ask(`SELECT bool_or(json_exists(json, ${pointer(name)})) AS is FROM ${lines}`);
    if (found?.is === true) continue;
    throw new FormatError(`it has names that differ from ${stem} in capitals only, which are not told apart`);
  }
}
