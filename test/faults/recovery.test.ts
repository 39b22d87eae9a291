import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { layerEnvironment } from '../layer/layer.js';
import { seededCache } from '../test-cache.js';

interface Recovery {
  readonly name: string;
  readonly outcomes: readonly (boolean | string)[];
  readonly warnings: readonly string[];
}

/** Concurrent calls: how often each outcome occurred. */
interface Round {
  readonly name: string;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly warnings?: readonly string[];
  readonly failed?: string;
}

/** Runs a fixture under the layer. @returns the lines of JSON that it prints */
async function runFixture<T>(name: string, more: NodeJS.ProcessEnv = {}): Promise<T[]> {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-recovery-'));
  const control = join(folder, 'control');
  writeFileSync(control, '');
  const fixture = fileURLToPath(new URL(`./fixtures/${name}.js`, import.meta.url));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--expose-gc', fixture, 'Portable Computing Language'],
    {
      env: {
        ...process.env,
        RUSTICL_ENABLE: undefined, // so that 'auto' is PoCL
        ...layerEnvironment(control),
        CLSORT_CACHE_DIR: seededCache(join(folder, 'cache')),
        ...more,
      },
      timeout: 300_000,
    },
  );
  rmSync(folder, { recursive: true });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
}

test('a lost device is reopened: host data is sorted again, device arrays fail and deadlines hold', async (t) => {
  const once = ['ERR_CLSORT_DEVICE_LOST'];
  t.deepEqual(await runFixture<Recovery>('recovery'), [
    { name: 'lost -36', outcomes: [true, true], warnings: once },
    { name: 'lost -14', outcomes: [true, true], warnings: once },
    { name: 'lost -5', outcomes: [true, true], warnings: once },
    { name: 'lost, reported to the caller', outcomes: [true, true], warnings: [] },
    { name: 'lost in topK', outcomes: [true, true], warnings: once },
    {
      name: 'lost with a device array',
      outcomes: ['DeviceLostError', 'DeviceLostError', true],
      warnings: [],
    },
    ...[1, 2, 3].map((at) => ({
      name: `lost in a chain, at launch ${at}`,
      outcomes: [true, true, true],
      warnings: [],
    })),
    { name: 'a deadline', outcomes: ['TimeoutError', true], warnings: [] },
  ]);
});

test('an operation that exceeds the device memory falls back to the host unless the device was requested', async (t) => {
  const lines = await runFixture<{
    outcome: boolean | string;
    failed: string;
    warnings: string[];
    again: boolean;
  }>('no-room');
  t.is(lines.length, 12);
  for (const [i, { outcome, failed, warnings, again }] of lines.entries()) {
    const what = JSON.stringify(lines[i]);
    t.true(again, what);
    if (failed === '')
      t.true(outcome === true, what); // all of its buffers came from the pool
    else if (i < 6) t.deepEqual([outcome, warnings], [true, ['ERR_CLSORT_MEMORY']], what);
    else t.is(outcome, 'MemoryError', what);
  }
  t.true(lines.filter(({ failed }) => failed === 'clCreateBuffer').length >= 8);
});

test('concurrent calls on host arrays settle independently on a device with dedicated memory', async (t) => {
  const rounds = await runFixture<Round>('beside');
  t.is(rounds.length, 8);
  for (const { name, outcomes, failed = '' } of rounds) {
    const what = `${name}: ${JSON.stringify(outcomes)} ${failed}`;
    t.is(outcomes.false, undefined, what);
    if (name === 'an input is taken away') t.deepEqual(outcomes, { InputError: 1, true: 10 }, what);
    else if (!name.endsWith(' fails')) t.deepEqual(Object.keys(outcomes), ['true'], what);
    else {
      // Host data is sorted again; arrays on the device are lost with it.
      t.true(name.startsWith(`${failed} `), what);
      const others = Object.keys(outcomes).filter((outcome) => outcome !== 'true');
      t.true(
        others.every((error) => ['DeviceLostError', 'InputError', 'MemoryError'].includes(error)),
        what,
      );
    }
  }
});

test('if one of two devices that share a sort fails, the other one completes it', async (t) => {
  const lines = await runFixture<{
    name: string;
    call?: string;
    at: number;
    outcome: unknown;
    next: unknown;
  }>('sharded', {
    POCL_DEVICES: 'pthread pthread',
  });
  t.true(lines.length > 20);
  for (const line of lines) {
    t.is(line.outcome, true, JSON.stringify(line));
    t.is(line.next, true, JSON.stringify(line));
  }
});

test('pinned memory of a lost device keeps its data and is released by free and close', async (t) => {
  const lines = await runFixture<{ name: string; memory: number }>('pinned', {
    POCL_DEVICES: 'pthread pthread',
  });
  t.deepEqual(lines, [
    {
      name: 'arrays of a device that is opened again',
      ...{ hasData: true, isFreed: true, isClosed: true, memory: 0 },
    },
    { name: 'pieces of devices that share keys', memory: 0 },
  ] as never);
});

