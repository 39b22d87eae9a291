/** Batches on real processes: a driver that aborts, hangs or fails to open, and children that outlive their parent. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import ava from 'ava';
import { generate } from '../../src/io/operations/gen.js';
import { clsort, scratchFolder } from '../cli/cli.js';
import { LayerControl, layerEnvironment } from '../layer/layer.js';
import { referenceSort } from '../reference.js';
import { where } from '../where.js';

const test = ava.serial; // every test starts processes
const { path, folder, remove } = scratchFolder();
ava.after.always(remove);

const keys = (seed: number) => generate({ dtype: 'u32', count: 3000, distribution: 'uniform', seed });
const inputs = Array.from({ length: 6 }, (_, i) => keys(i));
for (const [i, bytes] of inputs.entries()) writeFileSync(path(`${i}.u32`), bytes);
writeFileSync(path('control'), '');

/** PoCL needs about a second for the first compilation. */
const env = { ...layerEnvironment(path('control')), POCL_DEVICES: 'pthread pthread' };

const jobsTo = (name: string) =>
  inputs.map((_, i) => ({ in: `${i}.u32`, out: `${name}/${i}.u32`, algorithm: 'tiled' }));

const rowsOf = (out: string) =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const run = (name: string, value: unknown, args: readonly string[] = [], more: NodeJS.ProcessEnv = {}) => {
  writeFileSync(path(name), JSON.stringify(value));
  return clsort(['batch', path(name), '--json', ...args], { env: { ...env, ...more } });
};

const isSorted = (file: string, i: number): boolean =>
  readFileSync(path(file)).equals(Buffer.from(referenceSort(inputs[i] as Uint8Array, 'u32')));

test('a driver that aborts on one job is restarted, and only that job fails', async (t) => {
  const jobs = [...jobsTo('aborts'), { in: '0.u32', out: 'aborts/bad.u32', algorithm: 'bitonic' }];
  const args = ['--device', '0:0', '0:1', '--parallel', '3'];
  const ran = await run('aborts.json', jobs, args, {
    CLSORT_LAYER_ABORT: 'bitonic_block',
    CLSORT_CACHE_DIR: path('cache aborts'),
  });
  t.is(ran.code, 4, ran.err);
  const rows = rowsOf(ran.out);
  t.like(rows.at(-1), { jobs: 7, ok: 6, failed: 1 });
  const bad = rows.find(({ outcome }) => outcome === 'error');
  t.like(bad, { out: path('aborts/bad.u32'), attempts: 2, error: { code: 'ERR_CLSORT_DEVICE_LOST' } });
  t.regex(bad.error.message, /SIGABRT/);
  for (const i of inputs.keys()) t.true(isSorted(`aborts/${i}.u32`, i));
  t.deepEqual(readdirSync(path('aborts')).length, 6, 'nothing else is left');
});

test('a job that exceeds the timeout fails, and the jobs after it complete', async (t) => {
  spawnSync('mkfifo', [path('never')]);
  const inTime = jobsTo('in time').map((job) => ({ ...job, algorithm: 'host' }));
  const jobs = [{ in: 'never', out: 'late.u32', dtype: 'u32' }, ...inTime];
  const args = ['--device', 'host', '--timeout', '2', '--retries', '0', '--parallel', '2'];
  const ran = await run('late.json', jobs, args);
  t.is(ran.code, 4, ran.err);
  const rows = rowsOf(ran.out);
  t.is(rows.find(({ outcome }) => outcome === 'error').error.code, 'ERR_CLSORT_TIMEOUT');
  t.is(rows.at(-1).failed, 1);
  t.false(existsSync(path('late.u32')));
});

const allChildrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
  );

const isAlive = (pid: number): boolean => {
  try {
    return !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
};

test('a device that fails to open is retried, but a device that does not exist is not', async (t) => {
  const control = new LayerControl(path('control'));
  t.teardown(() => {
    control.clear();
    control.close();
  });
  control.fail({ at: 1, function: 'clCreateContext' }, -6);
  const ran = await run('again.json', jobsTo('again'), ['--device', '0:0']);
  t.is(ran.code, 0, ran.err);
  t.is(control.failed, 'clCreateContext');
  t.is((await run('absent.json', jobsTo('absent'), ['--device', 'nonesuch'])).code, 3);
});

where(
  process.platform === 'linux',
  'only on Linux',
  test,
)('child processes exit soon after their parent is killed, even while a driver hangs', async (t) => {
  const more = { CLSORT_LAYER_HANG: 'bitonic_block', CLSORT_CACHE_DIR: path('cache killed') };
  let children: number[] = [];
  let ended = Number.POSITIVE_INFINITY;
  writeFileSync(
    path('killed.json'),
    JSON.stringify([{ in: '0.u32', out: 'killed/bad.u32', algorithm: 'bitonic' }]),
  );
  const ran = await clsort(['batch', path('killed.json'), '--device', '0:0', '--json'], {
    env: { ...env, ...more },
    onStart: async (child) => {
      while (child.exitCode === null && children.length === 0) {
        await sleep(10);
        children = allChildrenOf(child.pid as number);
      }
      await sleep(3000); // it probably hangs by now; it must exit in any state
      child.kill('SIGKILL');
      const began = performance.now();
      while (children.some(isAlive) && performance.now() - began < 60_000) await sleep(10);
      ended = performance.now() - began;
    },
  });
  t.is(ran.signal, 'SIGKILL');
  t.is(children.length, 1);
  while (ended === Number.POSITIVE_INFINITY) await sleep(10);
  t.false(children.some(isAlive), `after ${ended} ms`);
  t.log(`after ${ended.toFixed(0)} ms`);
  t.true(existsSync(folder));
});
