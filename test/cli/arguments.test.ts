import { existsSync, writeFileSync } from 'node:fs';
import ava from 'ava';
import { readDtypes, readSeconds } from '../../src/cli/arguments.js';
import { readAlgorithms } from '../../src/cli/device-arguments.js';
import { devices } from '../../src/device/platform/platform.js';
import { DTYPES } from '../../src/keys/dtype.js';
import { DtypeError, UsageError } from '../../src/util/errors.js';
import { poclNames } from '../pocl-names.js';
import { clsort, scratchFolder } from './cli.js';

const test = ava.serial; // some start processes
const { path, remove } = scratchFolder();
ava.after.always(remove);
writeFileSync(path('in.u32'), Uint32Array.of(3, 1, 2));

test('algorithm and dtype names default to all of them, and an unknown name is an error', (t) => {
  t.true(readAlgorithms(undefined).includes('amd'));
  t.deepEqual(readAlgorithms(['amd']), ['amd']);
  t.throws(() => readAlgorithms(['amd', 'tild']), {
    instanceOf: UsageError,
    message: /for --algorithm but got "tild"\. Did you mean "tiled"/,
  });
  t.deepEqual(readDtypes(undefined), [...DTYPES]);
  t.deepEqual(readDtypes(['f64']), ['f64']);
  t.throws(() => readDtypes(['f65']), { instanceOf: DtypeError, message: /"f65".*Did you mean/ });
  t.throws(() => readSeconds('--timeout', Number.NaN), { instanceOf: UsageError, message: /--timeout/ });
});

for (const args of [
  ['matrix', '--quick', '--algorithm', 'nope'],
  ['matrix', '--dtype', 'u33'],
  ['matrix', '--timeout', 'soon'],
  ['matrix', '--device', ''],
  ['devices', '--self-test', '--algorithm', 'nope'],
  ['devices', '--self-test', '--timeout', '0'],
  ['bench', 'nope'],
  ['bench', 'sorts', '--algorithm', 'nope'],
  ['bench', 'sorts', '--dtype', 'nope'],
  ['bench', 'sorts', '--mode', 'nope'],
  ['bench', 'sorts', '--distribution', 'nope'],
  ['bench', 'calls', '--operation', 'nope'],
  ['bench', 'calls', '--place', 'nope'],
  ['bench', 'calls', '--chain', '0'],
  ['bench', 'calls', '--count', '0'],
  ['bench', 'calls', '--dtype', 'f64'],
  ['bench', 'calls', '--csv', '--json'],
  ['tune', '--algorithm', 'nope'],
  ['explain', '3', '--algorithm', 'nope'],
  ['explain', '3', '--dtype', 'nope'],
  ['explain'],
  ['sort', 'in.u32', '-o', 'never', '--dtype', 'u32', '--algorithm', 'nope'],
  ['sort', 'in.u32', '-o', 'never', '--dtype', 'u32', '--format', 'nope'],
  ['sort', 'in.u32', '-o', 'never', '--dtype', 'u32', '--nan', 'nope'],
  ['sort', 'in.u32', '-o', 'never', '--dtype.x', 'u32'],
  ['gen', '-o', 'never', '--dtype', 'u32', '--count', '9', '--format', 'nope'],
  ['check', 'in.u32', '--dtype', 'u32', '--format', 'nope'],
]) {
  test(`clsort ${args.join(' ')} is a usage error on stderr and writes no file`, async (t) => {
    const ran = await clsort(args.map((arg) => (arg === 'in.u32' || arg === 'never' ? path(arg) : arg)));
    t.is(ran.code, 2, ran.err);
    t.is(ran.out, '');
    t.regex(ran.err, /^clsort: /);
    t.notRegex(ran.err, /internal error/);
    t.false(existsSync(path('never')));
  });
}

