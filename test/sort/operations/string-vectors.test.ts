/** Operations on Arrow vectors of strings and bytes, against a plain reference. */
import * as arrow from 'apache-arrow';
import test from 'ava';
import { InputError, Sorter, UnsupportedError, UsageError } from '../../../src/index.js';
import { runSync } from '../../../src/sort/host/steps.js';
import type { ArrowChunk } from '../../../src/sort/model/arrow-vector.js';
import { StringKeys } from '../../../src/sort/operations/vectors/string-keys.js';
import { Random } from '../../../src/util/random.js';
import { SEED } from '../../distributions.js';
import { forEachSorter } from '../../each-sorter.js';
import { inSlices, ROW_ORDERS, randomBitmap, referencePositions } from './random-vectors.js';

const TYPES = [new arrow.Utf8(), new arrow.LargeUtf8(), new arrow.Binary(), new arrow.LargeBinary()];

/** Parts of strings: common prefixes of a word and more, characters of one to four bytes, zero bytes. */
const PARTS = [
  '',
  'a',
  'b',
  'commonpr',
  'commonprefix of more',
  'éa',
  '漢',
  '😀',
  '\uffff',
  'x'.repeat(90),
  '\0',
  '\0\0',
];

/** Returns a random string of up to 4 of the first `parts` parts. */
const randomText = (random: Random, parts: number): string =>
  Array.from({ length: random.below(5) }, () => PARTS[random.below(parts)]).join('');

interface Shape {
  readonly n: number;
  readonly nulls: number;
  readonly chunks: number;
  readonly parts: number;
}

function randomShape(random: Random): Shape {
  const [ns, shares] = [
    [0, 1, 7, 60, 400],
    [0, 0, 0.2, 1],
  ];
  return {
    n: ns[random.below(ns.length)] as number,
    nulls: shares[random.below(shares.length)] as number,
    chunks: 1 + random.below(3),
    parts: 1 + random.below(PARTS.length),
  };
}

/** Returns a vector of random strings as the middle of a longer one. */
function randomStrings(
  type: arrow.DataType,
  { n, nulls, chunks, parts }: Shape,
  random: Random,
): arrow.Vector {
  const margin = random.below(20);
  const length = n + 2 * margin;
  const texts = Array.from({ length }, () => Buffer.from(randomText(random, parts)));
  const ends = texts.map((_, i) => texts.slice(0, i + 1).reduce((sum, text) => sum + text.length, 0));
  const isLarge = arrow.DataType.isLargeUtf8(type) || arrow.DataType.isLargeBinary(type);
  const valueOffsets = isLarge ? BigInt64Array.from([0, ...ends], BigInt) : Int32Array.of(0, ...ends);
  const nullBitmap = nulls > 0 ? randomBitmap(length, nulls, random) : undefined;
  const data = new Uint8Array(Buffer.concat(texts));
  const props = { type: type as arrow.Utf8, length, valueOffsets, data, ...(nullBitmap && { nullBitmap }) };
  const whole = new arrow.Vector([arrow.makeData(props as never)]);
  return inSlices(whole.slice(margin, margin + n), random, chunks);
}

/** Returns the bytes of each row; undefined for nulls. */
const bytesOfRows = (vector: arrow.Vector): (Buffer | undefined)[] =>
  [...vector].map((value) => (value === null ? undefined : Buffer.from(value)));

function distinctOf(rows: readonly (Buffer | undefined)[], positions: readonly number[]) {
  const groups: number[][] = [];
  for (const position of positions) {
    const before = groups.at(-1)?.[0];
    const [row, last] = [rows[position], before === undefined ? undefined : rows[before]];
    const isSame = before !== undefined && (row && last ? row.equals(last) : row === last);
    if (isSame) groups.at(-1)?.push(position);
    else groups.push([position]);
  }
  const inverse = new Uint32Array(positions.length);
  for (const [id, group] of groups.entries()) for (const position of group) inverse[position] = id;
  const index = Uint32Array.from(groups, ([first = 0]) => first);
  return { counts: Uint32Array.from(groups, ({ length }) => length), index, inverse };
}

