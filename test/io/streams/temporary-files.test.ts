import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import test from 'ava';
import {
  hasOwnerExited,
  ownerOf,
  removeOrphansOnce,
  temporaryName,
  thisProcess,
} from '../../../src/io/streams/temporary-files.js';
import { scratchFolder } from '../../cli/cli.js';
import { where } from '../../where.js';

const { folder, path, remove } = scratchFolder();
test.after.always(remove);

const me = thisProcess();
/** Whether this system reports the start time of a process. */
const knowsStart = existsSync('/proc/self/stat');

/** The pid of a process that has just ended. */
const endedPid = (): number => spawnSync(process.execPath, ['-e', '0']).pid;

test('a temporary file name encodes its owner for every output name', (t) => {
  for (const name of ['out', 'a.clsort-b.tmp', 'line\nbreak', 'ä'.repeat(127), '数'.repeat(85), '-', ' ']) {
    const temporary = temporaryName(name);
    t.deepEqual(ownerOf(temporary), me, name);
    t.true(Buffer.byteLength(temporary) <= 255);
    t.not(temporary, temporaryName(name));
    writeFileSync(path(temporary), ''); // the file system takes it
  }
});

test('other names have no owner', (t) => {
  for (const name of [
    'out',
    '.out.0123456789ab.tmp',
    `${temporaryName('out')}.bak`,
    temporaryName('out').slice(1),
  ]) {
    t.is(ownerOf(name), undefined, name);
  }
});

test('a process is gone when it has ended, its pid was reused, or the system was rebooted', (t) => {
  t.false(hasOwnerExited(me));
  t.true(hasOwnerExited({ ...me, pid: endedPid() }));
  t.true(hasOwnerExited({ ...me, boot: 'another' }));
  if (knowsStart) t.true(hasOwnerExited({ ...me, start: String(Number(me.start) - 1) }));
  else t.log('this system does not tell when a process started');
});

test('a process on another host or in another PID namespace does not count as gone', (t) => {
  const pid = endedPid();
  t.false(hasOwnerExited({ ...me, pid, host: 'another' }));
  t.false(hasOwnerExited({ ...me, pid, host: 'another', boot: 'another' }));
  t.false(hasOwnerExited({ ...me, pid, space: '1' }));
});

where(
  process.platform === 'linux',
  'there is no /proc',
  test,
)('a zombie process counts as gone', async (t) => {
  // The shell becomes a program that never waits for its child, long before the child ends.
  const script = 'sleep 1 & echo $!; exec sleep 20';
  const parent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  t.teardown(() => parent.kill('SIGKILL'));
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(line.toString());
  const facts = () => readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
  for (let tries = 0; tries < 500 && facts()[0] !== 'Z'; tries++) await setTimeout(20);
  t.true(hasOwnerExited({ ...me, pid, start: facts()[19] ?? '' }));
});

test('a sweep removes only temporary files of ended processes', async (t) => {
  const pid = endedPid();
  const remaining = [
    'keys.u32',
    '.keys.u32.0123456789ab.tmp',
    temporaryName('living', me),
    temporaryName('of another host', { ...me, pid, host: 'abcdef012345', boot: '0123456789ab' }),
    temporaryName('of another space', { ...me, pid, space: '1' }),
  ];
  const orphans = [
    temporaryName('killed', { ...me, pid }),
    temporaryName('line\nbreak', { ...me, pid }),
    temporaryName('before the boot', { ...me, boot: '0123456789ab' }),
    ...(knowsStart ? [temporaryName('pid used again', { ...me, start: '1' })] : []),
  ];
  const swept = join(folder, 'swept');
  await removeOrphansOnce(join(folder, 'missing')); // no folder: nothing to do
  mkdirSync(swept);
  for (const name of [...remaining, ...orphans]) writeFileSync(join(swept, name), '');
  await removeOrphansOnce(swept);
  t.deepEqual(readdirSync(swept).toSorted(), remaining.toSorted());
});