test('--device selects the same devices for devices and for sort', async (t) => {
  const types = new Set(devices().map(({ type }) => type));
  for (const spec of [
    'cpu',
    'gpu',
    '0:0',
    'auto',
    'all',
    'cpu,0:0',
    'nonesuch',
    '0:0,nonesuch',
    'host',
  ] as const) {
    const listed = await clsort(['devices', '--device', spec, '--json']);
    if (spec === 'host') {
      t.is(listed.code, 2);
      t.regex(listed.err, /expected an OpenCL device/);
      continue;
    }
    const sorted = await clsort([
      'sort',
      path('in.u32'),
      '-o',
      path('out'),
      '--dtype',
      'u32',
      '--device',
      spec,
    ]);
    t.is(listed.code, sorted.code, `${spec}: ${listed.err}${sorted.err}`);
    if (listed.code !== 0) continue;
    const found: { id: string; type: string }[] = JSON.parse(listed.out).devices;
    t.true(found.length > 0);
    if (spec === 'cpu' || spec === 'gpu') t.true(types.has(spec) && found.every(({ type }) => type === spec));
  }
});

test('commands for one device refuse two devices, and take the best match for one name', async (t) => {
  const env = { ...process.env, POCL_DEVICES: 'basic pthread' };
  const names = poclNames();
  for (const args of [
    ['tune', '--reset'],
    ['explain', '3'],
    ['bench', 'calls'],
  ]) {
    const ran = await clsort([...args, '--device', names.join()], { env });
    t.is(ran.code, 2, ran.err);
    t.regex(ran.err, /expected one device for --device of clsort .* but got 2: /);
    t.true(
      names.every((name) => ran.err.includes(name)),
      ran.err,
    );
  }
  const few = ['bench', 'ladder', 'scan', '--count', '1000', '--repeats', '1', '--json'];
  const both = await clsort([...few, '--device', names.join()], { env });
  t.is(JSON.parse(both.out).devices.length, 2, 'a ladder compares devices');
  const explained = await clsort(['explain', '3', '1', '--device', 'portable', '--json'], { env });
  t.is(explained.code, 0, explained.err);
});

test('several devices sort one file, and the report gives the reason', async (t) => {
  const env = { ...process.env, POCL_DEVICES: 'basic pthread' };
  const made = await clsort(['gen', '-o', path('big.u32'), '--dtype', 'u32', '--count', '2Mi']);
  t.is(made.code, 0, made.err);
  for (const device of [['--device', 'all'], poclNames().flatMap((name) => ['--device', name])]) {
    const out = path('big.sorted');
    const sort = ['sort', path('big.u32'), '-o', out, '--dtype', 'u32', '--verify', '--json', ...device];
    const sorted = await clsort(sort, { env });
    t.is(sorted.code, 0, sorted.err);
    t.regex(JSON.parse(sorted.out).reason, /expected/);
    t.is((await clsort(['check', out, '--dtype', 'u32', '--against', path('big.u32')])).code, 0);
  }
});

test('commands that need a device refuse the host engine with the same message', async (t) => {
  for (const args of [['tune'], ['explain', '3'], ['bench', 'ladder'], ['bench', 'calls'], ['matrix']]) {
    const ran = await clsort([...args, '--device', 'host']);
    t.is(ran.code, 2, ran.err);
    t.regex(ran.err, /expected an OpenCL device/);
    t.notRegex(ran.err, /cannot find OpenCL device/);
  }
});

test('keys that look like options go after --, as the help shows', async (t) => {
  const help = await clsort(['explain', '--help']);
  t.regex(help.out, /explain --descending -- -inf -0\s/);
  const ran = await clsort([
    'explain',
    '--descending',
    '--device',
    'cpu',
    '--json',
    '--',
    '-inf',
    '-0',
    'nan',
  ]);
  t.is(ran.code, 0, ran.err);
  t.regex(ran.out, /"-Infinity"/);
  t.regex(ran.out, /"-0"/);
  const large = await clsort([
    'explain',
    '--device',
    'cpu',
    '--dtype',
    'u64',
    '--',
    '18446744073709551615',
    '1',
  ]);
  t.is(large.code, 0, large.err);
  t.regex(large.out, /18446744073709551615/);
});
