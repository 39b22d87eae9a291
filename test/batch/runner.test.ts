/** Assigns jobs to fake processes: order, limits, retries, timeouts and lost devices. */
import { fileURLToPath } from 'node:url';
import test from 'ava';
import type { BatchEvent, JobResult } from '../../src/batch/events.js';
import type { Entry } from '../../src/batch/job-queue.js';
import { Runner, type RunOptions } from '../../src/batch/runner.js';
import { IoError, MemoryError, NoDeviceError, TimeoutError, UsageError } from '../../src/util/errors.js';
import { FakeWorkers } from './fake-workers.js';

/** An existing input: jobs without inputs fail before they reach a process. */
const INPUT = fileURLToPath(import.meta.url);

/** A job with an input of this many bytes, which also name it. */
const entry = (bytes: number, more: Partial<Entry> & { device?: string } = {}): Entry => {
  const { device, ...facts } = more;
  const job = { name: String(bytes), in: INPUT, out: '', ...(device !== undefined && { device }) };
  const rest = { memory: 0, limit: 0, weight: 1, isSmall: false, failures: 0, isSuspect: false };
  return { job, index: 0, bytes, ...rest, ...facts };
};

/** Runs jobs on fake processes of devices that share them. */
async function ran(
  workers: FakeWorkers,
  entries: readonly Entry[],
  { devices = ['a'], ...options }: Partial<RunOptions> & { devices?: readonly string[] } = {},
) {
  const events: BatchEvent[] = [];
  const results = new Map<string, JobResult>();
  const runner = await Runner.open(
    devices.map((device) => ({ device, shares: true })),
    {
      ...{ parallel: 1, retries: 1, timeout: undefined, failFast: false, memory: 1000 },
      signal: new AbortController().signal,
      openWorker: workers.open,
      onEvent: (event) => {
        events.push(event);
        if (event.is === 'end') results.set(event.result.job.name, event.result);
      },
      ...options,
    },
  );
  runner.add(entries);
  await runner.end();
  const outcomes = Object.fromEntries([...results].map(([name, { outcome }]) => [name, outcome]));
  return { results, outcomes, events };
}

test('the largest job starts first, and a device runs at most `parallel` jobs at once', async (t) => {
  const workers = new FakeWorkers();
  let [underWay, maxRunning] = [0, 0];
  workers.outcomeOf = async () => {
    maxRunning = Math.max(maxRunning, ++underWay);
    await new Promise(setImmediate);
    underWay--;
  };
  const { outcomes, events } = await ran(
    workers,
    [3, 9, 5, 7, 1, 2].map((bytes) => entry(bytes)),
    { parallel: 2 },
  );
  t.deepEqual(outcomes, { 1: 'ok', 2: 'ok', 3: 'ok', 5: 'ok', 7: 'ok', 9: 'ok' });
  // Jobs that start together look for their inputs at the same time, so their processes may get them in either order.
  const started = events.flatMap((event) =>
    event.is === 'begin' ? `${event.job.name} on ${event.device}` : [],
  );
  t.deepEqual(started, ['9 on a', '7 on a', '5 on a', '3 on a', '2 on a', '1 on a']);
  t.is(maxRunning, 2);
  t.deepEqual(workers.opened, ['a']);
});

test('small jobs count as a fraction of a job', async (t) => {
  const workers = new FakeWorkers();
  let [underWay, maxRunning] = [0, 0];
  workers.outcomeOf = async () => {
    maxRunning = Math.max(maxRunning, ++underWay);
    await new Promise(setImmediate);
    underWay--;
  };
  await ran(
    workers,
    Array.from({ length: 20 }, (_, i) => entry(i, { weight: 1 / 8 })),
  );
  t.is(maxRunning, 8);
});

