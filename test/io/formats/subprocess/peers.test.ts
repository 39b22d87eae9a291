/** Files exchanged with other programs: DuckDB and apache-arrow in this process. */
import { readFileSync, writeFileSync } from 'node:fs';
import zlib from 'node:zlib';
import * as peer from 'apache-arrow';
import test from 'ava';
import { arrow, arrows } from '../../../../src/io/formats/arrow.js';
import { parquet } from '../../../../src/io/formats/parquet.js';
import { bytesOf } from '../../../../src/keys/array.js';
import { dtypeInfo } from '../../../../src/keys/dtype.js';
import { DtypeError, FormatError, UsageError } from '../../../../src/util/errors.js';
import { scratchFolder } from '../../../cli/cli.js';
import { columnsOf, otherDuckdb, read, readColumns, SQL, someKeys, writeColumns } from './files.js';
import { parquetOfHalves } from './parquet-halves.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

const ROWS = 777;

const ARROW = {
  u8: peer.Uint8,
  i8: peer.Int8,
  u16: peer.Uint16,
  i16: peer.Int16,
  f16: peer.Float16,
  u32: peer.Uint32,
  i32: peer.Int32,
  f32: peer.Float32,
  u64: peer.Uint64,
  i64: peer.Int64,
  f64: peer.Float64,
};

/** An Arrow table with a column for each dtype, in `batches` batches. */
function table(columns: ReturnType<typeof columnsOf>, batches: number): peer.Table {
  const vectors = columns.map(({ name, dtype, keys }) => {
    const type: peer.DataType = new ARROW[dtype]();
    const rows = ROWS / batches;
    const data = Array.from({ length: batches }, (_, i) => {
      const bytes = keys.slice(i * rows * dtypeInfo(dtype).bytes, (i + 1) * rows * dtypeInfo(dtype).bytes);
      return peer.makeData({ type, length: rows, data: new type.ArrayType(bytes.buffer) } as never);
    });
    return [name, new peer.Vector(data as never)] as const;
  });
  return new peer.Table(Object.fromEntries(vectors) as never);
}

test('files and streams of apache-arrow are read, in one batch and in several', async (t) => {
  const columns = columnsOf(ROWS, true);
  for (const format of ['file', 'stream'] as const) {
    const name = path(`theirs.${format}`);
    writeFileSync(name, peer.tableToIPC(table(columns, format === 'file' ? 7 : 1), format));
    const { table: answer, columns: found } = await readColumns('arrow', name);
    t.is(answer.rows, ROWS);
    for (const [i, { dtype, keys }] of columns.entries()) t.true(found[i]?.equals(keys), dtype);
  }
});

test('apache-arrow reads the written files and streams', async (t) => {
  const columns = columnsOf(ROWS, true);
  for (const format of ['arrow', 'arrows'] as const) {
    await writeColumns(format, path(`ours.${format}`), columns);
    const found = peer.tableFromIPC(readFileSync(path(`ours.${format}`)));
    t.is(found.numRows, ROWS);
    for (const [i, { name, dtype, keys }] of columns.entries()) {
      const vector = found.getChild(name);
      t.is(`${vector?.type}`, `${new ARROW[dtype]()}`);
      t.is(found.schema.fields[i]?.nullable, false);
      t.deepEqual(bytesOf(vector?.toArray() as never), keys, dtype);
    }
  }
});

test('a written Arrow file also reads as a stream, with all of its batches', async (t) => {
  await writeColumns('arrow', path('both.arrow'), columnsOf(ROWS, true));
  const found = peer.tableFromIPC(readFileSync(path('both.arrow')).subarray(8));
  t.is(found.numRows, ROWS);
});

