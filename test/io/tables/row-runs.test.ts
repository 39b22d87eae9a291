/** Rows sorted externally, compared with the same rows sorted in memory. */
import { mkdirSync, readdirSync } from 'node:fs';
import test from 'ava';
import { RowRuns, type RunsOptions } from '../../../src/io/tables/row-runs.js';
import { RowSink } from '../../../src/io/tables/row-sink.js';
import { tablePositions } from '../../../src/io/tables/table-order.js';
import { hostSorter } from '../../../src/sort/api/host-sorter.js';
import type { Sorter } from '../../../src/sort/api/sorter.js';
import { ByteStrings } from '../../../src/sort/operations/strings/byte-strings.js';
import { MemoryError } from '../../../src/util/errors.js';
import { Random } from '../../../src/util/random.js';
import { scratchFolder } from '../../cli/cli.js';
import { combinations } from '../../pairwise.js';

const { path, remove } = scratchFolder();
test.after.always(remove);
const sorter = hostSorter(() => undefined) as Sorter;
const { signal } = new AbortController();

interface Row {
  readonly code: string;
  readonly group: string;
}

/** Codes end with a terminator, so that none is a prefix of another; rows differ by their numbers. */
function rowsOf(n: number, seed: number): Row[] {
  const random = new Random(seed);
  const word = (words: number): string => 'x'.repeat(random.below(12)) + String(random.below(words));
  return Array.from({ length: n }, () => ({ code: `${word(n / 4)}\0`, group: word(20) }));
}

function stringsOf(texts: readonly string[]): ByteStrings {
  const strings = new ByteStrings();
  const bytes = texts.map((text) => Buffer.from(text, 'latin1'));
  const lengths = Uint32Array.from(bytes, ({ length }) => length);
  strings.add(new Uint8Array(lengths.buffer), new Uint8Array(Buffer.concat(bytes)));
  return strings;
}

type Distinct = 'rows' | 'groups' | undefined;

/** @param numbered whether no two rows are equal */
function gatheredOf(rows: readonly Row[], first: number, distinct: Distinct) {
  const whole = stringsOf(
    rows.map(({ code, group }, i) => `${code}|${group}|${distinct === 'rows' ? '' : first + i};`),
  );
  const groups = distinct === 'groups' ? stringsOf(rows.map(({ group }) => group)) : undefined;
  return {
    rows: whole,
    codes: stringsOf(rows.map(({ code }) => code)),
    distinct: distinct === 'rows' ? whole : groups,
  };
}

async function inMemory(rows: readonly Row[], distinct: Distinct, head: number | undefined): Promise<string> {
  const all = gatheredOf(rows, 0, distinct);
  const positions = await tablePositions(sorter, all.codes, { head, distinct: all.distinct }, {});
  return Buffer.concat(Array.from(positions, (i) => all.rows.at(i))).toString('latin1');
}

let folders = 0;

async function byRuns(
  rows: readonly Row[],
  each: number,
  distinct: Distinct,
  more: Partial<RunsOptions> = {},
): Promise<{ text: string; rowCount: number; runs: number }> {
  const folder = path(`runs-${folders++}`);
  mkdirSync(folder);
  const how = { folder, memory: 2 ** 14, head: undefined, verify: true, signal, options: {}, ...more };
  const runs = new RowRuns(sorter, how);
  for (let at = 0; at < rows.length; at += each) {
    await runs.add(gatheredOf(rows.slice(at, at + each), at, distinct));
  }
  const written: Buffer[] = [];
  const write = async (_: number, bytes: Uint8Array): Promise<void> => void written.push(Buffer.from(bytes));
  const sink = new RowSink({ write }, how.head ?? Number.POSITIVE_INFINITY, () => undefined);
  await runs.merge(sink);
  if (readdirSync(folder).length > 0) throw new Error('runs are left');
  return { text: Buffer.concat(written).toString('latin1'), rowCount: sink.rows, runs: runs.facts.runs };
}

for (const distinct of [undefined, 'groups', 'rows'] as const) {
  test(`distinct ${distinct}: an external sort equals the sort in memory, for all run lengths and heads`, async (t) => {
    const rows = rowsOf(1500, 3);
    const axes = [
      [1500, 400, 37],
      [undefined, 0, 1, 25, 5000],
      [true, false],
    ] as const;
    for (const [each, head, verify] of combinations(axes)) {
      const { text, runs } = await byRuns(rows, each, distinct, { head, verify });
      t.is(text, await inMemory(rows, distinct, head), `${each} ${head} ${verify}`);
      t.is(runs, Math.ceil(rows.length / each));
    }
  });
}

test('rows with equal codes keep their order across runs', async (t) => {
  const rows = rowsOf(600, 8).map((row) => ({ ...row, code: 'same\0' }));
  const { text, rowCount } = await byRuns(rows, 50, undefined);
  t.is(rowCount, 600);
  t.is(text, await inMemory(rows, undefined, undefined));
});

test('no rows, and rows longer than the read buffer, are sorted', async (t) => {
  t.deepEqual(await byRuns([], 10, 'groups'), { text: '', rowCount: 0, runs: 0 });
  const rows = rowsOf(20, 5).map((row, i) => ({ ...row, group: 'g'.repeat(i * 20_000) }));
  for (const distinct of [undefined, 'groups', 'rows'] as const) {
    const { text } = await byRuns(rows, 3, distinct);
    t.true(text === (await inMemory(rows, distinct, undefined)));
  }
});

test('batches do not split rows of several strings', async (t) => {
  const sizes = [
    [3, 70_000],
    [1000, 5000],
    [1_500_000, 4],
    [2_100_000, 4],
  ] as const;
  for (const [size, n] of sizes) {
    const rows = new ByteStrings();
    const texts = Array.from({ length: 4 }, (_, i) => Buffer.alloc(size + i, 97 + i));
    for (const text of texts) rows.addBatch(Uint32Array.of(0, text.length), text);
    const positions = Uint32Array.from({ length: 2 * n }, (_, k) => (k * 3) % 4);
    const [written, counts] = [[] as Buffer[], [] as number[]];
    const write = async (count: number, bytes: Uint8Array): Promise<void> => {
      written.push(Buffer.from(bytes));
      counts.push(count);
    };
    const sink = new RowSink({ write }, Number.POSITIVE_INFINITY, () => undefined, 2);
    await sink.addAll(rows, positions);
    const expected = [...positions].map((i) => texts[i] as Buffer);
    t.true(Buffer.concat(written).equals(Buffer.concat(expected)), `${size}`);
    t.is(sink.rows, n);
    let row = 0;
    for (const [k, count] of counts.entries()) {
      t.is(count % 1, 0);
      const part = expected.slice(2 * row, 2 * (row + count));
      t.is(
        written[k]?.length,
        part.reduce((sum, { length }) => sum + length, 0),
      );
      row += count;
    }
  }
});

test('a row above the maximum length is refused', (t) => {
  const sink = new RowSink({ write: async () => undefined }, 1, () => undefined);
  const memory = Buffer.alloc(8);
  t.throws(() => sink.put({ memory, keyAt: 0, valueAt: 8, end: 8 + 2 ** 32 }), { instanceOf: MemoryError });
});