test('a job that exceeds the free memory waits until other jobs end', async (t) => {
  const workers = new FakeWorkers();
  let [used, maxRunning] = [0, 0];
  const sizes = [900, 600, 500, 400, 200];
  workers.outcomeOf = async ({ name }) => {
    used += Number(name);
    maxRunning = Math.max(maxRunning, used);
    await new Promise(setImmediate);
    used -= Number(name);
  };
  const { outcomes } = await ran(
    workers,
    [...sizes, 2000].map((bytes) => entry(bytes, { memory: bytes })),
    {
      devices: ['a', 'b'],
      parallel: 3,
    },
  );
  t.true(Object.values(outcomes).every((outcome) => outcome === 'ok'));
  t.is(maxRunning, 2000, 'a job that needs more than the limit runs alone');
  t.is(workers.begun[0]?.split(' ')[0], '2000');
});

test('a job runs on the device that it names, whose process is started if necessary', async (t) => {
  const workers = new FakeWorkers();
  await ran(workers, [entry(1, { device: 'c' }), entry(2, { device: 'a' }), entry(3)]);
  t.deepEqual(workers.begun.toSorted(), ['1 on c', '2 on a', '3 on a']);
  t.deepEqual(workers.opened, ['a', 'c']);
});

test('a process that exits is restarted, and only the job that crashed it fails', async (t) => {
  const workers = new FakeWorkers();
  let crashes = 0;
  // The other jobs run until the first crash, so the job that crashed was not alone.
  const untilCrash = async () => {
    while (crashes === 0) await new Promise(setImmediate);
    await new Promise(setImmediate); // the process ends in between
  };
  workers.outcomeOf = ({ name }) => {
    if (name !== '5') return untilCrash();
    crashes++;
    return 'crash';
  };
  const { results, outcomes, events } = await ran(
    workers,
    [1, 5, 8, 9].map((bytes) => entry(bytes)),
    {
      devices: ['a', 'b'],
      parallel: 3,
      retries: 0,
    },
  );
  t.deepEqual(outcomes, { 1: 'ok', 5: 'error', 8: 'ok', 9: 'ok' });
  const failed = results.get('5');
  t.like(failed, { attempts: 1, error: { code: 'ERR_CLSORT_DEVICE_LOST' } });
  t.true(
    crashes === 2 || crashes === 3,
    'a job that was not alone when its process exited is not blamed yet',
  );
  t.is(events.filter(({ is }) => is === 'lost').length, crashes);
  t.is(workers.opened.length, 2 + crashes);
});

test('a job suspected of a crash is retried alone, on another device if there is one', async (t) => {
  const workers = new FakeWorkers();
  const seen: string[] = [];
  workers.outcomeOf = ({ name }, device) => {
    seen.push(`${name} on ${device}`);
    return name === '9' && seen.length < 3 ? 'crash' : 'ok';
  };
  const { outcomes } = await ran(workers, [entry(9)], { devices: ['a', 'b'], retries: 2 });
  t.deepEqual(outcomes, { 9: 'ok' });
  t.deepEqual(seen, ['9 on a', '9 on b', '9 on a']);
});

for (const [fakeOutcome, claim, opened] of [
  ['wait', 'a job that exceeds the timeout is cancelled, and its process keeps running', ['a']],
  ['hang', 'a process is killed if its job ignores the cancellation', ['a', 'a']],
] as const) {
  test(`${claim}; only that job fails`, async (t) => {
    const workers = new FakeWorkers();
    workers.outcomeOf = ({ name }) => (name === '9' ? fakeOutcome : 'ok');
    const entries = [9, 5, 4].map((bytes) => entry(bytes));
    const { results, outcomes } = await ran(workers, entries, { timeout: 0.05, retries: 0 });
    t.deepEqual(outcomes, { 4: 'ok', 5: 'ok', 9: 'error' });
    const late = results.get('9');
    t.true(late?.outcome === 'error' && late.error instanceof TimeoutError);
    t.deepEqual(workers.opened, opened);
  });
}

