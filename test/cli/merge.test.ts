import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import ava from 'ava';
import { generate } from '../../src/io/operations/gen.js';
import { referenceSort } from '../reference.js';
import { clsort, MAIN, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes
const { path, remove } = scratchFolder();
ava.after.always(remove);

const parts = [1, 2, 3].map((seed) =>
  referenceSort(generate({ dtype: 'i32', count: 2000, distribution: 'uniform', seed }), 'i32'),
);
for (const [i, part] of parts.entries()) writeFileSync(path(`${i}.i32`), part);
const sorted = Buffer.from(referenceSort(Buffer.concat(parts), 'i32'));
const inputs = [0, 1, 2].map((i) => path(`${i}.i32`));

test('merge reads and writes every format', async (t) => {
  const names: string[] = [];
  for (const [i, extension] of ['npy', 'arrow', 'parquet'].entries()) {
    names.push(path(`${i}.${extension}`));
    t.is((await clsort(['convert', inputs[i] ?? '', names[i] ?? ''])).code, 0);
  }
  for (const out of ['all.i32be.gz', 'all.npy', 'all.arrows', 'all.parquet', 'all.csv', 'all.ndjson']) {
    const ran = await clsort(['merge', ...names, '-o', path(out)]);
    t.is(ran.code, 0, ran.err);
    t.regex(ran.out, /6,000 i32 keys, merged from 3 files/);
    const dtype = /csv|ndjson/.test(out) ? ['--dtype', 'i32'] : [];
    const back = await clsort(['convert', path(out), path('back.i32'), ...dtype]);
    t.true(readFileSync(path('back.i32')).equals(sorted), `${out}: ${back.err}`);
  }
});

test('merge works on a device, on the host and with little memory', async (t) => {
  for (const how of [['--device', 'cpu'], ['--device', 'host'], ['-S', '64K'], []]) {
    const ran = await clsort(['merge', ...inputs, '-o', path('how.i32'), '--json', ...how]);
    t.is(ran.code, 0, ran.err);
    t.deepEqual(JSON.parse(ran.out), {
      ...{ schema: 'clsort.merge/1', files: 3, n: 6000, written: 6000, dtype: 'i32' },
      formats: { from: 'raw', to: 'raw' },
    });
    t.true(readFileSync(path('how.i32')).equals(sorted));
  }
  const little = await clsort(['merge', ...inputs, '-o', path('how.i32'), '-S', '100b']);
  t.is(little.code, 2);
  t.regex(little.err, /cannot merge 3 files of i32 keys with \d+ bytes of memory/);
});

test('merge reads stdin, writes stdout, refuses inputs in another order and removes duplicates', async (t) => {
  const ran = await clsort(['merge', inputs[0] ?? '', '-', inputs[2] ?? '', '-o', '-', '--dtype', 'i32'], {
    input: parts[1] ?? new Uint8Array(0),
  });
  t.true(ran.stdout.equals(sorted), ran.err);
  const falling = await clsort(['merge', ...inputs, '-o', path('no.i32'), '-r']);
  t.is(falling.code, 5);
  t.regex(falling.err, /[012]\.i32: it is not in the order of the merge \(key .* at position 1\)/);
  writeFileSync(path('fives.u8'), Buffer.alloc(9, 5));
  writeFileSync(path('sixes.u8'), Buffer.alloc(4, 6));
  const once = ['merge', path('fives.u8'), path('sixes.u8'), '-u', '-o', '-', '--counts', path('counts.csv')];
  const distinct = await clsort(once);
  t.deepEqual([...distinct.stdout], [5, 6], distinct.err);
  t.is(readFileSync(path('counts.csv'), 'utf8'), 'count\n9\n4\n');
});

test('a merge into a closed pipe ends quietly with 141', async (t) => {
  writeFileSync(path('big.u8'), Buffer.alloc(2 ** 22, 7));
  const child = spawn(process.execPath, [MAIN, 'merge', path('big.u8'), path('big.u8'), '-o', '-'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.once('data', () => child.stdout.destroy());
  let errorOutput = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errorOutput += chunk;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  t.is(code, 141);
  t.is(errorOutput, '');
});
