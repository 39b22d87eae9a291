import { readFileSync, writeFileSync } from 'node:fs';
import test from 'ava';
import type { Job } from '../../src/batch/jobs.js';
import { openWorker } from '../../src/batch/local-worker.js';
import { WorkerLostError, type WorkerOptions, WorkerProcess } from '../../src/batch/worker-process.js';
import { AbortedError } from '../../src/util/errors.js';
import { scratchFolder } from '../cli/cli.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

writeFileSync(path('a.u32'), new Uint32Array([3, 1, 2]));
const jobTo = (out: string, more: Partial<Job> = {}) =>
  ({ name: 'a', in: path('a.u32'), out: path(out), ...more }) as Job;
const open = (
  device = 'auto',
  onLost: (error: Error) => void = () => undefined,
  options: Partial<WorkerOptions> = {},
) =>
  openWorker(
    { device, parallel: 2, idleBytes: 0, isLazy: true, ...options },
    { onWarning: () => undefined, onLost },
  );
const ignore = (): void => undefined;

test('a small job runs in this process, and its output has the sorted keys and a checksum', async (t) => {
  const worker = await open();
  const { report, output } = await worker.run(jobTo('small.u32'), 2 ** 20, ignore, true).done;
  await worker.close();
  t.deepEqual(
    new Uint32Array(new Uint8Array(readFileSync(path('small.u32'))).buffer),
    Uint32Array.of(1, 2, 3),
  );
  t.is(report.reason, 'a small job of a batch');
  t.is(output?.bytes, 12);
  t.truthy(output?.checksum);
});

test('without hashes, jobs here and in a worker process report no states of files', async (t) => {
  for (const hashes of [true, false]) {
    const worker = await open('host', undefined, { hashes });
    for (const isSmall of [true, false]) {
      const { input, output } = await worker.run(jobTo('states.u32'), 2 ** 20, ignore, isSmall).done;
      t.is(input !== undefined, hashes, `small: ${isSmall}`);
      t.is(output !== undefined, hashes, `small: ${isSmall}`);
    }
    await worker.close();
  }
});

test('a job that is not small runs in a worker process, whose loss is reported', async (t) => {
  let lost: Error | undefined;
  const worker = await open('host', (error) => {
    lost = error;
  });
  const { report } = await worker.run(jobTo('process.u32'), 2 ** 20, ignore, false).done;
  t.is(report.reason, 'asked for');
  worker.kill(); // first, since the process may sort few keys before a signal arrives
  const { done } = worker.run(jobTo('killed.u32'), 2 ** 20, ignore, false);
  t.true((await t.throwsAsync(done)) instanceof WorkerLostError);
  t.true(lost instanceof WorkerLostError);
});

test('a cancelled job rejects with an AbortedError, in this process and in another', async (t) => {
  const worker = await open('host');
  for (const isSmall of [true, false]) {
    const { done, cancel } = worker.run(jobTo('cancelled.u32'), 2 ** 20, ignore, isSmall);
    cancel();
    await t.throwsAsync(done, { instanceOf: AbortedError }, `small: ${isSmall}`);
  }
  await worker.close();
});

test('a worker of another device is a process, whatever its jobs are', async (t) => {
  const error = await t.throwsAsync(open('no-such-device'));
  t.regex(error?.message ?? '', /no-such-device/);
  const worker = await open('host');
  t.false(worker instanceof WorkerProcess);
  await worker.close();
});
