import { readFileSync, writeFileSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import ava from 'ava';
import {
  decodeStruct,
  encodeStruct,
  type Struct,
  THRIFT,
} from '../../../src/io/formats/subprocess/tables/thrift.js';
import { topKFile } from '../../../src/io/operations/top-k-file.js';
import { sortTableFile } from '../../../src/io/tables/sort-table-file.js';
import type { TableJob } from '../../../src/io/tables/table-job.js';
import { hostSorter } from '../../../src/sort/api/host-sorter.js';
import type { Sorter } from '../../../src/sort/api/sorter.js';
import { FormatError } from '../../../src/util/errors.js';
import { scratchFolder } from '../../cli/cli.js';
import { nowhere } from '../context.js';
import { otherDuckdb } from '../formats/subprocess/files.js';

const test = ava.serial; // each starts processes
const { path, remove } = scratchFolder();
ava.after.always(remove);
const sorter = hostSorter(() => undefined) as Sorter;

const ROWS = 10_000;
const GROUP_ROWS = 2048;
/** Rank of the values of each row group, so that the first groups in order are not the first ones of the file. */
const RANKS = [3, 0, 4, 1, 2];
const groupOf = (i: number): number => Math.floor(i / GROUP_ROWS);
const rankOf = (i: number): number => (RANKS[groupOf(i)] as number) * GROUP_ROWS + ((i * 7919) % GROUP_ROWS);
const LONG = 'a common prefix of more than 64 bytes, which statistics cut off, '.repeat(2);

const isNaNAt = (i: number): boolean => i % 997 === 3;
const isNullAt = (i: number): boolean => i % 1999 === 5;

type Value = number | bigint | string | boolean | null;

/** Columns by name: type of DuckDB, and the value of a row. */
const COLUMNS: Readonly<Record<string, readonly [type: string, value: (i: number) => Value]>> = {
  id: ['INTEGER', (i) => i],
  f64: ['DOUBLE', (i) => (isNullAt(i) ? null : isNaNAt(i) ? Number.NaN : rankOf(i) / 8)],
  f32: ['FLOAT', (i) => (isNaNAt(i) ? Number.NaN : -rankOf(i))],
  zero: ['DOUBLE', (i) => (groupOf(i) < 2 ? (i % 2 ? -0 : 0) : i % 2 ? -1 : 1)],
  zeros: ['DOUBLE', (i) => (groupOf(i) === 1 ? -0 : 0)],
  i64: ['BIGINT', (i) => BigInt(rankOf(i)) - 4611686018427387904n],
  u64: ['UBIGINT', (i) => 18446744073709551615n - BigInt(rankOf(i))],
  i8: ['TINYINT', (i) => (rankOf(i) >> 6) - 100],
  few: ['INTEGER', (i) => (isNullAt(i) ? null : rankOf(i) >> 12)],
  day: ['DATE', (i) => rankOf(i)],
  text: ['VARCHAR', (i) => (isNullAt(i) ? null : `${LONG}${String(rankOf(i)).padStart(5, '0')}`)],
  bool: ['BOOLEAN', (i) => RANKS[groupOf(i)] === 4 && i % 100 === 0],
};

const cellOf = (name: string, i: number): Value => (COLUMNS[name] as (typeof COLUMNS)[string])[1](i);

function sqlOf(value: Value): string {
  if (typeof value === 'string') return `'${value}'`;
  if (Object.is(value, -0)) return "'-0.0'::DOUBLE";
  return Number.isNaN(value) ? "'nan'" : `${value}`;
}

const NAMES = Object.keys(COLUMNS);
/** Field numbers of the metadata of a Parquet file. */
const [ROW_GROUPS, ORDERS, CHUNKS, METADATA, STATISTICS, DATA_OFFSET, BYTES] = [4, 7, 1, 3, 12, 9, 7];
const [NULLS, MAX, MIN] = [3, 5, 6];

const items = (struct: Struct | undefined, id: number): readonly Struct[] => {
  const value = struct?.get(id);
  return value && 'items' in value
    ? value.items.flatMap((item) => ('fields' in item ? [item.fields] : []))
    : [];
};
const fieldsAt = (struct: Struct, id: number): Struct | undefined => {
  const value = struct.get(id);
  return value && 'fields' in value ? value.fields : undefined;
};
const numberAt = (struct: Struct, id: number): number =>
  Number((struct.get(id) as { number: bigint }).number);

type Edit = (statistics: Struct, name: string, group: number) => void;

/** Writes a copy of a Parquet file whose statistics are edited. */
function edited(
  from: string,
  to: string,
  edit: Edit,
  changeFile?: (file: Struct, bytes: Buffer) => void,
): void {
  const bytes = readFileSync(from);
  const length = bytes.readUInt32LE(bytes.length - 8);
  const begin = bytes.length - 8 - length;
  const file = decodeStruct(bytes.subarray(begin, begin + length));
  for (const [g, group] of items(file, ROW_GROUPS).entries()) {
    for (const [c, chunk] of items(group, CHUNKS).entries()) {
      const metadata = fieldsAt(chunk, METADATA) as Struct;
      const statistics = fieldsAt(metadata, STATISTICS) ?? new Map();
      edit(statistics, NAMES[c] as string, g);
      metadata.set(STATISTICS, { type: THRIFT.struct, fields: statistics });
    }
  }
  changeFile?.(file, bytes);
  const footer = encodeStruct(file);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(footer.length);
  writeFileSync(to, Buffer.concat([bytes.subarray(0, begin), footer, size, Buffer.from('PAR1')]));
}

const binary = (bytes: Uint8Array) => ({ type: THRIFT.binary, bytes }) as const;
const bound = (statistics: Struct, id: number): Buffer | undefined => {
  const value = statistics.get(id);
  return value && 'bytes' in value ? Buffer.from(value.bytes) : undefined;
};

/** Bounds of the numbers that are not NaN, as other writers than DuckDB store them. */
const withNaNs: Edit = (statistics, name, group) => {
  if (name !== 'f64' && name !== 'f32') return;
  const [from, to] = [group * GROUP_ROWS, Math.min((group + 1) * GROUP_ROWS, ROWS)];
  const numbers = Array.from({ length: to - from }, (_, k) => from + k).flatMap((i) =>
    isNaNAt(i) || (name === 'f64' && isNullAt(i)) ? [] : [name === 'f64' ? rankOf(i) / 8 : -rankOf(i)],
  );
  const ArrayType = name === 'f64' ? Float64Array : Float32Array;
  const stored = (number: number): Uint8Array => new Uint8Array(ArrayType.of(number).buffer);
  statistics.set(MIN, binary(stored(Math.min(...numbers)))).set(MAX, binary(stored(Math.max(...numbers))));
};

/** Statistics in which the sign of a zero is the other one. */
const otherZeros: Edit = (statistics, name) => {
  for (const id of [MIN, MAX]) {
    const value = bound(statistics, id);
    if (!name.startsWith('zero') || value?.readDoubleLE() !== 0) continue;
    value[7] = (value[7] as number) ^ 0x80;
    statistics.set(id, binary(value));
  }
};

/** Bounds of text that are cut off: a lower bound is a prefix, and the last byte of an upper one is larger. */
const truncated: Edit = (statistics, name) => {
  if (name !== 'text') return;
  const [min, max] = [MIN, MAX].map((id) => Buffer.from(bound(statistics, id) ?? LONG).subarray(0, 64));
  (max as Buffer)[63] = ((max as Buffer)[63] as number) + 1;
  statistics.set(MIN, binary(min as Buffer)).set(MAX, binary(max as Buffer));
};

const without =
  (...ids: readonly number[]): Edit =>
  (statistics) => {
    for (const id of ids) statistics.delete(id);
  };

/** Declares the order of all columns. */
const declareOrders = (file: Struct): void => {
  const fields: Struct = new Map([[1, { type: THRIFT.struct, fields: new Map() }]]);
  const orders = NAMES.map(() => ({ type: THRIFT.struct, fields }) as const);
  file.set(ORDERS, { type: THRIFT.list, of: THRIFT.struct, items: orders });
};

async function makeFiles(): Promise<void> {
  const sql = await otherDuckdb();
  const types = NAMES.map(
    (name) => `${name} ${COLUMNS[name]?.[0] === 'DATE' ? 'INTEGER' : COLUMNS[name]?.[0]}`,
  );
  await sql(`CREATE TABLE t (${types.join()})`);
  for (let from = 0; from < ROWS; from += 1000) {
    const rows = Array.from({ length: 1000 }, (_, k) =>
      NAMES.map((name) => sqlOf(cellOf(name, from + k))).join(),
    );
    await sql(`INSERT INTO t VALUES ${rows.map((row) => `(${row})`).join()}`);
  }
  await sql(
    `COPY (SELECT * REPLACE (DATE '1990-01-01' + day AS day) FROM t) TO '${path('duckdb.parquet')}' (FORMAT parquet, ROW_GROUP_SIZE ${GROUP_ROWS})`,
  );
  const from = path('duckdb.parquet');
  edited(from, path('nans.parquet'), withNaNs, declareOrders);
  edited(from, path('zeros.parquet'), otherZeros, declareOrders);
  edited(from, path('truncated.parquet'), truncated, declareOrders);
  edited(from, path('no-bounds.parquet'), without(MIN, MAX));
  edited(from, path('no-nulls.parquet'), without(NULLS), declareOrders);
}

async function rowsOf(job: Omit<TableJob, 'out'>): Promise<readonly string[]> {
  await sortTableFile(sorter, { ...job, columns: 'id', out: path('out.csv') }, nowhere);
  return readFileSync(path('out.csv'), 'utf8').trimEnd().split('\n').slice(1);
}

async function topOf(
  files: readonly string[],
  column: string,
  job: { k: number; largest: boolean; nan: 'first' | 'last' },
) {
  const context = { stdin: Readable.from([]), stdout: new PassThrough().resume(), signal: nowhere.signal };
  const all = {
    in: files.map((file) => path(file)),
    column,
    memory: 2 ** 28,
    argsort: true,
    out: path('top.u32'),
    ...job,
  };
  const { n } = await topKFile(sorter, all, context);
  const positions = readFileSync(path('top.u32'));
  return {
    n,
    rows: [...new Uint32Array(positions.buffer, positions.byteOffset, positions.length / 4)].map(String),
  };
}

ava.before(makeFiles);

/** Returns the rows in the order of some keys, such as `f64:desc:nan-first`. */
function ordered(by: string, rows = ROWS): readonly string[] {
  const keys = by.split(',').map((key) => {
    const [name = '', ...how] = key.split(':');
    const sign = how.includes('desc') ? -1 : 1;
    /** Nulls, NaNs and numbers in their order, from 0 to 4. */
    const place = (value: Value): number =>
      value === null
        ? how.includes('nulls-first')
          ? 0
          : 4
        : Number.isNaN(value)
          ? how.includes('nan-first')
            ? 1
            : 3
          : 2;
    return (a: number, b: number): number => {
      const [x, y] = [cellOf(name, a % ROWS), cellOf(name, b % ROWS)];
      if (place(x) !== place(y) || place(x) !== 2) return place(x) - place(y);
      if (x === y) return x === 0 ? sign * (Number(Object.is(y, -0)) - Number(Object.is(x, -0))) : 0;
      return (x as number) < (y as number) ? -sign : sign;
    };
  });
  const compare = (a: number, b: number): number => keys.reduce((found, key) => found || key(a, b), 0);
  return Array.from({ length: rows }, (_, i) => i)
    .sort(compare)
    .map((i) => `${i % ROWS}`);
}

for (const [file, keys] of Object.entries({
  duckdb: ['u64', 'i8:desc', 'day', 'bool:desc', 'few,u64:desc'],
  nans: ['f64', 'f64:desc', 'f64:nan-first', 'f64:desc:nulls-first', 'f32:nan-first'],
  zeros: ['zero', 'zero:desc', 'zeros', 'zeros:desc'],
  truncated: ['text', 'text:desc', 'text:desc:nulls-first'],
  'no-bounds': ['f64:desc', 'i64'],
  'no-nulls': ['few:nulls-first', 'few:desc'],
})) {
  test(`statistics of ${file}: the first rows are those of the whole sort`, async (t) => {
    for (const [k, by] of keys.entries()) {
      const head = k % 2 ? 1 : 700;
      const found = await rowsOf({ in: path(`${file}.parquet`), by, head });
      t.deepEqual(found, ordered(by).slice(0, head), by);
    }
  });
}

test('the first rows of several files are those of the whole sort, with equal rows in the order of the files', async (t) => {
  const inputs = [path('duckdb.parquet'), path('no-bounds.parquet')];
  t.deepEqual(
    await rowsOf({ in: inputs, by: 'u64:desc', head: 9 }),
    ordered('u64:desc', 2 * ROWS).slice(0, 9),
  );
  const found = await topOf(['duckdb.parquet', 'no-bounds.parquet'], 'u64', {
    k: 9,
    largest: true,
    nan: 'last',
  });
  t.is(found.n, 2 * ROWS);
  t.deepEqual(
    found.rows.map((row) => `${Number(row) % ROWS}`),
    ordered('u64:desc', 2 * ROWS).slice(0, 9),
  );
});

for (const [file, name] of [
  ['nans', 'f32'],
  ['zeros', 'zeros'],
  ['no-bounds', 'i64'],
  ['no-nulls', 'i8'],
] as const) {
  test(`statistics of ${file}: the first keys and their positions are those of the whole sort`, async (t) => {
    for (const [largest, nan] of [
      [true, 'last'],
      [false, 'first'],
    ] as const) {
      const by = `${name}${largest ? ':desc' : ''}${nan === 'first' ? ':nan-first' : ''}`;
      const found = await topOf([`${file}.parquet`], name, { k: 300, largest, nan });
      t.deepEqual(found, { n: ROWS, rows: ordered(by).slice(0, 300) }, by);
    }
  });
}

test('the first keys of a column with nulls are an error with their number and the first one', async (t) => {
  const nulls = Array.from({ length: ROWS }, (_, i) => i).filter(isNullAt);
  for (const file of ['nans.parquet', 'no-nulls.parquet']) {
    await t.throwsAsync(topOf([file], 'few', { k: 3, largest: true, nan: 'last' }), {
      instanceOf: FormatError,
      message: new RegExp(`: ${nulls.length} values are null, the first in row ${nulls[0]} `),
    });
  }
});

test('row groups that statistics exclude are not read, unless the result is verified', async (t) => {
  const damage = (file: Struct, bytes: Buffer): void => {
    for (const [g, group] of items(file, ROW_GROUPS).entries()) {
      if (RANKS[g] === 0 || RANKS[g] === 4) continue;
      for (const chunk of items(group, CHUNKS)) {
        const metadata = fieldsAt(chunk, METADATA) as Struct;
        const at = numberAt(metadata, DATA_OFFSET);
        bytes.fill(0xff, at, at + numberAt(metadata, BYTES));
      }
    }
  };
  const input = path('damaged.parquet');
  edited(path('nans.parquet'), input, () => undefined, damage);
  for (const by of ['f64', 'f64:desc', 'u64:desc', 'text']) {
    t.deepEqual(await rowsOf({ in: input, by, head: 20 }), ordered(by).slice(0, 20), by);
  }
  await t.throwsAsync(rowsOf({ in: input, by: 'f64', head: 20, verify: true }), { instanceOf: FormatError });
  const { rows } = await topOf(['damaged.parquet'], 'i64', { k: 20, largest: false, nan: 'last' });
  t.deepEqual(rows, ordered('i64').slice(0, 20));
});