test('200 concurrent small sorts share a few transfers and settle independently', async (t) => {
  const rounds = new Map(
    (await runFixture<Round & { counts: Record<string, number> }>('gathered')).map((one) => [one.name, one]),
  );
  const counts = rounds.get('counts')?.counts ?? {};
  t.is(counts.clEnqueueNDRangeKernel, 200);
  t.true(
    (counts.clEnqueueWriteBuffer ?? 0) <= 5 && (counts.clEnqueueReadBuffer ?? 0) <= 3,
    JSON.stringify(counts),
  );
  t.true((counts.clReleaseEvent ?? 0) <= 12 && (counts.clWaitForEvents ?? 0) <= 3, JSON.stringify(counts));
  t.is((counts.clCreateBuffer ?? 0) + (counts.clCreateSubBuffer ?? 0), 0, 'the staging slots are reused');
  const all = { true: 200 };
  const one = (error: string) => ({ true: 199, [error]: 1 });
  const lost = (name: string) => [`${name} fails with -36`, all] as const;
  for (const [name, outcomes] of [
    ['the first', all],
    ['one is aborted', one('AbortError')],
    ['one is given up', one('TimeoutError')],
    ['one is taken away', one('InputError')],
    ['one is no array', one('InputError')],
    ['some are verified', all],
    ['in all ways', all],
    lost('clEnqueueWriteBuffer'),
    lost('clEnqueueReadBuffer'),
    lost('clEnqueueNDRangeKernel'),
    ['after it', all],
  ] as const) {
    t.deepEqual(rounds.get(name)?.outcomes, outcomes, name);
  }
  // Abandoned devices release everything, including pinned memory, once no call waits for them.
  t.deepEqual(rounds.get('left')?.outcomes, {});
  // A sort that is not repeated fails together with those in the same transfer, and with no other.
  for (const name of ['clEnqueueWriteBuffer', 'clEnqueueNDRangeKernel']) {
    const { true: right = 0, MemoryError: failed = 0 } = rounds.get(`${name} fails with -4`)?.outcomes ?? {};
    t.true(right + failed === 200 && failed > 0 && failed <= 70, `${name}: ${failed}`);
  }
  t.deepEqual(rounds.get('clEnqueueReadBuffer fails with -4')?.outcomes, { MemoryError: 200 });
  // Larger ones are submitted while others are still being added.
  t.deepEqual(rounds.get('larger ones')?.outcomes, all);
  for (const at of [1, 2]) {
    t.deepEqual(rounds.get(`larger ones, write ${at} fails with -36`)?.outcomes, all);
    const failing = rounds.get(`larger ones, write ${at} fails with -4`)?.outcomes ?? {};
    const { true: right = 0, MemoryError: failed = 0 } = failing;
    t.true(right + failed === 200 && failed > 0 && failed <= 140, JSON.stringify(failing));
    for (const status of [-36, -4])
      t.deepEqual(rounds.get(`larger ones after ${at} and ${status}`)?.outcomes, all);
  }
});

test('many concurrent small sorts run as segments of a few sorts and settle independently', async (t) => {
  const all = { true: 200 };
  const one = (error: string) => ({ true: 199, [error]: 1 });
  const lines = await runFixture<Round & { kernels?: number }>('bundled');
  const rounds = new Map(lines.map((line) => [line.name, line]));
  for (const [name, outcomes] of [
    ['not prepared', all],
    ['plain', all],
    ['one is aborted', one('AbortError')],
    ['one is taken away', one('InputError')],
    ['one shrinks', one('InputError')],
    ['one is no array', one('InputError')],
    ['in all ways', all],
    ['beside device arrays', all],
    ['a thousand', { true: 1000 }],
    ['closed', all],
    ['left', {}],
  ] as const) {
    t.deepEqual(rounds.get(name)?.outcomes, outcomes, name);
  }
  t.deepEqual(rounds.get('plain')?.warnings, []);
  for (const { name, kernels = 0, outcomes } of lines) {
    if (!['plain', 'one is taken away', 'one shrinks', 'after it'].includes(name)) continue;
    t.true(kernels < 20, `${name}: ${kernels} kernels`);
    if (name === 'after it') t.deepEqual(outcomes, all);
  }
  t.true((rounds.get('a thousand')?.kernels ?? 1000) < 300);
  // Only the first one, which starts at once, has its own slot.
  t.true((rounds.get('slots')?.outcomes.made ?? 9) <= 2, JSON.stringify(rounds.get('slots')));
  for (const name of ['clEnqueueWriteBuffer', 'clEnqueueReadBuffer', 'clEnqueueNDRangeKernel']) {
    for (const [status, code] of [
      [-36, 'ERR_CLSORT_DEVICE_LOST'],
      [-4, 'ERR_CLSORT_MEMORY'],
    ] as const) {
      const { outcomes, failed, warnings } = rounds.get(`${name} fails with ${status}`) ?? {};
      t.is(failed, name);
      t.deepEqual(new Set(warnings), new Set([code]), `${name} ${status}`);
      // The first one is a separate call, which may reject with the failure.
      const { true: right = 0, MemoryError: own = 0 } = outcomes ?? {};
      t.true(right + own === 200 && own <= 1, `${name} ${status}: ${JSON.stringify(outcomes)}`);
    }
  }
});
