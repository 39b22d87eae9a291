import test from 'ava';
import { CALL_SCHEMA, type CallBench, type CallRow } from '../../src/bench/calls.js';
import {
  busyPlots,
  callCells,
  callHeadings,
  callsCsv,
  callsHtml,
  callsMarkdown,
  callsPlots,
  callsSvg,
} from '../../src/bench/calls-format.js';

const row = (operation: string, place: CallRow['place'], n: number): CallRow => ({
  ...{ operation, place, n, result: 'ok', chain: 50 },
  awaited: { median: 0.001, mad: 0.0001 },
  chained: { median: 0.0008, mad: 0 },
});
const sort: CallRow = { ...row('sort', 'device', 1024), kernel: { median: 0.0006, mad: 0 } };
const wrong: CallRow = { operation: 'scan', place: 'device', n: 1024, result: 'wrong' };
const failed: CallRow = { operation: 'scan', place: 'host', n: 1024, result: 'error', reason: 'a <b> | c' };
const BENCH: CallBench = {
  schema: CALL_SCHEMA,
  ...{ device: 'a <device>', platform: 'fake', driver: '1', date: '2025-01-01', load: 0.5 },
  rows: [
    sort,
    row('sort', 'host', 1024),
    row('gather', 'device', 1024),
    row('gather', 'device', 2048),
    wrong,
    failed,
  ],
};

test('a row shows the overhead of a call over its kernels, and how busy a chain keeps the device', (t) => {
  const cells = Object.fromEntries(callCells(sort).map((cell, i) => [callHeadings[i], cell]));
  t.like(cells, {
    'awaited ms': '1.000',
    'in a chain ms': '0.800',
    'of calls': '50',
    'kernels ms': '0.600',
    'over kernels µs': '400.0',
    '% busy in a chain': '75.0',
  });
  t.deepEqual(callCells(wrong).slice(4), Array.from({ length: callHeadings.length - 4 }).fill(''));
  const unknown = Object.fromEntries(
    callCells(row('gather', 'host', 1)).map((cell, i) => [callHeadings[i], cell]),
  );
  t.like(unknown, {
    'awaited ms': '1.000',
    'kernels ms': '',
    'over kernels µs': '',
    '% busy in a chain': '',
  });
});

test('CSV and Markdown have a line for each row', (t) => {
  t.is(callsCsv(BENCH).split('\n').length, 1 + BENCH.rows.length);
  t.regex(callsMarkdown(BENCH), /^a <device>, driver 1, 2025-01-01\n\n\| operation \|/);
  t.true(callsMarkdown(BENCH).endsWith('| a <b> \\| c |'));
});

test('a plot has a line for each operation and a point for each correct row of its place', (t) => {
  const [device] = callsPlots(BENCH, 'device');
  t.deepEqual(
    device?.lines.map(({ name, points }) => [name, points.map(({ x }) => x)]),
    [
      ['sort', [1024]],
      ['gather', [1024, 2048]],
    ],
  );
  t.is(callsPlots(BENCH, 'host')[0]?.lines.length, 1);
  const [point] = device?.lines[0]?.points ?? [];
  t.deepEqual(point, { x: 1024, y: 1024 / 0.001, low: 1024 / 0.0011, high: 1024 / 0.0009 });
  t.deepEqual(busyPlots(BENCH)[0]?.lines, [{ name: 'sort', points: [{ x: 1024, y: 0.0006 / 0.0008 }] }]);
  t.is(callsSvg(BENCH).match(/class="point"/g)?.length, 3);
});

test('the page has all plots and escaped rows, and no time for a row that is not correct', (t) => {
  const page = callsHtml(BENCH, "clsort bench calls --count '1 < 2'");
  t.is(page.match(/class="point"/g)?.length, 3 + 1 + 1);
  t.true(page.includes('a &lt;device&gt;'));
  t.true(page.includes('1 &lt; 2'));
  t.false(/NaN|Infinity|undefined/.test(page));
  const bad = [...page.matchAll(/<tr class="bad">(.*?)<\/tr>/g)].map(([, cells]) => cells ?? '');
  t.is(bad.length, 2);
  for (const cells of bad) t.notRegex(cells, /\d\.\d{3}/);
  const none = callsHtml({ ...BENCH, rows: [wrong] }, 'again');
  t.false(none.includes('<svg'));
});
