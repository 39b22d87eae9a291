import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import ava from 'ava';
import { npyHeader } from '../../src/io/formats/npy-header.js';
import { generate } from '../../src/io/operations/gen.js';
import { referenceArgsort, referenceSort } from '../reference.js';
import { clsort, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes
const { path, folder, remove } = scratchFolder();
ava.after.always(remove);

const keys = generate({ dtype: 'i32', count: 3000, distribution: 'uniform', seed: 15 });
const sorted = Buffer.from(referenceSort(keys, 'i32'));
const npyOf = (bytes: Uint8Array, shape: readonly number[] = [bytes.length / 4]) =>
  Buffer.concat([npyHeader('i32', shape), bytes]);
writeFileSync(path('a.i32'), keys);
writeFileSync(path('a.npy'), npyOf(keys));

const host = ['--device', 'host'];

test('sort takes the dtype from the file and converts between formats', async (t) => {
  for (const [from, to, expected] of [
    ['a.i32', 'out.i32', sorted],
    ['a.i32', 'out.int32be', Buffer.from(sorted).swap32()],
    ['a.npy', 'out.npy', npyOf(sorted)],
    ['a.npy', 'out.sorted', npyOf(sorted)],
    ['a.npy', 'out.i32', sorted],
  ] as const) {
    const ran = await clsort(['sort', path(from), '-o', path(to), ...host]);
    t.is(ran.code, 0, ran.err);
    t.true(readFileSync(path(to)).equals(expected), `${from} to ${to}`);
  }
});

test('no verb reads keys from a table of several columns unless --column names one', async (t) => {
  writeFileSync(path('t.csv'), 'name,price\na,2\nb,1\n');
  writeFileSync(path('t.tsv'), 'name\tprice\na\t2\nb\t1\n');
  writeFileSync(path('t.ndjson'), '{"price":2}\n{"price":1,"name":"b"}\n');
  for (const name of ['t.parquet', 't.arrow', 't.arrows']) {
    const ran = await clsort(['sort', path('t.csv'), '-o', path(name), '--by', 'name', ...host]);
    t.is(ran.code, 0, ran.err);
  }
  const csv = path('t.csv');
  const out = ['-o', path('none')];
  for (const args of [
    ...['t.csv', 't.tsv', 't.ndjson', 't.parquet', 't.arrow', 't.arrows'].map((name) => [
      'sort',
      path(name),
      ...out,
    ]),
    ['sort', csv, ...out, '--dtype', 'u32'],
    ['sort', csv, ...out, '--argsort'],
    ...['concat', 'scan', 'unique'].map((verb) => [verb, csv, ...out]),
    ['topk', csv, ...out, '-k', '1'],
    ['merge', csv, csv, ...out],
    ...['union', 'intersect', 'difference', 'setxor'].map((verb) => [verb, csv, csv, ...out]),
    ['convert', csv, '-o', path('none.npy')],
    ['convert', csv, ...out, '--dtype', 'u32'],
    ['info', csv, '--dtype', 'u32'],
    ...['check', 'stats', 'reduce', 'histogram'].map((verb) => [verb, csv]),
  ]) {
    const ran = await clsort(args);
    t.is(ran.code, 2, `${args.join(' ')}: ${ran.err}`);
    t.regex(ran.err, /it is a table, and its columns are .*--column NAME.*--by COLUMN/, args.join(' '));
    t.is(ran.out, '', args.join(' '));
    t.false(existsSync(path('none')), args.join(' '));
  }
  for (const name of ['t.csv', 't.tsv', 't.ndjson', 't.parquet', 't.arrow', 't.arrows']) {
    const ran = await clsort(['sort', path(name), '--column', 'price', '--to', 'csv', ...host]);
    t.regex(ran.out, /^price\r?\n1\r?\n2\r?\n$/, `${name}: ${ran.err}`);
  }
});

test('stdin and stdout take their format from the first bytes or from options', async (t) => {
  const piped = await clsort(['sort', '-', '-o', '-', ...host], { input: npyOf(keys) });
  t.true(piped.stdout.equals(npyOf(sorted)), piped.err);
  const errorOutput = ['--dtype', 'int32be', '--to', 'npy'];
  const other = await clsort(['sort', '-', '-o', '-', ...host, ...errorOutput], {
    input: Buffer.from(keys).swap32(),
  });
  t.true(other.stdout.equals(npyOf(sorted)), other.err);
  const report = await clsort(['sort', path('a.npy'), '-o', path('out.i32'), '--json', ...host]);
  t.like(JSON.parse(report.out), { formats: { from: 'npy', to: 'raw' }, shape: [3000], dtype: 'i32' });
});

test('options that contradict a file are refused', async (t) => {
  for (const [args, code, message] of [
    [['sort', path('a.npy'), '-o', path('no'), '--dtype', 'f32'], 2, /as f32 keys: it holds i32 keys/],
    [
      ['sort', path('a.i32'), '-o', path('no.f64')],
      2,
      /cannot write i32 keys to .*no\.f64: its extension is that of f64 keys/,
    ],
    [['sort', path('a.i32'), '-o', path('no'), '--format', 'nyp'], 2, /for format but got "nyp"/],
    [['sort', path('a.npy'), '-o', path('no'), '--column', '0'], 2, /has one dimension/],
    [
      ['sort', path('a.i32'), '-o', path('no'), '--out-dir', path('no')],
      2,
      /cannot combine --out and --out-dir/,
    ],
    [['check', path('a.npy'), '--axis', '1'], 2, /expected 0 or -1 .* for axis but got 1/],
    [['check', path('a.npy'), '--bits', '0:33'], 2, /32 bits/],
    [['concat', path('a.npy'), path('a.u16'), '-o', path('no')], 2, /different dtypes \(i32 and u16\)/],
    [['convert', path('a.npy'), path('no.u32')], 2, /its extension is that of u32 keys/],
    [['convert', path('a.npy')], 2, /cannot convert: --out is missing/],
    [['convert', path('a.npy'), path('no'), '-o', path('no.npy')], 2, /: both name the output/],
    [['convert', path('a.npy'), '-o'], 2, /expected a value for -o/],
  ] as const) {
    writeFileSync(path('a.u16'), 'abcd');
    const ran = await clsort(args);
    t.is(ran.code, code, `${args.join(' ')}: ${ran.err}`);
    t.regex(ran.err, message);
    t.is(ran.out, '');
  }
  t.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('no') || name.endsWith('.tmp')),
    [],
  );
});

