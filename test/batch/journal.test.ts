import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { relative } from 'node:path';
import test from 'ava';
import { fileState } from '../../src/batch/file-state.js';
import type { Job } from '../../src/batch/jobs.js';
import { Journal } from '../../src/batch/journal.js';
import { temporaryName } from '../../src/io/streams/temporary-files.js';
import { IoError, UsageError } from '../../src/util/errors.js';
import { scratchFolder } from '../cli/cli.js';
import { where } from '../where.js';

const { path, folder, remove } = scratchFolder();
const disk = path('small-disk');
mkdirSync(disk);
const isMounted =
  process.platform === 'linux' &&
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', disk]).status === 0;
test.after.always(() => {
  if (isMounted) spawnSync('umount', ['-l', disk]);
  remove();
});
const onSmallDisk = where(isMounted, 'cannot mount a small disk', test);

let number = 0;
/** A job whose files exist, and its journal record. */
type OneFile = Job & { readonly in: string };

function doneJob(more: Partial<Job> = {}): { job: OneFile; record: Parameters<Journal['add']>[1] } {
  const name = `job ${number++}`;
  const job = { name, in: path(`${name}.u32`), out: path(`${name}.sorted`), ...more } as OneFile;
  writeFileSync(job.in, 'aaaa');
  writeFileSync(job.out, 'bbbb');
  return { job, record: recordOf(job) };
}

function recordOf(job: OneFile): Parameters<Journal['add']>[1] {
  const [input, output] = [fileState(job.in), fileState(job.out)];
  if (!input || !output) throw new Error('its files are not there');
  return { outcome: 'ok', at: '', seconds: 1, input, output };
}

test('a job is done as long as its options, input and output are unchanged', async (t) => {
  const file = path('done.journal');
  const journal = await Journal.open(file);
  const { job, record } = doneJob({ descending: true });
  t.false(journal.isDone(job));
  journal.add(job, record);
  await journal.close();

  const later = await Journal.open(file);
  t.teardown(() => later.close());
  t.true(later.isDone(job));
  mkdirSync(path('elsewhere'));
  symlinkSync(file, path('elsewhere/link.journal'));
  t.true((await Journal.inspect(path('elsewhere/link.journal'))).isDone(job), 'by a link');
  t.true(
    (await Journal.inspect(file)).isDone(job),
    'also for a reader while another process has the journal open',
  );
  t.true(
    later.isDone({ ...job, name: 'another', device: 'gpu', tmp: '/tmp' }),
    'fields that do not affect the result',
  );
  t.false(later.isDone({ ...job, descending: false }));
  t.false(later.isDone({ ...job, verify: true }));
  t.false(later.isDone({ ...job, in: job.out }));
  utimesSync(job.in, 1, 1);
  t.false(later.isDone(job), 'the input has another time');
  later.add(job, recordOf(job));
  t.true(later.isDone(job));
  appendFileSync(job.out, 'c');
  t.false(later.isDone(job), 'the output has another size');
  rmSync(job.out);
  t.false(later.isDone(job));
});

test('a job that replaces its input is done as long as the file is unchanged', async (t) => {
  const journal = await Journal.open(path('in place.journal'));
  t.teardown(() => journal.close());
  const { job } = doneJob();
  const inPlace = { ...job, out: job.in };
  const before = recordOf(inPlace);
  writeFileSync(job.in, 'sorted');
  journal.add(inPlace, { ...before, output: recordOf(inPlace).output as never });
  t.true(journal.isDone(inPlace));
  writeFileSync(job.in, 'changed since');
  t.false(journal.isDone(inPlace));
});

test('a job that replaces its input through a link is done as long as the file is unchanged', async (t) => {
  const journal = await Journal.open(path('by link.journal'));
  t.teardown(() => journal.close());
  const { job } = doneJob();
  symlinkSync(job.in, path('input link.u32'));
  const linked = { ...job, in: path('input link.u32'), out: job.in };
  const before = recordOf(linked);
  writeFileSync(job.in, 'sorted');
  journal.add(linked, { ...before, output: recordOf(linked).output as never });
  t.true(journal.isDone(linked));
  writeFileSync(job.in, 'changed since');
  t.false(journal.isDone(linked));
});

test('a job is not done if its record has no valid file state', async (t) => {
  const file = path('hollow.journal');
  const journal = await Journal.open(file);
  const { job, record } = doneJob();
  journal.add(job, record);
  await journal.close();
  const whole = readFileSync(file, 'utf8');
  for (const field of ['input', 'output']) {
    for (const hollow of ['null', '[null]', '{}', '1']) {
      writeFileSync(file, whole.replace(new RegExp(`"${field}":\\{[^}]*\\}`), `"${field}":${hollow}`));
      t.false((await Journal.inspect(file)).isDone(job), `${field} ${hollow}`);
    }
  }
});

onSmallDisk(
  'a full disk throws at once and the partial line is removed, so that a shorter line can follow',
  async (t) => {
    const file = path('small-disk/full.journal');
    const journal = await Journal.open(file);
    const { job, record } = doneJob();
    let records = 0;
    await t.throwsAsync(
      async () => {
        for (; ; records++) journal.add({ ...job, out: path(`out ${records}`) }, record);
      },
      { instanceOf: IoError, message: /no space is left/ },
    );
    const lines = readFileSync(file, 'utf8').split('\n');
    t.is(lines.length, records + 2, 'the header, each record that add returned for, and no partial line');
    t.is(lines.at(-1), '');
    const { out } = job;
    journal.add(job, { outcome: 'ok', at: '', seconds: 1 });
    await journal.close();
    t.like(JSON.parse(readFileSync(file, 'utf8').trim().split('\n').at(-1) ?? ''), {
      out: `../${relative(folder, out)}`,
    });
  },
);

