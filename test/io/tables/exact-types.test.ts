/** Types, bits and metadata of files, through Parquet and Arrow, as other readers see them. */
import { readFileSync, writeFileSync } from 'node:fs';
import * as arrow from 'apache-arrow';
import ava from 'ava';
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet';
import { sortTableFile, type TableJob } from '../../../src/io/tables/sort-table-file.js';
import { hostSorter } from '../../../src/sort/api/host-sorter.js';
import type { Sorter } from '../../../src/sort/api/sorter.js';
import { DtypeError, FormatError } from '../../../src/util/errors.js';
import { scratchFolder } from '../../cli/cli.js';
import { nowhere } from '../context.js';
import { otherDuckdb } from '../formats/subprocess/files.js';
import { type PhysicalColumn, parquetOf } from './parquet-columns.js';

const test = ava.serial; // each starts processes
const { path, remove } = scratchFolder();
ava.after.always(remove);
const sorter = hostSorter(() => undefined) as Sorter;
const sort = (job: Omit<TableJob, 'in'> & { readonly in: string }) =>
  sortTableFile(sorter, { verify: true, ...job, in: path(job.in), out: path(job.out) }, nowhere);

/** Metadata of a file's columns, as hyparquet reads it. */
async function schemaOf(name: string): Promise<unknown[]> {
  const { schema } = await parquetMetadataAsync(await asyncBufferFromFile(path(name)));
  return schema.slice(1);
}

/** A column of a table of one batch. */
function dataOf(table: arrow.Table, name: string): arrow.Data {
  const [data] = table.getChild(name)?.data ?? [];
  if (!data) throw new Error(`no column ${name}`);
  return data;
}

const day = 86_400_000_000_000n;
const now = 1_577_934_245_678_901_000n;

/** 12 bytes of INT96. */
function int96(time: bigint): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(12));
  const days = (time - (((time % day) + day) % day)) / day;
  bytes.setBigInt64(0, time - days * day, true);
  bytes.setInt32(8, Number(days + 2_440_588n), true);
  return new Uint8Array(bytes.buffer);
}

const i64 = (value: bigint): Uint8Array => new Uint8Array(BigInt64Array.of(value).buffer);

const NS_UTC = { is: 'TIMESTAMP', unit: 'NANOS', isUtc: true } as const;
const columnOf = (values: readonly Uint8Array[], more: Partial<PhysicalColumn> = {}): PhysicalColumn => ({
  name: 't',
  physical: 'INT64',
  values,
  ...more,
});
const n = columnOf([3n, 1n, 2n].map(i64), { name: 'n' });

const TIMES: readonly PhysicalColumn[] = [
  columnOf(
    [900n, 100n, 500n].map((ns) => i64(now + ns)),
    { name: 'zoned', logical: NS_UTC },
  ),
  columnOf(
    [900n, 100n, 500n].map((ns) => int96(now + ns)),
    { name: 'old', physical: 'INT96' },
  ),
  columnOf([900n, 100n, 500n].map(i64), { name: 'time', logical: { is: 'TIME', unit: 'NANOS' } }),
];

for (const isDictionary of [false, true]) {
  for (const isList of [false, true]) {
    const how = `${isDictionary ? 'a dictionary' : 'plain values'}${isList ? ', in a list' : ''}`;
    test(`nanoseconds with a zone, INT96 and TIME(NANOS) come out as they are: ${how}`, async (t) => {
      const columns = TIMES.map((column) => ({ ...column, isDictionary, isList }));
      writeFileSync(path('in.parquet'), parquetOf([...columns, n]));
      await sort({ in: 'in.parquet', out: 'o.parquet', by: 'n:desc' });
      await sort({ in: 'o.parquet', out: 'o.arrow', by: isList ? 'n' : isDictionary ? 'old' : 'zoned' });
      const table = arrow.tableFromIPC(readFileSync(path('o.arrow')));
      t.deepEqual(table.getChild('n')?.toArray(), BigInt64Array.of(1n, 2n, 3n));
      for (const { name } of columns) {
        const whole = dataOf(table, name);
        const { values, type } = isList ? (whole.children[0] as arrow.Data) : whole;
        const base = name === 'time' ? 0n : now;
        t.deepEqual(values, BigInt64Array.of(base + 100n, base + 500n, base + 900n), name);
        const { unit, timezone } = type as arrow.Timestamp;
        t.deepEqual([unit, timezone ?? ''], [arrow.TimeUnit.NANOSECOND, name === 'zoned' ? 'UTC' : ''], name);
      }
    });
  }
}

