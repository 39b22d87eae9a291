import { readFileSync, writeFileSync } from 'node:fs';
import ava from 'ava';
import { clsort, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes
const { path, remove } = scratchFolder();
ava.after.always(remove);
const lines = Array.from({ length: 40 }, (_, i) => `line ${i}\n`);
writeFileSync(path('in.txt'), lines.join(''));
writeFileSync(path('t.csv'), `id,name\n${lines.map((line, i) => `${i},${line}`).join('')}`);

test('shuffle writes all lines or rows, and repeats a result by its seed', async (t) => {
  const first = await clsort(['shuffle', path('in.txt'), '-o', path('out.txt'), '--json']);
  const { seed, ...rest } = JSON.parse(first.out);
  t.deepEqual(rest, {
    ...{ schema: 'clsort.shuffle/1', n: 40, of: 'lines', formats: { from: 'lines', to: 'lines' } },
    ...{ runs: 0, spilledBytes: 0 },
  });
  const shuffled = readFileSync(path('out.txt'), 'utf8');
  t.not(shuffled, lines.join(''));
  t.deepEqual(shuffled.match(/.*\n/g)?.toSorted(), lines.toSorted());
  const piped = await clsort(['shuffle', '-', '-o', '-', '--seed', seed], {
    input: Buffer.from(lines.join('')),
  });
  t.is(piped.out, shuffled, piped.err);
  const table = await clsort(['shuffle', path('t.csv'), '-o', path('out.csv'), '--seed', '0x5']);
  t.is(table.out, `${path('out.csv')}: 40 rows in random order, seed 5\n`);
  const [header, ...rows] = readFileSync(path('out.csv'), 'utf8').trim().split('\n');
  t.deepEqual([header, rows.length], ['id,name', 40]);
});

test('sample writes some lines or rows in the order of the input', async (t) => {
  const some = await clsort(['sample', path('in.txt'), '-n', '10', '-o', '-', '--seed', '5']);
  const positions = (some.out.match(/\d+/g) ?? []).map(Number);
  t.is(positions.length, 10, some.err);
  t.deepEqual(
    positions,
    positions.toSorted((a, b) => a - b),
  );
  const shuffled = await clsort(['shuffle', path('in.txt'), '-o', '-', '--seed', '5']);
  t.deepEqual(positions.toSorted(), (shuffled.out.match(/\d+/g) ?? []).map(Number).slice(0, 10).toSorted());
  const rows = await clsort([
    'sample',
    path('t.csv'),
    '--fraction',
    '0.25',
    '-o',
    path('some.csv'),
    '--seed',
    '5',
    '--json',
  ]);
  const { written, ...rest } = JSON.parse(rows.out);
  t.deepEqual(rest, {
    ...{ schema: 'clsort.sample/1', n: 40, of: 'rows', seed: '5', formats: { from: 'csv', to: 'csv' } },
  });
  t.is(readFileSync(path('some.csv'), 'utf8').trim().split('\n').length, written + 1);
});

test('shuffle and sample refuse invalid arguments', async (t) => {
  const out = ['-o', path('no.txt')];
  for (const [args, message] of [
    [
      ['shuffle', path('in.txt'), ...out, '--seed', 'five'],
      /expected a whole number .* for --seed but got "five"/,
    ],
    [
      ['shuffle', path('in.txt'), ...out, '-z', '--dtype', 'u8'],
      /cannot combine --dtype and --zero-terminated/,
    ],
    [['sample', path('in.txt'), ...out], /cannot sample: -n is missing/],
    [['sample', path('in.txt'), ...out, '-n', '1', '--fraction', '0.5'], /cannot combine -n and --fraction/],
    [['sample', path('in.txt'), ...out, '--fraction', '1.5'], /--fraction but got "1.5"/],
    [['sample', path('in.txt'), ...out, '-n', 'few'], /for -n but got "few"/],
  ] as const) {
    const ran = await clsort(args);
    t.is(ran.code, 2, ran.err);
    t.regex(ran.err, message);
  }
});
