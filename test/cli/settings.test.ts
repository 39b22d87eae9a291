import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ava from 'ava';
import { settingsFor, variableOf } from '../../src/cli/settings.js';
import { COMMAND_NAMES, specNamed } from '../../src/cli/specs.js';
import { packageRoot } from '../../src/util/paths.js';
import { where } from '../where.js';
import { clsort, scratchFolder } from './cli.js';

const test = ava.serial; // they share a file and the environment
const { path, remove } = scratchFolder();
ava.after.always(remove);
writeFileSync(path('in.u32'), Uint32Array.of(3, 1, 2));

mkdirSync(path('config/clsort'), { recursive: true });
const FILE = path('config/clsort/config.json');
const home = { XDG_CONFIG_HOME: path('config') };
const write = (value: unknown): void => {
  rmSync(FILE, { force: true });
  writeFileSync(FILE, typeof value === 'string' ? value : JSON.stringify(value), { mode: 0o600 });
};
ava.beforeEach(() => rmSync(FILE, { force: true }));

const sort = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  clsort(['sort', path('in.u32'), '-o', '-', ...args], { env: { ...home, ...env } });
const numbers = (bytes: Uint8Array): number[] => [...new Uint32Array(new Uint8Array(bytes).buffer)];

test('flags override variables, variables override the file, and the file overrides defaults', async (t) => {
  const values = async (args: readonly string[], env?: NodeJS.ProcessEnv) => {
    const ran = await sort(['--dtype', 'u32', ...args], env);
    t.is(ran.code, 0, ran.err);
    return numbers(ran.stdout);
  };
  const [up, down] = [
    [1, 2, 3],
    [3, 2, 1],
  ];
  t.deepEqual(await values([]), up);
  write({ sort: { descending: true } });
  t.deepEqual(await values([]), down);
  t.deepEqual(await values([], { CLSORT_SORT_DESCENDING: 'false' }), up);
  t.deepEqual(await values(['-r'], { CLSORT_SORT_DESCENDING: '0' }), down);
  t.deepEqual(await values(['--no-descending']), up);
  write({ sort: { descending: false } });
  t.deepEqual(await values([], { CLSORT_SORT_DESCENDING: '1' }), down);
  t.deepEqual(await values([], { CLSORT_SORT_DESCENDING: '' }), up, 'an empty variable is ignored');
});

test('required options may come from settings, with typed and multiple values', async (t) => {
  write({ sort: { dtype: 'u32', device: 'host' }, check: { dtype: 'u8' } });
  const ran = await sort(['--json']);
  t.is(ran.code, 0, ran.err);
  t.is(JSON.parse(ran.err).device.type, 'host');
  const spec = await specNamed('matrix');
  write({ matrix: { timeout: 5, dtype: ['u8', 'f64'] } });
  process.env.XDG_CONFIG_HOME = home.XDG_CONFIG_HOME;
  process.env.CLSORT_MATRIX_ALGORITHM = 'amd,tiled';
  t.teardown(() => {
    delete process.env.XDG_CONFIG_HOME;
    delete process.env.CLSORT_MATRIX_ALGORITHM;
  });
  t.deepEqual(settingsFor(spec, t.fail), {
    timeout: { value: 5, from: FILE },
    dtype: { value: ['u8', 'f64'], from: FILE },
    algorithm: { value: ['amd', 'tiled'], from: 'CLSORT_MATRIX_ALGORITHM' },
  });
});

