import { statSync, writeFileSync } from 'node:fs';
import test from 'ava';
import { assertFreeSpace, diskUsage } from '../../../src/io/external/disk.js';
import { IoError } from '../../../src/util/errors.js';
import { scratchFolder } from '../../cli/cli.js';

const { folder, path, remove } = scratchFolder();
test.after.always(remove);

test('occupied returns the disk space of the files in a folder', async (t) => {
  writeFileSync(path('a'), new Uint8Array(100_000));
  t.is(await diskUsage(folder), statSync(path('a')).blocks * 512);
  t.is(await diskUsage(path('none')), 0);
});

test('space needed on one disk is added up, less the space that is freed on the way', async (t) => {
  const half = 2 ** 58;
  const both = [
    { folder, bytes: half, what: 'temporary files' },
    { folder, bytes: half, what: 'the result' },
  ];
  const error = await t.throwsAsync(assertFreeSpace(both, 1000), { instanceOf: IoError });
  t.is(error?.details.needed, 2 * half - 1000);
  t.regex(error?.message ?? '', /temporary files in .* and the result in .*--tmp/);
  await t.notThrowsAsync(assertFreeSpace(both, 2 * half));
  await t.notThrowsAsync(assertFreeSpace([{ folder: path('none'), bytes: half, what: 'it' }], 0));
});