test('a failed job and a job whose output is no regular file are never done', async (t) => {
  const journal = await Journal.open(path('failed.journal'));
  t.teardown(() => journal.close());
  const { job, record } = doneJob();
  journal.add(job, { ...record, outcome: 'error', error: { code: 'ERR', message: '' } });
  t.false(journal.isDone(job));
  const none = { ...job, out: '/dev/null' };
  journal.add(none, { outcome: 'ok', at: '', seconds: 1 });
  t.false(journal.isDone(none));
});

test('a truncated last line is dropped wherever it was cut, and a damaged line loses one job', async (t) => {
  const file = path('torn.journal');
  const whole = await Journal.open(file);
  const jobs = [doneJob(), doneJob(), doneJob()];
  for (const { job, record } of jobs) whole.add(job, record);
  await whole.close();
  const bytes = readFileSync(file);
  for (let length = 0; length <= bytes.length; length++) {
    writeFileSync(file, bytes.subarray(0, length));
    const journal = await Journal.open(file);
    const lines = bytes.subarray(0, length).toString().split('\n').length - 1;
    const done = jobs.filter(({ job }) => journal.isDone(job)).length;
    if (done !== Math.max(0, lines - 1)) t.fail(`${done} jobs of ${lines} whole lines`);
    const { job, record } = jobs[2] as (typeof jobs)[0];
    journal.add(job, record);
    if (!journal.isDone(job)) t.fail('a record added afterwards counts');
    await journal.close();
  }
  const lines = bytes.toString().split('\n');
  writeFileSync(file, [lines[0], '\0\0{', ...lines.slice(2)].join('\n'));
  const journal = await Journal.open(file);
  t.deepEqual(
    jobs.map(({ job }) => journal.isDone(job)),
    [false, true, true],
  );
  await journal.close();
});

test('a file that is no journal throws and stays unchanged', async (t) => {
  for (const contents of ['{"jobs":[]}\n', 'x', '[]']) {
    writeFileSync(path('other'), contents);
    await t.throwsAsync(Journal.open(path('other')), {
      instanceOf: UsageError,
      message: /^cannot use .*other as the journal/,
    });
    t.is(readFileSync(path('other'), 'utf8'), contents);
  }
  await t.throwsAsync(Journal.open(folder), { instanceOf: UsageError });
  await t.throwsAsync(Journal.open(path('nowhere/journal')), { code: 'ERR_CLSORT_IO' });
});

test('only one process at a time can open a journal, and the lock of a killed process is ignored', async (t) => {
  const file = path('locked.journal');
  const locks = (): string[] => readdirSync(folder).filter((name) => name.includes('locked.journal.lock'));
  const journal = await Journal.open(file);
  const error = await t.throwsAsync(Journal.open(file), {
    instanceOf: UsageError,
    message: /^cannot open .*: process \d+ is running a batch with this journal/,
  });
  t.regex(error?.message ?? '', new RegExp(`process ${process.pid}`));
  t.is(locks().length, 1);
  await journal.close();
  t.deepEqual(locks(), []);

  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  const { host, boot, space, start } = await import('../../src/io/streams/temporary-files.js').then(
    (lockPath) => lockPath.thisProcess(),
  );
  writeFileSync(
    path(temporaryName('locked.journal.lock', { host, boot, space, start, pid: child.pid as number })),
    '',
  );
  await (await Journal.open(file)).close();
  t.deepEqual(locks(), []);

  const both = await Promise.allSettled([Journal.open(file), Journal.open(file)]);
  const opened = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  t.true(opened.length <= 1);
  for (const one of opened) await one.close();
});

test('a folder or a missing file has no file state', (t) => {
  writeFileSync(path('state'), '123456789');
  t.is(fileState(path('state'))?.bytes, 9);
  t.is(fileState(folder), undefined);
  t.false(existsSync(path('none')));
  t.is(fileState(path('none')), undefined);
});

test('a job of several inputs is done as long as all inputs and its counts file are unchanged', async (t) => {
  const journal = await Journal.open(path('several.journal'));
  t.teardown(() => journal.close());
  const { job: one } = doneJob();
  const { job: other } = doneJob();
  const counts = path('counts.u64');
  writeFileSync(counts, 'cccc');
  const job = { ...one, in: [one.in, other.in], unique: true, counts } as Job;
  const recordedStates = () => {
    const [a, b, output, counted] = [one.in, other.in, job.out, counts].map(fileState);
    if (!a || !b || !output || !counted) throw new Error('its files are not there');
    return { outcome: 'ok', at: '', seconds: 1, input: [a, b], output, counts: counted } as const;
  };
  journal.add(job, recordedStates());
  t.true(journal.isDone(job));
  t.false(journal.isDone({ ...job, in: [other.in, one.in] } as Job), 'in another order');
  t.false(journal.isDone({ ...job, in: one.in }));
  utimesSync(other.in, 1, 1);
  t.false(journal.isDone(job), 'the second input has another time');
  journal.add(job, recordedStates());
  t.true(journal.isDone(job));
  rmSync(counts);
  t.false(journal.isDone(job), 'the counts are gone');
});

test('a partial line of a killed process is dropped and the lines after it are read', async (t) => {
  const file = path('killed.journal');
  const first = await Journal.open(file);
  const [before, after] = [doneJob(), doneJob()];
  first.add(before.job, before.record);
  await first.close();
  appendFileSync(file, '{"name":"half a li');
  const second = await Journal.open(file);
  second.add(after.job, after.record);
  await second.close();
  const third = await Journal.open(file);
  t.teardown(() => third.close());
  t.true(third.isDone(before.job));
  t.true(third.isDone(after.job), 'its line replaces the partial one');
});