test('dictionary values are resolved, also when a dictionary changes', async (t) => {
  const values = peer.vectorFromArray(
    [1.5, -2.5, 1.5, 7, -2.5],
    new peer.Dictionary(new peer.Float64(), new peer.Int8()),
  );
  const text = peer.vectorFromArray(['a', null, 'c', 'd', 'e'], new peer.Utf8());
  const list = peer.vectorFromArray(
    [[1], [2, 3], null, [], [4]],
    new peer.List(peer.Field.new('item', new peer.Int32())),
  );
  for (const format of ['file', 'stream'] as const) {
    const name = path(`dictionary.${format}`);
    writeFileSync(name, peer.tableToIPC(new peer.Table({ text, list, values }), format));
    const { dtype, keys, column } = await read(arrow, name, { column: 'values' });
    t.is(column, 'values');
    t.is(dtype, 'f64');
    t.deepEqual([...new Float64Array(new Uint8Array(keys).buffer)], [1.5, -2.5, 1.5, 7, -2.5]);
  }
  // Two batches whose dictionaries differ: the stream replaces the first one, or adds to it.
  const batch = (all: number[]) => {
    const k = peer.vectorFromArray(all, new peer.Dictionary(new peer.Int32(), new peer.Int8(), 1));
    return new peer.Table({ k }).batches[0];
  };
  const writer = new peer.RecordBatchStreamWriter();
  writer.write(batch([10, 20, 10]) as never);
  writer.write(batch([30, 40]) as never);
  writer.finish();
  writeFileSync(path('changing.arrows'), writer.toUint8Array(true));
  const { keys } = await read(arrows, path('changing.arrows'));
  t.deepEqual([...new Int32Array(new Uint8Array(keys).buffer)], [10, 20, 10, 30, 40]);
});

test('Arrow: an error gives the number of nulls and the first row, or the unsupported types', async (t) => {
  const k = peer.vectorFromArray([1, 2, null, 4, null], new peer.Int32());
  writeFileSync(path('nulls.arrow'), peer.tableToIPC(new peer.Table({ k }), 'file'));
  const error = await t.throwsAsync(read(arrow, path('nulls.arrow')), {
    instanceOf: FormatError,
    message: /2 values are null.*row 2/,
  });
  t.deepEqual((error as FormatError).details, { path: path('nulls.arrow'), nulls: 2, first: 2 });
  const s = peer.vectorFromArray(['a', 'b'], new peer.Utf8());
  const d = peer.vectorFromArray([new Date(), new Date()], new peer.DateDay());
  writeFileSync(path('types.arrow'), peer.tableToIPC(new peer.Table({ s, d }), 'file'));
  for (const [column, message] of [
    ['s', /s of .* holds Utf8/],
    ['d', /d of .* holds Date/],
  ] as const) {
    await t.throwsAsync(read(arrow, path('types.arrow'), { column }), { instanceOf: DtypeError, message });
  }
});

test('DuckDB and clsort read the Parquet files of each other', async (t) => {
  const ask = await otherDuckdb();
  const columns = columnsOf(ROWS, true, ['f16']);
  await writeColumns('parquet', path('ours.parquet'), columns);
  t.deepEqual(
    await ask(`SELECT column_name, column_type FROM (DESCRIBE FROM '${path('ours.parquet')}')`),
    columns.map(({ name, dtype }) => [name, SQL[dtype]]),
  );
  // A copy by DuckDB holds the same bits, for every codec and group size.
  for (const codec of ['zstd', 'uncompressed']) {
    const name = path(`theirs.${codec}.parquet`);
    await ask(
      `COPY (FROM '${path('ours.parquet')}') TO '${name}' (COMPRESSION ${codec}, ROW_GROUP_SIZE 2048)`,
    );
    const { columns: found } = await readColumns('parquet', name);
    for (const [i, { dtype, keys }] of columns.entries()) t.true(found[i]?.equals(keys), `${codec} ${dtype}`);
  }
});

test('Parquet: an error names the unsupported type, or the row of a null', async (t) => {
  const ask = await otherDuckdb();
  const types = ['DECIMAL(18,3)', 'HUGEINT', 'VARCHAR', 'DATE', 'TIMESTAMP', 'BOOLEAN', 'INTEGER[]', 'UUID'];
  const values = types.map((type, i) => `CAST(NULL AS ${type}) AS c${i}`);
  await ask(`COPY (SELECT ${values.join()}) TO '${path('types.parquet')}'`);
  for (const [column, type] of [
    [0, /DECIMAL\(18,3\)/],
    ['c3', /DATE/],
  ] as const) {
    await t.throwsAsync(read(parquet, path('types.parquet'), { column }), {
      instanceOf: DtypeError,
      message: type,
    });
  }
  await ask(
    `COPY (SELECT nullif(range % 5, 4)::INTEGER AS k, 'x' AS s FROM range(9)) TO '${path('nulls.parquet')}'`,
  );
  await t.throwsAsync(read(parquet, path('nulls.parquet'), { column: 'k' }), {
    instanceOf: FormatError,
    message: /a value is null.*row 4/,
  });
});

