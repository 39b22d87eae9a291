import { readFileSync, writeFileSync } from 'node:fs';
import ava from 'ava';
import { clsort, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes
const { path, remove } = scratchFolder();
ava.after.always(remove);

writeFileSync(path('plain.csv'), '3;1.5\n2;2.5\n4;-1\n');
writeFileSync(path('named.csv'), '7\n3\n5\n');

test('delimiter and header options apply to every command that reads or writes text', async (t) => {
  const errorOutput = ['--no-header', '-t', ';', '--column', '1'];
  for (const [args, expected] of [
    [['sort', path('plain.csv'), '-o', path('out.csv'), ...errorOutput], '-1.0\n1.5\n2.5\n'],
    [['convert', path('plain.csv'), path('out.csv'), ...errorOutput], '1.5\n2.5\n-1.0\n'],
    [
      ['concat', path('plain.csv'), path('plain.csv'), '-o', path('out.csv'), ...errorOutput],
      '1.5\n2.5\n-1.0\n1.5\n2.5\n-1.0\n',
    ],
    [
      [
        'gen',
        '--dtype',
        'u8',
        '--count',
        '2',
        '--distribution',
        'sorted',
        '-o',
        path('out.csv'),
        '--no-header',
      ],
      /^\d+\n\d+\n$/,
    ],
  ] as const) {
    const ran = await clsort([...args]);
    t.is(ran.code, 0, ran.err);
    const text = readFileSync(path('out.csv'), 'utf8');
    if (typeof expected === 'string') t.is(text, expected, args[0]);
    else t.regex(text, expected, args[0]);
  }
  const info = await clsort(['info', path('plain.csv'), ...errorOutput, '--json']);
  t.like(JSON.parse(info.out), { n: 3, dtype: 'f64', minimum: '-1', maximum: '2.5' }, info.err);
  const check = await clsort(['check', path('plain.csv'), ...errorOutput]);
  t.is(check.code, 1, check.err);
  t.regex(check.out, /key 2 \(-1\) belongs before/);
});

test('--header keeps the first line as a header, and --no-header sorts it as a key', async (t) => {
  const named = await clsort(['sort', path('named.csv'), '-o', '-', '--header']);
  t.is(named.out, '7\n3\n5\n', named.err);
  const none = await clsort(['sort', path('named.csv'), '-o', '-', '--no-header']);
  t.is(none.out, '3\n5\n7\n', none.err);
});

test('a delimiter may be an escaped tab, and an invalid delimiter is refused', async (t) => {
  writeFileSync(path('tabs.csv'), 'a\tb\n1\t2\n3\t1\n');
  const tabs = await clsort(['sort', path('tabs.csv'), '-o', path('tabs.u32'), '-t', '\\t', '--column', 'b']);
  t.not(tabs.code, 0, 'i64 keys are not u32 keys');
  const sorted = await clsort([
    'sort',
    path('tabs.csv'),
    '-o',
    '-',
    '--to',
    'raw',
    '-t',
    '\\t',
    '--column',
    'b',
  ]);
  t.deepEqual([...new BigInt64Array(new Uint8Array(sorted.stdout).buffer)], [1n, 2n], sorted.err);
  for (const wrong of ['', '"', 'abcde']) {
    const ran = await clsort(['sort', path('plain.csv'), '-o', path('no.csv'), '--delimiter', wrong]);
    t.is(ran.code, 2, wrong);
    t.regex(ran.err, /without quotes and line ends for delimiter/);
  }
});

test('the options of texts are taken for keys, and the absence of a header holds for the output', async (t) => {
  writeFileSync(path('keys.csv'), '5\n3\n9\n');
  const plain = await clsort(['sort', path('keys.csv'), '-o', '-']);
  t.is(plain.out, '3\n5\n9\n', plain.err);
  writeFileSync(path('styled.csv'), 'note\nk;l\n1.000,5;a\n2,25;b\n');
  const errorOutput = ['--skip', '1', '--decimal', ',', '--thousands', '.', '--column', 'k'];
  const styled = await clsort(['sort', path('styled.csv'), '-o', '-', '--descending', ...errorOutput]);
  t.is(styled.out, 'k\n1000.5\n2.25\n', styled.err);
});