test('a failed job is retried after all others, unless its error is permanent', async (t) => {
  const workers = new FakeWorkers();
  const failures = new Map<string, number>();
  workers.outcomeOf = ({ name }) => {
    const count = (failures.get(name) ?? 0) + 1;
    failures.set(name, count);
    if (name === '9') return new UsageError('wrong');
    if (name === '8')
      return new IoError('no such file', { cause: Object.assign(new Error(), { code: 'ENOENT' }) });
    if (name === '7') return new MemoryError('full');
    return name === '6' && count === 1 ? new MemoryError('full') : 'ok';
  };
  const { results, outcomes, events } = await ran(
    workers,
    [9, 8, 7, 6, 5].map((bytes) => entry(bytes)),
  );
  t.deepEqual(outcomes, { 9: 'error', 8: 'error', 7: 'error', 6: 'ok', 5: 'ok' });
  t.deepEqual(Object.fromEntries(failures), { 9: 1, 8: 1, 7: 2, 6: 2, 5: 1 });
  t.deepEqual(workers.begun.slice(-3), ['5 on a', '7 on a', '6 on a']);
  t.like(results.get('6'), { attempts: 2 });
  t.is(events.filter(({ is }) => is === 'again').length, 2);
});

test('with failFast, jobs that have not started are skipped after a failure', async (t) => {
  const workers = new FakeWorkers();
  workers.outcomeOf = ({ name }) => (name === '9' ? new UsageError('wrong') : 'ok');
  const { outcomes } = await ran(
    workers,
    [9, 5, 4].map((bytes) => entry(bytes)),
    { failFast: true },
  );
  t.deepEqual(outcomes, { 9: 'error', 5: 'skipped', 4: 'skipped' });
});

test('an interrupted batch cancels running jobs, kills processes that hang, and skips the other jobs', async (t) => {
  const workers = new FakeWorkers();
  const controller = new AbortController();
  workers.outcomeOf = ({ name }) => {
    if (name === '7') setImmediate(() => controller.abort());
    return name === '9' ? 'wait' : 'hang';
  };
  const jobs = [9, 8, 7, 5, 4].map((bytes) => entry(bytes));
  const { outcomes } = await ran(workers, jobs, { parallel: 3, signal: controller.signal });
  t.deepEqual(outcomes, { 9: 'skipped', 8: 'skipped', 7: 'skipped', 5: 'skipped', 4: 'skipped' });
  t.deepEqual(workers.opened, ['a']);
});

test('a device that fails to open is retried, but a device that does not exist is not', async (t) => {
  const workers = new FakeWorkers();
  workers.openErrorOf = () => (workers.opened.length < 3 ? new MemoryError('busy') : undefined);
  const { outcomes } = await ran(workers, [entry(1)]);
  t.deepEqual(outcomes, { 1: 'ok' });
  t.is(workers.opened.length, 3);
  workers.openErrorOf = () => new NoDeviceError('none');
  await t.throwsAsync(ran(workers, [entry(1)]), { instanceOf: NoDeviceError });
  t.is(workers.opened.length, 4);
});

test('jobs of a device that cannot be reopened run on another device, or fail if they name it', async (t) => {
  const workers = new FakeWorkers();
  let isGone = false;
  workers.openErrorOf = (device) => (device === 'a' && isGone ? new MemoryError('gone') : undefined);
  workers.outcomeOf = (_, device) => {
    if (device === 'b') return new Promise(setImmediate);
    isGone = true;
    return 'crash';
  };
  const jobs = [entry(9, { device: 'a' }), entry(8, { device: 'a' }), entry(5), entry(4)];
  const { results, outcomes } = await ran(workers, jobs, { devices: ['a', 'b'] });
  t.deepEqual(outcomes, { 9: 'error', 8: 'error', 5: 'ok', 4: 'ok' });
  t.like(results.get('8'), { attempts: 0, error: { message: 'gone' } });
  t.is(workers.opened.filter((device) => device === 'a').length, 4, 'opened once and retried three times');
});
