import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { parseAllDocuments } from 'yaml';
import { recordsOf, sortedRecords } from '../engines/parts.js';
import { RedisServer, testWithRedis } from '../engines/redis-server.js';
import { clsort, MAIN, scratchFolder } from './cli.js';

const LAYOUT = ['--record', '16', '--key', '0:4'];
const SMALL = ['--partitions', '4', '--shards', '3'];

/** Runs until the test ends. */
function startWorker(
  t: ExecutionContext,
  folder: string,
  env: NodeJS.ProcessEnv,
  ...more: string[]
): ChildProcess & { text: string } {
  const child = Object.assign(
    spawn(process.execPath, [MAIN, 'worker', '--device', 'host', '--json', '--stalled', '3', ...more], {
      cwd: folder,
      env: { ...process.env, ...env },
    }),
    { text: '' },
  );
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      child.text += text;
      child.emit('said', text);
    });
  }
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  return child;
}

testWithRedis(
  'a BullMQ sort survives a killed worker, and status, cancel, check and concat work with it',
  async (t) => {
    const { folder, path, remove } = scratchFolder();
    t.teardown(remove);
    const redis = await RedisServer.start(folder, 'never told');
    t.teardown(() => redis.stop());
    const env = { CLSORT_REDIS_URL: redis.url };
    const bytes = recordsOf(30_000, 9000);
    writeFileSync(path('in.dat'), bytes);
    const sort = (out: string, ...more: string[]) =>
      clsort(['sort', path('in.dat'), '-o', path(out), ...LAYOUT, ...SMALL, '--engine', 'bullmq', ...more], {
        env,
      });

    const first = startWorker(t, folder, env);
    first.on('said', () => {
      if (first.text.includes('"kind":"partition"')) first.kill('SIGKILL');
    });
    const sorting = sort('out');
    await once(first, 'exit');
    const second = startWorker(t, folder, env);
    const ran = await sorting;
    t.is(ran.code, 0, ran.err);
    t.regex(ran.err, /job [0-9a-f]{12}: .* 3 shards, 4 partitions/);
    t.regex(ran.out, /30,000 records.* in 4 parts, verified/);
    const id = /job ([0-9a-f]{12}):/.exec(ran.err)?.[1] ?? '';

    const joined = await clsort(['concat', path('out'), '-o', path('joined.dat')]);
    t.is(joined.code, 0, joined.err);
    t.true(readFileSync(path('joined.dat')).equals(sortedRecords(bytes)));
    const checked = await clsort(['check', path('out'), '--against', path('in.dat'), '--json']);
    t.is(checked.code, 0, checked.err);
    t.like(JSON.parse(checked.out), { n: 30_000, record: 16, sorted: true, permutation: true });

    const status = await clsort(['status', id, '--json', '--workers-folder', folder], { env });
    t.is(status.code, 0, status.err);
    t.like(JSON.parse(status.out), { id, done: true, job: { state: 'done', out: 'out' } });

    // Without workers it waits; another process cancels it.
    second.kill('SIGKILL');
    await once(second, 'exit');
    let cancelling: ReturnType<typeof clsort> | undefined;
    const waiting = await clsort(
      ['sort', path('in.dat'), '-o', path('out2'), ...LAYOUT, ...SMALL, '--engine', 'bullmq'],
      {
        env,
        onStart(child) {
          child.stderr?.on('data', (text: Buffer) => {
            const found = /job ([0-9a-f]{12}):/.exec(String(text))?.[1];
            if (found) cancelling ??= clsort(['cancel', found, '--workers-folder', folder], { env });
          });
        },
      },
    );
    t.is(waiting.code, 130, waiting.err);
    t.regex(waiting.err, /cannot complete job [0-9a-f]{12}: it was cancelled, and its files were removed/);
    t.is((await cancelling)?.code, 0);
    t.deepEqual(readdirSync(path('.clsort')), []);
    t.false(existsSync(path('out2')));
    for (const { text } of [first, second]) t.false(text.includes('never'));
    for (const { out, err } of [ran, status, waiting]) t.false(`${out}${err}`.includes('never'));
  },
);

