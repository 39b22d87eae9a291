/** The command and the library under Node's permission model. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../src/util/paths.js';
import { testIf } from '../each-device.js';

const MODEL = process.allowedNodeEnvironmentFlags.has('--permission')
  ? '--permission'
  : '--experimental-permission';

/** Runs Node with reading allowed, and some permissions. */
function run(allowed: readonly string[], args: readonly string[], input = '') {
  const options = ['--no-warnings', MODEL, '--allow-fs-read=*', ...allowed.map((name) => `--allow-${name}`)];
  return spawnSync(process.execPath, [...options, ...args], { cwd: packageRoot, encoding: 'utf8', input });
}
const command = join(packageRoot, 'dist/src/cli/main.js');

const restricts =
  process.allowedNodeEnvironmentFlags.has('--allow-addons') || 'this Node does not restrict addons';
testIf(restricts, 'the command needs the addon: one line names the option, exit code 4', (t) => {
  const { status, stderr } = run([], [command, 'devices']);
  t.is(status, 4, stderr);
  t.regex(stderr, /^clsort: cannot load clsort's native addon: .*--allow-addons.*\n$/);
});

testIf(restricts, 'doctor names the option that the addon needs', (t) => {
  const { status, stdout } = run([], [command, 'doctor', '--json']);
  t.is(status, 4);
  const { findings } = JSON.parse(stdout);
  t.is(findings.find(({ area }: { area: string }) => area === 'addon').fix, 'start Node with --allow-addons');
});

const folder = mkdtempSync(join(tmpdir(), 'clsort-permissions-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));
const table = join(folder, 'keys.csv');
writeFileSync(table, 'a,b\n2,1\n1,2\n');
const keys = join(folder, 'keys.f64');
writeFileSync(keys, Float64Array.of(3, 1, 2));
const jobs = join(folder, 'jobs.json');
writeFileSync(jobs, JSON.stringify({ jobs: [{ in: keys, out: join(folder, 'by-batch.f64') }] }));

const BY_CHILD_PROCESSES: Readonly<Record<string, readonly string[]>> = {
  'a binary table': ['sort', table, '--by', 'a', '--device', 'host', '-o', join(folder, 'out.parquet')],
  'a batch on a device': ['batch', jobs, '--device', 'cpu'],
  'the matrix': ['matrix', '--quick', '--device', 'cpu'],
  doctor: ['doctor'],
};
for (const [what, args] of Object.entries(BY_CHILD_PROCESSES)) {
  test(`${what} needs child processes: one line names the option, exit code 4`, (t) => {
    const addons = restricts ? ['addons'] : [];
    const { status, stderr } = run([...addons, 'fs-write=*'], [command, ...args]);
    t.is(status, 4, stderr);
    t.regex(
      stderr,
      /^clsort: cannot continue: .* child processes\. Start Node with --allow-child-process\n$/,
    );
  });
}

test('files are written without other permissions than reading and writing', (t) => {
  const out = join(folder, 'sorted.csv');
  const { status, stderr } = run([`fs-write=${folder}/*`], [command, 'sort', table, '--by', 'a', '-o', out]);
  t.is(status, 0, stderr);
  t.is(readFileSync(out, 'utf8'), 'a,b\n1,2\n2,1\n');
});

test('an output that must not be written: one line names the option and the folder', (t) => {
  const { status, stderr } = run([], [command, 'sort', table, '--by', 'a', '-o', join(folder, 'denied.csv')]);
  t.is(status, 5, stderr);
  t.true(stderr.endsWith(`does not allow writing. Start Node with --allow-fs-write=${folder}/*\n`), stderr);
  t.regex(stderr, /^clsort: cannot write .*\n$/);
});

test('a worker thread of a program names the option', (t) => {
  const program = `import('./dist/src/util/permission.js').then(({ deniedPermission }) => {
    try { new (require('node:worker_threads').Worker)('', { eval: true }); }
    catch (error) { console.log(deniedPermission(error)); }
  })`;
  const { stdout, stderr } = run([], ['-e', program]);
  t.regex(stdout, /does not allow worker threads\. Start Node with --allow-worker\n$/, stderr);
});

test('the library sorts with nothing allowed but reading, with one warning', (t) => {
  const program = `import('./dist/src/index.js').then(async ({ argsort, sort }) => {
    const warnings = [];
    const onWarning = ({ code }) => warnings.push(code);
    const keys = Float32Array.from({ length: 300_000 }, (_, i) => Math.sin(i));
    const expected = keys.slice().sort();
    const sorted = await sort(keys, { onWarning });
    const order = await argsort(keys, { onWarning });
    console.log(sorted.every((key, i) => key === expected[i]), order.every((at, i) => keys[at] === expected[i]));
    console.log(String(await sort(Float32Array.of(3, 1, 2))), warnings.length);
  })`;
  const { status, stdout, stderr } = run([], ['-e', program]);
  t.is(status, 0, stderr);
  t.is(stdout, 'true true\n1,2,3 1\n');
});
