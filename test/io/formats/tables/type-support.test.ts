import test from 'ava';
import type { TableType } from '../../../../src/io/formats/tables/table-type.js';
import { assertTypesSupported } from '../../../../src/io/formats/tables/type-support.js';
import { DtypeError } from '../../../../src/util/errors.js';

const holds = (type: TableType, format: 'arrow' | 'parquet' | 'csv' | 'ndjson'): boolean => {
  try {
    assertTypesSupported([{ name: 'c', type }], { name: 'out', format, id: format });
    return true;
  } catch (error) {
    if (error instanceof DtypeError) return false;
    throw error;
  }
};

const list = (type: TableType): TableType => ({ is: 'list', item: { name: 'item', type } });

for (const [type, arrow, parquet, csv, ndjson] of [
  [{ is: 'i64' }, true, true, true, true],
  [{ is: 'i128' }, false, false, true, true],
  [{ is: 'f16' }, true, true, true, true],
  [{ is: 'bf16' }, false, false, true, true],
  [{ is: 'bytes' }, true, true, false, false],
  [{ is: 'decimal', precision: 38, scale: 2 }, true, true, true, true],
  [{ is: 'decimal', precision: 17, scale: 2 }, true, true, true, false],
  [{ is: 'decimal', precision: 50, scale: 2 }, true, true, false, false],
  [{ is: 'decimal', precision: 5, scale: 7 }, true, false, false, false],
  [{ is: 'time', unit: 'ns' }, true, true, true, true],
  [{ is: 'time', unit: 'us', isUtc: true }, false, true, true, true],
  [{ is: 'timestamp', unit: 'ns', zone: 'UTC' }, true, true, false, false],
  [{ is: 'timestamp', unit: 'us', zone: 'UTC' }, true, true, true, true],
  [{ is: 'timestamp', unit: 'us', zone: 'Asia/Tokyo' }, true, true, false, false],
  [{ is: 'duration', unit: 's' }, true, true, false, false],
  [{ is: 'date in ms' }, true, false, false, false],
  [{ is: 'struct', fields: [] }, true, false, false, true],
  [list({ is: 'text' }), true, true, false, true],
  [list({ is: 'u128' }), false, false, false, true],
  [list({ is: 'json' }), false, true, false, false],
] as const) {
  test(`${JSON.stringify(type)} is accepted by exactly the formats that support it`, (t) => {
    t.deepEqual(
      (['arrow', 'parquet', 'csv', 'ndjson'] as const).map((format) => holds(type as TableType, format)),
      [arrow, parquet, csv, ndjson],
    );
  });
}
