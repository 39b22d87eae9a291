/** The data of the performance pages of the site. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { crossoversOf, type Row, rowsOf, sizesText } from '../../docs/.vitepress/theme/measurements.js';
import { packageRoot } from '../../src/util/paths.js';

const FOLDER = join(packageRoot, 'scripts', 'results');
const read = (file: string): unknown => JSON.parse(readFileSync(join(FOLDER, file), 'utf8'));

test('a peer that was not measured has no row', (t) => {
  const rows = rowsOf(read('pocl-peers.json'));
  t.true(rows.length > 10);
  for (const row of rows) t.true(row.seconds > 0, JSON.stringify(row));
  t.false(rows.some(({ who }) => who === 'CuPy'));
});

test('a scan on the H200 has one row for clsort and one for CUB', (t) => {
  const rows = rowsOf(read('h200-operations.json'));
  const scans = rows.filter(
    ({ operation, dtype, n }) => operation === 'scan' && dtype === 'u32' && n === 2 ** 24,
  );
  t.deepEqual(
    scans.map(({ who, isPeer }) => [who, isPeer]),
    [
      ['clsort', false],
      ['CUB', true],
    ],
  );
});

test('the stored plots contain no invalid numbers', (t) => {
  const plots = readdirSync(FOLDER).filter((file) => file.endsWith('.svg'));
  t.true(plots.length > 5);
  for (const plot of plots)
    t.false(/NaN|Infinity|undefined/.test(readFileSync(join(FOLDER, plot), 'utf8')), plot);
});

test('crossovers use the best of several runs for each size, and adjacent sizes are shown as a range', (t) => {
  const row = (who: string, n: number, seconds: number): Row => ({
    ...{ device: 'd', driver: '1', date: '2026-11-23', operation: 'sort', measure: 'kernels' },
    ...{ who, isPeer: who !== 'clsort', dtype: 'u32', distribution: 'uniform', n, seconds },
  });
  const sizes = [16, 18, 20, 22].map((exponent) => 2 ** exponent);
  const rows = [
    ...sizes.flatMap((n) => [row('clsort', n, 1), row('clsort', n, 2)]),
    ...sizes.flatMap((n, i) => [row('CUB', n, i === 0 ? 0.5 : 3), row('CUB', n, 4)]),
  ];
  const [crossover] = crossoversOf(rows);
  t.deepEqual(crossover?.peerAt, [2 ** 16]);
  t.deepEqual(crossover?.oursAt, sizes.slice(1));
  t.deepEqual(crossover?.times, [0.5, 3]);
  t.is(sizesText(sizes.slice(1), sizes), '2^18 … 2^22');
  t.is(sizesText([2 ** 16, 2 ** 20, 2 ** 22], sizes), '2^16, 2^20, 2^22');
  t.is(sizesText([2 ** 16], sizes), '2^16');
  t.is(sizesText([], sizes), '–');
});