test('several files are sorted into one output, or each into its own', async (t) => {
  const both = Buffer.concat([keys, keys]);
  const together = await clsort(
    ['sort', path('a.npy'), '-', '-o', path('both.npy'), '--dtype', 'i32', ...host],
    { input: keys },
  );
  t.is(together.code, 0, together.err);
  t.true(readFileSync(path('both.npy')).equals(npyOf(Buffer.from(referenceSort(both, 'i32')))));
  writeFileSync(path('b.i32be'), Buffer.from(keys).swap32());
  const alone = ['sort', path('a.npy'), path('b.i32be'), '--out-dir', path('each'), ...host];
  const ran = await clsort(alone);
  t.is(ran.code, 0, ran.err);
  t.true(readFileSync(path('each/a.npy')).equals(npyOf(sorted)));
  t.true(readFileSync(path('each/b.i32be')).equals(Buffer.from(sorted).swap32()));
  const order = Uint32Array.from(referenceArgsort(keys, 'i32'));
  const json = await clsort([...alone, '--argsort', '--json']);
  t.is(JSON.parse(json.out).length, 2, json.err);
  t.true(readFileSync(path('each/b.u32be')).equals(Buffer.from(order.buffer).swap32()));
  mkdirSync(path('other'));
  writeFileSync(path('other/a.npy'), npyOf(keys));
  const twice = await clsort([
    'sort',
    path('a.npy'),
    path('other/a.npy'),
    '--out-dir',
    path('each'),
    ...host,
  ]);
  t.is(twice.code, 2);
  t.regex(twice.err, /both would become/);
});

test('an output that is another input, also through a link, is refused', async (t) => {
  writeFileSync(path('first.i32'), keys);
  writeFileSync(path('second.i32'), keys.slice(4));
  mkdirSync(path('links'));
  symlinkSync('../second.i32', path('links/first.i32'));
  const orders = [
    ['first.i32', 'second.i32'],
    ['second.i32', 'first.i32'],
  ];
  for (const names of orders) {
    const ran = await clsort(['sort', ...names.map(path), '--out-dir', path('links'), ...host]);
    t.is(ran.code, 2, names.join());
    t.regex(ran.err, /(first|second)\.i32.*\. Pass another folder/);
    t.true(readFileSync(path('second.i32')).equals(Buffer.from(keys.slice(4))), 'it is unchanged');
  }
  const inPlace = await clsort([
    'sort',
    ...['first.i32', 'second.i32'].map(path),
    '--out-dir',
    path('.'),
    ...host,
  ]);
  t.is(inPlace.code, 0, inPlace.err);
  t.true(readFileSync(path('first.i32')).equals(sorted), 'each may replace itself');
});

