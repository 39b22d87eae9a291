/** Tables of random values of every type and form, from Arrow through Parquet and back, as read by apache-arrow. */
import { readFileSync, writeFileSync } from 'node:fs';
import * as arrow from 'apache-arrow';
import ava from 'ava';
import { sortTableFile } from '../../../src/io/tables/sort-table-file.js';
import { hostSorter } from '../../../src/sort/api/host-sorter.js';
import type { Sorter } from '../../../src/sort/api/sorter.js';
import { Random } from '../../../src/util/random.js';
import { scratchFolder } from '../../cli/cli.js';
import { FULL } from '../../pairwise.js';
import { nowhere } from '../context.js';

const test = ava.serial; // each starts processes
const { path, remove } = scratchFolder();
ava.after.always(remove);
const sorter = hostSorter(() => undefined) as Sorter;

const SEED = Number(process.env.CLSORT_TEST_SEED ?? 1);
const ROUNDS = FULL ? 20 : 2;
const ROWS = 97;

type Make = (random: Random) => unknown;
const int: Make = (random) => random.below(100) - 50;
const natural: Make = (random) => random.below(100);
const wide: Make = (random) => (BigInt(random.u32()) << 31n) - 2n ** 61n;
const text: Make = (random) => 'é\0x'.repeat(random.below(4));

/** Types with their values; few values, so that writers use dictionaries. */
const TYPES: Readonly<Record<string, readonly [arrow.DataType, Make]>> = {
  bool: [new arrow.Bool(), (random) => random.below(2) === 1],
  i8: [new arrow.Int8(), int],
  u16: [new arrow.Uint16(), natural],
  i32: [new arrow.Int32(), int],
  u64: [new arrow.Uint64(), (random) => BigInt(random.u32()) << 32n],
  i64: [new arrow.Int64(), wide],
  f16: [new arrow.Float16(), int],
  f32: [new arrow.Float32(), (random) => [0, -0, Number.NaN, 1.5][random.below(4)]],
  f64: [new arrow.Float64(), (random) => [0, -0, Number.NaN, 1e300][random.below(4)]],
  text: [new arrow.Utf8(), text],
  large: [new arrow.LargeUtf8(), text],
  bytes: [
    new arrow.Binary(),
    (random) => Uint8Array.from({ length: random.below(5) }, () => random.below(256)),
  ],
  fixed: [new arrow.FixedSizeBinary(3), (random) => Uint8Array.from({ length: 3 }, () => random.below(256))],
  day: [new arrow.DateDay(), (random) => new Date(86_400_000 * random.below(30_000))],
  short: [new arrow.TimeMillisecond(), natural],
  nanos: [new arrow.TimeNanosecond(), (random) => BigInt(random.u32())],
  at: [new arrow.TimestampMillisecond(), natural],
  zoned: [new arrow.TimestampMicrosecond('Europe/Berlin'), natural],
  span: [new arrow.DurationNanosecond(), wide],
};

/** A value as text in which −0 is not 0. */
const formatted = (value: unknown): string => {
  if (Object.is(value, -0)) return '-0';
  if (value instanceof arrow.Vector) return `[${[...value].map(formatted)}]`;
  if (value instanceof arrow.StructRow)
    return `{${[...value].map(([name, of]) => `${String(name)}: ${formatted(of)}`)}}`;
  return `${value}`;
};

for (let round = 0; round < ROUNDS; round++) {
  test(`types and values of seed ${SEED + round} are the same behind Parquet and Arrow`, async (t) => {
    const random = new Random(SEED + round);
    const vectors: [string, arrow.Vector][] = [];
    const add = (name: string, type: arrow.DataType, make: () => unknown): void => {
      vectors.push([name, arrow.vectorFromArray(Array.from({ length: ROWS }, make) as never, type)]);
    };
    let next = 0;
    add('id', new arrow.Int32(), () => next++);
    for (const [name, [type, make]] of Object.entries(TYPES)) {
      const value = (): unknown => (random.below(4) === 0 ? null : make(random));
      const item = arrow.Field.new({ name: 'item', type, nullable: true });
      add(name, type, value);
      add(`list of ${name}`, new arrow.List(item), () =>
        random.below(4) === 0 ? null : Array.from({ length: random.below(4) }, value),
      );
      add(`struct of ${name}`, new arrow.Struct([item]), () =>
        random.below(4) === 0 ? null : { item: value() },
      );
    }
    const table = new arrow.Table(Object.fromEntries(vectors) as never);
    writeFileSync(path('a.arrow'), arrow.tableToIPC(table, 'file'));
    for (const [from, to, by] of [
      ['a.arrow', 'b.parquet', 'f64,id'],
      ['b.parquet', 'c.parquet', 'text:desc,id'],
      ['c.parquet', 'd.arrow', 'id'],
    ] as const) {
      await sortTableFile(sorter, { in: path(from), out: path(to), by, verify: true }, nowhere);
    }
    const found = arrow.tableFromIPC(readFileSync(path('d.arrow')));
    t.deepEqual(
      found.schema.fields.map(({ name, type, nullable }) => `${name}: ${type} ${nullable}`),
      table.schema.fields.map(({ name, type, nullable }) => `${name}: ${type} ${nullable}`),
    );
    for (const to of ['e.parquet', 'e.arrow']) {
      await sortTableFile(sorter, { in: path('c.parquet'), out: path(to), by: 'id', head: 0 }, nowhere);
    }
    await sortTableFile(sorter, { in: path('e.parquet'), out: path('f.arrow'), by: 'id' }, nowhere);
    for (const name of ['e.arrow', 'f.arrow']) {
      const empty = arrow.tableFromIPC(readFileSync(path(name)));
      t.is(empty.numRows, 0);
      t.deepEqual(`${empty.schema}`, `${found.schema}`, name);
    }
    for (const [name, vector] of vectors) {
      t.deepEqual([...(found.getChild(name) ?? [])].map(formatted), [...vector].map(formatted), name);
    }
  });
}
