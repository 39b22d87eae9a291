import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import test from 'ava';
import { parquet } from '../../../../src/io/formats/parquet.js';
import { fileSource } from '../../../../src/io/formats/subprocess/byte-source.js';
import { withoutFirst } from '../../../../src/io/formats/subprocess/key-column.js';
import { NumericColumn } from '../../../../src/io/formats/subprocess/tables/numeric-column.js';
import { FirstRows } from '../../../../src/io/formats/tables/first-rows.js';
import { decompressSnappy } from '../../../../src/native-host/table-functions.js';
import { FormatError } from '../../../../src/util/errors.js';
import { Random } from '../../../../src/util/random.js';
import { scratchFolder } from '../../../cli/cli.js';
import { otherDuckdb, read } from './files.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

const ROWS = 20_000;
const ORDER = { descending: true, nulls: 'last', nan: 'last' } as const;

/** Returns the values of a column, by the order of their rows; undefined if this process does not decode it. */
async function valuesOf(name: string, index: number): Promise<Buffer | undefined> {
  const fd = openSync(name, 'r');
  try {
    const column = await NumericColumn.open(fileSource(fd), () => index);
    if (!column) return undefined;
    const parts: Buffer[] = [];
    let rows = 0;
    const search = { keys: [{ index, ...ORDER }], first: new FirstRows(1, ORDER), countsNulls: true };
    for await (const record of column.search(search)) {
      if (record.firstRow !== rows) throw new Error(`row ${record.firstRow} comes after ${rows} rows`);
      rows += record.rows;
      parts.push(Buffer.from(record.columns([index])[0]?.memory as Uint8Array));
    }
    const found = Buffer.concat(parts);
    const pieces = await Readable.from(column.pieces()).toArray();
    if (!found.equals(Buffer.concat(pieces))) throw new Error('the pieces have other values');
    return found;
  } finally {
    closeSync(fd);
  }
}

/** Columns by type of DuckDB, with the arrays of their values. */
const TYPES = {
  INTEGER: Int32Array,
  UINTEGER: Uint32Array,
  BIGINT: BigInt64Array,
  UBIGINT: BigUint64Array,
  FLOAT: Float32Array,
  DOUBLE: Float64Array,
} as const;

/** Values that take a page of plain values, and few ones that take a dictionary. */
const VALUES = ['(i * 7919) % 20011', 'i % 7', '0', 'i // 3000'];

const COLUMNS = Object.keys(TYPES).flatMap((type, k) =>
  VALUES.map((value, v) => ({ name: `c${k}_${v}`, type: type as keyof typeof TYPES, value })),
);

for (const options of [
  'COMPRESSION uncompressed',
  'COMPRESSION snappy',
  'COMPRESSION snappy, PARQUET_VERSION V1, ROW_GROUP_SIZE 2048',
  'COMPRESSION snappy, DICTIONARY_SIZE_LIMIT 1, ROW_GROUP_SIZE 4096',
]) {
  test(`columns of numbers are decoded as DuckDB reads them: ${options}`, async (t) => {
    const sql = await otherDuckdb();
    const name = path(`${options.replaceAll(/\W+/g, '-')}.parquet`);
    const list = COLUMNS.map(({ name: as, type, value }) => `(${value})::${type} AS ${as}`);
    await sql(`COPY (SELECT ${list} FROM range(${ROWS}) t(i)) TO '${name}' (FORMAT parquet, ${options})`);
    for (const [index, { name: column, type }] of COLUMNS.entries()) {
      const expected = (await sql(`SELECT ${column} FROM '${name}'`)).flat();
      const found = await valuesOf(name, index);
      const values = new (TYPES[type] as typeof Float64Array)(expected as number[]);
      t.true(found?.equals(Buffer.from(values.buffer)), `${column}: ${type}`);
    }
  });
}

