import test from 'ava';
import { type Case, type Outcome, problemOf, type Run, runCases, STATUSES, type Task } from './faults.js';

const DEVICE = 'Portable Computing Language';
const OPERATIONS = ['sort', 'argsort', 'sortPairs'];
const FULL = process.env.CLSORT_TEST_FULL === '1';

/** Calls that fail for each status, in sorts of each kind; the rest takes CLSORT_TEST_FULL=1. */
const SAMPLES = 12;

const taskOf = (operation: string, verify: boolean, cases: readonly Case[]): Task => ({
  device: DEVICE,
  operation,
  options: { verify },
  cases,
});

/** The cases that went wrong, with what did. */
function problems(cases: readonly Case[], { outcomes, ended }: Run, extra = (_: Outcome) => ''): string[] {
  const found = outcomes.flatMap((outcome, i) => {
    const problem = problemOf(outcome) ?? extra(outcome);
    return problem ? [`${JSON.stringify(cases[i])} (${outcome.failed}): ${problem}`] : [];
  });
  if (ended) found.push(`the process ended after ${outcomes.length} of ${cases.length} cases: ${ended}`);
  return found;
}

/** Numbers from 1 to `n`, all or evenly `count` of them, beginning differently for each `phase`. */
const spread = (n: number, count: number, phase: number): number[] =>
  Array.from({ length: Math.min(n, count) }, (_, i) =>
    n <= count ? i + 1 : 1 + Math.floor(((i + phase) * n) / count),
  );

for (const operation of OPERATIONS) {
  for (const verify of [false, true]) {
    const what = `${operation}${verify ? ', verified' : ''}`;

    test.serial(
      `${what}: whichever OpenCL call fails, the answer is right or a typed error, and nothing leaks`,
      async (t) => {
        const clean = await runCases(taskOf(operation, verify, [{}]));
        t.deepEqual(problems([{}], clean), []);
        t.is(clean.outcomes[0]?.result, 'right');
        const calls = clean.outcomes[0]?.calls ?? 0;
        t.true(calls > 50, `${calls} calls`);
        const cases: Case[] = STATUSES.flatMap((status, i) =>
          spread(calls, FULL ? calls : SAMPLES, i / STATUSES.length).map((at) => ({ fail: { at, status } })),
        );
        // One that cannot be mended by another way to sort, which few of those drawn above are.
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
      `${what}: a device that is less than it says is sorted on all the same, or refused`,
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
        // Self-tests belong to it: without certificates of the device as it is.
        const run = await runCases(taskOf(operation, verify, cases), { warm: false });
        t.deepEqual(problems(cases, run), []);
        t.is(run.outcomes.length, cases.length);
      },
    );

    test.serial(`${what}: a call that does not come back is given up at the deadline`, async (t) => {
      const cases: Case[] = ['clWaitForEvents', 'clBuildProgram', 'clEnqueueNDRangeKernel'].flatMap(
        (name) => [
          { delay: { function: name, at: 1, milliseconds: 1500 }, options: { timeout: 0.25 } },
          {}, // the process lives on
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
  'scans of the host',
  'unique of the host',
  'choices of the host, verified',
]) {
  test.serial(
    `${operation}, verified: a word that changes on its way is never part of an answer`,
    async (t) => {
      const [clean] = (await runCases(taskOf(operation, true, [{}]))).outcomes;
      const reads = clean?.reads ?? 0;
      t.true(reads >= 2);
      const cases = spread(reads, reads, 0).flatMap((at) =>
        [1, 0x10000, 0x80000000, 0xffffffff].map((mask) => ({ corrupt: { at, mask } })),
      );
      const run = await runCases(taskOf(operation, true, cases));
      t.deepEqual(problems(cases, run), []);
      t.is(run.outcomes.length, cases.length);
    },
  );
}

for (const operation of [
  'sort in chunks',
  'argsort on the device',
  'top 100',
  'segments',
  'segments on the device',
  'many arrays',
  'choices on the device',
  'choices of the host',
  'choices of the host, verified',
  'scans of the host',
  'unique of the host',
  'totals by key',
  'top 3 of segments',
]) {
  test.serial(
    `${operation}: whichever OpenCL call fails, the answer is right or a typed error, and nothing leaks`,
    async (t) => {
      const calls = (await runCases(taskOf(operation, true, [{}]))).outcomes[0]?.calls ?? 0;
      t.true(calls > 50, `${calls} calls`);
      const cases = STATUSES.flatMap((status, i) =>
        spread(calls, FULL ? calls : SAMPLES / 2, i / STATUSES.length).map((at) => ({
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

test.serial('a fault in the self-test of an algorithm is not kept as its verdict', async (t) => {
  const [clean] = (await runCases(taskOf('sort', false, [{}]), { warm: false })).outcomes;
  const calls = clean?.calls ?? 0;
  for (const status of [-5, -36]) {
    const cases = spread(calls, 12, 0.5).flatMap((at) => [{ fail: { at, status } }, {}]);
    const run = await runCases(taskOf('sort', false, cases), { warm: false });
    t.deepEqual(problems(cases, run), []);
    for (const [i, { result, calls: made }] of run.outcomes.entries()) {
      if (i % 2 === 0) continue;
      t.is(result, 'right');
      t.true(made > 50, 'the device sorts, since nothing speaks against its algorithm');
    }
    const ruledOut = Object.values(run.certificates).filter(({ ok }) => !ok);
    t.deepEqual(ruledOut, []);
  }
});
