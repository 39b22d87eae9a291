/** Interrupted and resumed sorts: at every step, with another budget, and rejected ones. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { externalSort } from '../../../src/io/external/external-sort.js';
import { stateFolder } from '../../../src/io/external/session.js';
import { bytesOf } from '../../../src/keys/array.js';
import { Sorter } from '../../../src/sort/api/sorter.js';
import { InputError, IoError, UsageError } from '../../../src/util/errors.js';
import { packageRoot } from '../../../src/util/paths.js';
import { scratchFolder } from '../../cli/cli.js';
import { keysOf } from '../../distributions.js';
import { FULL } from '../../pairwise.js';
import { referenceSort } from '../../reference.js';
import { killedAfter } from './fail-points.js';
import { contextOf, jobOf, orderOf, type SmallSort, TINY } from './small.js';

const { path, remove } = scratchFolder();
const host = Sorter.open({ device: 'host' });
test.after.always(async () => {
  remove();
  await (await host).close();
});

function small(name: string, count = 4000): SmallSort & { sorted: Uint8Array } {
  mkdirSync(path(name));
  const bytes = bytesOf(keysOf('f32', 'nearly-sorted', count));
  bytes.fill(0x3f, 0, 4 * 700); // a partition of one key, and one that must be split
  return { folder: path(name), bytes, order: orderOf('f32'), sorted: referenceSort(bytes, 'f32') };
}

/** Distance between the steps at which sorts are killed. */
const STRIDE = FULL ? 1 : 7;

for (const verify of [false, true]) {
  test.serial(
    `a sort killed at any step resumes to the same output${verify ? ', verified' : ''}`,
    async (t) => {
      const { folder, sorted, ...rest } = small(`steps ${verify}`);
      const job = jobOf({ folder, ...rest });
      const sorter = await host;
      let ends = 0;
      for (let steps = verify ? 3 : 0; ; steps += STRIDE) {
        const whole = await killedAfter(steps, () =>
          externalSort(sorter, { ...job, verify, resume: true }, contextOf()),
        );
        if (whole) break;
        ends++;
        const { resumedBytes, bytes } = await externalSort(
          sorter,
          { ...job, verify, resume: true },
          contextOf(),
        );
        t.is(bytes, rest.bytes.length);
        t.true(resumedBytes <= bytes);
        t.true(readFileSync(job.out).equals(sorted), `ended after ${steps} steps`);
        t.deepEqual(readdirSync(folder).sort(), ['in', 'out'], `ended after ${steps} steps`);
        writeFileSync(job.out, 'before');
      }
      t.true(ends > 60 / STRIDE, `${ends}`);
    },
  );
}

test.serial('a sort that is killed repeatedly makes progress and completes', async (t) => {
  const { folder, sorted, ...rest } = small('again');
  const job = { ...jobOf({ folder, ...rest }), resume: true };
  const sorter = await host;
  let runs = 1;
  // Each run gets a few steps further, since opening its state takes some steps.
  while (!(await killedAfter(30, () => externalSort(sorter, job, contextOf())))) t.true(runs++ < 60);
  t.true(runs > 3);
  t.true(readFileSync(job.out).equals(sorted));
});

/** Steps after which some partitions are sorted and some are not. */
const HALF = 45;

/** Leaves a sort half done. */
async function halfDone(name: string): Promise<ReturnType<typeof small> & { job: ReturnType<typeof jobOf> }> {
  const one = small(name);
  const job = jobOf(one);
  const sorter = await host;
  const whole = await killedAfter(HALF, () => externalSort(sorter, job, contextOf()));
  if (whole) throw new Error('it was to be ended early');
  return { ...one, job };
}

test.serial('without --resume, the state of an earlier sort is an error and is kept', async (t) => {
  const { folder, job, order, bytes } = await halfDone('found');
  const before = readdirSync(join(folder, readdirSync(folder).find((name) => name.endsWith('state')) ?? ''));
  const error = await t.throwsAsync(async () => externalSort(await host, job, contextOf()), {
    instanceOf: UsageError,
  });
  t.regex(
    error?.message ?? '',
    /interrupted sort of .*\. Use --resume to continue it, or --restart to discard it/,
  );
  const state = await stateFolder(job.out, undefined);
  t.deepEqual(readdirSync(state), before);
  const { resumedBytes } = await externalSort(await host, { ...job, resume: true }, contextOf());
  t.true(resumedBytes > 0 && resumedBytes < bytes.length, `${resumedBytes}`);
  t.is(order.recordBytes, 4);
});

test.serial(
  'an input that now fits into memory is sorted there, with a note about the earlier state',
  async (t) => {
    const { job, sorted } = await halfDone('fits');
    const budget = { ...TINY, memory: 2 ** 30 };
    const notes: string[] = [];
    const context = contextOf({ onNote: (note) => notes.push(note) });
    const report = await externalSort(await host, { ...job, budget }, context);
    t.is(report.spilledBytes + report.resumedBytes, 0);
    t.regex(notes.join(), /interrupted sort of .*\. Use --resume to continue it/);
    t.true(readFileSync(job.out).equals(sorted));
    const resumed = await externalSort(await host, { ...job, budget, resume: true }, contextOf());
    t.true(resumed.resumedBytes > 0);
    t.true(readFileSync(job.out).equals(sorted));
  },
);

