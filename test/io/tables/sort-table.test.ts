import test from 'ava';
import { Sorter, sortTable } from '../../../src/index.js';
import { DtypeError, InputError, UsageError } from '../../../src/util/errors.js';
import { Random } from '../../../src/util/random.js';

const host = { device: 'host', verify: true } as const;

/** Numbers in the order of `sort`: −0 before +0, NaN last in either direction. */
function compareNumbers(a: number, b: number, descending: boolean): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  const difference = a === b ? Number(Object.is(b, -0)) - Number(Object.is(a, -0)) : a < b ? -1 : 1;
  return descending ? -difference : difference;
}

const compareTexts = (a: string, b: string, descending: boolean): number => {
  const difference = Buffer.compare(Buffer.from(a), Buffer.from(b));
  return descending ? -difference : difference;
};

function compareNullable<T>(
  a: T | null,
  b: T | null,
  { descending, first }: { descending: boolean; first: boolean },
  compare: (a: T, b: T, descending: boolean) => number,
): number {
  if (a === null || b === null) {
    const difference = Number(a === null) - Number(b === null);
    return first ? -difference : difference;
  }
  return compare(a, b, descending);
}

test('rows are sorted as by a comparator, in both directions and with nulls first or last', async (t) => {
  const random = new Random(11);
  const texts = [
    '',
    'a',
    'a\0',
    'a\0b',
    'é',
    'z',
    '😀',
    '\uffff',
    'longer than eight',
    'longer than eighty',
    'ab',
  ];
  const numbers = [0, -0, 1, -1, Number.NaN, Infinity, -Infinity, 1e-310, 2 ** 53];
  const pick = <T>(from: readonly T[]): T | null =>
    random.u32() % 9 === 0 ? null : (from[random.u32() % from.length] as T);
  const n = 600;
  const text = Array.from({ length: n }, () => pick(texts));
  const number = Array.from({ length: n }, () => pick(numbers));
  const row = Uint32Array.from({ length: n }, (_, i) => i);
  for (const descending of [false, true]) {
    for (const first of [false, true]) {
      const [d, f] = [descending ? ':desc' : ':asc', first ? ':nulls-first' : ':nulls-last'];
      const sorted = await sortTable({ text, number, row }, `text${d}${f},number${d}${f}`, host);
      const how = { descending, first };
      const order = [...row].sort(
        (i, j) =>
          compareNullable(text[i] ?? null, text[j] ?? null, how, compareTexts) ||
          compareNullable(number[i] ?? null, number[j] ?? null, how, compareNumbers) ||
          i - j,
      );
      t.deepEqual([...sorted.row], order, `${d}${f}`);
      t.deepEqual(
        sorted.text,
        order.map((i) => text[i] ?? null),
      );
    }
  }
});

test('dates, booleans, BigInts, bytes and typed arrays are valid keys', async (t) => {
  const row = [0, 1, 2, 3];
  const by = async (key: unknown[] | Float32Array | BigInt64Array, order = 'key') =>
    (await sortTable({ key, row }, order, host)).row;
  t.deepEqual(await by([new Date(5), new Date(-1), null, new Date(0)]), [1, 3, 0, 2]);
  t.deepEqual(await by([true, false, null, true], 'key:nulls-first'), [2, 1, 0, 3]);
  t.deepEqual(await by([2n ** 70n, -(2n ** 100n), 0n, -1n]), [1, 3, 2, 0]);
  t.deepEqual(
    await by([Uint8Array.of(0, 1), Uint8Array.of(0), Uint8Array.of(), Uint8Array.of(255)]),
    [2, 1, 0, 3],
  );
  t.deepEqual(await by(Float32Array.of(Number.NaN, 3, -0, 0), 'key:desc'), [1, 3, 2, 0]);
  t.deepEqual(await by(Float32Array.of(Number.NaN, 3, -0, 0), 'key:nan-first'), [0, 2, 3, 1]);
  t.deepEqual(await by(BigInt64Array.of(-1n, 5n, -9n, 0n)), [2, 0, 3, 1]);
  t.deepEqual(await by([null, undefined, null, null]), row);
});

test('NaNs keep their bits, and other values move unchanged', async (t) => {
  const bits = Uint32Array.of(0x7fa00001, 0x3f800000, 0xffc00002);
  const things = [{ a: 1 }, { a: 2 }, { a: 3 }];
  const { key, thing } = await sortTable(
    { key: new Float32Array(bits.buffer), thing: things },
    'key:desc',
    host,
  );
  t.deepEqual([...new Uint32Array(key.buffer, key.byteOffset, 3)].toSorted(), [...bits].toSorted());
  t.is(thing[0], things[1]);
});

test('head, unique and uniqueBy select rows', async (t) => {
  const table = { a: ['x', 'y', 'x', 'x'], b: [3, 1, 2, 3], row: [0, 1, 2, 3] };
  t.deepEqual((await sortTable(table, 'b:desc', { ...host, head: 2 })).row, [0, 3]);
  t.deepEqual((await sortTable(table, 'b', { ...host, uniqueBy: 'a' })).row, [1, 2]);
  const pairs = { a: table.a, b: table.b };
  t.deepEqual(await sortTable(pairs, 'b', { ...host, unique: true }), { a: ['y', 'x', 'x'], b: [1, 2, 3] });
  t.deepEqual(await sortTable({ a: [] as number[] }, 'a', host), { a: [] });
});

test('invalid tables, keys and options are refused', async (t) => {
  const table = { a: [1, 2], b: ['x', 'y'], o: [{}, {}] };
  await t.throwsAsync(sortTable(table, 'c', host), {
    instanceOf: UsageError,
    message: /cannot find column c/,
  });
  await t.throwsAsync(sortTable(table, 'o', host), { instanceOf: DtypeError });
  await t.throwsAsync(sortTable({ a: [1, 'x'] }, 'a', host), {
    instanceOf: InputError,
    message: /row 0 has a number, and row 1 has a string/,
  });
  await t.throwsAsync(sortTable({ a: [1], b: [] }, 'a', host), {
    instanceOf: InputError,
    message: /a has 1 values, and b has 0/,
  });
  await t.throwsAsync(sortTable({ a: [2n ** 127n] }, 'a', host), { instanceOf: InputError });
  await t.throwsAsync(sortTable(table, 'a', { ...host, head: -1 }), { instanceOf: UsageError });
  await t.throwsAsync(sortTable(table, 'a', { ...host, unique: true, uniqueBy: 'b' }), {
    instanceOf: UsageError,
  });
  await t.throwsAsync(sortTable(table, 'a', { ...host, descending: true } as never), {
    instanceOf: UsageError,
  });
});

test('the default Sorter sorts many rows as the host engine does', async (t) => {
  const random = new Random(3);
  const key = Array.from({ length: 40_000 }, () => `user ${random.u32() % 5000}`);
  const row = Uint32Array.from(key, (_, i) => i);
  const sorted = await sortTable({ key, row }, 'key', { verify: true });
  t.deepEqual(sorted, await sortTable({ key, row }, 'key', host));
  t.true(Sorter !== undefined);
});
