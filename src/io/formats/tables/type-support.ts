/** Types that each format can hold without loss. */

import { DtypeError } from '../../../util/errors.js';
import type { SubprocessFormat } from '../subprocess/protocol.js';
import { partsOf, type TableField, type TableType, typeText } from './table-type.js';

/** DuckDB instants have no zone of their own and are always UTC. */
const isUtc = (zone: string): boolean => ['UTC', 'Etc/UTC', 'GMT', 'Z', '+00:00'].includes(zone);

/** Digits of DuckDB's widest decimal. */
const MAX_DIGITS = 38;
/** Digits of Arrow's widest decimal; Parquet is read and written via Arrow. */
export const MAX_PARQUET_DIGITS = 76;

const NEVER_IN_ARROW = ['i128', 'u128', 'bf16', 'interval in us'];
const NEVER_IN_DUCKDB = [
  'duration',
  'interval in ns',
  'interval of days',
  'interval of months',
  'date in ms',
];
const NEVER_IN_PARQUET = [
  'i128',
  'u128',
  'bf16',
  'interval in ns',
  'interval of days',
  'interval of months',
  'date in ms',
];
const NEVER_IN_TEXT = ['bytes', 'bytes of fixed length'];
const NEVER_IN_CSV = ['list', 'list of fixed length', 'map', 'struct'];

/**
 * Returns true for types other than decimal, and for decimals of at most `digits` digits with 0 ≤ scale ≤ precision.
 */
const isDecimalOf = (type: TableType, digits: number): boolean =>
  type.is !== 'decimal' || (type.precision <= digits && type.scale >= 0 && type.scale <= type.precision);

const isEmpty = (type: TableType): boolean => type.is === 'struct' && type.fields.length === 0;

function isInDuckdb(type: TableType): boolean {
  if (NEVER_IN_DUCKDB.includes(type.is)) return false;
  if (!isDecimalOf(type, MAX_DIGITS)) return false;
  if (type.is === 'time' && type.isUtc) return type.unit !== 'ns';
  return type.is !== 'timestamp' || type.zone === undefined || (isUtc(type.zone) && type.unit !== 'ns');
}

const SUPPORTS: Readonly<Record<SubprocessFormat, (type: TableType) => boolean>> = {
  arrow: (type) => !NEVER_IN_ARROW.includes(type.is) && !(type.is === 'time' && type.isUtc),
  arrows: (type) => SUPPORTS.arrow(type),
  parquet: (type) =>
    !NEVER_IN_PARQUET.includes(type.is) && isDecimalOf(type, MAX_PARQUET_DIGITS) && !isEmpty(type),
  ndjson: (type) =>
    isInDuckdb(type) &&
    !NEVER_IN_TEXT.includes(type.is) &&
    !(type.is === 'map' && !hasTextKeys(type)) &&
    !(type.is === 'decimal' && goesThroughDouble(type.precision)),
  csv: (type) => isInDuckdb(type) && !NEVER_IN_TEXT.includes(type.is) && !NEVER_IN_CSV.includes(type.is),
};

/** DuckDB converts decimals of these precisions to JSON via doubles, which have 15 digits. */
const goesThroughDouble = (precision: number): boolean => precision > 15 && precision <= 18;

const hasTextKeys = ({ item: { type } }: Extract<TableType, { is: 'map' }>): boolean =>
  type.is === 'struct' && type.fields[0]?.type.is === 'text';

/** Returns the first type, of a column or nested in it, that a format cannot hold. */
function findUnsupported(type: TableType, format: SubprocessFormat, isPart = false): TableType | undefined {
  // DuckDB would write nested JSON as text.
  if (!SUPPORTS[format](type) || (isPart && type.is === 'json' && format !== 'parquet')) return type;
  for (const part of partsOf(type)) {
    const found = findUnsupported(part.type, format, true);
    if (found) return found;
  }
  return undefined;
}

/** Creates the error of a column that the output format `id` cannot hold. */
export const unsupportedColumn = (column: string, path: string, id: string, type: string): DtypeError =>
  new DtypeError(
    `cannot write column ${column} to ${path}: ${id} cannot hold ${type}. Write another format, or omit the column with --columns`,
    { details: { path, column, type, format: id } },
  );

/**
 * Checks the columns against the output format.
 *
 * @throws DtypeError when the format cannot hold a column, or cannot distinguish two column names
 */
export function assertTypesSupported(
  fields: readonly TableField[],
  { name, format, id }: { readonly name: string; readonly format: SubprocessFormat; readonly id: string },
): void {
  for (const field of fields) {
    const type = findUnsupported(field.type, format);
    if (!type) continue;
    const whole = typeText(field.type);
    const what = type === field.type ? whole : `${whole}, with ${typeText(type)}`;
    throw unsupportedColumn(field.name, name, id, what);
  }
  if (format === 'arrow' || format === 'arrows') return;
  // DuckDB compares column names without case.
  const normalizedName = (column: string): string => (format === 'parquet' ? column : column.toLowerCase());
  const seen = new Map<string, string>();
  for (const { name: column } of fields) {
    const same = seen.get(normalizedName(column));
    if (same !== undefined || column === '') {
      const why = column === '' ? 'a column has no name' : `two columns are called ${same} and ${column}`;
      throw new DtypeError(
        `cannot write the table to ${name}: ${why}, which readers would rename. Write Arrow, or omit a column with --columns`,
        { details: { path: name, column } },
      );
    }
    seen.set(normalizedName(column), column);
  }
}