test.serial('a sort resumes with another memory budget', async (t) => {
  for (const partitionBytes of [1024, 2 ** 20]) {
    const { job, sorted } = await halfDone(`budget ${partitionBytes}`);
    const budget = { ...TINY, partitionBytes };
    await externalSort(await host, { ...job, budget, resume: true }, contextOf());
    t.true(readFileSync(job.out).equals(sorted));
  }
});

test.serial('resume refuses a changed input and other options', async (t) => {
  const { job, bytes } = await halfDone('changed');
  const sorter = await host;
  const refused = (more: object) => externalSort(sorter, { ...job, resume: true, ...more }, contextOf());
  await t.throwsAsync(refused({ orderName: 'descending' }), {
    instanceOf: UsageError,
    message: /same options/,
  });
  await t.throwsAsync(refused({ verify: true }), { instanceOf: UsageError, message: /--verify/ });
  const input = join(path('changed'), 'in');
  utimesSync(input, 1, 1);
  await t.throwsAsync(refused({}), {
    instanceOf: InputError,
    message: /the time of change of .* has changed/,
  });
  writeFileSync(input, Buffer.concat([bytes, bytes]));
  await t.throwsAsync(refused({}), { instanceOf: InputError, message: /the size of .* has changed/ });
});

test.serial('resume refuses a state that another process owns', async (t) => {
  const { job } = await halfDone('owned');
  const folder = await stateFolder(job.out, undefined);
  const owner = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)']);
  t.teardown(() => owner.kill());
  const { thisProcess } = await import('../../../src/io/streams/temporary-files.js');
  const stat = readFileSync(`/proc/${owner.pid}/stat`, 'latin1');
  const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  writeFileSync(join(folder, 'owner.json'), JSON.stringify({ ...thisProcess(), pid: owner.pid, start }));
  const resumed = async () => externalSort(await host, { ...job, resume: true }, contextOf());
  await t.throwsAsync(resumed, { instanceOf: IoError, message: /process \d+ is sorting to the same output/ });
});

test.serial('after a reboot, resume discards work that was not synced to disk', async (t) => {
  const { job, sorted } = await halfDone('boot');
  const manifest = join(await stateFolder(job.out, undefined), 'manifest.json');
  const text = JSON.parse(readFileSync(manifest, 'utf8'));
  writeFileSync(manifest, JSON.stringify({ ...text, boot: 'another' }));
  const { resumedBytes } = await externalSort(await host, { ...job, resume: true }, contextOf());
  t.is(resumedBytes, 0);
  t.true(readFileSync(job.out).equals(sorted));
});

test.serial('a sort interrupted before any progress keeps no state and announces none', async (t) => {
  const job = jobOf({ ...small('at once') });
  const controller = new AbortController();
  const notes: string[] = [];
  const onNote = (note: string): void => {
    notes.push(note);
    controller.abort(); // the first note precedes any work
  };
  const context = contextOf({ signal: controller.signal, onNote });
  await t.throwsAsync(externalSort(await host, job, context), { name: 'AbortError' });
  t.notRegex(notes.join('\n'), /kept in/);
  t.false(existsSync(await stateFolder(job.out, undefined)));
});

test.serial(
  'an interrupted sort keeps its state in the temporary folder and announces its path',
  async (t) => {
    const { job, bytes, sorted } = { ...small('interrupted'), job: jobOf({ ...small('interrupted 2') }) };
    const tmp = path('tmp');
    mkdirSync(tmp);
    const controller = new AbortController();
    const notes: string[] = [];
    const context = contextOf({
      signal: controller.signal,
      onNote: (note) => notes.push(note),
      onProgress: ({ phase }) => phase === 'sort' && controller.abort(),
    });
    const sorter = await host;
    await t.throwsAsync(externalSort(sorter, { ...job, tmp }, context), { name: 'AbortError' });
    t.regex(notes.join('\n'), /kept in .*tmp.*--resume/);
    t.is(readdirSync(tmp).length, 1);
    const { resumedBytes } = await externalSort(sorter, { ...job, tmp, resume: true }, contextOf());
    t.true(resumedBytes > 0 && resumedBytes < bytes.length);
    t.true(readFileSync(job.out).equals(sorted));
    t.deepEqual(readdirSync(tmp), []);
  },
);

test.serial('a sort resumes after SIGKILL at any moment', async (t) => {
  const { folder, sorted, ...rest } = small('killed', 60_000);
  const job = jobOf({ folder, ...rest });
  const script = join(packageRoot, 'dist/test/io/external/sort-process.js');
  let killed = 0;
  for (const delay of [30, 90, 200]) {
    const child = spawn(process.execPath, [script, folder]);
    const ended = new Promise((resolve) => child.on('exit', (_, signal) => resolve(signal)));
    await new Promise((resolve) => child.stdout.once('data', resolve)); // it has started
    setTimeout(() => child.kill('SIGKILL'), delay);
    if ((await ended) === 'SIGKILL') killed++;
  }
  t.true(killed > 0);
  await externalSort(await host, { ...job, resume: true }, contextOf());
  t.true(readFileSync(job.out).equals(sorted));
  t.deepEqual(readdirSync(folder).sort(), ['in', 'out']);
});