testWithRedis('BullMQ workers run a batch, and a rerun skips the completed jobs', async (t) => {
  const { folder, path, remove } = scratchFolder();
  t.teardown(remove);
  const redis = await RedisServer.start(folder);
  t.teardown(() => redis.stop());
  const env = { CLSORT_REDIS_URL: redis.url };
  mkdirSync(path('in'));
  const keys = [3, 1, 2].map((seed) =>
    Uint32Array.from({ length: 1000 }, (_, i) => Math.imul(i * seed, 0x9e3779b1) >>> 0),
  );
  for (const [i, file] of keys.entries()) writeFileSync(path(`in/${i}.u32`), file);
  writeFileSync(path('in/wrong.npy'), 'no array');
  const jobs = {
    jobs: [
      { in: 'in/*.u32', out: 'sorted/{name}{ext}' },
      { in: 'in/wrong.npy', out: 'sorted/wrong.npy' },
    ],
  };
  writeFileSync(path('jobs.json'), JSON.stringify(jobs));
  startWorker(t, folder, env);
  startWorker(t, folder, env);
  const batch = () => clsort(['batch', path('jobs.json'), '--engine', 'bullmq', '--json'], { env });
  const rows = (out: string) =>
    out
      .trim()
      .split('\n')
      .map(
        (line) =>
          JSON.parse(line) as {
            name?: string;
            outcome?: string;
            ok?: number;
            failed?: number;
            done?: number;
          },
      );
  const ran = await batch();
  t.is(ran.code, 5, ran.err);
  t.like(rows(ran.out).at(-1), { ok: 3, failed: 1 });
  for (const [i, file] of keys.entries()) {
    t.deepEqual(
      new Uint8Array(readFileSync(path(`sorted/${i}.u32`))),
      new Uint8Array(file.slice().sort().buffer),
    );
  }
  const again = await batch();
  t.like(rows(again.out).at(-1), { ok: 0, done: 3, failed: 1 });
  const wrong = await clsort(['batch', path('jobs.json'), '--engine', 'bullmq', '--device', 'gpu'], { env });
  t.is(wrong.code, 2);
  t.regex(wrong.err, /cannot combine --device and --engine bullmq/);
});

/** Replaces Slurm: array tasks run immediately, one after the other, and none is ever pending. */
function fakeSlurm(folder: string): NodeJS.ProcessEnv {
  mkdirSync(`${folder}/bin`);
  const sbatch = `#!/bin/bash
script=$(cat)
for word in "$@"; do case $word in --array=*) array=\${word#--array=};; --job-name=*) name=\${word#--job-name=};; esac; done
indexes=
for range in \${array//,/ }; do indexes="$indexes $(seq -s ' ' \${range%-*} \${range#*-})"; done
for index in \${indexes:-none}; do
  SLURM_ARRAY_TASK_ID=$index bash -c "$script" >> '${folder}/slurm.log' 2>&1 || echo "$name $index failed" >> '${folder}/slurm.log'
done
echo 17
`;
  writeFileSync(`${folder}/bin/sbatch`, sbatch, { mode: 0o755 });
  writeFileSync(`${folder}/bin/squeue`, '#!/bin/bash\n', { mode: 0o755 });
  return { PATH: `${folder}/bin:${process.env.PATH}` };
}

test('a batch is submitted to Slurm, and the same command reports the results and resubmits failed jobs', async (t) => {
  const { folder, path, remove } = scratchFolder();
  t.teardown(remove);
  const env = fakeSlurm(folder);
  const keys = [3, 1, 2].map((seed) =>
    Uint32Array.from({ length: 1000 }, (_, i) => Math.imul(i * seed, 0x9e3779b1) >>> 0),
  );
  for (const [i, file] of keys.entries()) writeFileSync(path(`${i}.u32`), file);
  writeFileSync(path('late.u32'), new Uint8Array(3));
  writeFileSync(path('jobs.json'), JSON.stringify({ jobs: [{ in: '*.u32', out: 'sorted/{name}{ext}' }] }));
  const batch = async () => {
    const args = ['batch', path('jobs.json'), '--engine', 'slurm', '--submit', '--device', 'host', '--json'];
    const ran = await clsort(args, { env });
    t.is(ran.code, 0, ran.err);
    return ran.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  };
  const [submitted, summary] = await batch();
  t.like(submitted, { schema: 'clsort.submitted/1', jobs: ['17', '17'] });
  t.like(summary, { jobs: 0 });
  const log = readFileSync(path('slurm.log'), 'utf8');
  t.regex(log, /batch 4 failed: .*late\.u32/);
  t.regex(log, /-batch 3 failed\n/, 'the exit code reports the failure to Slurm');
  t.regex(log, /batch +3 +of 4/, 'the last job prints the summary');
  for (const [i, file] of keys.entries()) {
    const expected = new Uint8Array(file.slice().sort().buffer);
    t.deepEqual(new Uint8Array(readFileSync(path(`sorted/${i}.u32`))), expected);
  }
  const status = await clsort(['status', submitted.id, '--workers-folder', folder]);
  t.is(status.code, 1, status.err);
  // Only the failed job is submitted again, and it succeeds.
  writeFileSync(path('late.u32'), new Uint32Array([2, 1]));
  const second = await batch();
  t.is(second.filter(({ outcome }) => outcome === 'ok').length, 3);
  t.like(second.at(-2), { id: submitted.id });
  t.deepEqual([...readFileSync(path('sorted/late.u32'))], [1, 0, 0, 0, 2, 0, 0, 0]);
  t.is((await clsort(['status', submitted.id, '--workers-folder', folder])).code, 0);
  const third = await batch();
  t.is(third.filter(({ outcome }) => outcome === 'done').length, 3);
  t.is(third.filter(({ outcome }) => outcome === 'ok').length, 1);
  t.like(third.at(-1), { jobs: 4, ok: 1, done: 3, failed: 0 });
  t.deepEqual(
    readdirSync(path('.clsort')).filter((name) => !name.endsWith('-logs')),
    [],
  );
});

