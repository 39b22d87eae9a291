import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import test from 'ava';
import { fileSource } from '../../../../src/io/formats/subprocess/byte-source.js';
import type { Batch, FoundField, RowsMessage } from '../../../../src/io/formats/subprocess/protocol.js';
import { openSearchedTable } from '../../../../src/io/formats/subprocess/searched-table.js';
import { openTableFile } from '../../../../src/io/formats/subprocess/table-file.js';
import { ParquetRows } from '../../../../src/io/formats/subprocess/tables/parquet-rows.js';
import { firstRowBatches } from '../../../../src/io/formats/subprocess/tables/record-batches.js';
import { openSource } from '../../../../src/io/streams/raw.js';
import { FormatError } from '../../../../src/util/errors.js';
import { Random } from '../../../../src/util/random.js';
import { scratchFolder } from '../../../cli/cli.js';
import { otherDuckdb } from './files.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

const ROWS = 20_000;
const KIND = { id: 'parquet', format: 'parquet', isText: false } as const;

/** Columns of all types that are decoded here: the key, then values of many kinds, some with nulls. */
const COLUMNS: Readonly<Record<string, string>> = {
  key: '((i * 7919) % 20011)::DOUBLE',
  i32: '(i * 31 % 977)::INTEGER',
  u32: 'i::UINTEGER',
  u64: 'hash(i)',
  f32: '(i % 3)::FLOAT',
  text: "'name ' || i || repeat('é', (i % 5)::INTEGER)",
  few: "['', 'one', 'two', 'three'][1 + i % 4]",
  bytes: "('b' || i)::BLOB",
  day: "DATE '1990-01-01' + (i % 5000)::INTEGER",
  ms: "(TIMESTAMP '2001-02-03 04:05:06' + to_seconds(i))::TIMESTAMP_MS",
  us: "TIMESTAMP '2001-02-03 04:05:06' + to_microseconds(i)",
  ns: "(TIMESTAMP '2001-02-03 04:05:06' + to_microseconds(i))::TIMESTAMP_NS",
  sparse: "CASE WHEN i % 7 = 0 THEN 'seventh ' || i END",
  dense: 'CASE WHEN i % 1000 <> 3 THEN i END',
  runs: 'CASE WHEN i // 500 % 2 = 0 THEN i % 4 END',
  none: 'NULL::VARCHAR',
};

interface Found {
  readonly fields: readonly FoundField[];
  readonly rows: number;
  readonly buffers: readonly Buffer[];
}

async function joined(batches: AsyncIterable<Batch>): Promise<Pick<Found, 'rows' | 'buffers'>> {
  const parts: Uint8Array[][] = [];
  let rows = 0;
  for await (const batch of batches) {
    rows += batch.rows;
    for (const [k, buffer] of batch.buffers.entries()) {
      parts[k] ??= [];
      parts[k].push(Uint8Array.from(buffer));
    }
  }
  return { rows, buffers: parts.map((some) => Buffer.concat(some)) };
}

async function inSubprocess(name: string, wanted: RowsMessage, open = openTableFile): Promise<Found> {
  const source = await openSource(name, Readable.from([]));
  const table = await open(KIND, source, undefined);
  try {
    return { fields: table.fields, ...(await joined(table.batches(wanted))) };
  } finally {
    await table.close();
    await source.close();
  }
}

/** Returns the rows that this process finds; undefined if it does not decode the file. */
async function here(name: string, wanted: RowsMessage): Promise<Found | undefined> {
  const fd = openSync(name, 'r');
  try {
    const rows = await ParquetRows.open(fileSource(fd));
    return (
      rows && { fields: rows.fields, ...(await joined(firstRowBatches(rows, wanted, wanted.head ?? 0))) }
    );
  } finally {
    closeSync(fd);
  }
}

const request = (columns: number, head: number, index = 0): RowsMessage => ({
  is: 'rows',
  columns: Array.from({ length: columns }, (_, i) => i),
  keys: [{ index, descending: true, nulls: 'last', nan: 'last' }],
  distinct: null,
  head,
});

