import { readFileSync, writeFileSync } from 'node:fs';
import ava from 'ava';
import { COMMAND_NAMES } from '../../src/cli/specs.js';
import { referenceSort } from '../reference.js';
import { scratchFolder } from './cli.js';
import { loadedBy } from './loaded.js';

const test = ava.serial; // each starts processes
const { path, remove } = scratchFolder();
ava.after.always(remove);

const keys = Uint32Array.from({ length: 1000 }, (_, i) => (i * 2654435761) >>> 0);
writeFileSync(path('in.u32'), keys);

/** Modules that need a device or serve such modules. */
const isLibrary = (name: string): boolean =>
  /^(index|(sort|algorithms|primitives|device|opencl|bench|matrix|batch)\/)/.test(name) &&
  name !== 'bench/modes';
const isRunner = (name: string): boolean => name.startsWith('cli/commands/');

test('--version loads only the modules that print it', async (t) => {
  for (const flag of ['--version', '-V']) {
    const { ran, modules } = await loadedBy([flag], path);
    t.regex(ran.out, /^\d+\.\d+\.\d+\n$/);
    const own = modules.filter((name) => !name.startsWith('node:'));
    t.deepEqual(own.toSorted(), ['cli/about', 'cli/main', 'cli/version', 'util/version']);
  }
});

for (const args of [[], ...COMMAND_NAMES.map((name) => [name])]) {
  test(`the help of ${args.join(' ') || 'all commands'} loads option definitions and no implementation`, async (t) => {
    const { ran, modules } = await loadedBy([...args, '--help'], path);
    t.is(ran.code, 0, ran.err);
    t.regex(ran.out, /^clsort/);
    t.true(modules.includes('yargs'));
    t.deepEqual(
      modules.filter((name) => isLibrary(name) || isRunner(name)),
      [],
    );
    t.false(modules.includes('cli/supervisor'));
  });
}

test('a sort of few keys loads only the modules of sort and opens no device', async (t) => {
  const env = { CLSORT_ADDON: path('no-such-addon.node') };
  const args = ['sort', path('in.u32'), '-o', path('out.u32'), '--dtype', 'u32', '--json'];
  const { ran, modules, threads } = await loadedBy(args, path, { env });
  t.is(ran.code, 0, ran.err);
  t.is(threads, 1);
  t.is(ran.err, '', 'the missing addon was not looked for');
  const { algorithm, reason, warnings } = JSON.parse(ran.out);
  t.is(algorithm, 'host');
  t.regex(reason, /the host is faster/);
  t.deepEqual(warnings, []);
  t.deepEqual(readFileSync(path('out.u32')), Buffer.from(referenceSort(new Uint8Array(keys.buffer), 'u32')));
  t.deepEqual(modules.filter(isRunner), ['cli/commands/sort']);
  t.deepEqual(modules.filter((name) => name.startsWith('cli/options/')).toSorted(), [
    'cli/options/device',
    'cli/options/distinct',
    'cli/options/engine',
    'cli/options/key-files',
    'cli/options/lines',
    'cli/options/memory',
    'cli/options/order',
    'cli/options/records',
    'cli/options/sort',
    'cli/options/sort-paths',
    'cli/options/tables',
  ]);
  // Only the measured break-even sizes of devices are looked up.
  const forDevices = modules.filter((name) => /^(device|opencl)\/|^algorithms\/registry|^index/.test(name));
  t.deepEqual(forDevices, ['device/platform/select-device']);
  // The code of other formats, matrices and external sorts is not loaded.
  const heavy = modules.filter((name) =>
    /^io\/(formats\/subprocess\/(?!subprocess-keys$)|file-sort\/sort-matrix|records\/record-ordering|external\/(?!free-memory$))|child_process/.test(
      name,
    ),
  );
  t.deepEqual(heavy, []);
  t.false(modules.includes('yargs'));
  t.true(modules.includes('yargs-parser'));
  t.true(modules.includes('cli/supervisor'));
});

test('a small sort runs on the main thread unless it may open a device or take long', async (t) => {
  const to = path('out.u32');
  const small = ['sort', path('in.u32'), '-o', to, '--dtype', 'u32', '-q'];
  writeFileSync(path('large.u32'), new Uint32Array(2 ** 15));
  for (const args of [
    small,
    [...small, '-ru', '--verify'],
    ['sort', path('in.u32'), `--out=${to}`, '--dtype=u32', '-q'],
  ]) {
    const { ran, threads } = await loadedBy(args, path);
    t.is(ran.code, 0, ran.err);
    t.is(threads, 1, args.join(' '));
  }
  const input = new Uint8Array(keys.buffer);
  for (const [args, code, options] of [
    [[...small, '--device', 'host'], 0, {}],
    [small, 0, { env: { CLSORT_SORT_DEVICE: 'cpu' } }],
    [small, 3, { env: { CLSORT_SORT_DEVICE: 'no such device' } }],
    [['sort', path('large.u32'), '-o', to, '-q'], 0, {}],
    [['sort', '-', '-o', to, '--dtype', 'u32', '-q'], 0, { input }],
    [['check', path('in.u32'), '-q'], 1, {}],
  ] as const) {
    const { ran, threads } = await loadedBy(args, path, options);
    t.is(ran.code, code, ran.err);
    t.is(threads, 2, args.join(' '));
    t.is(ran.err.match(/^clsort: /gm)?.length ?? 0, code === 3 ? 1 : 0, 'a message is printed once');
  }
});

test('a sort opens a device on request, for options that only devices support, and for a pipe', async (t) => {
  const env = { CLSORT_ADDON: path('no-such-addon.node') };
  for (const more of [
    ['--device', 'cpu'],
    ['--algorithm', 'amd'],
    ['--radix-bits', '4'],
    ['--scan', '3'],
  ]) {
    const args = ['sort', path('in.u32'), '-o', path('out.u32'), '--dtype', 'u32', ...more];
    const { ran } = await loadedBy(args, path, { env });
    t.regex(ran.err, /no-such-addon/, more.join(' '));
  }
  const piped = ['sort', '-', '-o', path('out.u32'), '--dtype', 'u32', '--json'];
  const { ran } = await loadedBy(piped, path, { env, input: new Uint8Array(keys.buffer) });
  t.is(ran.code, 0, 'a pipe of unknown length looks for a device and falls back to the host');
  t.regex(ran.err, /falling back to the host/);
});
