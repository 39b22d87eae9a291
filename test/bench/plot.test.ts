import test from 'ava';
import { type Plot, panelsOf, plotFile, plotSvg } from '../../src/bench/plot.js';

const names = ['sort', 'argsort', 'segmentedSort-65536', 'a <name>'];
const plot: Plot = {
  ...{ title: 'Sorts', subtitle: 'a device', x: 'keys', y: 'keys per second', scale: 'log' },
  // All lines end at the same point.
  lines: names.map((name, i) => ({
    name,
    points: [
      { x: 2 ** 10, y: 1e6 * (i + 1) },
      { x: 2 ** 30, y: 1e9, low: 9e8, high: 1.1e9 },
    ],
  })),
};

test('the axes of a plot have words and prefixes', (t) => {
  const svg = plotFile(plot);
  for (const words of ['keys (1 K = 1024)', 'keys per second', 'a device', '1 K', '1 M', '1 G']) {
    t.true(svg.includes(`>${words}</text>`), words);
  }
  t.false(svg.includes('^'));
});

test('each line has its label beside it, inside the plot and apart from the others', (t) => {
  const svg = plotSvg(plot, 'id');
  const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg) ?? [];
  const labels = [...svg.matchAll(/class="leader"[^>]*\/><text x="([\d.]+)" y="([\d.]+)">([^<]*)</g)];
  t.deepEqual(
    labels.map(([, , , name]) => name),
    names.map((name) => name.replace('<name>', '&lt;name&gt;')),
  );
  const places = labels.map(([, x, y]) => [Number(x), Number(y)] as const).toSorted(([, a], [, b]) => a - b);
  for (const [i, [x, y]] of places.entries()) {
    t.true(x < Number(width) && y < Number(height));
    if (i > 0) t.true(y - (places[i - 1]?.[1] ?? 0) >= 15, `${y}`);
  }
});

test('points of a page have tooltips, and those of a file do not', (t) => {
  t.true(plotSvg(plot, 'id').includes('<title>sort: 1,073,741,824 keys, 1 G keys per second</title>'));
  t.is(plotFile(plot).match(/<title/g)?.length, 1);
  t.regex(plotFile(plot), /light-dark\(/);
});

test('a plot of many lines is split into panels with every line once', (t) => {
  const lines = Array.from({ length: 24 }, (_, i) => ({ name: `${i}`, points: [{ x: 1024, y: 1e6 }] }));
  const panels = panelsOf({ ...plot, lines });
  t.deepEqual(
    panels.map(({ title, lines: { length } }) => [title, length]),
    [1, 2, 3, 4].map((i) => [`Sorts, ${i} of 4`, 6]),
  );
  t.deepEqual(
    panels.flatMap((panel) => panel.lines),
    lines,
  );
  t.deepEqual(panelsOf(plot), [plot]);
});
