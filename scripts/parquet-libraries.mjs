#!/usr/bin/env node
// Compares packages that read Parquet: correctness of the values, time for two million rows, and size. Prints a
// Markdown table.
//
//   node scripts/parquet-libraries.mjs [--rows 2000000]        (after `npm run build`)

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import * as arrow from 'apache-arrow';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import * as wasm from 'parquet-wasm';
import { parquetOf } from '../dist/test/io/tables/parquet-columns.js';

const { values } = parseArgs({ options: { rows: { type: 'string', default: '2000000' } } });
const rows = Number(values.rows);
const folder = mkdtempSync(join(tmpdir(), 'clsort-parquet-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const path = (name) => join(folder, name);

// ---------------------------------------------------------------- values

const bytesOf = (array) => new Uint8Array(array.buffer);
const NOW = 1_577_934_245_678_901_234n;
const int96 = (time) => {
  const [day, view] = [86_400_000_000_000n, new DataView(new ArrayBuffer(12))];
  view.setBigInt64(0, time % day, true);
  view.setInt32(8, Number(time / day + 2_440_588n), true);
  return bytesOf(view);
};
/** Encodes a decimal in big-endian bytes. */
const decimal = (value, bytes) =>
  Uint8Array.from({ length: bytes }, (_, i) => Number((value >> BigInt(8 * (bytes - 1 - i))) & 255n));
const WIDE = 10n ** 49n + 7n;
const NAN = 0x7ff8_0000_0000_1234n;

const i64 = (value) => bytesOf(BigInt64Array.of(value));
const COLUMNS = [
  {
    title: 'nanoseconds with a zone',
    column: {
      name: 'zoned',
      physical: 'INT64',
      logical: { is: 'TIMESTAMP', unit: 'NANOS', isUtc: true },
      values: [i64(NOW)],
    },
    sql: 'epoch_ns(zoned)',
    expected: NOW,
  },
  {
    title: 'INT96',
    column: { name: 'old', physical: 'INT96', values: [int96(NOW)] },
    sql: 'epoch_ns(old)',
    expected: NOW,
  },
  {
    title: 'TIME(NANOS)',
    column: {
      name: 'time',
      physical: 'INT64',
      logical: { is: 'TIME', unit: 'NANOS' },
      values: [i64(123_456_789_012n)],
    },
    sql: 'epoch_ns(time)',
    expected: 123_456_789_012n,
  },
  {
    title: 'decimal of 50 digits',
    column: {
      ...{ name: 'wide', physical: 'FIXED_LEN_BYTE_ARRAY', bytes: 21, values: [decimal(WIDE, 21)] },
      logical: { is: 'DECIMAL', precision: 50, scale: 2 },
    },
    sql: 'wide::VARCHAR',
    expected: WIDE,
  },
  {
    title: '−0 in a dictionary',
    column: { name: 'zero', physical: 'DOUBLE', isDictionary: true, values: [bytesOf(Float64Array.of(-0))] },
    sql: 'zero',
    expected: 1n << 63n,
  },
  {
    title: 'NaN with a payload in a dictionary',
    column: {
      name: 'nan',
      physical: 'DOUBLE',
      isDictionary: true,
      values: [bytesOf(BigUint64Array.of(NAN))],
    },
    sql: 'nan',
    expected: NAN,
  },
];

/** Returns a value as an integer: the bits of a double, the digits of a text, the ticks of a time. */
function ticks(value) {
  if (value instanceof Uint8Array && value.length === 8) return new BigUint64Array(value.slice().buffer)[0];
  if (typeof value === 'number') return new BigUint64Array(Float64Array.of(value).buffer)[0];
  if (value instanceof Date) return BigInt(value.getTime()) * 1_000_000n;
  if (ArrayBuffer.isView(value))
    return [...value].reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
  return BigInt(String(value?.micros ?? value).replace('.', ''));
}

async function duckdb() {
  return (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
}

/** Readers of the only value in a column of a file, by package. */
const READERS = {
  'parquet-wasm + apache-arrow': async (file) => {
    const table = arrow.tableFromIPC(wasm.readParquet(readFileSync(file)).intoIPCStream());
    const [{ values, type }] = table.getChildAt(0).data;
    return arrow.DataType.isFloat(type)
      ? new Uint8Array(values.slice(0, 1).buffer)
      : values.length > 1
        ? values
        : values[0];
  },
  hyparquet: async (file) => {
    const [row] = await parquetReadObjects({ file: await asyncBufferFromFile(file) });
    return Object.values(row)[0];
  },
  '@duckdb/node-api': async (file, sql) => {
    const connection = await duckdb();
    const [[value]] = (await connection.runAndReadAll(`SELECT ${sql} FROM '${file}'`)).getRows();
    return value;
  },
};

async function verdict(read, { column, sql, expected }) {
  writeFileSync(path('one.parquet'), parquetOf([column]));
  try {
    const found = ticks(await read(path('one.parquet'), sql));
    return found === expected ? 'kept' : 'changed';
  } catch {
    return 'refused';
  }
}

// ---------------------------------------------------------------- speed

const seconds = async (work) => {
  const started = performance.now();
  await work();
  return ((performance.now() - started) / 1000).toFixed(2);
};

/** Measures the seconds to read and decode a whole file into arrays, by package. */
const WHOLE = {
  'parquet-wasm + apache-arrow': (file) =>
    seconds(() => arrow.tableFromIPC(wasm.readParquet(readFileSync(file)).intoIPCStream())),
  hyparquet: (file) => seconds(async () => parquetReadObjects({ file: await asyncBufferFromFile(file) })),
  '@duckdb/node-api': (file) =>
    seconds(async () => (await (await duckdb()).runAndReadAll(`FROM '${file}'`)).getColumns()),
};

const megabytes = (names) =>
  (
    names
      .map((name) => fileURLToPath(new URL(`../node_modules/${name}`, import.meta.url)))
      .reduce(
        (sum, at) => sum + Number(execFileSync('du', ['-sk', at], { encoding: 'utf8' }).split('\t')[0]),
        0,
      ) / 1024
  ).toFixed(1);

const connection = await duckdb();
await connection.run(
  `COPY (SELECT range AS id, random() AS price, 'name ' || (range % 1000) AS name FROM range(${rows})) TO '${path('many.parquet')}' (FORMAT parquet)`,
);
const names = Object.keys(READERS);
const table = [
  ['', ...names],
  ['---', ...names.map(() => '---')],
];
/** Adds a row to the table; packages run in sequence, so that none competes for the processor. */
async function addRow(title, cellOf) {
  const cells = [];
  for (const name of names) cells.push(await cellOf(name));
  table.push([title, ...cells]);
}
for (const one of COLUMNS) await addRow(one.title, (name) => verdict(READERS[name], one));
await addRow(`seconds to read ${rows.toLocaleString('en')} rows`, (name) =>
  WHOLE[name](path('many.parquet')),
);
table.push(['writes', 'yes', 'no', 'yes']);
table.push([
  'MB installed',
  megabytes(['parquet-wasm', 'apache-arrow']),
  megabytes(['hyparquet']),
  megabytes(['@duckdb']),
]);
for (const line of table) console.log(`| ${line.join(' | ')} |`);
