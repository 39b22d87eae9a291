import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import test from 'ava';
import { scratchFolder } from '../cli/cli.js';
import { testIf } from '../each-device.js';
import { hostSorter } from '../io/host-sorter.js';
import { joinedParts, recordRequest, recordsOf, sortedRecords, sortHere } from './parts.js';

const sorter = hostSorter(test);

/** A small disk, if this process may mount one. */
const { path, folder, remove } = scratchFolder();
const disk = path('disk');
mkdirSync(disk);
const able =
  process.getuid?.() === 0 && spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'none', disk]).status === 0
    ? true
    : 'cannot mount a file system';
test.after.always(() => {
  if (able === true) spawnSync('umount', ['-l', disk]);
  remove();
});

testIf(able, 'a full disk raises an IoError, and the sort resumes when there is space', async (t) => {
  const bytes = recordsOf(100_000); // 1.5 MiB
  const filler = `${disk}/filler`;
  const request = recordRequest(disk, bytes);
  let isFull = false;
  const failing = sortHere(sorter(), request, {
    listen: (event) => {
      if (event.is !== 'stage' || event.stage !== 'partition') return;
      spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k']);
      isFull = true;
    },
  });
  await t.throwsAsync(failing, { code: 'ERR_CLSORT_IO', message: /no space is left on the device/ });
  t.true(isFull);
  t.false(existsSync(request.out));
  rmSync(filler);
  const stages: string[] = [];
  await sortHere(sorter(), request, {
    listen: (event) => {
      if (event.is === 'stage') stages.push(`${event.stage} ${event.done}`);
    },
  });
  t.deepEqual(stages.slice(0, 3), ['sample 4', 'splitters 1', 'partition 0']);
  t.true((await joinedParts(request.out)).equals(sortedRecords(bytes)));
});

testIf(able, 'a sort that needs more disk space than is free fails before it begins', async (t) => {
  const filler = `${disk}/filler`;
  const request = recordRequest(disk, recordsOf(100_000), { out: `${disk}/other` });
  spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k']);
  rmSync(`${disk}/out`, { recursive: true, force: true });
  const error = await t.throwsAsync(sortHere(sorter(), request), { code: 'ERR_CLSORT_IO' });
  t.regex(error?.message ?? '', /cannot write pieces of partitions .* bytes are needed/);
  t.false(existsSync(`${disk}/other`));
  rmSync(filler);
});

test('invalid inputs, outputs and partition counts raise errors that name them', async (t) => {
  const here = scratchFolder();
  t.teardown(here.remove);
  const bytes = recordsOf(100);
  const request = recordRequest(here.folder, bytes);
  const refused = async (more: object, code: string, message: RegExp): Promise<void> => {
    await t.throwsAsync(sortHere(sorter(), { ...request, ...more }), { code, message });
  };
  await refused(
    { inputs: ['-'] },
    'ERR_CLSORT_USAGE',
    /cannot sort - on many machines: it is not a regular file/,
  );
  await refused({ inputs: [here.path('none')] }, 'ERR_CLSORT_USAGE', /it is not a regular file/);
  await refused({ partitions: 0 }, 'ERR_CLSORT_USAGE', /for --partitions but got 0/);
  await refused({ partitions: 513 }, 'ERR_CLSORT_USAGE', /from 1 to 512/);
  await refused({ out: here.path('in.dat') }, 'ERR_CLSORT_USAGE', /it is a file, and the result is a folder/);
  await refused(
    { out: here.folder },
    'ERR_CLSORT_USAGE',
    /it contains in\.dat, which is not part of a result/,
  );
  writeFileSync(here.path('odd.dat'), bytes.subarray(1));
  await refused(
    { inputs: [here.path('odd.dat')] },
    'ERR_CLSORT_IO',
    /cannot divide .* into elements of 16 bytes: 15 of its 1599 bytes/,
  );
  await t.throwsAsync(sortHere(sorter(), { ...request, inputs: [`${folder}/../clsort-no-such-file`] }), {
    code: 'ERR_CLSORT_USAGE',
  });
  const outside = scratchFolder();
  t.teardown(outside.remove);
  const other = recordRequest(outside.folder, bytes);
  await refused({ inputs: other.inputs }, 'ERR_CLSORT_USAGE', /cannot share .* with workers: it is not in /);
});
