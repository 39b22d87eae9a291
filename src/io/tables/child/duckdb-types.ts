/** Types of DuckDB, and what they are here. Runs in the child. */
import type { DuckDBType } from '@duckdb/node-api';
import type { DuckDB } from '../../formats/foreign/duckdb.js';
import type { TableField, TableType, Unit } from '../table-type.js';

/** Types that are told by their names. */
const NAMED: Readonly<Record<string, TableType>> = {
  BOOLEAN: { is: 'bool' },
  TINYINT: { is: 'i8' },
  UTINYINT: { is: 'u8' },
  SMALLINT: { is: 'i16' },
  USMALLINT: { is: 'u16' },
  INTEGER: { is: 'i32' },
  UINTEGER: { is: 'u32' },
  BIGINT: { is: 'i64' },
  UBIGINT: { is: 'u64' },
  HUGEINT: { is: 'i128' },
  UHUGEINT: { is: 'u128' },
  FLOAT: { is: 'f32' },
  DOUBLE: { is: 'f64' },
  DATE: { is: 'date' },
  TIME: { is: 'time', unit: 'us' },
  TIME_NS: { is: 'time', unit: 'ns' },
  'TIME WITH TIME ZONE': { is: 'time with zone' },
  TIMESTAMP_S: { is: 'timestamp', unit: 's' },
  TIMESTAMP_MS: { is: 'timestamp', unit: 'ms' },
  TIMESTAMP: { is: 'timestamp', unit: 'us' },
  TIMESTAMP_NS: { is: 'timestamp', unit: 'ns' },
  'TIMESTAMP WITH TIME ZONE': { is: 'timestamp', unit: 'us', zone: 'UTC' },
  INTERVAL: { is: 'interval in us' },
  UUID: { is: 'uuid' },
  VARCHAR: { is: 'text' },
  BLOB: { is: 'bytes' },
};

/** What is read of DuckDB's types, which its declarations tell for each of them apart. */
export interface SqlType {
  readonly alias?: string;
  readonly width?: number;
  readonly scale?: number;
  readonly length?: number;
  readonly valueType?: SqlType;
  readonly keyType?: SqlType;
  readonly entryNames?: readonly string[];
  readonly entryTypes?: readonly SqlType[];
  toString(): string;
}

const fieldsOf = (names: readonly string[], types: readonly SqlType[]): TableField[] | undefined => {
  const fields = types.map((type, i) => ({ name: names[i] ?? '', type: tableType(type) }));
  return fields.every((field): field is TableField => field.type !== undefined) ? fields : undefined;
};

/** @param kind the name of its class */
function nested(kind: string, type: SqlType): TableType | undefined {
  const { valueType, keyType, entryNames = [], entryTypes = [], length = 0 } = type;
  if (kind === 'DuckDBStructType') {
    const fields = fieldsOf(entryNames, entryTypes);
    return fields && { is: 'struct', fields };
  }
  if (!valueType) return undefined;
  if (kind === 'DuckDBMapType' && keyType) {
    const fields = fieldsOf(['key', 'value'], [keyType, valueType]);
    return fields && { is: 'map', item: { name: 'entries', type: { is: 'struct', fields } } };
  }
  const item = tableType(valueType);
  if (!item) return undefined;
  if (kind === 'DuckDBArrayType')
    return { is: 'list of fixed length', length, item: { name: 'item', type: item } };
  return kind === 'DuckDBListType' ? { is: 'list', item: { name: 'item', type: item } } : undefined;
}

/** A type of DuckDB; undefined for one that is not known here. */
export function tableType(type: SqlType): TableType | undefined {
  const kind = type.constructor.name;
  if (kind === 'DuckDBDecimalType') {
    return { is: 'decimal', precision: type.width ?? 0, scale: type.scale ?? 0 };
  }
  if (type.alias === 'JSON') return { is: 'json' };
  if (type.alias !== undefined) return undefined;
  const name = type.toString();
  return Object.hasOwn(NAMED, name) ? NAMED[name] : nested(kind, type);
}

const STAMPS: Readonly<Record<Unit, 'TIMESTAMP_S' | 'TIMESTAMP_MS' | 'TIMESTAMP' | 'TIMESTAMP_NS'>> = {
  s: 'TIMESTAMP_S',
  ms: 'TIMESTAMP_MS',
  us: 'TIMESTAMP',
  ns: 'TIMESTAMP_NS',
};

const SCALARS: Readonly<Record<string, keyof DuckDB>> = {
  bool: 'BOOLEAN',
  i8: 'TINYINT',
  u8: 'UTINYINT',
  i16: 'SMALLINT',
  u16: 'USMALLINT',
  i32: 'INTEGER',
  u32: 'UINTEGER',
  i64: 'BIGINT',
  u64: 'UBIGINT',
  i128: 'HUGEINT',
  u128: 'UHUGEINT',
  f16: 'FLOAT',
  f32: 'FLOAT',
  f64: 'DOUBLE',
  date: 'DATE',
  'time with zone': 'TIMETZ',
  'interval in us': 'INTERVAL',
  uuid: 'UUID',
  text: 'VARCHAR',
  json: 'VARCHAR',
  null: 'VARCHAR',
  bytes: 'BLOB',
  'bytes of fixed length': 'BLOB',
};

/** The type of DuckDB that holds a type, which holds.ts has let pass. */
export function duckdbType(duckdb: DuckDB, type: TableType): DuckDBType {
  switch (type.is) {
    case 'decimal':
      return duckdb.DECIMAL(type.precision, type.scale);
    case 'time':
      return type.unit === 'ns' ? duckdb.TIME_NS : duckdb.TIME;
    case 'timestamp':
      return type.zone === undefined ? duckdb[STAMPS[type.unit]] : duckdb.TIMESTAMPTZ;
    case 'list':
    case 'list of fixed length':
      return duckdb.LIST(duckdbType(duckdb, type.item.type));
    case 'map': {
      const [key, value] = type.item.type.is === 'struct' ? type.item.type.fields : [];
      if (!key || !value) throw new Error('a map without keys and values');
      return duckdb.MAP(duckdbType(duckdb, key.type), duckdbType(duckdb, value.type));
    }
    case 'struct':
      return duckdb.STRUCT(
        Object.fromEntries(type.fields.map(({ name, type: of }) => [name, duckdbType(duckdb, of)])),
      );
    default:
      return duckdb[SCALARS[type.is] as keyof DuckDB] as unknown as DuckDBType;
  }
}
