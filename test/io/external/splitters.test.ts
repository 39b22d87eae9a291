import test from 'ava';
import { Splitters } from '../../../src/io/external/splitters.js';
import type { RecordOrdering } from '../../../src/io/records/record-ordering.js';
import { bytesOf } from '../../../src/keys/array.js';
import { DTYPES } from '../../../src/keys/dtype.js';
import { Random } from '../../../src/util/random.js';
import { DISTRIBUTIONS, keysOf } from '../../distributions.js';
import { orderOf, TEN_OF_TWELVE } from './small.js';

/** Checks placed partitions for order, equality in single partitions and counts. @returns the first error */
function placed(order: RecordOrdering, splitters: Splitters, records: Uint8Array): string | undefined {
  const n = records.length / order.recordBytes;
  const partitions = new Uint16Array(n);
  const counts = new Uint32Array(splitters.partitions);
  splitters.place(records, partitions, counts);
  const prefixes = order.prefix(records);
  const compare = (i: number, j: number): number => {
    const [a, b] = [prefixes[i] ?? 0n, prefixes[j] ?? 0n];
    return a < b ? -1 : a > b ? 1 : order.exact ? 0 : order.compare(records, i, records, j);
  };
  const first = new Map<number, number>();
  for (let i = 0; i < n; i++) {
    const p = partitions[i] ?? -1;
    const j = first.get(p) ?? i;
    first.set(p, j);
    const alike = BigInt(splitters.facts.differing[p] ?? 0);
    if ((prefixes[i] ?? 0n) >> alike !== (prefixes[j] ?? 0n) >> alike)
      return `${i} and ${j} differ above ${alike}`;
    if (splitters.single[p] && compare(i, j) !== 0) return `${i} and ${j} differ in single ${p}`;
  }
  const sorted = Array.from({ length: n }, (_, i) => i).sort(compare);
  for (let k = 1; k < n; k++) {
    const [i, j] = [sorted[k - 1] ?? 0, sorted[k] ?? 0];
    if ((partitions[i] ?? 0) > (partitions[j] ?? 0))
      return `${i} comes before ${j}, and is in a later partition`;
    if (compare(i, j) === 0 && partitions[i] !== partitions[j]) return `${i} equals ${j}`;
  }
  const counted = Array.from(counts, (_, p) => partitions.filter((one) => one === p).length);
  return counted.join() === counts.join() ? undefined : 'miscounted';
}

for (const dtype of DTYPES) {
  test(`${dtype}: partitions are in order for every distribution and direction`, (t) => {
    for (const distribution of DISTRIBUTIONS) {
      const records = bytesOf(keysOf(dtype, distribution, 700));
      for (const order of [orderOf(dtype), orderOf(dtype, { descending: true, nan: 'first' })]) {
        const splitters = Splitters.of(order, records.subarray(0, 200 * order.recordBytes), 9);
        t.is(placed(order, splitters, records), undefined, distribution);
        const again = new Splitters(order, JSON.parse(JSON.stringify(splitters.stored)));
        t.is(placed(order, again, records), undefined, `${distribution}, stored`);
        t.deepEqual(again.single, splitters.single);
      }
    }
  });
}

test('records with equal prefixes are split by comparison', (t) => {
  const random = new Random(1);
  for (const values of [1, 2, 5, 200]) {
    const records = new Uint8Array(600 * 12).map((_, i) =>
      i % 12 === 9 ? random.below(values) : i % 12 < 9 ? 7 : i,
    );
    const splitters = Splitters.of(TEN_OF_TWELVE, records.subarray(0, 200 * 12), 6);
    t.is(placed(TEN_OF_TWELVE, splitters, records), undefined, `${values} values`);
    t.true(splitters.partitions > 1);
  }
});

test('a key that makes up much of the sample gets its own partition', (t) => {
  const order = orderOf('u64');
  const keys = BigUint64Array.from({ length: 400 }, (_, i) => (i % 2 ? 2n ** 64n - 1n : BigInt(i)));
  const splitters = Splitters.of(order, bytesOf(keys), 8);
  t.true(splitters.single.at(-1));
  t.is(splitters.single.filter((single) => single).length, 1);
  t.is(placed(order, splitters, bytesOf(keys)), undefined);
});

test('partitions have about the same size', (t) => {
  const order = orderOf('f64');
  const random = new Random(7);
  const keys = Float64Array.from({ length: 40_000 }, () => (random.u32() / 2 ** 32 - 0.5) ** 5);
  const splitters = Splitters.of(order, bytesOf(keys, 0, 8 * 4096), 16);
  const counts = new Uint32Array(splitters.partitions);
  splitters.place(bytesOf(keys), new Uint16Array(keys.length), counts);
  t.is(counts.length, 16);
  t.true(Math.max(...counts) < (1.4 * keys.length) / 16, counts.join());
});

test('an empty sample gives one partition', (t) => {
  const order = orderOf('u32');
  const splitters = Splitters.of(order, new Uint8Array(0), 8);
  t.deepEqual(splitters.single, [false]);
  t.is(placed(order, splitters, bytesOf(keysOf('u32', 'uniform', 9))), undefined);
});

test('keys of a narrow partition differ in few bits', (t) => {
  const order = orderOf('f64');
  const keys = bytesOf(new Float64Array(4096).map((_, i) => 1 + ((i * 1237) % 4096) / 4096));
  const { single, differing } = Splitters.of(order, keys, 16).facts;
  t.is(differing.length, single.length);
  const inner = differing.slice(1, -1);
  t.true(inner.every((bits) => bits <= 52) && inner.some((bits) => bits <= 49), differing.join());
});
