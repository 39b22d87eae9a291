/** The page of clsort bench sorts, also in a real browser. */
import test from 'ava';
import { benchHtml } from '../../src/bench/html.js';
import { SORT_SCHEMA, type SortBench, type SortRow } from '../../src/bench/sorts.js';
import { testInBrowser } from '../browser.js';

const row = (algorithm: string, n: number, seconds: number): SortRow => ({
  algorithm,
  dtype: 'u32',
  mode: 'keys',
  distribution: 'uniform',
  n,
  result: 'ok',
  checked: 'reference',
  kernel: { median: seconds, mad: seconds / 10 },
  endToEnd: { median: 2 * seconds, mad: 0 },
  keysPerSecond: n / seconds,
  bytesPerSecond: (36 * n) / seconds,
  copyShare: 0.25,
});

const BENCH: SortBench = {
  schema: SORT_SCHEMA,
  device: 'a </script><b id="escaped"> device',
  platform: 'fake',
  driver: '1',
  date: '2025-01-01',
  copyBytesPerSecond: 2e9,
  rows: [
    row('one', 1024, 0.001),
    row('one', 2048, 0.003),
    row('two', 1024, 0.002),
    row('two', 2048, 0.002),
    {
      ...row('three', 1024, 0.001),
      result: 'wrong',
      kernel: undefined,
      endToEnd: undefined,
    } as unknown as SortRow,
    {
      ...row('four', 1024, 0.001),
      result: 'unsupported',
      reason: 'too <many>',
      keysPerSecond: undefined,
    } as unknown as SortRow,
  ],
};
const COMMAND = "clsort bench sorts --count '1 < 2'";

/** The part of a page from the figure of a plot to its end. */
const plotOf = (page: string, id: string): string =>
  new RegExp(`<svg[^>]*aria-labelledby="${id}".*?</svg>`, 's').exec(page)?.[0] ?? '';
const points = (plot: string): number => plot.match(/class="point"/g)?.length ?? 0;

test('the page has a point for each correct row in each plot, the bandwidth limit and the command', (t) => {
  const page = benchHtml([BENCH], COMMAND);
  for (const id of ['speed', 'share', 'crossover']) t.is(points(plotOf(page, id)), 4, id);
  t.is(plotOf(page, 'speed').match(/class="noise"/g)?.length, 4);
  t.true(page.includes('moves 2.0 GB/s'));
  t.true(page.includes('the fastest is one at 1,024 keys, then two at 2,048 keys.'));
  t.true(page.includes('&lt; 2'));
  t.false(/NaN|Infinity|undefined/.test(page));
  t.false(/(?:src|href)=|@import|url\(/.test(page), 'loads nothing');
});

test('a row that is not correct shows its result and no time', (t) => {
  const bad = [...benchHtml([BENCH], COMMAND).matchAll(/<tr class="bad">(.*?)<\/tr>/g)].map(
    ([, cells]) => cells,
  );
  t.is(bad.length, 2);
  t.regex(bad[0] ?? '', /<td>wrong<\/td>/);
  t.regex(bad[1] ?? '', /<td>unsupported<\/td>.*too &lt;many&gt;/);
  t.notRegex(bad[0] ?? '', /\d\.\d{3}/);
});

test('rows of several devices name their device', (t) => {
  const of = (device: string) => ({ ...BENCH, device, rows: BENCH.rows.map((one) => ({ device, ...one })) });
  const page = benchHtml([of('first'), of('second')], COMMAND);
  t.is(points(plotOf(page, 'speed')), 8);
  t.true(page.includes('<th scope="col">device</th>'));
  t.true(page.includes('data-line="second two"'));
});

test('a benchmark without correct rows has a page without plots', (t) => {
  const page = benchHtml([{ ...BENCH, copyBytesPerSecond: null, rows: BENCH.rows.slice(4) }], COMMAND);
  t.false(page.includes('<svg'));
  t.true(page.includes('<td>wrong</td>'));
});

testInBrowser('the page opens in a browser, and a check box hides a line of the plots', async (t, visit) => {
  const press = `<script>
    const box = document.querySelector('input[data-shows="two"]');
    box.focus();
    document.title = document.activeElement === box ? 'focused' : 'not focused';
    box.click(); // as the space key does
  </script>`;
  const page = await visit(`${benchHtml([BENCH], COMMAND)}${press}`);
  t.regex(page, /<title>focused<\/title>/);
  t.false(page.includes('<b id="escaped">'));
  const lines = [...page.matchAll(/<g data-line="(\w+)"([^>]*)>/g)].map(([, name, more]) => [name, more]);
  t.is(lines.length, 6);
  for (const [name, more] of lines) t.is(/display: none/.test(more ?? ''), name === 'two', `${name}${more}`);
});
