import test from 'ava';
import { FULL } from '../pairwise.js';
import { type Case, type Outcome, problemOf, type Run, runCases, STATUSES, type Task } from './faults.js';

const DEVICE = 'Portable Computing Language';
const OPERATIONS = ['sort', 'argsort', 'sortPairs'];

/** Number of failing calls for each status and kind of sort; with CLSORT_TEST_FULL=1 all of them. */
const SAMPLES = 8;

const taskOf = (operation: string, verify: boolean, cases: readonly Case[]): Task => ({
  device: DEVICE,
  operation,
  options: { verify },
  cases,
});

/** The cases with a problem, and the problem. */
function problems(cases: readonly Case[], { outcomes, ended }: Run, extra = (_: Outcome) => ''): string[] {
  const found = outcomes.flatMap((outcome, i) => {
    const problem = problemOf(outcome) ?? extra(outcome);
    return problem ? [`${JSON.stringify(cases[i])} (${outcome.failed}): ${problem}`] : [];
  });
  if (ended) found.push(`the process ended after ${outcomes.length} of ${cases.length} cases: ${ended}`);
  return found;
}

/** Numbers from 1 to `n`: all, or `count` evenly spaced ones whose start depends on `phase`. */
const evenly = (n: number, count: number, phase: number): number[] =>
  Array.from({ length: Math.min(n, count) }, (_, i) =>
    n <= count ? i + 1 : 1 + Math.floor(((i + phase) * n) / count),
  );

for (const operation of OPERATIONS) {
  for (const verify of [false, true]) {
    const what = `${operation}${verify ? ', verified' : ''}`;

    test.serial(
      `${what}: after any failed OpenCL call the result is correct or a typed error, without leaks`,
      async (t) => {
        const clean = await runCases(taskOf(operation, verify, [{}]));
        t.deepEqual(problems([{}], clean), []);
        t.is(clean.outcomes[0]?.result, 'right');
        const calls = clean.outcomes[0]?.calls ?? 0;
        t.true(calls > 50, `${calls} calls`);
        const cases: Case[] = STATUSES.flatMap((status, i) =>
          evenly(calls, FULL ? calls : SAMPLES, i / STATUSES.length).map((at) => ({ fail: { at, status } })),
        );
        // A fault that no other algorithm can recover from, unlike most of the random ones.
        cases.push({ fail: { at: 1, function: 'clCreateContext', status: -36 } });
        const run = await runCases(taskOf(operation, verify, cases));
        t.deepEqual(problems(cases, run), []);
        t.is(run.outcomes.length, cases.length);
        t.is(
          run.outcomes.at(-1)?.misuses.count,
          0,
          `${run.outcomes.at(-1)?.misuses.last} with a released object`,
        );
        const results = new Set(run.outcomes.map(({ result }) => result));
        t.true(results.has('MemoryError') && results.has('DeviceLostError') && results.has('right'));
      },
    );

    test.serial(
      `${what}: a device that reports low limits gives a correct result or a typed error`,
      async (t) => {
        const cases: Case[] = [
          { spoof: { workGroup: 64 } },
          { spoof: { workGroup: 1 } },
          { spoof: { localBytes: 16 * 1024 } },
          { spoof: { localBytes: 1024 } },
          { spoof: { allocation: 8192 } },
          { spoof: { allocation: 1000 } },
          { spoof: { workGroup: 64, localBytes: 16 * 1024, allocation: 16 * 1024 } },
        ];
        // Self-tests are included: without self-test records of the unmodified device.
        const run = await runCases(taskOf(operation, verify, cases), { warm: false });
        t.deepEqual(problems(cases, run), []);
        t.is(run.outcomes.length, cases.length);
      },
    );

    test.serial(`${what}: a call that does not return raises a TimeoutError at the deadline`, async (t) => {
      const cases: Case[] = ['clWaitForEvents', 'clBuildProgram', 'clEnqueueNDRangeKernel'].flatMap(
        (name) => [
          { delay: { function: name, at: 1, milliseconds: 1500 }, options: { timeout: 250 } },
          {}, // the process continues
        ],
      );
      const run = await runCases(taskOf(operation, verify, cases));
      t.deepEqual(problems(cases, run), []);
      t.is(run.outcomes[0]?.result, 'TimeoutError');
      for (const i of [1, 3, 5]) t.is(run.outcomes[i]?.result, 'right');
    });
  }
}

for (const operation of [
  ...OPERATIONS,
  'sort in chunks',
  'top 100',
  'segments',
  'many arrays',
  'scans of host arrays',
  'unique of a host array',
  'sets of host arrays',
  'joins of host arrays',
  'filter and partition of host arrays',
]) {
  test.serial(`${operation}, verified: a word corrupted in a transfer is never returned`, async (t) => {
    const [clean] = (await runCases(taskOf(operation, true, [{}]))).outcomes;
    const reads = clean?.reads ?? 0;
    t.true(reads >= 2);
    const cases = evenly(reads, reads, 0).flatMap((at) =>
      [1, 0x10000, 0x80000000, 0xffffffff].map((mask) => ({ corrupt: { at, mask } })),
    );
    const run = await runCases(taskOf(operation, true, cases));
    t.deepEqual(problems(cases, run), []);
    t.is(run.outcomes.length, cases.length);
  });
}

for (const operation of [
  'sort in chunks',
  'argsort on the device',
  'top 100',
  'segments',
  'segments on the device',
  'many arrays',
  'filter and merge on the device',
  'partition and search of host arrays',
  'filter and partition of host arrays',
  'scans of host arrays',
  'unique of a host array',
  'sets of host arrays',
  'joins of host arrays',
  'totals by key',
  'top 3 of segments',
]) {
  test.serial(
    `${operation}: after any failed OpenCL call the result is correct or a typed error, without leaks`,
    async (t) => {
      const calls = (await runCases(taskOf(operation, true, [{}]))).outcomes[0]?.calls ?? 0;
      t.true(calls > 50, `${calls} calls`);
      const cases = STATUSES.flatMap((status, i) =>
        evenly(calls, FULL ? calls : SAMPLES / 2, i / STATUSES.length).map((at) => ({
          fail: { at, status },
        })),
      );
      const run = await runCases(taskOf(operation, true, cases));
      t.deepEqual(problems(cases, run), []);
      t.is(run.outcomes.length, cases.length);
      t.is(run.outcomes.at(-1)?.misuses.count, 0);
    },
  );
}

test.serial('a device failure during a self-test is not recorded as a failed self-test', async (t) => {
  const [clean] = (await runCases(taskOf('sort', false, [{}]), { warm: false })).outcomes;
  const calls = clean?.calls ?? 0;
  for (const status of [-5, -36]) {
    const cases = evenly(calls, 12, 0.5).flatMap((at) => [{ fail: { at, status } }, {}]);
    const run = await runCases(taskOf('sort', false, cases), { warm: false });
    t.deepEqual(problems(cases, run), []);
    for (const [i, { result, calls: made }] of run.outcomes.entries()) {
      if (i % 2 === 0) continue;
      t.is(result, 'right');
      t.true(made > 50, 'the device sorts, since its algorithm is not ruled out');
    }
    const ruledOut = Object.values(run.selfTests).filter(({ ok }) => !ok);
    t.deepEqual(ruledOut, []);
  }
});
