import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { parseBatch } from '../../src/batch/jobs.js';
import { UsageError } from '../../src/util/errors.js';

const parse = (value: unknown) => parseBatch(JSON.stringify(value), { name: 'jobs.json', folder: '/data' });
const job = { in: 'a.u32', out: 'a.sorted', dtype: 'u32' };

const refused = (title: string, value: unknown, message: RegExp) =>
  test(`refuses ${title}`, (t) => {
    const error = t.throws(() => parse(value), { instanceOf: UsageError });
    t.regex(error?.message ?? '', message);
    t.regex(error?.message ?? '', /^jobs\.json /);
  });

test('a list of jobs is a batch; files are relative to its folder', (t) => {
  const { jobs, devices } = parse([job, { ...job, in: '/b', out: '../c', name: 'second' }]);
  t.deepEqual(devices, []);
  t.deepEqual(jobs, [
    { name: 'a.u32', in: '/data/a.u32', out: '/data/a.sorted', dtype: 'u32' },
    { name: 'second', in: '/b', out: '/c', dtype: 'u32' },
  ]);
});

test('jobs take from defaults what they do not say', (t) => {
  const { jobs, devices } = parse({
    schema: 'clsort.batch/1',
    devices: ['gpu', 'cpu'],
    defaults: { dtype: 'f64', verify: true, nan: 'first' },
    jobs: [
      { in: 'a', out: 'b' },
      { in: 'c', out: 'd', verify: false, dtype: 'u8' },
    ],
  });
  t.deepEqual(devices, ['gpu', 'cpu']);
  t.like(jobs[0], { dtype: 'f64', verify: true, nan: 'first' });
  t.like(jobs[1], { dtype: 'u8', verify: false, nan: 'first' });
});

test('an empty list is a batch with nothing to do', (t) => {
  t.deepEqual(parse([]).jobs, []);
});

test('every wrong field is named at once, ten at most', (t) => {
  const wrong = { ...job, dtype: 'u33', descending: 'yes', bits: [4, 2] };
  const error = t.throws(() => parse([wrong]), { instanceOf: UsageError });
  t.regex(
    error?.message ?? '',
    /jobs\[0\]\.dtype is "u33".*jobs\[0\]\.descending.*jobs\[0\]\.bits is \[4,2\]/s,
  );
  const many = t.throws(() => parse(Array(15).fill({ in: 'a', out: 'b' })), { instanceOf: UsageError });
  t.regex(many?.message ?? '', /and \d+ more$/);
});

test('refuses what is no JSON', (t) => {
  t.throws(() => parseBatch('{', { name: 'jobs.json', folder: '/' }), {
    instanceOf: UsageError,
    message: /^jobs\.json is no JSON/,
  });
});

refused('what has no jobs', { files: [] }, /has no jobs/);
refused('jobs that are no list', { jobs: {} }, /jobs is \{\}: expected a list/);
refused('another schema', { schema: 'clsort.batch/9', jobs: [] }, /schema is "clsort\.batch\/9"/);
refused('a job that is no object', [3], /jobs\[0\] is 3: expected an object/);
refused('an unknown field', [{ ...job, dtpye: 'u8' }], /jobs\[0\]\.dtpye is unknown; did you mean 'dtype'/);
refused('a field that only looks known', [{ ...job, constructor: 1 }], /jobs\[0\]\.constructor is unknown/);
refused('a job without output', [{ in: 'a', dtype: 'u8' }], /jobs\[0\]\.out is missing/);
refused('standard input', [{ ...job, in: '-' }], /jobs\[0\]\.in is "-"/);
refused('a window beyond the key', [{ ...job, bits: [0, 33] }], /u32 keys have 32 bits/);
refused('wrong defaults', { defaults: { nan: 'middle' }, jobs: [] }, /defaults\.nan/);
refused(
  'one output of two jobs',
  [job, { ...job, in: 'b' }],
  /jobs\[0\]\.out is the output of jobs\[1\] too/,
);
refused(
  'an output that another job reads',
  [job, { ...job, in: 'a.sorted', out: 'c' }],
  /input of jobs\[1\]/,
);

test('files are known by any of their names, whether they are there or not', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-jobs-'));
  const at = (name: string) => join(folder, name);
  try {
    mkdirSync(at('data'));
    symlinkSync('data', at('linked'));
    writeFileSync(at('data/a'), '');
    symlinkSync('a', at('data/also a'));
    linkSync(at('data/a'), at('hard a'));
    symlinkSync('data/not yet', at('later'));
    symlinkSync('round', at('round'));
    const errorsOf = (...jobs: [from: string, to: string][]): string => {
      const list = jobs.map(([from, to]) => ({ in: from, out: to, dtype: 'u8' }));
      try {
        parseBatch(JSON.stringify(list), { name: 'jobs.json', folder });
        return '';
      } catch (error) {
        return (error as Error).message;
      }
    };
    t.is(errorsOf(['data/a', 'x'], ['data/also a', 'y'], ['hard a', 'round']), '', 'many may read a file');
    t.is(errorsOf(['data/a', 'data/a'], ['b', 'c']), '', 'a job may replace its own input');
    const input = /jobs\[0\]\.out( \(.+\))? is the input of jobs\[1\]/;
    t.regex(errorsOf(['x', 'data/a'], ['linked/a', 'y']), input);
    t.regex(errorsOf(['x', 'data/also a'], ['data/a', 'y']), /out \(.*also a\) is the input of jobs\[1\]/);
    t.regex(errorsOf(['x', 'hard a'], ['data/a', 'y']), input);
    const output = /jobs\[0\]\.out( \(.+\))? is the output of jobs\[1\] too/;
    t.regex(errorsOf(['x', 'data/new'], ['y', 'linked/new']), output);
    t.regex(errorsOf(['x', 'later'], ['y', 'linked/not yet']), output);
    t.regex(errorsOf(['x', 'nowhere/a'], ['y', 'nowhere/../nowhere/a']), output);
    t.is(errorsOf(['x', 'data/new'], ['y', 'new']), '');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a batch of 100,000 jobs is checked within seconds', (t) => {
  const jobs = Array.from({ length: 100_000 }, (_, i) => ({ in: `in/${i}`, out: `out/${i}`, dtype: 'u32' }));
  const started = performance.now();
  t.is(parse(jobs).jobs.length, jobs.length);
  jobs[99_999] = { in: 'in/0', out: 'out/0', dtype: 'u32' };
  const error = t.throws(() => parse(jobs), { instanceOf: UsageError });
  t.regex(error?.message ?? '', /jobs\[0\]\.out is the output of jobs\[99999\] too/);
  t.true(performance.now() - started < 10_000);
});
