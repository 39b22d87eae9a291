import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import ava from 'ava';
import { generate } from '../../src/io/operations/gen.js';
import { referenceArgsort, referenceSort } from '../reference.js';
import { clsort, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes
const { path, remove } = scratchFolder();
ava.after.always(remove);

const keys = generate({ dtype: 'i16', count: 3000, distribution: 'uniform', seed: 15 });
writeFileSync(path('in.i16'), keys);
const falling = referenceArgsort(keys, 'i16', { descending: true });
const at = (position: number): number =>
  new DataView(keys.buffer, keys.byteOffset).getInt16(2 * position, true);

test('verbs write to stdout unless --out names a file', async (t) => {
  const file = path('in.i16');
  for (const args of [
    ['topk', file, '-k', '3'],
    ['unique', file],
    ['concat', file],
    ['scan', file, '--device', 'host'],
    ['intersect', file, file],
    ['shuffle', file, '--seed', '1'],
    ['sample', file, '-n', '2', '--seed', '1'],
    ['gen', '--count', '3', '--dtype', 'u8'],
  ]) {
    const [given, other] = await Promise.all([clsort([...args, '-o', '-']), clsort(args)]);
    t.is(other.code, 0, other.err);
    t.true(other.stdout.length > 0, args[0]);
    t.deepEqual(other.stdout, given.stdout, args[0]);
  }
});

test('topk writes the largest or smallest keys or positions, from a file or a pipe, in other formats', async (t) => {
  const top = await clsort(['topk', path('in.i16'), '-k', '3', '-o', '-', '--to', 'csv']);
  t.is(top.out, ['key', ...falling.slice(0, 3).map(at), ''].join('\n'), top.err);
  const smallest = [
    '-k',
    '1e2',
    '--smallest',
    '--argsort',
    '-o',
    path('order.npy'),
    '--json',
    '--device',
    'cpu',
  ];
  const order = await clsort(['topk', '-', '--dtype', 'i16', ...smallest], { input: keys });
  t.deepEqual(JSON.parse(order.out), {
    ...{ schema: 'clsort.topk/1', n: 3000, written: 100, dtype: 'i16', largest: false, argsort: true },
    formats: { from: 'raw', to: 'npy' },
  });
  const expected = Uint32Array.from(referenceArgsort(keys, 'i16').slice(0, 100));
  t.true(readFileSync(path('order.npy')).subarray(-400).equals(Buffer.from(expected.buffer)));
  const reported = await clsort(['topk', path('in.i16'), '-k5', '-o', path('five.i16')]);
  t.is(reported.out, `${path('five.i16')}: the largest 5 of 3,000 i16 keys\n`);
});

test('topk refuses invalid arguments', async (t) => {
  writeFileSync(path('many.i16'), new Int16Array(100_000));
  for (const [args, message] of [
    [['topk', path('in.i16'), '-o', path('no.i16')], /cannot run clsort topk: -k is missing/],
    [
      ['topk', path('in.i16'), '-o', path('no.i16'), '-k', 'ten'],
      /expected a whole number .* for -k but got "ten"/,
    ],
    [
      ['topk', path('in.i16'), '-o', path('no.f64'), '-k', '1'],
      /cannot write i16 keys to .*: its extension is that of f64 keys/,
    ],
    [['topk', path('in.i16'), '-o', path('no.i16'), '-k', '1', '--bits', '0:17'], /16 bits/],
    [['topk', path('many.i16'), '-o', path('no.i16'), '-k', '1e6', '-S', '1M'], /Use --memory \d+M or more/],
  ] as const) {
    const ran = await clsort(args);
    t.is(ran.code, 2, ran.err);
    t.regex(ran.err, message);
  }
  t.false(existsSync(path('no.i16')));
});

test('unique and sort --unique write each key once, with counts', async (t) => {
  const two = Buffer.concat([keys, keys]);
  const sorted = new Int16Array(new Uint8Array(referenceSort(two, 'i16')).buffer);
  const distinct = [...new Set(sorted)];
  const counts = distinct.map((key) => BigInt(sorted.filter((other) => other === key).length));
  for (const args of [
    ['unique', path('in.i16'), path('in.i16'), '--json'],
    ['sort', path('in.i16'), path('in.i16'), '-u', '--json'],
    ['sort', path('in.i16'), path('in.i16'), '--unique', '--json', '--device', 'cpu', '--verify'],
  ]) {
    const ran = await clsort([...args, '-o', path('out.i16'), '--counts', path('counts.u64')]);
    t.is(ran.code, 0, ran.err);
    t.like(JSON.parse(ran.out), { n: 6000, distinct: distinct.length, dtype: 'i16' });
    t.deepEqual([...new Int16Array(new Uint8Array(readFileSync(path('out.i16'))).buffer)], distinct);
    t.deepEqual([...new BigUint64Array(new Uint8Array(readFileSync(path('counts.u64'))).buffer)], counts);
  }
  const piped = await clsort(['unique', '-', '--dtype', 'i16', '-r', '-o', '-', '--to', 'npy'], {
    input: two,
  });
  t.is(piped.code, 0, piped.err);
  const back = new Int16Array(new Uint8Array(piped.stdout.subarray(-2 * distinct.length)).buffer);
  t.deepEqual([...back], distinct.toReversed());
  const reported = await clsort(['unique', path('in.i16'), '-o', path('out.npy')]);
  t.regex(reported.out, /out\.npy: [\d,]+ distinct of 3,000 i16 keys\n$/);
});

test('unique compares records by their keys, and conflicting options are refused', async (t) => {
  writeFileSync(path('in.dat'), 'b1a1b2a2');
  const records = ['--record', '2', '--key', '0:1'];
  const ran = await clsort(['unique', path('in.dat'), '-o', '-', ...records]);
  t.is(ran.out, 'a1b1', ran.err);
  writeFileSync(path('few.u8'), Buffer.from([7, 3, 7, 9, 3, 7]));
  const several = ['--duplicates-only', '--counts', path('few.u64'), '-o', path('several.u8')];
  const few = await clsort(['unique', path('few.u8'), ...several]);
  t.regex(few.out, /: 2 of several equal ones of 6 u8 keys\n$/, few.err);
  t.deepEqual([...readFileSync(path('several.u8'))], [3, 7]);
  t.deepEqual([...new BigUint64Array(new Uint8Array(readFileSync(path('few.u64'))).buffer)], [2n, 3n]);
  for (const args of [
    ['sort', path('in.i16'), '-o', path('no.u32'), '-u', '--argsort'],
    ['sort', path('in.i16'), '-o', path('no.u32'), '--counts', path('no.u64')],
    ['sort', path('in.i16'), '--out-dir', path('no'), '-u', '--counts', path('no.u64')],
    ['unique', path('in.dat'), path('in.dat'), '-o', path('no.dat'), ...records],
  ]) {
    const wrong = await clsort(args);
    t.is(wrong.code, 2, args.join(' '));
  }
  const named = await clsort(['unique', path('in.i16'), '-o', path('no.i16'), '--counts', path('no.u32')]);
  t.regex(named.err, /cannot write u64 keys to .*no\.u32: its extension is that of u32 keys/);
  t.deepEqual(
    ['no', 'no.u32', 'no.u64', 'no.dat', 'no.i16'].filter((name) => existsSync(path(name))),
    [],
  );
});