test('a batch for Kubernetes prints only a manifest on stdout', async (t) => {
  const { path, remove } = scratchFolder();
  t.teardown(remove);
  for (const name of ['a', 'b']) writeFileSync(path(`${name}.u32`), new Uint32Array(10));
  writeFileSync(
    path('jobs.json'),
    JSON.stringify({ jobs: [{ in: '*.u32', out: '{name}.sorted', dtype: 'u32' }] }),
  );
  const args = [
    'batch',
    path('jobs.json'),
    '--engine',
    'kubernetes',
    '--print',
    '--image',
    'registry/clsort',
  ];
  const ran = await clsort([...args, '--resource', 'nvidia.com/gpu=1']);
  t.is(ran.code, 0, ran.err);
  const [document, ...others] = parseAllDocuments(ran.out);
  t.is(others.length, 0);
  const { spec } = document?.toJS() ?? {};
  t.like(spec, { suspend: false, completions: 2, backoffLimitPerIndex: 2 });
  const [container] = spec.template.spec.containers;
  t.deepEqual(container.resources, { limits: { 'nvidia.com/gpu': '1' } });
  t.deepEqual(container.command.slice(-2), ['--share', '$(JOB_COMPLETION_INDEX)']);
  t.true(container.command.includes('batch'));
});

