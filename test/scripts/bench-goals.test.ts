import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const SCRIPT = fileURLToPath(new URL('../../scripts/bench-goals.js', import.meta.url));

const sortOf = (dtype: string, exponent: number, ours: number, cub: number) => ({
  ...{
    algorithm: 'hybrid-radix',
    dtype,
    valueBytes: 0,
    n: 2 ** exponent,
    distribution: 'uniform',
    result: 'ok',
  },
  queuedMilliseconds: ours,
  cub: { queued: { int: cub, size_t: cub + 1 } },
});
const callOf = (operation: string, exponent: number, awaited: number, times: number) => ({
  ...{ operation, place: 'device', n: 2 ** exponent, result: 'ok' },
  awaited: { median: awaited },
  kernel: { median: 50e-6 },
  peers: { slow: { timesOurs: 9 }, fast: { timesOurs: times, chainedTimesOurs: times }, broken: 'wrong' },
});

/** The output of the script for a folder with these rows. */
function judged(parts: Readonly<Record<string, readonly object[]>>) {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-goals-'));
  try {
    for (const [part, rows] of Object.entries(parts)) {
      const record = { device: 'Some GPU', driver: '1.0', date: '2026-11-25', rows };
      writeFileSync(join(folder, `${part}.json`), JSON.stringify(record));
    }
    const args = [SCRIPT, '--device', 'gpu', '--out', folder, '--read'];
    const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    const rows = stdout.split('\n').filter((line) => line.startsWith('|'));
    const cells = rows.map((line) => line.split('|').map((cell) => cell.trim()));
    return { stdout, status, row: (goal: string) => cells.find(([, name]) => name === goal)?.slice(2, -1) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('each goal is judged by its own rows against the fastest peer, and missed goals are listed', (t) => {
  const { stdout, status, row } = judged({
    sorts: [
      sortOf('u64', 24, 1, 2.5),
      sortOf('u64', 26, 1, 1.5),
      sortOf('u64', 20, 1, 1),
      sortOf('u32', 20, 1, 1.3),
    ],
    calls: [callOf('sort', 20, 100e-6, 1.2), callOf('gather', 20, 130e-6, 0.5)],
  });
  t.is(status, 0, 'a missed goal does not fail the script');
  t.true(stdout.startsWith('Some GPU, driver 1.0, 2026-11-25\n'));
  const wide = row('u64 and f64 × CUB from 2^24 on');
  t.deepEqual(wide, ['≥ 2', '2', '1', '1.50 (uniform u64 2^26)', 'uniform u64 2^26 1.50']);
  t.deepEqual(row('u32 × CUB')?.slice(1, 3), ['1', '1']);
  const awaited = row('sort, argsort and pairs, awaited, × the best peer from 2^20 on');
  t.is(awaited?.at(-1), 'sort 2^20 1.20');
  const over = row('microseconds of an awaited call over its kernels');
  t.deepEqual(over, ['≤ 60', '2', '1', '80.0 (gather 2^20)', 'gather 2^20 80.0']);
  t.deepEqual(row('segments × the faster form of CUB')?.slice(1, 3), ['0', 'not measured']);
});

test('a wrong result is listed and fails the script', (t) => {
  const { stdout, status } = judged({ sorts: [{ ...sortOf('u32', 20, 1, 2), result: 'wrong' }] });
  t.is(status, 1);
  t.regex(stdout, /^- sorts: uniform u32 2\^20: wrong$/m);
});
