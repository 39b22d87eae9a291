import test from 'ava';
import { hostRatesOf, type RunReport, runnerRatesOf } from '../../../src/engines/forecast/fit.js';
import type { HostRates } from '../../../src/engines/forecast/rates.js';
import { readRatesFile } from '../../../src/engines/forecast/report.js';

/** The run report of a worker with the known rates. */
function runOf(shards: number, partitions: number, bytes = 1e9): RunReport {
  const samples = 1000 * partitions;
  const stage = (name: string, tasks: number, seconds: number) => ({
    ...{ stage: name, tasks, ran: tasks, seconds: seconds + 0.5 },
    ...{ busySeconds: seconds, cpuSeconds: 2 * seconds },
  });
  const pieces = shards * partitions;
  return {
    ...{ of: 'records', unit: 100, n: bytes / 100, bytes, parts: partitions, engine: 'bullmq' },
    ...{ date: '2026-01-01', host: { name: 'a host', cores: 2 }, devices: ['a device'], workers: 1 },
    ...{ shards, partitions, samples, seconds: 1000 },
    stages: [
      stage('sample', shards, 1e-6 * samples + 0.01 * shards),
      stage('splitters', 1, 2e-6 * samples + 0.01),
      stage('partition', shards, 3e-9 * bytes + 1e-3 * pieces + 0.01 * shards),
      stage('sort', partitions, 4e-9 * bytes + 2e-3 * pieces + 0.01 * partitions),
      stage('verify', partitions, 5e-9 * bytes + 0.01 * partitions),
    ],
  };
}

const EXPECTED = {
  sample: 1e-6,
  splitters: 2e-6,
  partition: 3e-9,
  sort: 4e-9,
  verify: 5e-9,
  piece: 1e-3,
  opened: 2e-3,
  task: 0.01,
} as const;

function near(rates: HostRates): string[] {
  return Object.entries(EXPECTED).flatMap(([name, seconds]) => {
    const found = rates[name as keyof typeof EXPECTED];
    const isRight =
      Math.abs(found.seconds / seconds - 1) < 1e-6 && Math.abs(found.cpu / (2 * seconds) - 1) < 1e-6;
    return isRight ? [] : [`${name}: ${JSON.stringify(found)}`];
  });
}

test('two runs with different partitions determine the cost of bytes, pieces and tasks', (t) => {
  const rates = hostRatesOf([runOf(4, 4), runOf(24, 48)], undefined);
  t.deepEqual(near(rates), []);
  t.deepEqual(near(hostRatesOf([runOf(24, 48, 5e8), runOf(4, 6, 2e9)], undefined)), []);
});

test('a single run determines the cost of bytes if those of pieces and tasks are known', (t) => {
  const known = hostRatesOf([runOf(4, 4), runOf(24, 48)], undefined);
  t.deepEqual(near(hostRatesOf([runOf(7, 9)], known)), []);
  // Two equal runs determine only one rate.
  t.deepEqual(near(hostRatesOf([runOf(7, 9), runOf(7, 9)], known)), []);
});

test('engineRatesOf computes the overhead of an engine per stage and per job', (t) => {
  const { stage, job, name } = runnerRatesOf(runOf(4, 4));
  t.is(name, 'bullmq');
  t.true(Math.abs(stage - 0.5) < 1e-9);
  t.true(job > 900);
});

test('incomplete, mixed and malformed run reports raise an InputError', (t) => {
  const half = runOf(4, 4);
  const stages = half.stages.map((one) => (one.stage === 'sort' ? { ...one, ran: 1 } : one));
  t.throws(() => hostRatesOf([{ ...half, stages }], undefined), {
    code: 'ERR_CLSORT_INPUT',
    message: /ran 1 of 4 tasks of stage sort/,
  });
  t.throws(() => hostRatesOf([half, { ...half, unit: 8, of: 'keys' }], undefined), {
    message: /records of 100 bytes and keys of 8/,
  });
  for (const text of [
    '',
    '[]',
    '{}',
    '{"schema":"clsort.parts-report/1","run":{}}',
    '{"schema":"clsort.plan/1","rates":{}}',
  ]) {
    t.throws(
      () => readRatesFile(text, 'x.json'),
      { code: 'ERR_CLSORT_INPUT', message: /^cannot read rates from x\.json/ },
      text,
    );
  }
  const text = JSON.stringify({ schema: 'clsort.parts-report/1', run: half });
  t.deepEqual(readRatesFile(text, 'x.json'), half);
});
