import { existsSync, readFileSync } from 'node:fs';
import ava from 'ava';
import { addToCache, readCache } from '../../src/util/cache.js';
import { clsort, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes

const { path, folder, remove } = scratchFolder();
ava.after.always(remove);
const env = { CLSORT_CACHE_DIR: folder, CLSORT_TUNING: 'on' };
process.env.CLSORT_CACHE_DIR = folder;
const tune = (...args: string[]) => clsort(['tune', '--device', 'cpu', ...args], { env });

interface Report {
  readonly schema: string;
  readonly cases: readonly {
    algorithm: string;
    which: { keyBits: number; valueBytes: number };
    n: number;
    gain: number;
    tried: number;
    wrong: number;
    before: { median: number };
    after: { median: number };
    tuning: Record<string, unknown>;
  }[];
  readonly file: string | null;
}

test('tune searches, verifies and reports its candidates, and a dry run stores nothing', async (t) => {
  const source = path('my-cpu.ts');
  const ran = await tune('--time', '3', '--algorithm', 'serial', '--json', '--dry-run', '--write', source);
  t.is(ran.code, 0, ran.err);
  const report: Report = JSON.parse(ran.out);
  t.is(report.schema, 'clsort.tune/1');
  t.true(report.cases.length > 0);
  for (const { algorithm, gain, tried, wrong, before, after, tuning } of report.cases) {
    t.is(algorithm, 'serial');
    t.is(wrong, 0);
    t.true(tried > 0 && before.median > 0 && after.median > 0 && gain >= 0);
    t.truthy(tuning.radixBits);
  }
  t.is(report.file, null);
  t.false(existsSync(path('tuning.sealed')), 'a dry run stores nothing');
  const written = readFileSync(source, 'utf8');
  t.regex(written, /export const myCpu: DeviceTuning = \{\n {2}where: \{\n {4}device: /);
  const found = report.cases.filter(({ gain }) => gain > 0).length;
  t.is(written.match(/algorithm: 'serial'/g)?.length ?? 0, found);
});

test('an output file that cannot be written is an error', async (t) => {
  const ran = await tune(
    '--time',
    '0.5',
    '--algorithm',
    'single-workgroup',
    '--dry-run',
    '--write',
    path('no/one.ts'),
  );
  t.is(ran.code, 5, ran.err);
  t.regex(ran.err, /cannot write .*no\/one\.ts/);
});

test('tune searches only the requested shapes', async (t) => {
  const ran = await tune(
    '--time',
    '5',
    '--shape',
    'i16+8,u16+8',
    '--algorithm',
    'serial',
    '--json',
    '--dry-run',
  );
  t.is(ran.code, 0, ran.err);
  const { cases }: Report = JSON.parse(ran.out);
  t.deepEqual([...new Set(cases.map(({ which }) => `${which.keyBits}+${which.valueBytes}`))], ['16+8']);
  t.true(cases.every(({ n, wrong }, i) => wrong === 0 && cases.findIndex((other) => other.n === n) === i));
});

test('stored tuning applies to later sorts until it is reset', async (t) => {
  const found = await clsort(['devices', '--json'], { env });
  const [{ platform, name, driver }] = JSON.parse(found.out).devices;
  const which = { keyBits: 32, valueBytes: 0, over: 2 ** 16 };
  const rows = [{ algorithm: 'serial', which, tuning: { radixBits: 4, runsPerUnit: 1 } }];
  const kept = { [`${platform} | ${name} | ${driver}`]: { schema: 'clsort.tuning/2', rows } };
  t.true(addToCache('tuning.sealed', kept));
  const keys = path('keys.u32');
  t.is((await clsort(['gen', '-o', keys, '--count', '100000', '--dtype', 'u32'], { env })).code, 0);
  const sort = ['sort', keys, '-o', path('sorted.u32'), '--dtype', 'u32', '--device', 'cpu'];
  const passes = async () => {
    const { code, out, err } = await clsort([...sort, '--json'], { env });
    t.is(code, 0, err);
    const { stages } = JSON.parse(out) as { stages: { stage: string; launches: number }[] };
    return stages.find(({ stage }) => stage === 'serial_scatter')?.launches;
  };
  t.is(await passes(), 8);
  // Sorts use the stored parameters, whether or not this short search improves them.
  const ran = await tune('--time', '3', '--algorithm', 'serial');
  t.is(ran.code, 0, ran.err);
  const [stored] = Object.values(readCache('tuning.sealed')) as [
    { rows: { which: object; tuning: { radixBits: number } }[] },
  ];
  const row = stored.rows.find((one) => JSON.stringify(one.which) === JSON.stringify(which));
  t.is(await passes(), Math.ceil(32 / (row?.tuning.radixBits ?? 0)));
  t.is((await tune('--reset')).code, 0);
  t.is(await passes(), 3);
});

test('an invalid argument is an error that states the expected value', async (t) => {
  for (const [args, message] of [
    [['--time', '0'], /expected a number of seconds above 0 for --time but got 0/],
    [['--algorithm', 'merge'], /serial.* for --algorithm but got "merge"/],
    [['--shape', 'u32+5'], /\+4 or \+8 .* for --shape but got "u32\+5"/],
    [['--shape', 'u33'], /u33/],
    [['--tme', '3'], /Did you mean "--time"/],
  ] as const) {
    const ran = await tune(...args);
    t.is(ran.code, 2, ran.err);
    t.regex(ran.err, message);
  }
});