test('times of INT96 that nanoseconds of 64 bits do not hold are refused', async (t) => {
  const far = new Uint8Array(12);
  new DataView(far.buffer).setInt32(8, 5_000_000, true);
  writeFileSync(path('far.parquet'), parquetOf([columnOf([far, int96(now)], { physical: 'INT96' })]));
  await t.throwsAsync(sort({ in: 'far.parquet', out: 'far.arrow', by: 't' }), {
    instanceOf: FormatError,
    message: /INT96 is before 1677 or after 2262/,
  });
});

test('values that another format cannot represent are rejected with the column name before any write', async (t) => {
  const decimal = (bytes: number, last: number): Uint8Array => {
    const value = new Uint8Array(bytes).fill(last > 127 ? 255 : 0);
    value[bytes - 1] = last;
    return value;
  };
  const wide = (precision: number, bytes: number): PhysicalColumn => ({
    name: 'd',
    physical: 'FIXED_LEN_BYTE_ARRAY',
    bytes,
    logical: { is: 'DECIMAL', precision, scale: 2 },
    values: [3, 255, 2].map((last) => decimal(bytes, last)),
  });
  const fails = async (
    columns: readonly PhysicalColumn[],
    out: string,
    message: RegExp,
    by = 'n',
  ): Promise<void> => {
    writeFileSync(path('in.parquet'), parquetOf(columns));
    writeFileSync(path(out), 'old');
    await t.throwsAsync(sort({ in: 'in.parquet', out, by }), { instanceOf: DtypeError, message });
    t.is(readFileSync(path(out), 'utf8'), 'old');
  };
  await fails([wide(40, 17), n], 'x.csv', /column d .*decimal\(40, 2\)/);
  await fails([wide(90, 38), n], 'x.parquet', /column d .*DECIMAL\(90,2\)/);
  await fails([columnOf(n.values, { logical: NS_UTC }), n], 'x.csv', /column t .*timestamp in ns \(UTC\)/);
  await fails(
    [columnOf(n.values, { logical: NS_UTC, isList: true }), n],
    'x.ndjson',
    /column t .*timestamp in ns/,
  );
  await fails(
    [columnOf(n.values, { logical: { is: 'TIME', unit: 'MICROS', isUtc: true } }), n],
    'x.arrow',
    /column t .*UTC/,
  );
  for (const [precision, bytes] of [
    [40, 17],
    [76, 32],
  ] as const) {
    writeFileSync(path('in.parquet'), parquetOf([wide(precision, bytes), n]));
    await sort({ in: 'in.parquet', out: 'd.parquet', by: 'd' });
    await sort({ in: 'd.parquet', out: 'd.arrow', by: 'd:desc' });
    const table = arrow.tableFromIPC(readFileSync(path('d.arrow')));
    t.deepEqual(table.getChild('n')?.toArray(), BigInt64Array.of(3n, 2n, 1n));
    const words = dataOf(table, 'd').values as Uint32Array;
    t.deepEqual(
      [0, 8, 16].map((at) => (words[at] as number) | 0),
      [3, 2, -1],
    );
    t.like(await schemaOf('d.parquet'), { 0: { logical_type: { type: 'DECIMAL', precision, scale: 2 } } });
  }
});

/** Zeros of both signs and NaNs with payloads, repeated so that a writer uses a dictionary. */
const BITS = {
  f16: [0x8000n, 0n, 0x7e00n, 0xfe01n, 0x7c01n, 0x3c00n],
  f32: [0x80000000n, 0n, 0x7fc00000n, 0xffc00001n, 0x7f800001n, 0x3f800000n],
  f64: [1n << 63n, 0n, 0x7ff8000000000000n, 0xfff8000000000001n, 0x7ff0000000000001n, 0x3ff0000000000000n],
} as const;
const ARRAYS = { f16: Uint16Array, f32: Uint32Array, f64: BigUint64Array };
const FLOATS = { f16: arrow.Float16, f32: arrow.Float32, f64: arrow.Float64 };

const DTYPES = ['f16', 'f32', 'f64'] as const;
const ROWS = 600;

/** The bits of a column with this many rows. */
function floatBits(dtype: (typeof DTYPES)[number]): Uint16Array | Uint32Array | BigUint64Array {
  const all = Array.from({ length: ROWS }, (_, i) => BITS[dtype][i % BITS[dtype].length] as bigint);
  return dtype === 'f64' ? BigUint64Array.from(all) : ARRAYS[dtype].from(all.map(Number));
}

