import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import ava from 'ava';
import { generate } from '../../src/io/operations/gen.js';
import { FileHash } from '../../src/io/streams/file-hash.js';
import { referenceArgsort, referenceSort } from '../reference.js';
import { where } from '../where.js';
import { clsort, MAIN, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes
const { path, remove } = scratchFolder();
mkdirSync(path('small disk'));
const isMounted =
  process.platform === 'linux' &&
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4k', 'tmpfs', path('small disk')]).status === 0;
ava.after.always(() => {
  if (isMounted) spawnSync('umount', ['-l', path('small disk')]);
  remove();
});

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

test('a batch runs every job with its own options', async (t) => {
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

test('a failed job does not stop the others and sets the exit code', async (t) => {
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

test('a job with several inputs sorts them as one and writes counts, and the journal records inputs and outputs', async (t) => {
  const few = Uint32Array.from({ length: 5000 }, (_, i) => (i * 7919) % 100);
  writeFileSync(path('few.u32'), few);
  const jobs = [
    { in: ['a.u32', 'few.u32'], out: 'both.u32' },
    { in: ['few.u32'], out: 'new/few.u32', unique: true, counts: 'new/{name}.counts.u64' },
  ];
  const ran = await batch('several.json', jobs, '--device', 'host', '--json');
  t.is(ran.code, 0, ran.err);
  const both = Buffer.concat([u32, Buffer.from(few.buffer)]);
  t.deepEqual(readFileSync(path('both.u32')), Buffer.from(referenceSort(both, 'u32')));
  t.deepEqual(
    readFileSync(path('new/few.u32')),
    Buffer.from(Uint32Array.from({ length: 100 }, (_, i) => i).buffer),
  );
  const counts = new BigUint64Array(new Uint8Array(readFileSync(path('new/few.counts.u64'))).buffer);
  t.deepEqual(counts, new BigUint64Array(100).fill(50n));
  const [, ...records] = readFileSync(path('several.json.journal'), 'utf8').trim().split('\n');
  const [first] = records.map((line) => JSON.parse(line)).filter(({ out }) => out === 'both.u32');
  t.deepEqual(first.in, ['a.u32', 'few.u32']);
  t.deepEqual(
    first.input.map(({ bytes }: { bytes: number }) => bytes),
    [8000, 20_000],
  );
  const { signal } = new AbortController();
  for (const [state, file] of [
    [first.input[0], 'a.u32'],
    [first.input[1], 'few.u32'],
    [first.output, 'both.u32'],
  ] as const) {
    t.is(state.checksum, await new FileHash().end(state.bytes, path(file), signal), file);
  }
  const again = rowsOf((await batch('several.json', jobs, '--device', 'host', '--json')).out).at(-1);
  t.like(again, { ok: 0, done: 2 });
  writeFileSync(path('new/few.counts.u64'), '');
  const mended = rowsOf((await batch('several.json', jobs, '--device', 'host', '--json')).out).at(-1);
  t.like(mended, { ok: 1, done: 1 });
});

test('a job that replaces its input reports the checksum of the original input', async (t) => {
  writeFileSync(path('own.u32'), u32);
  writeFileSync(path('own.copy'), u32);
  const ran = await batch('own.json', [{ in: 'own.u32', out: 'own.u32' }], '--device', 'host', '--json');
  t.is(ran.code, 0, ran.err);
  const [row] = rowsOf(ran.out);
  const { signal } = new AbortController();
  t.is(row.input.checksum, await new FileHash().end(u32.length, path('own.copy'), signal));
  t.is(row.output.checksum, await new FileHash().end(u32.length, path('own.u32'), signal));
  t.not(row.input.checksum, row.output.checksum);
});

test('several devices share the jobs, and a job that names a device runs there', async (t) => {
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

test('a job with an unsupported format fails unless it declares raw keys', async (t) => {
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
    /for jobs\[0\]\.format but got "xlsx".*expected one of auto, host.* for jobs\[0\]\.algorithm but got "tild"/s,
  );
});

test('a batch is read from stdin', async (t) => {
  const jobs = [{ in: path('a.u32'), out: path('piped'), dtype: 'u32' }];
  const ran = await clsort(['batch', '-', '--device', 'host'], { input: Buffer.from(JSON.stringify(jobs)) });
  t.is(ran.code, 0, ran.err);
  t.true(existsSync(path('piped')));
});

test('jobs with missing inputs fail before they reach a worker process', async (t) => {
  const jobs = Array.from({ length: 500 }, (_, i) => ({
    ...{ in: `absent/${i}.u32`, out: `never/${i}.u32` },
  }));
  writeFileSync(path('absent.json'), JSON.stringify(jobs));
  const ran = await clsort(['batch', path('absent.json'), '--device', 'host']);
  t.is(ran.code, 5, ran.err);
  const rows = ran.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.like(rows.at(-1), { jobs: 500, failed: 500 });
  for (const row of rows.slice(0, -1)) {
    t.like(row, { outcome: 'error', attempts: 1, error: { code: 'ERR_CLSORT_IO' } });
    t.regex(row.error.message, /cannot read .*absent.*: there is no such file/);
  }
  t.false(existsSync(path('never')), 'nor is a folder made for their results');
});

test('an invalid batch, a missing batch and a missing device run no job', async (t) => {
  const jobs = [{ in: 'a.u32', out: 'none', dtype: 'u32' }];
  t.is((await batch('wrong.json', [{ ...jobs[0], dtype: 'u33' }])).code, 2);
  t.is((await clsort(['batch', path('missing.json')])).code, 5);
  t.is((await batch('device.json', jobs, '--device', 'host', '--device', 'nonesuch')).code, 3);
  t.false(existsSync(path('none')));
});

test('a report path that is the manifest, the journal or a folder is refused before any job runs', async (t) => {
  const jobs = [{ in: 'a.u32', out: 'apart', dtype: 'u32' }];
  const wrong = async (name: string, what: RegExp, ...args: string[]): Promise<void> => {
    const ran = await batch(name, jobs, '--device', 'host', ...args);
    t.is(ran.code, ran.err.includes('directory') ? 5 : 2, ran.out);
    t.regex(ran.err, what);
    t.deepEqual(JSON.parse(readFileSync(path(name), 'utf8')), jobs, 'the manifest is unchanged');
  };
  symlinkSync('apart.json', path('apart link.json'));
  mkdirSync(path('folder.html'));
  await wrong(
    'apart.json',
    /cannot use .*apart\.json as a report: it is the manifest/,
    '--report',
    path('apart.json'),
  );
  await wrong('apart.json', /as a report: it is the manifest/, '--report', path('apart link.json'));
  await wrong('apart.json', /as the journal: it is the manifest/, '--journal', path('apart.json'));
  await wrong(
    ...(['apart.json', /as a report: it is the journal/] as const),
    ...['--journal', path('both.md'), '--report', path('both.md')],
  );
  await wrong('apart.json', /folder\.html: it is a directory/, '--report', path('folder.html'));
  t.false(existsSync(path('apart')));
});

test('a timeout beyond the range of a timer is refused', async (t) => {
  for (const timeout of ['3000000', 'Infinity']) {
    const ran = await batch('long.json', [], '--timeout', timeout);
    t.is(ran.code, 2);
    t.regex(ran.err, /expected a number of seconds above 0 .* for --timeout but got/);
  }
});

/** Runs a batch of lines on a stdin that does not end. */
const linesOnOpenStdin = (lines: readonly unknown[], ...args: string[]) =>
  clsort(['batch', '-', '--json', ...args], {
    input: 'open',
    onStart: (child) => child.stdin?.write(lines.map((line) => `${JSON.stringify(line)}\n`).join('')),
  });

test('a batch on an open stdin ends once no more jobs will run', async (t) => {
  const job = { in: path('a.u32'), out: path('sent'), dtype: 'u32' };
  const missing = { ...job, in: path('missing') };
  const failed = await linesOnOpenStdin([missing], '--device', 'host', '--fail-fast');
  t.is(failed.code, 5, failed.err);
  t.like(rowsOf(failed.out).at(-1), { failed: 1 });
  const wrong = await linesOnOpenStdin([{ ...job, nan: 3 }], '--device', 'host', '--fail-fast');
  t.is(wrong.code, 2, wrong.err);
  const without = await linesOnOpenStdin([job], '--device', 'nonesuch');
  t.is(without.code, 3, without.err);
  const head = await linesOnOpenStdin([{ defaults: { nan: 3 } }]);
  t.is(head.code, 2, head.err);
});

test('a manifest from a pipe has no journal and resolves files against the current folder', async (t) => {
  const text = JSON.stringify([{ in: path('a.u32'), out: path('by name'), dtype: 'u32' }]);
  const ran = await clsort(['batch', '/dev/stdin', '--device', 'host'], { input: Buffer.from(text) });
  t.is(ran.code, 0, ran.err);
  t.false(existsSync('/dev/stdin.journal'));
  const relative = JSON.stringify([{ in: 'a.u32', out: 'by pipe', dtype: 'u32' }]);
  const main = `${process.execPath} ${MAIN}`;
  const piped = spawnSync('bash', ['-c', `${main} batch <(echo '${relative}') --device host --json`], {
    cwd: path('.'),
    encoding: 'utf8',
  });
  t.is(piped.status, 0, piped.stderr);
  t.true(existsSync(path('by pipe')));
});

where(
  isMounted,
  'no small disk can be mounted',
  test,
)('a full journal disk is an error that names the unrecorded jobs, after the whole summary', async (t) => {
  const jobs = Array.from({ length: 30 }, (_, i) => ({
    in: 'a.u32',
    out: `unrecorded/${i}`,
    dtype: 'u32',
  }));
  const journal = path('small disk/journal');
  const args = ['--journal', journal, '--report', path('unrecorded.json'), '--device', 'host', '--json'];
  const ran = await batch('unrecorded.manifest', jobs, ...args, '--parallel', '2');
  t.is(ran.code, 5, ran.err);
  const rows = rowsOf(ran.out);
  const summary = rows.pop();
  t.is(summary.schema, 'clsort.batch-summary/1');
  const done = rows.filter(({ outcome }) => outcome === 'ok');
  t.is(done.length, summary.ok);
  t.is(JSON.parse(readFileSync(path('unrecorded.json'), 'utf8')).summary.ok, summary.ok);
  const recorded = readFileSync(journal, 'utf8').trim().split('\n').slice(1);
  const names = recorded.map((line) =>
    path('small disk/x').replace(/small disk.x$/, JSON.parse(line).out.replace('../', '')),
  );
  const others = done.filter(({ out }) => !names.includes(out));
  t.true(others.length > 0);
  const message =
    /cannot write .*: no space .*\. The journal lacks (\d+) completed jobs?, which the next run repeats: /;
  t.is(Number(ran.err.match(message)?.[1]), others.length, ran.err);
  t.true(ran.err.includes(others[0].name), ran.err);
});

where(
  process.platform !== 'win32',
  'needs ulimit of a POSIX shell',
  test,
)('a limit of open files that is too low is an error that states the required limit', async (t) => {
  writeFileSync(path('not-small.u32'), new Uint8Array(2 ** 18 + 4));
  writeFileSync(path('few.json'), JSON.stringify([{ in: 'not-small.u32', out: 'few' }]));
  writeFileSync(path('small.json'), JSON.stringify([{ in: 'a.u32', out: 'few' }]));
  const limited = (files: number, command: string, manifest = 'few.json') =>
    spawnSync(
      'sh',
      [
        '-c',
        `ulimit -n ${files}; exec "$0" "$@"`,
        process.execPath,
        MAIN,
        command,
        path(manifest),
        '--device',
        'host',
      ],
      { encoding: 'utf8' },
    );
  const ran = limited(90, 'batch');
  t.is(ran.status, 4);
  t.regex(
    ran.stderr,
    /^clsort: cannot sort on host: the worker process has ended .*: a process may not open as many files at once as it needs: let it have 256 \(ulimit -n\)\n$/,
  );
  t.is(limited(256, 'batch').status, 0);
  t.is(limited(90, 'batch', 'small.json').status, 0, 'small jobs need no worker process');
  const own = limited(28, 'batch');
  t.is(own.status, 5);
  t.regex(
    own.stderr,
    /^clsort: a process may not open as many files at once as it needs: let it have 256 \(ulimit -n\)\n$/,
  );
});
