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

const FORMATS = ['csv', 'tsv', 'ndjson', 'parquet', 'arrow', 'arrows'];
const DAYS = 'id,price,shop,day,open\n3,5.5,b,2020-01-02,true\n1,,"a,x",2019-12-31,\n2,7.25,,,false\n';
const NAMES = ['id', 'price', 'shop', 'day', 'open'];

test('convert copies the rows of a table, and info describes them, in every format', async (t) => {
  writeFileSync(path('days.csv'), DAYS);
  for (const format of FORMATS) {
    const file = path(`days-copy.${format}`);
    const ran = await clsort(['convert', path('days.csv'), '-o', file]);
    t.is(ran.code, 0, ran.err);
    t.is(ran.out, `${file}: 3 rows, csv to ${format}\n`);
    const back = await clsort(['convert', file, '-o', '-', '--to', 'csv']);
    t.is(back.out.replaceAll('\r', ''), DAYS, `${format}: ${back.err}`);
    const info = JSON.parse((await clsort(['info', file, '--json'])).out);
    const types = ['i64', 'f64', 'text', format === 'ndjson' ? 'text' : 'date', 'bool'];
    t.deepEqual(info, {
      ...{ schema: 'clsort.info/1', file, format, dtype: null, n: 3 },
      columns: NAMES.map((name, i) => ({ name, type: types[i] })),
    });
    const column = await clsort(['info', file, '--column', 'id', '--json']);
    const { dtype, n, minimum, columns } = JSON.parse(column.out);
    t.deepEqual([dtype, n, minimum, columns], ['i64', 3, '1', undefined], column.err);
  }
  const text = await clsort(['info', path('days.csv')]);
  t.is(
    text.out,
    [
      path('days.csv'),
      'format   csv',
      'rows     3',
      'columns  5',
      '  id     i64',
      '  price  f64',
      '  shop   text',
      '  day    date',
      '  open   bool',
      '',
    ].join('\n'),
  );
});

test('info names the types of lists, long numbers and mixed values, and of what sorts wrote', async (t) => {
  writeFileSync(
    path('mixed.ndjson'),
    '{"a":[1],"b":1e400,"c":1,"d":null}\n{"c":"x","e":18446744073709551615}\n',
  );
  const { columns } = JSON.parse((await clsort(['info', path('mixed.ndjson'), '--json'])).out);
  const types = Object.fromEntries(columns.map(({ name, type }: Record<string, string>) => [name, type]));
  t.deepEqual(types, { a: 'json', b: 'number', c: 'text', d: 'text', e: 'u64' });
});

test('a table from stdin is copied and described, and a file of one column holds keys as before', async (t) => {
  const input = Buffer.from(DAYS);
  const copied = await clsort(['convert', '-', '--format', 'csv', '-o', path('piped.parquet')], { input });
  t.is(copied.code, 0, copied.err);
  const described = await clsort(['info', '-'], { input: readFileSync(path('piped.parquet')) });
  t.regex(
    described.out,
    /^stdin\nformat {3}parquet\nrows {5}3\ncolumns {2}5\n {2}id {5}i64\n/,
    described.err,
  );
  writeFileSync(path('one.csv'), 'key\n2\n1\n');
  const one = await clsort(['convert', path('one.csv'), '-o', path('one.parquet')]);
  t.regex(one.out, /: 2 i64 keys, csv to parquet/, one.err);
  const keys = await clsort(['info', path('one.csv')]);
  t.regex(keys.out, /dtype {4}i64\ncount {4}2\n/, keys.err);
  const column = await clsort(['convert', path('days.csv'), '-o', path('ids.csv'), '--column', 'id']);
  t.is(readFileSync(path('ids.csv'), 'utf8'), 'id\n3\n1\n2\n', column.err);
  writeFileSync(path('words.csv'), 'word\nx\n\ny\n');
  const words = await clsort(['convert', path('words.csv'), '-o', path('words.ndjson')]);
  t.is(readFileSync(path('words.ndjson'), 'utf8'), '{"word":"x"}\n{"word":"y"}\n', words.err);
});

test('tables without rows are copied and described', async (t) => {
  writeFileSync(path('head.csv'), 'a,b\n');
  writeFileSync(path('empty.csv'), '');
  for (const format of FORMATS) {
    const [head, empty] = [path(`head-copy.${format}`), path(`empty-copy.${format}`)];
    const ran = await clsort(['convert', path('head.csv'), '-o', head]);
    t.is(ran.code, 0, `${format}: ${ran.err}`);
    const { n, columns } = JSON.parse((await clsort(['info', head, '--json'])).out);
    const names = format === 'ndjson' ? [] : ['a', 'b'];
    t.deepEqual([n, columns], [0, names.map((name) => ({ name, type: 'text' }))], format);
    const none = await clsort(['convert', path('empty.csv'), '-o', empty]);
    const isText = ['csv', 'tsv', 'ndjson'].includes(format);
    t.is(none.code, isText ? 0 : 5, none.err);
    if (isText) t.is(readFileSync(empty, 'utf8'), '');
    else t.regex(none.err, /it is empty and has no columns/);
  }
});

test('a damaged table is an error of convert and info, and leaves the output as it was', async (t) => {
  const { stdout: whole } = await clsort(['convert', path('days.csv'), '-o', '-', '--to', 'parquet']);
  writeFileSync(path('cut.parquet'), whole.subarray(0, 200));
  writeFileSync(path('cut.csv'), 'a,b\n1,2\n3\n');
  writeFileSync(path('cut.ndjson'), '{"a":1,"b":2}\n{"a":1,\n');
  writeFileSync(path('kept.tsv'), 'as it was');
  for (const name of ['cut.parquet', 'cut.csv', 'cut.ndjson']) {
    for (const args of [
      ['info', path(name)],
      ['convert', path(name), '-o', path('kept.tsv')],
    ]) {
      const ran = await clsort(args);
      t.is(ran.code, 5, `${args.join(' ')}: ${ran.err}`);
      t.is(ran.out, '');
    }
  }
  t.is(readFileSync(path('kept.tsv'), 'utf8'), 'as it was');
});