test('a requested dtype has to match the dtype of the column', async (t) => {
  await writeColumns('arrow', path('u32.arrow'), [{ name: 'k', dtype: 'u32', keys: someKeys('u32', 5) }]);
  t.is((await read(arrow, path('u32.arrow'), { dtype: 'u32' })).n, 5);
  await t.throwsAsync(read(arrow, path('u32.arrow'), { dtype: 'i64' }), {
    instanceOf: DtypeError,
    message: /column k of .* as i64 keys: it holds u32/,
  });
});

test('an Arrow field without a name has an empty name', async (t) => {
  const schema = new peer.Schema([new peer.Field(null as unknown as string, new peer.Int32(), false)]);
  const writer = new peer.RecordBatchStreamWriter();
  writer.reset(undefined, schema);
  writer.finish();
  writeFileSync(path('nameless.arrows'), writer.toUint8Array(true));
  t.like(await read(arrow, path('nameless.arrows')), { dtype: 'i32', column: '' });
  await t.throwsAsync(read(arrow, path('nameless.arrows'), { column: 'k' }), { instanceOf: UsageError });
});

const { zstdCompressSync, zstdDecompressSync } = zlib as unknown as Partial<
  Record<'zstdCompressSync' | 'zstdDecompressSync', (bytes: Uint8Array) => Uint8Array>
>;

test('Arrow with zstd compression is read, or is an error that names zstd on a Node without it', async (t) => {
  const k = peer.vectorFromArray(
    Array.from({ length: 5000 }, (_, i) => i % 100),
    new peer.Int32(),
  );
  const written = (type: peer.CompressionType, encode: (bytes: Uint8Array) => Uint8Array): string => {
    peer.compressionRegistry.set(type, { encode, decode: (bytes) => bytes });
    const writer = new peer.RecordBatchFileWriter({ compressionType: type });
    writer.write(new peer.Table({ k }));
    writer.finish();
    const name = path(`compressed.${type}.arrow`);
    writeFileSync(name, writer.toUint8Array(true));
    return name;
  };
  // Fake compressed data: the reader has to fail before it decompresses.
  const begunBy =
    (magic: readonly number[]) =>
    (bytes: Uint8Array): Uint8Array =>
      Uint8Array.of(...magic, ...bytes.subarray(0, bytes.length >> 1));
  if (!zstdCompressSync || !zstdDecompressSync) {
    const zstd = written(peer.CompressionType.ZSTD, begunBy([0x28, 0xb5, 0x2f, 0xfd, 0]));
    await t.throwsAsync(read(arrow, zstd), { instanceOf: FormatError, message: /zstd.*Node 22/ });
    return;
  }
  const zstd = written(peer.CompressionType.ZSTD, zstdCompressSync);
  const { keys } = await read(arrow, zstd);
  t.deepEqual(new Int32Array(new Uint8Array(keys).buffer), k.toArray());
  const broken = readFileSync(zstd);
  broken.fill(0xee, broken.indexOf(Buffer.from([0x28, 0xb5, 0x2f, 0xfd])) + 6, broken.length >> 1);
  writeFileSync(zstd, broken);
  await t.throwsAsync(read(arrow, zstd), { instanceOf: FormatError });
});

test('f16 columns in Parquet are read bit for bit', async (t) => {
  const halves = new Uint16Array(someKeys('f16', 2000).buffer);
  writeFileSync(path('halves.parquet'), parquetOfHalves(halves));
  const { dtype, n, column, keys } = await read(parquet, path('halves.parquet'), { column: 'h' });
  t.deepEqual([dtype, n, column], ['f16', 2000, 'h']);
  t.deepEqual(new Uint16Array(new Uint8Array(keys).buffer), halves);
});