test('columns with nulls, of other types or with another compression are left to the subprocess', async (t) => {
  const sql = await otherDuckdb();
  const name = path('others.parquet');
  const columns =
    "i::DOUBLE AS x, CASE WHEN i % 999 = 7 THEN NULL ELSE i::DOUBLE END AS n, 'a' || i AS s, [i] AS l";
  const write = (compression: string): Promise<unknown> =>
    sql(
      `COPY (SELECT ${columns} FROM range(${ROWS}) t(i)) TO '${name}' (FORMAT parquet, COMPRESSION ${compression})`,
    );
  await write('snappy');
  t.is((await valuesOf(name, 0))?.length, 8 * ROWS);
  await t.throwsAsync(valuesOf(name, 1), { instanceOf: FormatError });
  for (const index of [2, 3, 4, -1]) t.is(await valuesOf(name, index), undefined);
  await write('zstd');
  t.is(await valuesOf(name, 0), undefined);
});

test('keys of many row groups are read in this process, and their first null is found by another one', async (t) => {
  const sql = await otherDuckdb();
  const name = path('groups.parquet');
  for (const nulls of [false, true]) {
    const value = nulls ? 'CASE WHEN i = 39000 THEN NULL ELSE i * 7919 % 40000 END' : 'i * 7919 % 40000';
    await sql(
      `COPY (SELECT (${value})::DOUBLE AS x FROM range(40000) t(i)) TO '${name}' (FORMAT parquet, ROW_GROUP_SIZE 2048)`,
    );
    if (nulls) {
      await t.throwsAsync(read(parquet, name), {
        instanceOf: FormatError,
        message: /a value is null, the first in row 39000/,
      });
    } else {
      const { keys } = await read(parquet, name);
      const expected = Float64Array.from({ length: 40_000 }, (_, i) => (i * 7919) % 40_000);
      t.true(Buffer.from(expected.buffer).equals(keys));
    }
  }
});

test('pieces are left out up to a number of bytes', async (t) => {
  const pieces = [3, 0, 2, 4].map((n, i) => new Uint8Array(n).fill(i));
  for (let first = 0; first <= 9; first++) {
    const left = await Readable.from(
      withoutFirst(first, Readable.from(pieces, { objectMode: true })),
    ).toArray();
    t.deepEqual(Buffer.concat(left), Buffer.concat(pieces).subarray(first));
  }
});

test('a changed file is decoded, refused or left to the subprocess', async (t) => {
  const sql = await otherDuckdb();
  const name = path('changed.parquet');
  await sql(
    `COPY (SELECT (i * 7919 % 5003)::DOUBLE AS x, i % 5 AS few FROM range(5000) t(i)) TO '${name}' (FORMAT parquet)`,
  );
  const original = readFileSync(name);
  const random = new Random(Number(process.env.CLSORT_TEST_SEED ?? 1));
  let [decoded, refused] = [0, 0];
  for (let i = 0; i < 2000; i++) {
    const changed = Buffer.from(original);
    for (let k = random.below(3); k >= 0; k--) {
      // Most bytes are values, which may be any.
      const at = random.below(2) ? random.below(changed.length) : changed.length - 1 - random.below(600);
      changed[at] = random.below(256);
    }
    writeFileSync(name, changed);
    try {
      const found = await valuesOf(name, i % 2);
      if (found) decoded++;
    } catch (error) {
      refused++;
      if (!(error instanceof FormatError)) throw error;
    }
  }
  t.log({ decoded, refused });
  t.true(decoded > 0 && refused > 0);
});

