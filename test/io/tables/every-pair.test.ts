/**
 * Random tables from every format to every format, read by other programs: Python's csv and json, hyparquet and
 * apache-arrow.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import * as arrow from 'apache-arrow';
import ava from 'ava';
import { parquetReadObjects } from 'hyparquet';
import { copyKeys } from '../../../src/io/operations/copy.js';
import { copyTable } from '../../../src/io/tables/copy-table.js';
import { sortTableFile } from '../../../src/io/tables/sort-table-file.js';
import { hostSorter } from '../../../src/sort/api/host-sorter.js';
import type { Sorter } from '../../../src/sort/api/sorter.js';
import { Random } from '../../../src/util/random.js';
import { scratchFolder } from '../../cli/cli.js';
import { FULL } from '../../pairwise.js';
import { nowhere } from '../context.js';

const test = ava.serial; // all write the same files
const { path, remove } = scratchFolder();
ava.after.always(remove);
const sorter = hostSorter(() => undefined) as Sorter;

const SEED = Number(process.env.CLSORT_TEST_SEED ?? 1);
const ROUNDS = Number(process.env.CLSORT_TEST_ROUNDS ?? (FULL ? 20 : 1));
const FORMATS = ['csv', 'tsv', 'ndjson', 'parquet', 'arrow'] as const;
type Format = (typeof FORMATS)[number];

interface Row {
  readonly id: number;
  /** Beyond the integers that a double represents exactly. */
  readonly wide: bigint | null;
  readonly real: number | null;
  readonly text: string | null;
}
const COLUMNS = ['id', 'wide', 'real', 'text'] as const;
type Column = (typeof COLUMNS)[number];

const PARTS = [
  'a',
  'É',
  ' ',
  '#',
  "'",
  '"',
  ',',
  ';',
  '\t',
  '|',
  '\\',
  '\n',
  '\r\n',
  '\r',
  '\u2028',
  '😀',
  '0',
  'NA',
];
const REALS = [0, -0, 1, -1, 0.1, 1e300, -2.5e-300, 9007199254740992, 3];

function tableOf(random: Random): Row[] {
  const orNull = <T>(value: T): T | null => (random.below(5) === 0 ? null : value);
  return Array.from({ length: 1 + random.below(40) }, (_, id) => ({
    id,
    wide: orNull(BigInt(random.below(3) - 1) * 2n ** 62n + BigInt(random.below(4))),
    real: orNull(REALS[random.below(REALS.length)] as number),
    text: orNull(
      `x${Array.from({ length: random.below(5) }, () => PARTS[random.below(PARTS.length)]).join('')}`,
    ),
  }));
}

const numberText = (value: number): string => (Object.is(value, -0) ? '-0' : String(value));

/** A value as text; a missing one is empty. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'number' ? numberText(value) : String(value);
}

// ---------------------------------------------------------------- writers

function separated(rows: readonly Row[], delimiter: string): string {
  const field = (text: string): string => (/^$|^[^x]/.test(text) ? text : `"${text.replaceAll('"', '""')}"`);
  const lines = rows.map((row) => COLUMNS.map((name) => field(textOf(row[name]))).join(delimiter));
  return `${[COLUMNS.join(delimiter), ...lines].join('\n')}\n`;
}

function jsonLine({ id, wide, real, text }: Row): string {
  const number = (value: number | bigint | null): string =>
    value === null ? 'null' : textOf(value).replace('e+', 'E+');
  return `{"id":${id}, "wide":${number(wide)}, "real":${number(real)}, "text":${JSON.stringify(text)}}\n`;
}

function arrowTable(rows: readonly Row[]): arrow.Table {
  const types = {
    id: new arrow.Int32(),
    wide: new arrow.Int64(),
    real: new arrow.Float64(),
    text: new arrow.Utf8(),
  };
  const vector = (name: Column): arrow.Vector =>
    arrow.vectorFromArray(rows.map((row) => row[name]) as never, types[name] as arrow.DataType);
  return new arrow.Table(Object.fromEntries(COLUMNS.map((name) => [name, vector(name)])) as never);
}

async function parquetOf(table: arrow.Table): Promise<Uint8Array> {
  const name: string = 'parquet-wasm'; // its declarations need browser types
  const { Table, writeParquet } = await import(name);
  return writeParquet(Table.fromIPCStream(arrow.tableToIPC(table, 'stream')));
}

const WRITERS: Readonly<Record<Format, (rows: readonly Row[]) => string | Uint8Array | Promise<Uint8Array>>> =
  {
    csv: (rows) => separated(rows, ','),
    tsv: (rows) => separated(rows, '\t'),
    ndjson: (rows) => rows.map(jsonLine).join(''),
    parquet: (rows) => parquetOf(arrowTable(rows)),
    arrow: (rows) => arrow.tableToIPC(arrowTable(rows), 'file'),
  };

// ---------------------------------------------------------------- readers

/** Rows of texts as lines of JSON: the fields of csv, and the values of json with the spelling of numbers. */
const PYTHON = `
import csv, json, sys
names = ${JSON.stringify(COLUMNS)}
for name in sys.argv[1:]:
    file = open(name, encoding='utf-8', newline='')
    if name.endswith('ndjson'):
        rows = [json.loads(line, parse_int=str, parse_float=str) for line in file.read().split('\\n') if line]
    else:
        rows = list(csv.DictReader(file, delimiter=',' if name.endswith('csv') else '\\t', strict=True))
    print(json.dumps([['' if row[name] is None else row[name] for name in names] for row in rows]))
`;

