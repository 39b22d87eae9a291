import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { acquireCoordinatorLock } from '../../src/engines/coordinator-lock.js';
import { idOf, JobFolder } from '../../src/engines/job-folder.js';
import { SharedFolder } from '../../src/engines/shared-folder.js';
import { thisProcess } from '../../src/io/streams/temporary-files.js';
import { ClsortError } from '../../src/util/errors.js';
import { scratchFolder } from '../cli/cli.js';

test('names that lead outside the shared folder through parent folders or links are rejected', async (t) => {
  const { folder, path, remove } = scratchFolder();
  const outside = scratchFolder();
  t.teardown(remove);
  t.teardown(outside.remove);
  mkdirSync(path('deep/er'), { recursive: true });
  writeFileSync(path('deep/in'), 'x');
  writeFileSync(outside.path('in'), 'x');
  symlinkSync(outside.folder, path('link'));
  symlinkSync(outside.path('in'), path('file'));
  symlinkSync(outside.path('not-there'), path('dangling'));
  symlinkSync(path('deep'), path('inner'));
  symlinkSync('.', path('here'));
  const shared = await SharedFolder.open(folder);
  const { root } = shared;
  t.is(await shared.existing('deep/in'), join(root, 'deep/in'));
  t.is(await shared.existing('inner/in'), join(root, 'deep/in'));
  t.is(await shared.target('inner/new'), join(root, 'deep/new'));
  t.is(await shared.nameOf(path('inner/in')), 'deep/in');
  t.is(await shared.nameOf(path('deep/new')), 'deep/new');
  const names = [
    '',
    '.',
    '..',
    '../in',
    'deep/../../in',
    '/etc/passwd',
    'link/in',
    'file',
    'link',
    'deep/\0',
    'here/..',
  ];
  for (const name of names) {
    await t.throwsAsync(shared.existing(name), { instanceOf: ClsortError }, name);
    if (name !== 'here/..') await t.throwsAsync(shared.target(name), { instanceOf: ClsortError }, name);
  }
  for (const name of ['link/new', 'dangling', 'file'])
    await t.throwsAsync(shared.target(name), { code: 'ERR_CLSORT_USAGE' });
  for (const name of [undefined, null, 7, {}]) {
    await t.throwsAsync(shared.existing(name as unknown as string), undefined, String(name));
  }
  await t.throwsAsync(shared.nameOf(outside.path('in')), {
    code: 'ERR_CLSORT_USAGE',
    message: /--workers-folder/,
  });
  await t.throwsAsync(shared.nameOf(path('file')), { code: 'ERR_CLSORT_USAGE' });
  await t.throwsAsync(SharedFolder.open(path('deep/in')), { code: 'ERR_CLSORT_IO' });
  await t.throwsAsync(SharedFolder.open(path('none')), { code: 'ERR_CLSORT_IO' });
});

test('a job folder must not be a link, and its name must be a valid id', async (t) => {
  const { folder, path, remove } = scratchFolder();
  t.teardown(remove);
  const shared = await SharedFolder.open(folder);
  mkdirSync(path('.clsort'));
  symlinkSync(folder, path('.clsort/aaaaaaaaaaaa'));
  await t.throwsAsync(JobFolder.find(shared, 'aaaaaaaaaaaa'), {
    code: 'ERR_CLSORT_USAGE',
    message: /it is a symbolic link/,
  });
  await t.throwsAsync(JobFolder.make(shared, 'aaaaaaaaaaaa'), { code: 'ERR_CLSORT_USAGE' });
  await t.throwsAsync(JobFolder.find(shared, 'bbbbbbbbbbbb'), {
    code: 'ERR_CLSORT_IO',
    message: /cannot find job/,
  });
  for (const id of ['', '..', '../../etc', 'AAAAAAAAAAAA', 'aaaaaaaaaaaa\n', 7, null]) {
    await t.throwsAsync(JobFolder.find(shared, id as string), { code: 'ERR_CLSORT_USAGE' });
  }
  const job = await JobFolder.make(shared, idOf('out'));
  t.is(await job.get('sort', 0), undefined);
  await job.put('sort', 2, { n: 1 });
  t.deepEqual([...(await job.done('sort'))], [2]);
  t.deepEqual(await job.get('sort', 2), { n: 1 });
  writeFileSync(job.file('sort-000003.json'), '{"n":');
  await t.throwsAsync(job.get('sort', 3), { code: 'ERR_CLSORT_IO', message: /cannot read .* as JSON/ });
});

test('a job has one coordinator at a time, and the lock of a dead coordinator is replaced', async (t) => {
  const { folder, remove } = scratchFolder();
  t.teardown(remove);
  const job = await JobFolder.make(await SharedFolder.open(folder), idOf('out'));
  const release = await acquireCoordinatorLock(job);
  const error = await t.throwsAsync(acquireCoordinatorLock(job), {
    code: 'ERR_CLSORT_USAGE',
    message: /process \d+ on .* already coordinates it/,
  });
  t.true(error?.message.includes(`clsort status ${job.id}`));
  await release();
  await (await acquireCoordinatorLock(job))();
  // The lock of a dead process of this host.
  const gone = { ...thisProcess(), start: '1', name: 'here' };
  writeFileSync(job.file('coordinator.json'), JSON.stringify(gone));
  await (await acquireCoordinatorLock(job))();
  // A lock of another host is valid until it has not been renewed for long.
  writeFileSync(job.file('coordinator.json'), JSON.stringify({ ...gone, host: 'another', name: 'afar' }));
  await t.throwsAsync(acquireCoordinatorLock(job), { code: 'ERR_CLSORT_USAGE', message: /on afar/ });
  const long = new Date(Date.now() - 3600_000);
  utimesSync(job.file('coordinator.json'), long, long);
  const again = await acquireCoordinatorLock(job);
  await again();
});
