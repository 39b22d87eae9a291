import { writeFileSync } from 'node:fs';
import ava from 'ava';
import { clsort, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes
const { path, remove } = scratchFolder();
ava.after.always(remove);
writeFileSync(path('a.u64'), BigUint64Array.of(2n ** 64n - 1n, 2n ** 64n - 2n, 5n));
writeFileSync(path('b.f64'), Float64Array.of(0.25, Number.NaN, 1, -0));
writeFileSync(path('t.csv'), 'id,price\n1,2.5\n2,"3.5"\n3,1\n');

test('stats prints a table, or JSON, of several files, a pipe or a column', async (t) => {
  const text = await clsort(['stats', path('a.u64'), path('a.u64'), '--quantiles', '0.5']);
  t.is(
    text.out,
    [
      `${path('a.u64')}, ${path('a.u64')}`,
      'dtype         u64',
      'count         6',
      'minimum       5',
      'maximum       18446744073709551615',
      'sum           73786976294838206468',
      'mean          12297829382473034411',
      'quantile 0.5  18446744073709551614',
      'distinct      3',
      'sorted        no: 18446744073709551615 at position 3 after 5',
      '',
    ].join('\n'),
    text.err,
  );
  const piped = await clsort(['stats', '-', '--dtype', 'f64', '--json', '--quantiles', '0,.5, 1.0'], {
    input: new Uint8Array(Float64Array.of(0.25, Number.NaN, 1, -0).buffer),
  });
  t.deepEqual(JSON.parse(piped.out), {
    ...{ schema: 'clsort.stats/1', file: 'stdin', format: 'raw', dtype: 'f64', n: 4, nans: 1 },
    ...{ minimum: '-0', maximum: '1', sum: '1.25', mean: '0.4166666666666667' },
    quantiles: [
      { q: '0', value: '-0' },
      { q: '.5', value: '0.25' },
      { q: '1.0', value: '1' },
    ],
    distinct: 4,
    ...{ sorted: null, disorder: { at: 2, before: 'NaN', key: '1' }, external: null },
  });
  const column = await clsort(['stats', path('t.csv'), '--column', 'price', '--json']);
  t.like(JSON.parse(column.out), {
    n: 3,
    dtype: 'f64',
    minimum: '1',
    mean: '2.3333333333333335',
    distinct: 3,
  });
  const empty = await clsort(['stats', '-', '--dtype', 'bf16']);
  t.regex(empty.out, /count +0\nminimum +none\n.*\nsum +0\nmean +none\n/s);
});

test('stats refuses invalid arguments', async (t) => {
  for (const [args, message] of [
    [
      [path('b.f64'), '--quantiles', '0.5,2'],
      /expected decimal numbers from 0 to 1, .* for --quantiles but got "2"/,
    ],
    [[path('b.f64'), '--quantiles', '-0.5'], /--quantiles/],
    [[path('b.f64'), '--quantiles', ''], /expected decimal numbers .* but got ""/],
    [
      [path('b.f64'), path('a.u64')],
      /they hold keys of different dtypes \(f64 and u64\)\. Read text as one dtype/,
    ],
    [[path('t.csv'), '--column', 'cost'], /cost/],
    [[path('b.f64'), '--memory', 'much'], /--memory/],
  ] as const) {
    const ran = await clsort(['stats', ...args]);
    t.is(ran.code, 2, ran.err);
    t.is(ran.out, '');
    t.regex(ran.err, message);
  }
});