test('options that an engine does not support and unreachable services are refused with a reason', async (t) => {
  const { folder, path, remove } = scratchFolder();
  t.teardown(remove);
  writeFileSync(path('in.u32'), new Uint32Array(10));
  const refused = async (
    args: string[],
    code: number,
    message: RegExp,
    env: NodeJS.ProcessEnv = {},
  ): Promise<void> => {
    const ran = await clsort(args, { env: { CLSORT_REDIS_URL: '', ...env } });
    t.is(ran.code, code, `${args.join(' ')}: ${ran.err}`);
    t.regex(ran.err, message);
  };
  const sort = ['sort', path('in.u32'), '-o', path('out')];
  await refused(
    [...sort, '--engine', 'bullmq'],
    2,
    /cannot connect to Redis: --redis is missing.*CLSORT_REDIS_URL/,
  );
  await refused(
    [...sort, '--engine', 'bullmq', '--redis', 'secret:secret'],
    2,
    /^(?!.*secret:).*for --redis or CLSORT_REDIS_URL but got another URL/s,
  );
  const unreachable = 'redis://:secret@127.0.0.1:1';
  await refused(
    [...sort, '--engine', 'bullmq'],
    5,
    /cannot use Redis at redis:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/,
    {
      CLSORT_REDIS_URL: unreachable,
    },
  );
  await refused(['worker', '--device', 'host'], 5, /^(?!.*secret).*ECONNREFUSED/s, {
    CLSORT_REDIS_URL: unreachable,
  });
  await refused(
    [...sort, '--engine', 'spark'],
    2,
    /expected one of local, bullmq, slurm, kubernetes for --engine but got "spark"/,
  );
  await refused([...sort, '--engine', 'local', '--argsort'], 2, /cannot combine --argsort and --engine/);
  await refused([...sort, '--engine', 'local', '--unique'], 2, /cannot combine --unique and --engine/);
  await refused(
    [...sort, '--engine', 'bullmq', '--memory', '1G'],
    2,
    /cannot combine --memory and --engine bullmq/,
    {
      CLSORT_REDIS_URL: unreachable,
    },
  );
  await refused([...sort, '--engine', 'slurm'], 2, /--print is missing\. .*or --submit to submit it/);
  await refused(
    [...sort, '--engine', 'kubernetes', '--submit'],
    2,
    /cannot combine --submit and --engine kubernetes/,
  );
  await refused(
    [...sort, '--engine', 'kubernetes', '--print'],
    2,
    /cannot use --engine kubernetes: --image is missing/,
  );
  await refused(
    [...sort, '--engine', 'slurm', '--print', '--submit'],
    2,
    /cannot combine --print and --submit/,
  );
  writeFileSync(path('jobs.json'), JSON.stringify([{ in: 'in.u32', out: 'out.u32', device: 'gpu' }]));
  const batch = ['batch', path('jobs.json')];
  await refused([...batch, '--engine', 'slurm'], 2, /--print is missing\. .*or --submit to submit it/);
  await refused(
    [...batch, '--engine', 'slurm', '--print'],
    2,
    /cannot run in\.u32 on workers: it sets device \(gpu\)/,
  );
  await refused(
    [...batch, '--engine', 'slurm', '--print', '--timeout', '3'],
    2,
    /cannot combine --timeout and --engine/,
  );
  await refused([...batch, '--engine', 'bullmq', '--print'], 2, /cannot combine --print and --engine bullmq/);
  await refused([...batch, '--submit'], 2, /cannot use --submit without --engine/);
  await refused([...sort, '--partitions', '3'], 2, /cannot use --partitions without --engine/);
  await refused(['status', 'x'], 2, /expected 12 hexadecimal digits for the job id but got "x"/);
  await refused(['status', '0123456789ab', '--workers-folder', folder], 5, /cannot find job 0123456789ab/);
  await refused(['cancel', '0123456789ab', '--workers-folder', folder], 5, /cannot find job/);
  await refused(
    ['worker', '--job', '0123456789ab', '--workers-folder', folder],
    2,
    /cannot run job 0123456789ab: --step is missing/,
  );
  t.deepEqual(
    readdirSync(folder).filter(
      (name) => !['in.u32', 'jobs.json', 'jobs.json.journal', '.clsort'].includes(name),
    ),
    [],
  );
});

test('check and concat follow the manifest of a partitioned output', async (t) => {
  const { path, remove } = scratchFolder();
  t.teardown(remove);
  const keys = Float32Array.from({ length: 5000 }, (_, i) => Math.sin(i) * 100);
  writeFileSync(path('in.f32'), keys);
  const sort = ['sort', path('in.f32'), '-o', path('out'), '--engine', 'local', '--device', 'host', ...SMALL];
  const ran = await clsort([...sort, '--descending', '--json', '-q']);
  t.is(ran.code, 0, ran.err);
  t.like(JSON.parse(ran.out), { schema: 'clsort.parts-report/1', n: 5000, parts: 4 });
  t.is(ran.err, '');
  const checked = await clsort(['check', path('out'), '--against', path('in.f32')]);
  t.is(checked.code, 0, checked.out + checked.err);
  t.regex(checked.out, /5,000 f32 keys, descending\norder: right\npermutation: right/);
  t.is((await clsort(['check', path('in.f32'), '--against', path('out')])).code, 1);
  const joined = await clsort(['concat', path('out'), '-o', path('joined.npy')]);
  t.is(joined.code, 0, joined.err);
  t.is((await clsort(['check', path('joined.npy'), '-r', '--against', path('in.f32')])).code, 0);
  // A changed part, and a manifest that names a file outside its folder.
  const part = path('out/part-00001.f32');
  const bytes = readFileSync(part);
  writeFileSync(part, Buffer.concat([bytes.subarray(400), bytes.subarray(0, 400)]));
  t.is((await clsort(['check', path('out')])).code, 1);
  const manifest = readFileSync(path('out/manifest.json'), 'utf8');
  writeFileSync(path('out/manifest.json'), manifest.replace('part-00001.f32', '../in.f32'));
  const hostile = await clsort(['concat', path('out'), '-o', path('x.f32')]);
  t.is(hostile.code, 5);
  t.regex(hostile.err, /lists the part "\.\.\/in\.f32", which is not the name of a file/);
});
