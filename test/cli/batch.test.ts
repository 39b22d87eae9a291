import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import ava from 'ava';
import { generate } from '../../src/io/gen.js';
import { referenceArgsort, referenceSort } from '../reference.js';
import { clsort, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes
const { path, remove } = scratchFolder();
ava.after.always(remove);

const u32 = generate({ dtype: 'u32', count: 2000, distribution: 'uniform', seed: 1 });
const f64 = generate({ dtype: 'f64', count: 1000, distribution: 'special', seed: 2 });
writeFileSync(path('a.u32'), u32);
writeFileSync(path('b.f64'), f64);

const batch = (name: string, value: unknown, ...args: string[]) => {
  writeFileSync(path(name), JSON.stringify(value));
  return clsort(['batch', path(name), ...args]);
};

const rowsOf = (out: string) =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('runs every job, each with its own options', async (t) => {
  const good = {
    devices: ['host'],
    defaults: { verify: true },
    jobs: [
      { in: 'a.u32', out: 'a.sorted', dtype: 'u32', descending: true },
      { in: 'b.f64', out: 'b.order', dtype: 'f64', argsort: true, nan: 'first' },
    ],
  };
  const ran = await batch('good.json', good, '--no-json');
  t.is(ran.code, 0, ran.err);
  t.deepEqual(readFileSync(path('a.sorted')), Buffer.from(referenceSort(u32, 'u32', { descending: true })));
  t.deepEqual(
    readFileSync(path('b.order')),
    Buffer.from(Uint32Array.from(referenceArgsort(f64, 'f64', { nan: 'first' })).buffer),
  );
  t.regex(ran.out, /2 jobs: 2 ok, 0 failed, 0 skipped/);
});

test('a job that fails does not stop the others; the exit code is its own', async (t) => {
  const ran = await batch(
    'bad.json',
    [
      { in: 'a.u32', out: 'first', dtype: 'u32' },
      { in: 'missing', out: 'second', dtype: 'u32' },
      { in: 'a.u32', out: 'third', dtype: 'u32' },
    ],
    ...['--device', 'host', '--json'],
  );
  t.is(ran.code, 5, ran.err);
  const rows = rowsOf(ran.out);
  const [first, third] = ['first', 'third'].map((out) => rows.find((row) => row.out === path(out)));
  const second = rows.find((row) => row.out === path('second'));
  const summary = rows.at(-1);
  t.like(first, { schema: 'clsort.batch-job/1', outcome: 'ok', n: 2000, algorithm: 'host', verified: null });
  t.like(second, { outcome: 'error', name: 'missing' });
  t.is(second.error.code, 'ERR_CLSORT_IO');
  t.is(third.outcome, 'ok');
  t.like(summary, { schema: 'clsort.batch-summary/1', jobs: 3, ok: 2, failed: 1, skipped: 0 });
  t.false(existsSync(path('second')));
});

test('jobs are shared by several devices, and go to the one they name', async (t) => {
  const jobs = Array.from({ length: 6 }, (_, i) => ({
    ...{ in: 'a.u32', out: `shared ${i}`, dtype: 'u32', verify: true },
    ...(i === 5 && { device: 'host' }),
  }));
  const ran = await batch('shared.json', jobs, '--device', 'auto', 'host', '--json');
  t.is(ran.code, 0, ran.err);
  const rows = rowsOf(ran.out).slice(0, -1);
  t.is(rows.length, 6);
  t.true(rows.every(({ verified }) => verified.order && verified.permutation));
  t.is(rows.find(({ out }) => out.endsWith('shared 5')).device.type, 'host');
  for (const { out } of rows) t.deepEqual(readFileSync(out), Buffer.from(referenceSort(u32, 'u32')));
});

test('a job with another format fails, unless it says that it is raw keys', async (t) => {
  writeFileSync(path('lines'), 'id,price\n'.repeat(400));
  const jobs = [
    { in: 'lines', out: 'lines.u32', dtype: 'u32' },
    { in: 'lines', out: 'lines.raw', dtype: 'u32', format: 'raw' },
    { in: 'a.u32', out: 'a.npz', dtype: 'u32' },
  ];
  const ran = await batch('formats.json', jobs, '--device', 'host', '--json');
  t.is(ran.code, 5, ran.err);
  const rows = rowsOf(ran.out);
  const [text, raw, name] = jobs.map(({ out }) => rows.find((row) => row.out === path(out)));
  t.is(text.error.code, 'ERR_CLSORT_FORMAT');
  t.is(raw.outcome, 'ok');
  t.is(name.error.code, 'ERR_CLSORT_FORMAT');
  t.false(existsSync(path('lines.u32')) || existsSync(path('a.npz')));
  const known = await batch('unknown.json', [{ ...jobs[0], format: 'xlsx', algorithm: 'tild' }]);
  t.is(known.code, 2);
  t.regex(
    known.err,
    /jobs\[0\]\.format is "xlsx".*jobs\[0\]\.algorithm is "tild": expected one of auto host/s,
  );
});

test('reads the batch from stdin, with files relative to the current folder', async (t) => {
  const jobs = [{ in: path('a.u32'), out: path('piped'), dtype: 'u32' }];
  const ran = await clsort(['batch', '-', '--device', 'host'], { input: Buffer.from(JSON.stringify(jobs)) });
  t.is(ran.code, 0, ran.err);
  t.true(existsSync(path('piped')));
});

test('a batch that is wrong, missing or without its device runs nothing', async (t) => {
  const jobs = [{ in: 'a.u32', out: 'none', dtype: 'u32' }];
  t.is((await batch('wrong.json', [{ ...jobs[0], dtype: 'u33' }])).code, 2);
  t.is((await clsort(['batch', path('missing.json')])).code, 5);
  t.is((await batch('device.json', jobs, '--device', 'host', '--device', 'nonesuch')).code, 3);
  t.false(existsSync(path('none')));
});