for (const [what, value, message] of [
  ['invalid JSON', '{ "sort": ', /cannot read .* as JSON/],
  ['an array instead of an object', '[]', /expected an object such as \{ "sort"/],
  [
    'an unknown command',
    { srot: {} },
    /expected commands as keys for .* but got "srot"\. Did you mean "sort"/,
  ],
  ['a command without options', { sort: true }, /expected an object of options for sort in .* but got true/],
  [
    'an unknown option',
    { sort: { devcie: 'gpu' } },
    /expected known options for sort in .* but got "devcie"\. Did you mean "device"/,
  ],
  [
    'an option of another type',
    { sort: { descending: 'yes' } },
    /expected true or false for descending of sort in .* but got "yes"/,
  ],
  [
    'a number instead of a string',
    { sort: { device: 3 } },
    /expected a string for device of sort in .* but got 3/,
  ],
  [
    'an invalid choice',
    { sort: { nan: 'lst' } },
    /expected one of first, last for nan of sort in .* but got "lst"\. Did you mean "last"/,
  ],
  [
    'a value that only the command validates',
    { sort: { dtype: 'u33' } },
    /cannot use --dtype from .*: .*u33/,
  ],
  [
    'a hidden option',
    { matrix: { child: 'x' }, sort: { child: 'x' } },
    /expected known options for sort in .* but got "child"/,
  ],
] as const) {
  test(`a settings file with ${what} is a usage error that names the file`, async (t) => {
    write(value);
    const ran = await sort(what.startsWith('a value that only') ? [] : ['--dtype', 'u32']);
    t.is(ran.code, 2, ran.err);
    t.is(ran.stdout.length, 0);
    t.regex(ran.err, message);
    t.true(ran.err.includes(FILE), ran.err);
    const about = await clsort(['--version'], { env: home });
    t.is(about.code, 0, '--version does not depend on the settings');
  });
}

test('variables with unknown names or bad values are usage errors that name them', async (t) => {
  for (const [name, value, message] of [
    [
      'CLSORT_SORT_DEVCIE',
      'gpu',
      /cannot use the environment variable CLSORT_SORT_DEVCIE: .*CLSORT_SORT_DEVICE/,
    ],
    ['CLSORT_SORT_NAN', 'frist', /for CLSORT_SORT_NAN but got "frist"\. Did you mean "first"/],
    ['CLSORT_SORT_RADIX_BITS', 'few', /expected a number for CLSORT_SORT_RADIX_BITS but got "few"/],
    ['CLSORT_SORT_ALGORITHM', 'quick', /cannot use --algorithm from CLSORT_SORT_ALGORITHM: .*quick/],
  ] as const) {
    const ran = await sort(['--dtype', 'u32'], { [name]: value });
    t.is(ran.code, 2, ran.err);
    t.regex(ran.err, message);
  }
  const ran = await sort(['--dtype', 'u32'], { CLSORT_CHECK_NONSENSE: 'x' });
  t.is(ran.code, 0, 'variables of other commands are ignored');
});

where(
  process.platform !== 'win32',
  'Windows has no such permissions',
  test,
)('a settings file that other users can write is ignored with a warning', async (t) => {
  const warned = async (message: RegExp) => {
    const ran = await sort(['--dtype', 'u32']);
    t.is(ran.code, 0, ran.err);
    t.regex(ran.err, message);
    t.deepEqual(numbers(ran.stdout), [1, 2, 3]);
  };
  write({ sort: { descending: true } });
  chmodSync(FILE, 0o666);
  await warned(
    /warning: cannot use the settings in .*config\.json: .*config\.json can be written by other users/,
  );
  chmodSync(FILE, 0o600);
  chmodSync(path('config/clsort'), 0o777);
  await warned(/warning: .*clsort can be written by other users \(mode 777\)\. Run 'chmod go-rwx/);
  chmodSync(path('config/clsort'), 0o755);
  // A link to one's own file elsewhere is fine.
  writeFileSync(path('elsewhere.json'), JSON.stringify({ sort: { descending: true } }), { mode: 0o600 });
  rmSync(FILE);
  symlinkSync(path('elsewhere.json'), FILE);
  t.deepEqual(numbers((await sort(['--dtype', 'u32'])).stdout), [3, 2, 1]);
  rmSync(FILE);
  symlinkSync(FILE, FILE);
  await warned(/warning: cannot use the settings in .*: ELOOP/);
  rmSync(FILE);
  mkdirSync(FILE);
  const folder = await sort(['--dtype', 'u32']);
  rmSync(FILE, { recursive: true });
  t.is(folder.code, 2);
  t.regex(folder.err, /cannot use the settings in .*config\.json: it is not a regular file/);
});

/** Sources that name variables of commands as examples. */
const TELL_OF_THEM = ['cli/man.ts', 'cli/loading.test.ts', 'docs/command-page.mjs'];

test('variables of commands do not collide with other variables of clsort', (t) => {
  const sources = ['src', 'scripts', 'test'].flatMap((folder) =>
    readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' })
      .filter(
        (name) => /\.(ts|mjs|cc|h)$/.test(name) && !name.includes('settings') && !TELL_OF_THEM.includes(name),
      )
      .map((name) => readFileSync(join(packageRoot, folder, name), 'utf8')),
  );
  const names = new Set(sources.flatMap((text) => text.match(/(?<!ERR_)\bCLSORT_[A-Z_]+\b/g) ?? []));
  t.true(names.has('CLSORT_CACHE_DIR') && names.has('CLSORT_TUNING') && names.has('CLSORT_LAYER_CONTROL'));
  const prefixes = COMMAND_NAMES.map((name) => variableOf(name, ''));
  t.deepEqual(
    [...names].filter((name) => prefixes.some((prefix) => name.startsWith(prefix))),
    [],
  );
});