test('larger files are sorted concurrently, and a failed file does not stop the others', async (t) => {
  const names = ['large a.u32', 'large b.u32', 'large c.u32'];
  const contents = names.map((_, seed) =>
    generate({ dtype: 'u32', count: 200_000, distribution: 'uniform', seed }),
  );
  for (const [i, name] of names.entries()) writeFileSync(path(name), contents[i] as Uint8Array);
  const inputs = [path('none.u32'), ...names.map((name) => path(name)), path('neither.u32')];
  const ran = await clsort(['sort', ...inputs, '--out-dir', path('large'), '--json', '-r', ...host]);
  t.is(ran.code, 5);
  t.regex(ran.err, /none\.u32: there is no such file/);
  t.regex(ran.err, /neither\.u32: there is no such file/);
  t.is(JSON.parse(ran.out).length, 3);
  for (const [i, name] of names.entries()) {
    const expected = referenceSort(contents[i] as Uint8Array, 'u32', { descending: true });
    t.true(readFileSync(path(`large/${name}`)).equals(Buffer.from(expected)), name);
  }
  t.is(readdirSync(path('large')).length, 3, 'no journal is kept');
  const records = ['large a.u32', 'large b.u32'].map((name) => path(name));
  const byKey = ['--record', '8', '--key', '0:u32', '--out-dir', path('records')];
  t.is((await clsort(['sort', ...records, ...byKey, ...host])).code, 0);
  t.is(readFileSync(path('records/large a.u32')).length, 800_000);
  const order = new Uint32Array(new Uint8Array(readFileSync(path('records/large a.u32'))).buffer);
  t.true(order.every((key, i) => i % 2 === 1 || i === 0 || (order[i - 2] as number) <= key));
});

test('check reads each file in its format and checks rows and columns', async (t) => {
  writeFileSync(path('right.npy.gz'), '');
  t.is((await clsort(['convert', path('out.i32'), path('right.npy.gz')])).code, 0);
  const right = await clsort(['check', path('right.npy.gz'), '--against', path('b.i32be')]);
  t.is(right.code, 0, right.err);
  t.regex(right.out, /3,000 i32 keys, ascending\norder: right\npermutation: right/);
  t.is((await clsort(['check', path('a.npy')])).code, 1);
  const rows = Int32Array.of(1, 5, 9, 2, 6, 7);
  writeFileSync(path('rows.npy'), npyOf(new Uint8Array(rows.buffer), [2, 3]));
  t.is((await clsort(['check', path('rows.npy')])).code, 0);
  t.is((await clsort(['check', path('rows.npy'), '--axis', '0'])).code, 1);
  t.is((await clsort(['check', path('rows.npy'), '--column', '1'])).code, 0);
});

test('info describes the contents of a file as text and as JSON', async (t) => {
  const doubles = Float64Array.of(3, 2, Number.NaN, -1, -1.5, Number.NEGATIVE_INFINITY);
  const matrix = Buffer.concat([npyHeader('f64', [2, 3]), Buffer.from(doubles.buffer)]);
  writeFileSync(path('m.npy'), matrix);
  const text = await clsort(['info', path('m.npy')]);
  t.is(text.code, 0, text.err);
  t.is(
    text.out,
    [
      path('m.npy'),
      'format   npy',
      'dtype    f64',
      'count    6 (2 × 3)',
      'minimum  -Infinity',
      'maximum  3',
      'NaNs     1',
      'sorted   descending',
      '',
    ].join('\n'),
  );
  const json = await clsort(['info', '-', '--dtype', 'u64be', '--json'], {
    input: Buffer.from('ffffffffffffffff0000000000000007', 'hex'),
  });
  t.deepEqual(JSON.parse(json.out), {
    schema: 'clsort.info/1',
    file: 'stdin',
    format: 'raw',
    dtype: 'u64',
    bigEndian: true,
    n: 2,
    shape: [2],
    minimum: '7',
    maximum: '18446744073709551615',
    nans: 0,
    sorted: 'descending',
  });
  const none = await clsort(['info', '-', '--dtype', 'f32'], { input: new Uint8Array(0) });
  t.regex(none.out, /count {4}0\nminimum {2}none\nmaximum {2}none\nsorted {3}ascending/);
});

