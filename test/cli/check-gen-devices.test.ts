import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import ava from 'ava';
import { generate } from '../../src/io/operations/gen.js';
import { referenceSort } from '../reference.js';
import { clsort, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes
const { path, folder, remove } = scratchFolder();
ava.after.always(remove);

const keys = generate({ dtype: 'f64', count: 3000, distribution: 'special', seed: 11 });
const sorted = referenceSort(keys, 'f64');
writeFileSync(path('in'), keys);
writeFileSync(path('sorted'), sorted);

const check = (file: string, ...args: string[]) => clsort(['check', path(file), '--dtype', 'f64', ...args]);

test('check accepts a sorted permutation', async (t) => {
  const ran = await check('sorted', '--against', path('in'));
  t.is(ran.code, 0, ran.err);
  t.regex(ran.out, /order: right\npermutation: right/);
});

test('check reports the first key out of order and ends with 1', async (t) => {
  const doubles = Float64Array.of(1, 2, 5, 4, 3);
  writeFileSync(path('wrong'), new Uint8Array(doubles.buffer));
  const ran = await check('wrong', '--json');
  t.is(ran.code, 1);
  const { sorted: isSorted, firstOutOfOrder, permutation } = JSON.parse(ran.out);
  t.false(isSorted);
  t.deepEqual(firstOutOfOrder, { at: 3, before: '5', key: '4' });
  t.is(permutation, null);
});

test('check detects a lost key in a file that is in order', async (t) => {
  const lost = sorted.slice();
  lost.copyWithin(8 * 100, 8 * 1500, 8 * 1501); // replaces one key by another …
  writeFileSync(path('lost'), referenceSort(lost, 'f64')); // … and restores the order
  const ran = await check('lost', '--against', path('in'));
  t.is(ran.code, 1);
  t.regex(ran.out, /order: right\npermutation: WRONG/);
});

test('check detects a file of another length', async (t) => {
  writeFileSync(path('short'), sorted.subarray(0, 8 * 2999));
  t.is((await check('short', '--against', path('in'))).code, 1);
});

test('check supports descending order, NaN placement and bit windows', async (t) => {
  const order = { descending: true, nan: 'first' } as const;
  writeFileSync(path('descending'), referenceSort(keys, 'f64', order));
  t.is((await check('descending', '--descending', '--nan', 'first')).code, 0);
  t.is((await check('descending', '--descending')).code, 1);
  writeFileSync(path('window'), referenceSort(keys, 'f64', { bits: [40, 50] }));
  t.is((await check('window', '--bits', '40:50')).code, 0);
  t.is((await check('window')).code, 1);
});

test('check reads the file or its reference from stdin, but not both', async (t) => {
  const ran = await clsort(['check', '-', '--dtype', 'f64', '--against', path('in')], { input: sorted });
  t.is(ran.code, 0, ran.err);
  t.is((await clsort(['check', path('in'), '--dtype', 'f64', '--against', '-'], { input: keys })).code, 1);
  t.is((await clsort(['check', '-', '--dtype', 'f64', '--against', '-'], { input: keys })).code, 2);
});

test('check of a missing file ends with 5', async (t) => {
  const ran = await check('missing');
  t.is(ran.code, 5);
  t.is(ran.out, '');
});

test('gen writes the same file for the same seed and another file for another seed', async (t) => {
  const args = ['gen', '--dtype', 'u16', '--count', '2Ki', '--distribution', 'and3', '-o'];
  t.is((await clsort([...args, path('a'), '--seed', '0xffffffffffffffff'])).code, 0);
  const b = await clsort([...args, '-', '--seed', '18446744073709551615']);
  t.deepEqual(readFileSync(path('a')), b.stdout);
  t.is(b.stdout.length, 4096);
  const c = await clsort([...args, '-', '--seed', '2']);
  t.notDeepEqual(c.stdout, b.stdout);
});

test('gen refuses invalid arguments', async (t) => {
  const gen = (...args: string[]) =>
    clsort(['gen', '--dtype', 'u16', '--count', '9', '-o', path('no'), ...args]);
  for (const args of [
    ['--distribution', 'unifrm'],
    ['--count', 'many'],
    ['--count', '-1'],
    ['--count', '1.5'],
    ['--seed', '2e3'],
    ['--dtype', 'u12'],
  ]) {
    const ran = await gen(...args);
    t.is(ran.code, 2, `${args}: ${ran.err}`);
  }
  t.regex((await gen('--distribution', 'unifrm')).err, /Did you mean "uniform"/);
  t.false(existsSync(path('no')));
});

test('an interrupted gen leaves no file', async (t) => {
  const mine = () => readdirSync(folder).filter((name) => name.includes('large'));
  const ran = await clsort(['gen', '--dtype', 'u64', '--count', '1Gi', '-o', path('large')], {
    onStart: (child) => {
      const poll = setInterval(() => {
        if (mine().length === 0) return;
        clearInterval(poll);
        child.kill('SIGTERM');
      }, 10);
    },
  });
  t.is(ran.code, 143);
  t.deepEqual(mine(), []);
});

test('devices lists ids, names and types, and --json prints the same data', async (t) => {
  const text = await clsort(['devices']);
  t.is(text.code, 0, text.err);
  const { schema, devices } = JSON.parse((await clsort(['devices', '--json'])).out);
  t.is(schema, 'clsort.devices/1');
  t.true(devices.length > 0);
  for (const { id, name, type } of devices) {
    t.regex(id, /^\d+:\d+$/);
    t.true(text.out.includes(id) && text.out.includes(name) && text.out.includes(type));
  }
});

test('without a platform, devices ends with 3 and prints install instructions', async (t) => {
  const env = { OCL_ICD_VENDORS: folder };
  const ran = await clsort(['devices'], { env });
  t.is(ran.code, 3);
  t.is(ran.out, '');
  t.regex(ran.err, /install/i);
});

test('without a platform, sort falls back to the host with a warning, and --device gpu fails', async (t) => {
  const env = { OCL_ICD_VENDORS: folder };
  const input = readFileSync(path('in')); // the size of a pipe is unknown
  const auto = await clsort(['sort', '-', '-o', '-', '--dtype', 'f64'], { env, input });
  t.is(auto.code, 0, auto.err);
  t.deepEqual(auto.stdout, Buffer.from(sorted));
  t.regex(auto.err, /warning: .*host engine/);
  const gpu = await clsort(['sort', path('in'), '-o', '-', '--dtype', 'f64', '--device', 'gpu'], { env });
  t.is(gpu.code, 3);
  t.is(gpu.stdout.length, 0);
});

test('--help prints examples and --version prints the version on stdout', async (t) => {
  const help = await clsort(['sort', '--help']);
  t.is(help.code, 0);
  t.regex(help.out, /Examples:\s+clsort sort/);
  const version = await clsort(['--version']);
  t.is(version.code, 0);
  t.regex(version.out, /^\d+\.\d+\.\d+/);
});

test('a missing command and an unknown command are usage errors', async (t) => {
  t.is((await clsort([])).code, 2);
  const typo = await clsort(['srot']);
  t.is(typo.code, 2);
  t.regex(typo.err, /Did you mean "sort"/);
});