test('Snappy blocks of all kinds of elements are decompressed, and damaged ones are not', (t) => {
  const literal = Buffer.from('abcdefgh');
  const long = Buffer.alloc(300, 'xyz');
  const block = Buffer.concat([
    Buffer.from([0xbc + 0, 0x02]), // 316 bytes in all
    Buffer.from([(8 - 1) << 2]),
    literal,
    Buffer.from([61 << 2, (300 - 1) & 255, (300 - 1) >> 8]),
    long,
    Buffer.from([1 | ((4 - 4) << 2), 2]), // four bytes that overlap: a copy of the last two, twice
    Buffer.from([2 | ((4 - 1) << 2), 0x38, 0x01]), // four bytes from 312 bytes before
  ]);
  const expected = Buffer.concat([
    literal,
    long,
    long.subarray(298),
    long.subarray(298),
    literal.subarray(0, 4),
  ]);
  t.is(expected.length, 316);
  t.deepEqual(
    decompressSnappy([[block, 316]])?.map((bytes) => Buffer.from(bytes)),
    [expected],
  );
  t.is(decompressSnappy([[block, 315]]), undefined);
  for (let length = 0; length < block.length; length++) {
    t.is(decompressSnappy([[block.subarray(0, length), 316]]), undefined, `${length}`);
  }
  for (let at = 0; at < block.length; at++) {
    for (const byte of [0, 255, (block[at] as number) ^ 1]) {
      const changed = Buffer.from(block);
      changed[at] = byte;
      const [found] = decompressSnappy([[changed, 316]]) ?? [];
      t.true(found === undefined || found.length === 316);
    }
  }
  t.deepEqual(decompressSnappy([]), []);
});

/** Returns a Snappy block of random elements with its contents, and the positions between its elements in both. */
function randomBlock(random: Random, elements: number): { block: Buffer; content: Buffer; ends: number[][] } {
  const [parts, out]: [number[], number[]] = [[], []];
  const ends: number[][] = [];
  for (let k = 0; k < elements; k++) {
    const kind = out.length === 0 ? 0 : random.below(4);
    if (kind === 0) {
      const length = 1 + random.below(random.below(4) === 0 ? 400 : 20);
      if (length <= 60) parts.push((length - 1) << 2);
      else parts.push(61 << 2, (length - 1) & 255, (length - 1) >> 8);
      for (let i = 0; i < length; i++) {
        parts.push(random.below(256));
        out.push(parts.at(-1) as number);
      }
    } else {
      const length = kind === 1 ? 4 + random.below(8) : 1 + random.below(64);
      const offset =
        1 + random.below(Math.min(out.length, random.below(2) ? 20 : kind === 1 ? 2047 : 65_535));
      const bytes = [offset & 255, offset >> 8, 0, 0];
      if (kind === 1) parts.push(1 | ((length - 4) << 2) | ((offset >> 8) << 5), offset & 255);
      else parts.push(kind | ((length - 1) << 2), ...bytes.slice(0, kind === 2 ? 2 : 4));
      for (let i = 0; i < length; i++) out.push(out[out.length - offset] as number);
    }
    ends.push([parts.length, out.length]);
  }
  const size = [out.length & 127, (out.length >> 7) & 127, out.length >> 14];
  const head = [(size[0] as number) | 128, (size[1] as number) | 128, size[2] as number];
  return {
    block: Buffer.from([...head, ...parts]),
    content: Buffer.from(out),
    ends: ends.map(([at = 0, end = 0]) => [head.length + at, end]),
  };
}

test('the first bytes of Snappy blocks are decompressed, whatever follows them', (t) => {
  const random = new Random(Number(process.env.CLSORT_TEST_SEED ?? 1));
  for (let round = 0; round < 200; round++) {
    const { block, content, ends } = randomBlock(random, 1 + random.below(300));
    const bytes = content.length;
    const [end = 0, valid = 0] = ends[random.below(ends.length)] ?? [];
    const changed = Buffer.concat([block.subarray(0, end), Buffer.alloc(block.length - end, 0xff)]);
    for (const wanted of [0, random.below(bytes + 1), valid, bytes]) {
      const [whole] = decompressSnappy([[block, bytes, wanted]]) ?? [];
      t.true(content.subarray(0, wanted).equals(whole as Uint8Array), `${round}: ${wanted} of ${bytes}`);
      const [part] = decompressSnappy([[changed, bytes, Math.min(wanted, valid)]]) ?? [];
      if (wanted < bytes)
        t.true(content.subarray(0, Math.min(wanted, valid)).equals(part ?? Buffer.alloc(0)), `${round}`);
    }
    t.is(decompressSnappy([[block, bytes + 1, 0]]), undefined);
    t.is(decompressSnappy([[block, bytes, bytes + 1]]), undefined);
    if (end < block.length) t.is(decompressSnappy([[block.subarray(0, end), bytes, bytes]]), undefined);
  }
});
