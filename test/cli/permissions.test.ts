/** The command and the library under Node's permission model. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

test('a format with a child process needs one: one line names the option, exit code 4', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-permissions-'));
  try {
    const file = join(folder, 'keys.csv');
    writeFileSync(file, 'a,b\n2,1\n1,2\n');
    const { status, stderr } = run(
      ['addons', 'fs-write=*'],
      [command, 'sort', file, '--by', 'a', '--device', 'host', '-o', join(folder, 'out.parquet')],
    );
    t.is(status, 4, stderr);
    t.regex(
      stderr,
      /^clsort: cannot continue: .* child processes\. Start Node with --allow-child-process\n$/m,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('the library sorts with nothing allowed but reading', (t) => {
  const program =
    "import('./dist/src/index.js').then(async ({ sort }) => console.log(String(await sort(Float32Array.of(3, 1, 2)))))";
  const { status, stdout, stderr } = run([], ['-e', program]);
  t.is(status, 0, stderr);
  t.is(stdout, '1,2,3\n');
});