/** Floats as a column, as lists of one, and in a struct. */
function vectorsOf(dtype: (typeof DTYPES)[number]): [string, arrow.Vector][] {
  const type = new FLOATS[dtype]();
  const common = { length: ROWS, nullCount: 0 };
  const values = (): arrow.Data => {
    const data = new type.ArrayType(floatBits(dtype).buffer as ArrayBuffer);
    return arrow.makeData({ type, ...common, data } as never) as arrow.Data;
  };
  const item = arrow.Field.new({ name: 'item', type, nullable: true });
  const valueOffsets = Int32Array.from({ length: ROWS + 1 }, (_, i) => i);
  const list = arrow.makeData({
    type: new arrow.List(item),
    ...common,
    valueOffsets,
    child: values(),
  } as never);
  const struct = arrow.makeData({ type: new arrow.Struct([item]), ...common, children: [values()] } as never);
  return [values(), list, struct].map((one, i) => [`${dtype} ${i}`, new arrow.Vector([one as arrow.Data])]);
}

test('bits of floats pass through dictionaries, lists and structs of Parquet and Arrow', async (t) => {
  const order = Int32Array.from({ length: ROWS }, (_, i) => i);
  const id = arrow.vectorFromArray([...order], new arrow.Int32());
  const table = new arrow.Table(Object.fromEntries([['id', id], ...DTYPES.flatMap(vectorsOf)]) as never);
  writeFileSync(path('f.arrow'), arrow.tableToIPC(table, 'file'));
  await sort({ in: 'f.arrow', out: 'f.parquet', by: 'id:desc' });
  await sort({ in: 'f.parquet', out: 'g.arrows', by: 'id' });
  // Without lists and structs of floats other columns have dictionaries.
  await sort({ in: 'f.parquet', out: 'one.parquet', by: 'id', columns: 'id,"f64 0"' });
  await sort({ in: 'one.parquet', out: 'one.arrow', by: 'id' });
  const bitsIn = (file: string, dtype: (typeof DTYPES)[number], place: number): unknown => {
    const data = dataOf(arrow.tableFromIPC(readFileSync(path(file))), `${dtype} ${place}`);
    const { values } = place === 0 ? data : (data.children[0] as arrow.Data);
    return new ARRAYS[dtype](values.buffer as ArrayBuffer, values.byteOffset, ROWS);
  };
  for (const dtype of DTYPES) {
    for (const place of [0, 1, 2]) {
      t.deepEqual(bitsIn('g.arrows', dtype, place), floatBits(dtype), `${dtype} ${place}`);
    }
  }
  t.deepEqual(bitsIn('one.arrow', 'f64', 0), floatBits('f64'));
});

test('names, order, nullability, ids and texts of a Parquet file come out as they were', async (t) => {
  const sql = await otherDuckdb();
  await sql(`COPY (SELECT 3 - i AS "a.b", {'x': i, 'Y': [i]} AS "S", i::DECIMAL(9, 2) AS s, MAP {'k': i} AS m, '{"a":1}'::JSON AS j,
    md5(i::VARCHAR)::UUID AS u, INTERVAL (i) MONTH + INTERVAL '3 days 5 ms' AS iv, 'x'::BLOB AS b, TIME '01:02:03' AS time,
    '12:00:00+00'::TIMETZ AS ttz, TIMESTAMP_MS '2020-01-01' AS ms, TIMESTAMPTZ '2020-01-01 00:00:00+00' AS tz, i::UTINYINT AS "A.B"
    FROM range(3) r(i)) TO '${path('m.parquet')}' (FORMAT parquet, KV_METADATA {'who': 'me', 'ö': 'ü'}, FIELD_IDS {u: 7, "a.b": 8})`);
  await sort({ in: 'm.parquet', out: 'm2.parquet', by: '"a.b"' });
  await sort({ in: 'm2.parquet', out: 'm3.parquet', by: '"a.b":desc' });
  t.deepEqual(await sql(`FROM '${path('m3.parquet')}'`), await sql(`FROM '${path('m.parquet')}'`));
  const described = (file: string) => sql(`DESCRIBE FROM '${path(file)}'`);
  t.deepEqual(await described('m3.parquet'), await described('m.parquet'));
  const columns = `name, type, type_length, coalesce(repetition_type, 'REQUIRED'), num_children, field_id, scale, precision,
    CASE WHEN converted_type IN ('INT_32', 'INT_64') THEN NULL ELSE converted_type END`;
  const describe = (file: string) =>
    sql(
      `SELECT ${columns} FROM parquet_schema('${path(file)}') WHERE name NOT IN ('duckdb_schema', 'arrow_schema', 'entries', 'key_value')`,
    );
  t.deepEqual(await describe('m3.parquet'), await describe('m.parquet'));
  const texts = (file: string) =>
    sql(`SELECT decode(key), decode(value) FROM parquet_kv_metadata('${path(file)}') ORDER BY ALL`);
  t.deepEqual(await texts('m3.parquet'), [
    ['who', 'me'],
    ['ö', 'ü'],
  ]);
});