for (const options of [
  'COMPRESSION uncompressed',
  'COMPRESSION snappy, PARQUET_VERSION V1, ROW_GROUP_SIZE 2048',
  'COMPRESSION snappy, PARQUET_VERSION V1, DICTIONARY_SIZE_LIMIT 1, ROW_GROUP_SIZE 4096',
]) {
  test(`the first rows are those that the subprocess finds: ${options}`, async (t) => {
    const sql = await otherDuckdb();
    const name = path(`${options.replaceAll(/\W+/g, '-')}.parquet`);
    const list = Object.entries(COLUMNS).map(([as, value]) => `${value} AS ${as}`);
    await sql(`COPY (SELECT ${list} FROM range(${ROWS}) t(i)) TO '${name}' (FORMAT parquet, ${options})`);
    for (const head of [0, 1, 100, 3000]) {
      const wanted = request(list.length, head);
      const found = await here(name, wanted);
      t.is(found?.rows, ROWS);
      t.deepEqual(found, await inSubprocess(name, wanted), `${head}`);
    }
    const all = request(list.length, 2 * ROWS);
    t.deepEqual(await inSubprocess(name, all, openSearchedTable), await inSubprocess(name, all));
  });
}

test('rows of large pages are found where their number suggests, and beyond', async (t) => {
  const sql = await otherDuckdb();
  const name = path('large-pages.parquet');
  const columns = [
    `${COLUMNS.key} AS key`,
    "CASE WHEN i < 1000 THEN repeat('long ' || i, 150) ELSE 'y' || i END AS first",
    "CASE WHEN i >= 19000 THEN repeat('long ' || i, 150) ELSE 'y' || i END AS last",
    'hash(i) AS number',
    'CASE WHEN i > 100 THEN hash(i) END AS present',
  ];
  await sql(
    `COPY (SELECT ${columns} FROM range(${ROWS}) t(i)) TO '${name}' (FORMAT parquet, COMPRESSION snappy, DICTIONARY_SIZE_LIMIT 1)`,
  );
  for (const head of [1, 2, 3, 20, 500]) {
    const wanted = request(columns.length, head);
    const found = await here(name, wanted);
    t.is(found?.rows, ROWS);
    t.deepEqual(found, await inSubprocess(name, wanted), `${head}`);
  }
});

test('files with other columns, and keys with nulls or of other types, are left to the subprocess', async (t) => {
  const sql = await otherDuckdb();
  const write = async (columns: string, options = ''): Promise<string> => {
    const name = path('others.parquet');
    await sql(
      `COPY (SELECT i::DOUBLE AS x, ${columns} AS y FROM range(3000) t(i)) TO '${name}' (FORMAT parquet${options})`,
    );
    return name;
  };
  for (const [columns, options] of [
    ['[i]'],
    ['(i % 9)::TINYINT'],
    ['i % 2 = 0'],
    ['i', ', COMPRESSION zstd'],
    ['i', ', FIELD_IDS {x: 1, y: 2}'],
  ] as const) {
    t.is(await here(await write(columns, options), request(2, 5)), undefined, columns);
  }
  for (const key of ["'a' || i", 'CASE WHEN i % 999 = 7 THEN NULL ELSE i::DOUBLE END']) {
    const [name, wanted] = [await write(key), request(2, 5, 1)];
    await t.throwsAsync(here(name, wanted), { instanceOf: FormatError });
    t.deepEqual(await inSubprocess(name, wanted, openSearchedTable), await inSubprocess(name, wanted));
  }
});

test('a changed file is decoded, or is an error that leaves it to the subprocess', async (t) => {
  const sql = await otherDuckdb();
  const name = path('changed.parquet');
  const list = ['key', 'i32', 'text', 'few', 'runs', 'sparse'].map((as) => `${COLUMNS[as]} AS ${as}`);
  await sql(`COPY (SELECT ${list} FROM range(3000) t(i)) TO '${name}' (FORMAT parquet, ROW_GROUP_SIZE 2048)`);
  const original = readFileSync(name);
  const random = new Random(Number(process.env.CLSORT_TEST_SEED ?? 1));
  let [decoded, refused] = [0, 0];
  for (let i = 0; i < 1000; i++) {
    const changed = Buffer.from(original);
    for (let k = random.below(3); k >= 0; k--) {
      // Most bytes are values, which may be any.
      const at = random.below(2) ? random.below(changed.length) : changed.length - 1 - random.below(1500);
      changed[at] = random.below(256);
    }
    writeFileSync(name, changed);
    try {
      if (await here(name, request(list.length, 50))) decoded++;
    } catch (error) {
      refused++;
      if (!(error instanceof FormatError)) throw error;
    }
  }
  t.log({ decoded, refused });
  t.true(decoded > 0 && refused > 0);
});