async function readBinary(file: string): Promise<string[][]> {
  const bytes = readFileSync(file);
  const rows: Iterable<Record<string, unknown>> = file.endsWith('arrow')
    ? (arrow.tableFromIPC(bytes) as never)
    : await parquetReadObjects({
        file: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
      });
  return Array.from(rows, (row) => COLUMNS.map((name) => textOf(row[name])));
}

/** A row for comparison: numbers by value, since formats spell them in different ways. */
const canonical = ([id, wide, real, text]: readonly string[]): string =>
  JSON.stringify([id, wide, real === '' ? '' : numberText(Number(real)), text]);

// ---------------------------------------------------------------- order

const compare = <T>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/** Stable; missing values come last in both directions. */
function ordered(rows: readonly Row[], column: Column, descending: boolean): Row[] {
  const compareKeys = (a: Row, b: Row): number => {
    if (column === 'text') return Buffer.compare(Buffer.from(a.text ?? ''), Buffer.from(b.text ?? ''));
    const [x, y] = [a[column] ?? 0, b[column] ?? 0];
    return compare(x, y) || (x === 0 ? compare(Object.is(y, -0) ? 1 : 0, Object.is(x, -0) ? 1 : 0) : 0);
  };
  return rows.toSorted((a, b) => {
    if (a[column] === null || b[column] === null)
      return (a[column] === null ? 1 : 0) - (b[column] === null ? 1 : 0);
    return compareKeys(a, b) * (descending ? -1 : 1);
  });
}

for (let round = 0; round < ROUNDS; round++) {
  test(`a random table of seed ${SEED + round} has the same rows behind every pair of formats, sorted and copied`, async (t) => {
    const random = new Random(SEED + round);
    const rows = tableOf(random);
    const texts: [file: string, expected: string[], what: string][] = [];
    for (const from of FORMATS) {
      writeFileSync(path(`in.${from}`), await WRITERS[from](rows));
      for (const to of FORMATS) {
        const column = COLUMNS[random.below(COLUMNS.length)] as Column;
        const descending = random.below(2) === 0;
        const what = `seed ${SEED + round}, ${from} to ${to}, by ${column}${descending ? ' descending' : ''}`;
        const out = path(`${from}.${to}`);
        const isSeparated = from === 'csv' || from === 'tsv';
        await sortTableFile(
          sorter,
          {
            ...{ in: path(`in.${from}`), out, verify: true },
            by: `${column}${descending ? ':desc' : ''}`,
            ...(isSeparated && { header: true }),
          },
          nowhere,
        );
        const copy = path(`${from}.copy.${to}`);
        const job = { in: [path(`in.${from}`)], out: copy, ...(isSeparated && { header: true }) };
        const { n, dtype, formats } = await copyKeys(
          job.in,
          copy,
          { header: job.header, copyTable: (table, output) => copyTable(table, job, output, nowhere) },
          nowhere,
        );
        t.deepEqual([n, dtype, ...formats], [rows.length, undefined, from, to]);
        if (from === to && from !== 'parquet' && from !== 'arrow')
          t.deepEqual(readFileSync(copy), readFileSync(job.in[0] as string), what);
        for (const [file, sorted] of [
          [out, ordered(rows, column, descending)],
          [copy, rows],
        ] as const) {
          const expected = sorted.map((row) => canonical(COLUMNS.map((name) => textOf(row[name]))));
          if (to === 'parquet' || to === 'arrow')
            t.deepEqual((await readBinary(file)).map(canonical), expected, what);
          else texts.push([file, expected, file === out ? what : `${from} copied to ${to}`]);
        }
      }
    }
    const python = ['-c', PYTHON, ...texts.map(([file]) => file)];
    const { status, stdout, stderr } = spawnSync('python3', python, { encoding: 'utf8' });
    t.is(status, 0, stderr);
    const read = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as string[][]).map(canonical));
    for (const [i, [, expected, what]] of texts.entries()) t.deepEqual(read[i], expected, what);
  });
}
