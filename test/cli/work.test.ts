import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import ava from 'ava';
import { generate } from '../../src/io/operations/gen.js';
import { referenceSort } from '../reference.js';
import { where } from '../where.js';
import { MAIN, scratchFolder } from './cli.js';

const test = where(process.platform !== 'win32', 'not on Windows', ava.serial); // each starts processes
const { path, remove } = scratchFolder();
ava.after.always(remove);

const keys = generate({ dtype: 'u32', count: 200_000, distribution: 'uniform', seed: 7 });
writeFileSync(path('in.u32'), keys);

const quoted = (args: readonly string[]): string => args.map((arg) => `'${arg}'`).join(' ');

/** Runs the command before a pipe to `reader`, by the shell. */
function piped(args: readonly string[], reader: string) {
  const command = quoted([process.execPath, MAIN, ...args]);
  const { stdout, stderr } = spawnSync(
    'sh',
    ['-c', `{ ${command}; echo $? > "$0"; } | ${reader}`, path('code')],
    {
      cwd: path('.'),
    },
  );
  return { stdout, err: stderr.toString(), code: Number(readFileSync(path('code'), 'utf8')) };
}

const sort = ['sort', 'in.u32', '--dtype', 'u32', '--device', 'host'];

test('a command whose result is only partly read ends quietly with 141', (t) => {
  const ran = piped([...sort, '-o', '-'], 'head -c 40');
  t.is(ran.err, '');
  t.is(ran.code, 141);
  t.deepEqual(ran.stdout, Buffer.from(referenceSort(keys, 'u32')).subarray(0, 40));
  const made = piped(['gen', '--dtype', 'u32', '--count', '16Mi', '-o', '-'], 'head -c 40');
  t.is(made.err, '');
  t.is(made.code, 141);
});

for (const [title, args, code] of [
  ['help', ['--help'], 0],
  ['the help of a command', ['sort', '--help'], 0],
  ['the version', ['--version'], 0],
  ['devices', ['devices', '--json'], 0],
  ['a report', [...sort, '-o', 'out.u32', '--json'], 0],
  ['the result of a check', ['check', 'in.u32', '--dtype', 'u32'], 1],
  ['the message of gen', ['gen', '--dtype', 'u8', '--count', '9', '-o', 'made.u8'], 0],
] as const) {
  test(`${title} into a closed pipe keeps its exit code and prints no error`, (t) => {
    const ran = piped(args, 'true');
    t.is(ran.err, '');
    t.is(ran.code, code);
  });
}

test('a report into a closed pipe leaves the result in place', (t) => {
  t.deepEqual(readFileSync(path('out.u32')), Buffer.from(referenceSort(keys, 'u32')));
});

test('matrix ends when its output pipe closes', (t) => {
  const ran = piped(
    ['matrix', '--quick', '--algorithm', 'amd', '--dtype', 'u32', 'u64', '--device', 'cpu'],
    'head -1',
  );
  t.is(ran.err, '');
  t.is(ran.code, 141);
  t.is(JSON.parse(ran.stdout.toString()).schema, 'clsort.matrix/2');
});

test('a closed socket ends a command as a closed pipe does', async (t) => {
  const child = spawn(process.execPath, [MAIN, 'gen', '--dtype', 'u32', '--count', '16Mi', '-o', '-']);
  child.stdout.once('data', () => child.stdout.destroy());
  const ended = new Promise((resolve) => child.once('exit', resolve));
  t.is(await text(child.stderr), '');
  t.is(await ended, 141);
});

where(
  existsSync('/dev/full'),
  'no /dev/full here',
  test,
)('a full disk on stdout is reported once and ends with 5', (t) => {
  for (const args of [['devices', '--json'], [...sort, '-o', '-'], ['--help']]) {
    const command = quoted([process.execPath, MAIN, ...args]);
    const ran = spawnSync('sh', ['-c', `${command} > /dev/full`], { cwd: path('.'), encoding: 'utf8' });
    t.is(ran.stderr, 'clsort: cannot write stdout: no space is left on the device\n', args.join(' '));
    t.is(ran.status, 5);
  }
});

test('stdout and stderr into one file keep their order', (t) => {
  const command = quoted([process.execPath, MAIN, ...sort, '-o', '/dev/stdout', '--report']);
  spawnSync('sh', ['-c', `${command} > both 2>&1`], { cwd: path('.') });
  const both = readFileSync(path('both'));
  t.deepEqual(both.subarray(0, keys.length), Buffer.from(referenceSort(keys, 'u32')));
  t.regex(both.subarray(keys.length).toString(), /^sorted 200,000 u32 keys/);
});
