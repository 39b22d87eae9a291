import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
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

test('--version loads no options and no implementation', async (t) => {
  for (const flag of ['--version', '-V']) {
    const { ran, modules } = await loadedBy([flag], path);
    t.regex(ran.out, /^\d+\.\d+\.\d+\n$/);
    t.deepEqual(
      modules.filter(
        (name) => /^cli\/(options|commands|parse|settings)|^yargs/.test(name) || isLibrary(name),
      ),
      [],
    );
  }
});

for (const args of [[], ...COMMAND_NAMES.map((name) => [name])]) {
  test(`the help of ${args.join(' ') || 'all commands'} loads option definitions and no implementation`, async (t) => {
    const { ran, modules } = await loadedBy([...args, '--help'], path);
    t.is(ran.code, 0, ran.err);
    t.regex(ran.out, /^clsort/);
    t.false(modules.includes('yargs'));
    t.deepEqual(
      modules.filter((name) => isLibrary(name) || isRunner(name)),
      [],
    );
  });
}

test('a sort of few keys loads only the modules of sort and opens no device', async (t) => {
  const env = { CLSORT_ADDON: path('no-such-addon.node') };
  const args = ['sort', path('in.u32'), '-o', path('out.u32'), '--dtype', 'u32', '--json'];
  const { ran, modules } = await loadedBy(args, path, { env });
  t.is(ran.code, 0, ran.err);
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
    'cli/options/kinds',
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
});

test('sorts of several small files load no code of tables, records, algorithms and devices', async (t) => {
  const copy = path('copy.u32');
  copyFileSync(path('in.u32'), copy);
  const args = ['sort', path('in.u32'), copy, '--out-dir', path('sorted'), '--dtype', 'u32'];
  const { ran, modules } = await loadedBy(args, path);
  t.is(ran.code, 0, ran.err);
  t.deepEqual(readFileSync(path('sorted/copy.u32')), readFileSync(path('sorted/in.u32')));
  t.true(modules.includes('batch/run-job'));
  const heavy =
    /^device\/(?!platform\/select-device$)|^algorithms\/registry|^io\/(tables|records)\/(sort|indexed)|sort-record/;
  t.deepEqual(
    modules.filter((name) => heavy.test(name)),
    [],
  );
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
