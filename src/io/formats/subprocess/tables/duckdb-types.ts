/** DuckDB types for writing text. Runs in the subprocess. */
import type { DuckDBType } from '@duckdb/node-api';
import type { TableType, Unit } from '../../tables/table-type.js';
import type { DuckDB } from '../duckdb.js';

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
  bf16: 'FLOAT',
  f32: 'FLOAT',
  f64: 'DOUBLE',
  date: 'DATE',
  'interval in us': 'INTERVAL',
  uuid: 'UUID',
  text: 'VARCHAR',
  json: 'VARCHAR',
  null: 'VARCHAR',
  bytes: 'BLOB',
  'bytes of fixed length': 'BLOB',
};

/** Returns the DuckDB type of a type that type-support.ts has accepted. */
export function duckdbType(duckdb: DuckDB, type: TableType): DuckDBType {
  switch (type.is) {
    case 'decimal':
      return duckdb.DECIMAL(type.precision, type.scale);
    case 'time':
      return type.isUtc ? duckdb.TIMETZ : type.unit === 'ns' ? duckdb.TIME_NS : duckdb.TIME;
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
