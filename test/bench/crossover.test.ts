import test from 'ava';
import { contests, contestText } from '../../src/bench/crossover.js';
import type { SortRow } from '../../src/bench/sorts.js';

const row = (algorithm: string, n: number, keysPerSecond: number, more: Partial<SortRow> = {}): SortRow => ({
  algorithm,
  dtype: 'u32',
  mode: 'keys',
  distribution: 'uniform',
  n,
  result: 'ok',
  keysPerSecond,
  ...more,
});

test('contests lists the fastest algorithm for each span of sizes with several measurements', (t) => {
  const rows = [
    ...[row('a', 100, 5), row('b', 100, 4)],
    ...[row('b', 200, 6), row('a', 200, 7)],
    ...[row('a', 400, 7), row('b', 400, 9)],
    ...[row('a', 50, 1)], // alone
    ...[row('a', 800, 7), row('b', 800, 99, { result: 'wrong' }), row('c', 800, 8)],
    ...[row('a', 100, 1, { dtype: 'u64' }), row('c', 100, 2, { dtype: 'u64' })],
  ];
  const [u32, u64, ...rest] = contests(rows);
  t.deepEqual(rest, []);
  t.deepEqual(u32?.spans, [
    { algorithm: 'a', from: 100, to: 200 },
    { algorithm: 'b', from: 400, to: 400 },
    { algorithm: 'c', from: 800, to: 800 },
  ]);
  t.deepEqual(u64?.spans, [{ algorithm: 'c', from: 100, to: 100 }]);
  t.is(
    u32 && contestText(u32),
    'u32 keys, uniform: the fastest is a from 100 to 200 keys, then b at 400 keys, then c at 800 keys.',
  );
});

test('contests compares algorithms on the same device only', (t) => {
  const found = contests([
    row('a', 1, 1, { device: 'x' }),
    row('b', 1, 2, { device: 'x' }),
    row('a', 1, 2, { device: 'y' }),
    row('b', 1, 1, { device: 'y' }),
  ]);
  t.deepEqual(
    found.map(({ device, spans }) => [device, spans[0]?.algorithm]),
    [
      ['x', 'b'],
      ['y', 'a'],
    ],
  );
});

test('contests is empty without sizes that several algorithms sorted', (t) => {
  t.deepEqual(contests([]), []);
  t.deepEqual(contests([row('a', 1, 1), row('a', 2, 1)]), []);
});