test('convert and concat write the same keys in other formats', async (t) => {
  const convert = await clsort(['convert', path('a.npy'), path('c.i32be.gz')]);
  t.is(convert.code, 0, convert.err);
  t.regex(convert.out, /c\.i32be\.gz: 3,000 i32 keys, npy to raw/);
  for (const out of [['-o', path('d.i32be')], [`--out=${path('d.i32be')}`], ['-o', '-', '--to', 'raw']]) {
    const other = await clsort(['convert', path('c.i32be.gz'), ...out]);
    t.is(other.code, 0, other.err);
    if (out.includes('-')) t.deepEqual(other.stdout, Buffer.from(keys).swap32());
    else t.deepEqual(readFileSync(path('d.i32be')), Buffer.from(keys).swap32());
  }
  const concat = await clsort(
    ['concat', path('c.i32be.gz'), '-', path('a.npy'), '-o', path('all.npy'), '--dtype', 'i32'],
    { input: keys },
  );
  t.is(concat.code, 0, concat.err);
  t.true(
    readFileSync(path('all.npy')).equals(npyOf(Buffer.concat([keys, keys, keys]))),
    'each in its own order',
  );
  const joined = await clsort(['concat', path('c.i32be.gz'), '-o', '-', '--to', 'npy']);
  t.is(joined.code, 2);
  t.regex(joined.err, /the length, which is unknown until the input ends/);
  const rows = ['concat', path('rows.npy'), path('rows.npy'), '-o', path('twice.npy')];
  t.is((await clsort(rows)).code, 0);
  const twice = readFileSync(path('rows.npy')).subarray(-24);
  t.true(readFileSync(path('twice.npy')).equals(npyOf(Buffer.concat([twice, twice]), [4, 3])));
});

test('gen takes dtype and format from the name of its output', async (t) => {
  const gen = ['gen', '--count', '100', '--seed', '8', '-o'];
  const expected = Buffer.from(generate({ dtype: 'i32', count: 100, distribution: 'uniform', seed: 8 }));
  for (const [name, more, bytes] of [
    ['gen.i32', [], expected],
    ['gen.i32be', [], Buffer.from(expected).swap32()],
    ['gen.npy', ['--dtype', 'i32'], npyOf(expected)],
    ['gen.bin', ['--dtype', 'i32', '--to', 'npy'], npyOf(expected)],
  ] as const) {
    const ran = await clsort([...gen, path(name), ...more]);
    t.is(ran.code, 0, ran.err);
    t.true(readFileSync(path(name)).equals(bytes), name);
  }
  const none = await clsort([...gen, path('gen.none')]);
  t.is(none.code, 2);
  t.regex(none.err, /Pass --dtype/);
  t.false(existsSync(path('gen.none')));
});

test('a batch needs no dtype for files that declare it', async (t) => {
  const jobs = [
    { in: 'a.npy', out: 'batch.i32' },
    { in: 'a.i32', out: 'batch.bin', to: 'npy', descending: true },
    { in: 'rows.npy', out: 'batch.npy', axis: 0 },
    { in: 'gen.bin', out: 'batch.none', format: 'raw' },
  ];
  writeFileSync(path('jobs.json'), JSON.stringify(jobs));
  const ran = await clsort(['batch', path('jobs.json'), ...host, '--json']);
  const rows = ran.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .toSorted(
      (a, b) =>
        jobs.findIndex(({ out }) => a.out === path(out)) - jobs.findIndex(({ out }) => b.out === path(out)),
    )
    .slice(1); // the summary has no output
  t.deepEqual(
    rows.map(({ outcome }) => outcome),
    ['ok', 'ok', 'ok', 'error'],
    ran.err,
  );
  t.is(rows[3].error.code, 'ERR_CLSORT_USAGE');
  t.true(readFileSync(path('batch.i32')).equals(sorted));
  t.true(
    readFileSync(path('batch.bin')).equals(
      npyOf(Buffer.from(referenceSort(keys, 'i32', { descending: true }))),
    ),
  );
  const columns = new Uint8Array(Int32Array.of(1, 5, 7, 2, 6, 9).buffer);
  t.true(readFileSync(path('batch.npy')).equals(npyOf(columns, [2, 3])));
});
