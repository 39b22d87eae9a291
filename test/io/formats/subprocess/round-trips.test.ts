import { readFileSync, writeFileSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import test from 'ava';
import { arrow, arrows } from '../../../../src/io/formats/arrow.js';
import { csv, tsv } from '../../../../src/io/formats/csv.js';
import { ndjson } from '../../../../src/io/formats/ndjson.js';
import { parquet } from '../../../../src/io/formats/parquet.js';
import { BATCH_ROWS, type SubprocessFormat } from '../../../../src/io/formats/subprocess/protocol.js';
import { scratchFolder } from '../../../cli/cli.js';
import { FULL } from '../../../pairwise.js';
import { columnsOf, read, readColumns, someKeys, write, writeColumns } from './files.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

const ROWS = 3001;

for (const [format, except] of [
  ['arrow', []],
  ['arrows', []],
  ['parquet', []],
] as const) {
  test(`${format}: every dtype round-trips bit for bit, including NaN payloads`, async (t) => {
    const columns = columnsOf(ROWS, true, except);
    await writeColumns(format, path(`all.${format}`), columns);
    const { table, columns: found } = await readColumns(format, path(`all.${format}`));
    t.is(table.rows, ROWS);
    t.deepEqual(
      table.fields.map(({ name, type }) => ({ name, dtype: type?.is })),
      columns.map(({ name, dtype }) => ({ name, dtype })),
    );
    for (const [i, { dtype, keys }] of columns.entries()) t.true(found[i]?.equals(keys), dtype);
  });
}

for (const format of [csv, ndjson]) {
  test(`${format.id}: every dtype comes back bit for bit, all NaNs as one`, async (t) => {
    const columns = columnsOf(ROWS, false);
    const file = path(`all.${format.id}`);
    await writeColumns(format.subprocess?.format as SubprocessFormat, file, columns);
    for (const { name, dtype, keys } of columns) {
      const found = await read(format, file, { column: name, dtype });
      t.is(found.column, name);
      t.true(found.keys.equals(keys), dtype);
    }
  });
}

test('files of several batches round-trip in order', async (t) => {
  const n = 3 * BATCH_ROWS + 17;
  const keys = someKeys('u64', n);
  for (const format of FULL ? [arrow, parquet, csv, ndjson] : [parquet, csv]) {
    const name = path(`large.${format.id}`);
    await write(format, name, { dtype: 'u64', keys });
    const found = await read(format, name, { dtype: 'u64' });
    t.is(found.dtype, 'u64');
    t.is(found.column, 'key');
    if (found.n !== undefined) t.is(found.n, n);
    t.true(found.keys.equals(keys), format.id);
  }
});

test('an empty file round-trips', async (t) => {
  for (const format of FULL ? [arrows, parquet, csv, ndjson] : [parquet, csv]) {
    const name = path(`empty.${format.id}`);
    await write(format, name, { dtype: 'f32', keys: new Uint8Array(0) });
    const { keys, dtype } = await read(format, name, { dtype: 'f32' });
    t.is(keys.length, 0, format.id);
    t.is(dtype, 'f32');
  }
});

test('keys round-trip through stdin and stdout', async (t) => {
  const keys = someKeys('i32', 1000);
  for (const format of FULL ? [arrows, parquet, tsv] : [arrows, tsv]) {
    const stdout = new PassThrough();
    const [bytes] = await Promise.all([
      buffer(stdout),
      write(format, '-', { dtype: 'i32', keys, stdout }).then(() => stdout.end()),
    ]);
    const found = await read(
      format,
      '-',
      { dtype: 'i32' },
      Readable.from([bytes.subarray(0, 99), bytes.subarray(99)]),
    );
    t.true(found.keys.equals(keys), format.id);
  }
});

test('compressed text files round-trip, and a damaged one is a FormatError', async (t) => {
  const keys = someKeys('u16', 5000);
  await write(csv, path('t.csv.gz'), { dtype: 'u16', keys });
  t.deepEqual([...readFileSync(path('t.csv.gz')).subarray(0, 2)], [0x1f, 0x8b]);
  t.true((await read(csv, path('t.csv.gz'), { dtype: 'u16' })).keys.equals(keys));
  const whole = readFileSync(path('t.csv.gz'));
  const flipped = Buffer.from(whole);
  flipped[whole.length >> 1] = (whole[whole.length >> 1] ?? 0) ^ 4;
  for (const broken of [whole.subarray(0, -1), whole.subarray(0, whole.length >> 1), flipped]) {
    writeFileSync(path('cut.csv.gz'), broken);
    await t.throwsAsync(read(csv, path('cut.csv.gz')), {
      code: 'ERR_CLSORT_FORMAT',
      message: /gzip/,
    });
  }
  await write(csv, path('t.csv.zst'), { dtype: 'u16', keys });
  t.deepEqual([...readFileSync(path('t.csv.zst')).subarray(0, 4)], [0x28, 0xb5, 0x2f, 0xfd]);
  const unpacked = read(csv, path('t.csv.zst'), { dtype: 'u16' });
  if ('createZstdDecompress' in (await import('node:zlib'))) t.true((await unpacked).keys.equals(keys));
  else await t.throwsAsync(unpacked, { code: 'ERR_CLSORT_FORMAT', message: /zstd.*Node 22/ });
});