forEachSorter((title, open, small) => {
  test.serial(title('sort, argsort, topK and unique of vectors of strings'), async (t) => {
    const [sorter, random] = [await open(), new Random(SEED)];
    for (let i = 0; i < (small ? 20 : 300); i++) {
      const shape = randomShape(random);
      const type = TYPES[i % TYPES.length] as arrow.DataType;
      const vector = randomStrings(type, shape, random);
      const order = ROW_ORDERS[random.below(ROW_ORDERS.length)] as (typeof ROW_ORDERS)[number];
      const rows = bytesOfRows(vector);
      const sign = order.descending ? -1 : 1;
      const expected = referencePositions(rows, order.nulls, (a, b) => sign * Buffer.compare(a, b));
      const rowsAt = (positions: Iterable<number>) => Array.from(positions, (position) => rows[position]);
      const what = `${i} ${type} ${JSON.stringify(shape)} ${JSON.stringify(order)} seed ${SEED}`;

      t.deepEqual(await sorter.argsort(vector, order), Uint32Array.from(expected), what);
      const sorted = await sorter.sort(vector, order);
      t.is(sorted.type, vector.type);
      t.is(sorted.nullCount, vector.nullCount, what);
      t.deepEqual(bytesOfRows(sorted), rowsAt(expected), what);

      const { descending, ...rest } = order;
      const k = random.below(shape.n + 10);
      const top = await sorter.topK(vector, k, { ...rest, largest: descending });
      t.deepEqual(top.indices, Uint32Array.from(expected.slice(0, k)), `k ${k} ${what}`);
      t.deepEqual(bytesOfRows(top.keys), rowsAt(expected.slice(0, k)), `k ${k} ${what}`);

      const columns = distinctOf(rows, expected);
      const { keys, ...found } = await sorter.unique(vector, {
        ...order,
        counts: true,
        index: true,
        inverse: true,
      });
      t.deepEqual(found, columns, what);
      t.deepEqual(bytesOfRows(keys), rowsAt(columns.index), what);
      const { counts } = await sorter.unique(vector, order);
      t.deepEqual(counts, columns.counts, what);
    }
  });
});

test('strings are in the order of code points, which is not that of JavaScript', async (t) => {
  await using sorter = await Sorter.open({ device: 'host' });
  const texts = ['\u{1f600}', '\uffff', 'a', 'a\0', '', 'a\0b'];
  const vector = arrow.vectorFromArray(texts, new arrow.Utf8());
  t.deepEqual([...(await sorter.sort(vector))], ['', 'a', 'a\0', 'a\0b', '\uffff', '\u{1f600}']);
  t.not([...texts].sort().at(-1), '\u{1f600}');
});

test('strings beyond the limit of a chunk are returned in several', async (t) => {
  await using sorter = await Sorter.open({ device: 'host' });
  const vector = arrow.vectorFromArray(['bb', null, 'a', 'cccccc', 'dd'], new arrow.Utf8());
  const keys = await StringKeys.read(sorter, vector, undefined);
  const chunks = runSync(keys.chunks(Uint32Array.of(2, 0, 3, 4), 1, 2, 4)) as readonly ArrowChunk[];
  t.deepEqual(
    chunks.map(({ length }) => length),
    [3, 1, 3],
  );
  const joined = new arrow.Vector(chunks as never);
  t.deepEqual([...joined], [null, 'a', 'bb', 'cccccc', 'dd', null, null]);
});

test('unsupported types, options and damaged offsets raise typed errors', async (t) => {
  await using sorter = await Sorter.open({ device: 'host' });
  const vector = arrow.vectorFromArray(['b', 'a'], new arrow.Utf8());
  await t.throwsAsync(sorter.sort(vector, { bitRange: [0, 8] }), { instanceOf: UsageError });
  await t.throwsAsync(sorter.sort(arrow.vectorFromArray(['b', 'a'])), {
    instanceOf: UnsupportedError,
    message: /Dictionary<.*vector\.type\.dictionary/,
  });
  const damaged = (...offsets: number[]) =>
    arrow.makeVector(
      arrow.makeData({
        type: new arrow.Utf8(),
        length: 2,
        valueOffsets: Int32Array.from(offsets),
        data: new Uint8Array(3),
      }),
    );
  for (const one of [damaged(0, 2, 1), damaged(0, 9, 3), damaged(0, 1, 9), damaged(0, 1)]) {
    await t.throwsAsync(sorter.sort(one), { instanceOf: InputError, message: /offsets of a chunk/ });
  }
});