test('columns of fixed length, without nulls, of enums and of BSON stay such', async (t) => {
  const bytes = [1, 3, 2].map((one) => Uint8Array.of(one, 0, one));
  const columns: PhysicalColumn[] = [
    { name: 'fixed', physical: 'FIXED_LEN_BYTE_ARRAY', bytes: 3, values: bytes },
    { name: 'enum', physical: 'BYTE_ARRAY', values: bytes, logical: { is: 'ENUM' } },
    { name: 'bson', physical: 'BYTE_ARRAY', values: bytes, logical: { is: 'BSON' } },
    { name: 'old', physical: 'INT96', values: [5n, 6n, 7n].map(int96) },
  ];
  writeFileSync(path('p.parquet'), parquetOf(columns));
  await sort({ in: 'p.parquet', out: 'q.parquet', by: 'fixed:desc' });
  await sort({ in: 'q.parquet', out: 'q.arrow', by: 'fixed' });
  await sort({ in: 'q.arrow', out: 'r.parquet', by: 'fixed' });
  for (const name of ['q.parquet', 'r.parquet']) {
    t.like(await schemaOf(name), {
      0: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 3, repetition_type: 'REQUIRED' },
      1: { type: 'BYTE_ARRAY', repetition_type: 'REQUIRED', converted_type: 'ENUM' },
      2: { type: 'BYTE_ARRAY', repetition_type: 'REQUIRED', converted_type: 'BSON' },
      3: { type: 'INT64', repetition_type: 'REQUIRED', logical_type: { type: 'TIMESTAMP', unit: 'NANOS' } },
    });
  }
});

test('zones, durations, fixed lists, nullability and metadata of Arrow come back through Parquet', async (t) => {
  const note = new Map([['note', 'ü']]);
  const item = arrow.Field.new({ name: 'one', type: new arrow.Int16(), nullable: true, metadata: note });
  const fields = [
    new arrow.Field('id', new arrow.Int32(), false, note),
    new arrow.Field('tokyo', new arrow.TimestampNanosecond('Asia/Tokyo'), true),
    new arrow.Field('second', new arrow.TimestampMillisecond(), true),
    new arrow.Field('span', new arrow.DurationMicrosecond(), true),
    new arrow.Field('pair', new arrow.FixedSizeList(2, item), true),
    new arrow.Field('large', new arrow.LargeUtf8(), true),
    new arrow.Field('none', new arrow.Null(), true),
  ];
  const schema = new arrow.Schema(fields, new Map([['table', 'of mine']]));
  const values = [
    [2, 1, 3],
    [1, null, 3],
    [5, 6, null],
    [1n, null, 3n],
    [[1, 2], null, [3, null]],
    ['x', null, ''],
    [null, null, null],
  ];
  const children = fields.map(
    ({ type }, i) => arrow.vectorFromArray(values[i] as never, type).data[0] as arrow.Data,
  );
  const data = arrow.makeData({ type: new arrow.Struct(fields), length: 3, nullCount: 0, children } as never);
  const batch = new arrow.RecordBatch(schema, data as never);
  writeFileSync(path('z.arrow'), arrow.tableToIPC(new arrow.Table([batch]), 'file'));
  await sort({ in: 'z.arrow', out: 'z.parquet', by: 'id' });
  await sort({ in: 'z.parquet', out: 'y.parquet', by: 'id:desc' });
  await sort({ in: 'y.parquet', out: 'y.arrow', by: 'id' });
  const found = arrow.tableFromIPC(readFileSync(path('y.arrow')));
  const describe = ({ name, type, nullable, metadata }: arrow.Field): unknown => [
    ...[name, `${type}`, nullable, metadata.get('note')],
    (type.children ?? []).map(describe),
  ];
  t.deepEqual(found.schema.fields.map(describe), schema.fields.map(describe));
  t.is(found.schema.metadata.get('table'), 'of mine');
  const before = new arrow.Table([batch]).toArray().map(String);
  t.deepEqual(
    found.toArray().map(String),
    [1, 0, 2].map((i) => before[i]),
  );
});
