import { readFileSync, writeFileSync } from 'node:fs';
import ava from 'ava';
import { clsort, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes
const { path, remove } = scratchFolder();
ava.after.always(remove);

writeFileSync(path('t.csv'), 'id,price,shop\n1,5,b\n2,,a\n3,7,b\n4,5,a\n');

test('sort --by sorts rows by columns, and the report names the columns and the engine', async (t) => {
  const args = [
    'sort',
    path('t.csv'),
    '-o',
    path('out.csv'),
    '--by',
    'price:desc',
    '--by',
    'id:desc',
    '--json',
    '--verify',
  ];
  const ran = await clsort([...args, '--head', '3', '--columns', 'id,price']);
  t.is(ran.code, 0, ran.err);
  t.is(readFileSync(path('out.csv'), 'utf8'), 'id,price\n3,7\n4,5\n1,5\n');
  const report = JSON.parse(ran.out);
  t.is(report.algorithm, 'host');
  t.is(report.n, 4);
  t.is(report.dtype, null);
  t.deepEqual(report.table, {
    by: ['price:desc', 'id:desc'],
    columns: ['id', 'price'],
    head: 3,
    text: { delimiter: ',', header: true, types: ['i64', 'i64'] },
  });
  t.deepEqual(report.verified, { order: true, permutation: true });
});

for (const [args, message] of [
  [['--by', 'prise'], /Did you mean "price"/],
  [['--by', 'id', '--descending'], /--by id:desc/],
  [['--by', 'id', '--record', '10', '--key', '0:1'], /cannot combine --record and --by/],
  [['--by', 'id', '--unique', '--unique-by', 'shop'], /cannot use unique with uniqueBy/],
  [['--by', 'id', '--resume'], /cannot combine --resume and --by/],
  [['--by', 'id', '--tmp', ''], /expected a folder/],
  [['--head', '3'], /--by price:desc/],
] as const) {
  test(`sort ${args.join(' ')} is a usage error for a table`, async (t) => {
    const ran = await clsort(['sort', path('t.csv'), '-o', path('no.csv'), ...args]);
    t.is(ran.code, 2);
    t.regex(ran.err, message);
  });
}

test('delimiter and header options apply to tables and to their output', async (t) => {
  writeFileSync(path('plain.csv'), '3;"x;y"\n1;z\n');
  const sort = ['sort', path('plain.csv'), '-o', path('plain-out.csv'), '--by', '0'];
  for (const [errorOutput, expected] of [
    [['-t', ';', '--no-header'], '1;z\n3;"x;y"\n'],
    [['--delimiter=;', '--header'], '3;"x;y"\n1;z\n'],
  ] as const) {
    const ran = await clsort([...sort, ...errorOutput]);
    t.is(ran.code, 0, ran.err);
    t.is(readFileSync(path('plain-out.csv'), 'utf8'), expected);
  }
  for (const [errorOutput, message] of [
    [['-t', ''], /delimiter/],
    [['-t'], /expected a value for -t/],
  ] as const) {
    const ran = await clsort([...sort, ...errorOutput]);
    t.is(ran.code, 2, ran.err);
    t.regex(ran.err, message);
  }
});

test('a batch sorts tables by columns', async (t) => {
  const jobs = [
    { in: 't.csv', out: 'job.csv', by: ['shop', { column: 'id', descending: true }], uniqueBy: ['shop'] },
  ];
  writeFileSync(path('jobs.json'), JSON.stringify({ jobs }));
  const ran = await clsort(['batch', path('jobs.json'), '--device', 'host']);
  t.is(ran.code, 0, ran.err);
  t.is(readFileSync(path('job.csv'), 'utf8'), 'id,price,shop\n4,5,a\n3,7,b\n');
  const [notes] = ran.out.split('\n').map((line) => JSON.parse(line || '{}'));
  t.deepEqual([notes.outcome, notes.n, notes.dtype, notes.table.by[0]], ['ok', 4, null, 'shop']);
  const text = await clsort(['batch', path('jobs.json'), '--device', 'host', '--no-json', '--force']);
  t.regex(text.out, /t\.csv: 4 rows, /);
  writeFileSync(
    path('jobs.json'),
    JSON.stringify({ jobs: [{ ...jobs[0], by: 'shop:down', descending: true }] }),
  );
  const wrong = await clsort(['batch', path('jobs.json')]);
  t.is(wrong.code, 2);
  t.regex(wrong.err, /cannot use descending for tables/);
});

test('how a text is read is said by options, and what was detected is reported', async (t) => {
  writeFileSync(path('odd.csv'), 'title\nday;n\n# no row\n31/12/2019;1.234,5\n01/02/2020;N/A\n5/1/2020\n');
  const args = [
    '--by',
    'day',
    '--type',
    'day=date:%d/%m/%Y',
    '--by',
    'n:f64:desc',
    '--skip',
    '1',
    '--comment',
    '#',
  ];
  const how = ['--na', 'N/A', '--na=-', '--decimal', ',', '--thousands', '.', '--ragged', 'fill', '--report'];
  const ran = await clsort(['sort', path('odd.csv'), '-o', path('odd-out.csv'), ...args, ...how]);
  t.is(ran.code, 0, ran.err);
  t.is(readFileSync(path('odd-out.csv'), 'utf8'), 'day;n\n31/12/2019;1.234,5\n5/1/2020;\n01/02/2020;N/A\n');
  t.regex(ran.out, /delimiter ';', a header; compared as date, f64/);
  t.regex(ran.err, /missing fields were added to 1 line/);
  writeFileSync(path('wrong.csv'), 'x,y\n1,2\n3,4,5\n');
  const ragged = await clsort(['sort', path('wrong.csv'), '-o', path('no.csv'), '--by', 'x']);
  t.is(ragged.code, 5);
  t.regex(ragged.err, /line 3 has 3 fields but the first record has 2/);
  for (const [errorOutput, message] of [
    [['--ragged', 'drop'], /ragged/],
    [['--decimal', '1'], /for decimal but got "1"/],
    [['--skip', '-1'], /for skip but got -1/],
    [['--type', 'x'], /expected NAME=TYPE .* for types but got/],
  ] as const) {
    const wrong = await clsort([
      'sort',
      path('wrong.csv'),
      '-o',
      path('no.csv'),
      '--by',
      'x',
      ...errorOutput,
    ]);
    t.is(wrong.code, 2, wrong.err);
    t.regex(wrong.err, message);
  }
});
