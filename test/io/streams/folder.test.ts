import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import test from 'ava';
import { makeFolder } from '../../../src/io/streams/folder.js';
import { IoError } from '../../../src/util/errors.js';
import { scratchFolder } from '../../cli/cli.js';
import { where } from '../../where.js';

const { path, remove } = scratchFolder();
const disk = path('fixed disk');
mkdirSync(disk);
const mount = (...args: string[]): boolean => spawnSync('mount', [...args, disk]).status === 0;
const isMounted = process.platform === 'linux' && mount('-t', 'tmpfs', '-o', 'ro', 'tmpfs');
test.after.always(() => {
  if (isMounted) spawnSync('umount', ['-l', disk]);
  remove();
});
const onFixedDisk = where(isMounted, 'no disk can be mounted');

test('makeFolder creates parent folders and accepts an existing folder', async (t) => {
  await makeFolder(path('a/b/c'));
  await makeFolder(path('a/b/c'));
  t.true(existsSync(path('a/b/c')));
  writeFileSync(path('file'), '');
  const refused = (folder: string, message: RegExp) =>
    t.throwsAsync(makeFolder(folder, 'x.u32'), { instanceOf: IoError, message });
  await refused(path('file'), /^cannot write x\.u32: a file with that name exists$/);
  await refused(path('file/below'), /^cannot write x\.u32: a part of the path is not a directory$/);
  await refused('/proc/none/below', /^cannot write x\.u32: its folder does not exist$/);
});

onFixedDisk('makeFolder reports a read-only disk, at any depth', async (t) => {
  for (const name of ['a', 'a/b/c'])
    await t.throwsAsync(makeFolder(`${disk}/${name}`), { instanceOf: IoError, message: /read-only/ });
});
