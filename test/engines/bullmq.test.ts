import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { Queue } from 'bullmq';
import { BullmqJobRunner } from '../../src/engines/bullmq-job-runner.js';
import { type ServeEvent, type ServeOptions, serve } from '../../src/engines/bullmq-worker.js';
import type { JobEvent } from '../../src/engines/coordinator.js';
import { idOf } from '../../src/engines/job-folder.js';
import { jobsKey, PREFIX, queueName, workersKey } from '../../src/engines/queue-names.js';
import { redisUrl } from '../../src/engines/redis.js';
import { SharedFolder } from '../../src/engines/shared-folder.js';
import type { WorkerContext } from '../../src/engines/worker-context.js';
import { VERSION } from '../../src/util/package.js';
import { scratchFolder } from '../cli/cli.js';
import { hostSorter } from '../io/host-sorter.js';
import { joinedParts, recordRequest, recordsOf, sortedRecords, sortHere } from './parts.js';
import { RedisServer, testWithRedis } from './redis-server.js';

const sorter = hostSorter(test);

interface Place {
  readonly folder: string;
  readonly path: (name: string) => string;
  readonly redis: RedisServer;
}

/** A folder and a Redis server, which the test removes at its end. */
async function place(t: ExecutionContext, password?: string): Promise<Place> {
  const { folder, path, remove } = scratchFolder();
  const redis = await RedisServer.start(folder, password);
  t.teardown(async () => {
    await redis.stop();
    remove();
  });
  return { folder, path, redis };
}

interface Running {
  readonly events: ServeEvent[];
  /** Resolves when the worker takes tasks. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

/** A worker in this process. */
function worker(
  t: ExecutionContext,
  { folder, redis }: Place,
  more: Partial<ServeOptions> & { context?: Partial<WorkerContext> } = {},
): Running {
  const controller = new AbortController();
  const events: ServeEvent[] = [];
  let setReady: () => void;
  const ready = new Promise<void>((resolve) => {
    setReady = resolve;
  });
  const running = (async () => {
    const context = {
      shared: await SharedFolder.open(folder),
      sorter: async () => sorter(),
      memory: 64 * 2 ** 20,
      signal: controller.signal,
      ...more.context,
    };
    await serve({
      url: redisUrl(redis.url),
      queue: 'default',
      device: 'host',
      onEvent: (event) => {
        events.push(event);
        if (event.is === 'ready') setReady();
      },
      ...more,
      context,
    });
  })();
  const stop = async (): Promise<void> => {
    controller.abort();
    await running;
  };
  running.catch(() => undefined);
  t.teardown(() => stop().catch(() => undefined));
  return { events, ready, stop };
}

/** Sorts over workers. */
async function sortOver(
  { folder, redis, path }: Place,
  bytes: Buffer,
  listen: (event: JobEvent) => void = () => undefined,
  signal?: AbortSignal,
) {
  const open = () =>
    BullmqJobRunner.open({
      url: redisUrl(redis.url),
      queue: 'default',
      id: idOf('out'),
      out: 'out',
      onWarning: (message) => listen({ is: 'warning', message }),
    });
  const context = signal ? { signal } : {};
  const report = await sortHere(sorter(), recordRequest(folder, bytes), { context, listen, runner: open });
  return { report, parts: await joinedParts(path('out')) };
}

testWithRedis('two workers sort and leave no job in the queue', async (t) => {
  const here = await place(t);
  worker(t, here);
  worker(t, here);
  const bytes = recordsOf(20_000, 5000);
  const events: JobEvent[] = [];
  const { report, parts } = await sortOver(here, bytes, (event) => events.push(event));
  t.like(report, { n: 20_000 });
  t.true(parts.equals(sortedRecords(bytes)));
  for (const stage of ['sample', 'splitters', 'partition', 'sort', 'verify']) {
    t.true(
      events.some((event) => event.is === 'done' && event.task.kind === stage),
      stage,
    );
  }
  const client = here.redis.client();
  const queue = new Queue(queueName('default'), { connection: client, prefix: PREFIX });
  t.deepEqual(await queue.getJobCounts('wait', 'active', 'failed', 'completed', 'delayed'), {
    ...{ wait: 0, active: 0, failed: 0, completed: 0, delayed: 0 },
  });
  const entry = JSON.parse((await client.hget(jobsKey('default'), idOf('out'))) ?? '{}');
  t.like(entry, { state: 'done', version: VERSION, out: 'out' });
  await queue.close();
  client.disconnect();
});

testWithRedis('a sort survives a Redis server that loses its data in each stage', async (t) => {
  const here = await place(t);
  worker(t, here);
  worker(t, here);
  const bytes = recordsOf(8000);
  const restarted = new Set<string>();
  let restarts = Promise.resolve();
  const { parts } = await sortOver(here, bytes, (event) => {
    if (event.is !== 'begin' || restarted.has(event.task.kind) || restarted.size >= 3) return;
    restarted.add(event.task.kind);
    restarts = restarts.then(async () => {
      await here.redis.stop();
      await here.redis.run();
    });
  });
  await restarts;
  t.is(restarted.size, 3);
  t.true(parts.equals(sortedRecords(bytes)));
});

testWithRedis('tasks that name forbidden paths or jobs fail, and other tasks continue', async (t) => {
  const here = await place(t);
  const outside = scratchFolder();
  t.teardown(outside.remove);
  const client = here.redis.client();
  t.teardown(() => client.disconnect());
  const queue = new Queue(queueName('default'), { connection: client, prefix: PREFIX });
  t.teardown(() => queue.close());
  // A job whose folder is a link, and one that names files through links and parent folders.
  mkdirSync(here.path('.clsort'));
  symlinkSync(outside.folder, here.path('.clsort/aaaaaaaaaaaa'));
  symlinkSync(outside.folder, here.path('link'));
  writeFileSync(outside.path('in.u8'), 'cba');
  const jobs = [
    '../in.u8',
    '/etc/hostname',
    'link/in.u8',
    'link/x/../in.u8',
    `../${outside.folder}/in.u8`,
  ].flatMap((name) => [
    { name: 'j', in: name, out: 'result.u8' },
    { name: 'j', in: 'own.u8', out: name },
  ]);
  writeFileSync(here.path('own.u8'), 'cba');
  mkdirSync(here.path('.clsort/bbbbbbbbbbbb/temporary'), { recursive: true });
  const batch = { schema: 'clsort.batch-jobs/1', version: VERSION, jobs };
  writeFileSync(here.path('.clsort/bbbbbbbbbbbb/job.json'), JSON.stringify(batch));
  const bad: unknown[] = [
    ...[
      null,
      7,
      [],
      { job: '../../etc', kind: 'sort', index: 0 },
      { job: 'aaaaaaaaaaaa', kind: 'rm', index: 0 },
    ],
    ...[
      { job: 'aaaaaaaaaaaa', kind: 'sort', index: -1 },
      { job: 'aaaaaaaaaaaa', kind: 'sample', index: 0 },
    ],
    ...[
      { job: 'cccccccccccc', kind: 'sort', index: 0 },
      { job: 'bbbbbbbbbbbb', kind: 'batch', index: 99 },
    ],
    ...jobs.map((_, index) => ({ job: 'bbbbbbbbbbbb', kind: 'batch', index })),
  ];
  for (const data of bad) await queue.add('x', data as object, { attempts: 3 });
  const running = worker(t, here);
  const bytes = recordsOf(2000);
  const { parts } = await sortOver(here, bytes);
  t.true(parts.equals(sortedRecords(bytes)));
  const failed = running.events.filter((event) => event.is === 'failed' && !event.again);
  t.is(failed.length, bad.length);
  t.deepEqual(readdirSync(outside.folder), ['in.u8']);
  t.false(existsSync(here.path('result.u8')));
  t.deepEqual(
    readdirSync(here.folder).filter((name) => name.includes('in.u8')),
    [],
  );
});

testWithRedis('a worker of another version takes no tasks, and both sides warn', async (t) => {
  const here = await place(t);
  const other = worker(t, here, { version: '0.0.9' });
  await other.ready;
  const warnings: string[] = [];
  const isReported = (): boolean =>
    warnings.some((message) => message.includes('0.0.9')) && other.events.some(({ is }) => is === 'warning');
  // The matching worker starts when both sides have warned about the other one.
  const wait = setInterval(() => {
    if (!isReported()) return;
    clearInterval(wait);
    worker(t, here);
  }, 50);
  t.teardown(() => clearInterval(wait));
  const bytes = recordsOf(2000);
  const { parts } = await sortOver(here, bytes, (event) => {
    if (event.is === 'warning') warnings.push(event.message);
  });
  t.true(parts.equals(sortedRecords(bytes)));
  t.true(warnings.some((message) => /worker .* gets no tasks: it runs clsort 0\.0\.9/.test(message)));
  t.true(warnings.some((message) => /no worker of clsort/.test(message)));
  const [warning] = other.events.filter((event) => event.is === 'warning');
  t.regex(warning?.is === 'warning' ? warning.message : '', /takes no tasks of job .*\. Install clsort@/);
  t.false(other.events.some(({ is }) => is === 'begin'));
});

testWithRedis('a task whose job file has another version fails', async (t) => {
  const here = await place(t);
  mkdirSync(here.path('.clsort/bbbbbbbbbbbb'), { recursive: true });
  writeFileSync(
    here.path('.clsort/bbbbbbbbbbbb/job.json'),
    JSON.stringify({ schema: 'clsort.sort-job/1', version: '9.9.9' }),
  );
  const client = here.redis.client();
  const queue = new Queue(queueName('default'), { connection: client, prefix: PREFIX });
  await queue.add('x', { job: 'bbbbbbbbbbbb', kind: 'sample', index: 0 });
  const running = worker(t, here);
  while (!running.events.some(({ is }) => is === 'failed'))
    await new Promise((resolve) => setTimeout(resolve, 50));
  const [failed] = running.events.filter((event) => event.is === 'failed');
  t.regex(failed?.is === 'failed' ? failed.error.message : '', /it belongs to clsort 9\.9\.9, and this is/);
  await queue.close();
  client.disconnect();
});

testWithRedis('a second coordinator of the same job is rejected', async (t) => {
  const here = await place(t);
  const bytes = recordsOf(2000);
  let second: Promise<unknown> | undefined;
  let right: Running | undefined;
  const { parts } = await sortOver(here, bytes, (event) => {
    if (event.is !== 'stage') return;
    // A second coordinator in the same process is rejected in the same way.
    second ??= t
      .throwsAsync(sortOver(here, bytes), {
        code: 'ERR_CLSORT_USAGE',
        message: /process \d+ on .* already coordinates it/,
      })
      .then(() => {
        right ??= worker(t, here);
      });
  });
  await second;
  t.truthy(right);
  t.true(parts.equals(sortedRecords(bytes)));
});

testWithRedis(
  'an interrupted sort resumes at its last task, and a changed input rejects the sort',
  async (t) => {
    const here = await place(t);
    const running = worker(t, here);
    const bytes = recordsOf(6000, 1000);
    const controller = new AbortController();
    let partitions = 0;
    const listen = (event: JobEvent): void => {
      if (event.is === 'done' && event.task.kind === 'partition' && ++partitions === 2) controller.abort();
    };
    await t.throwsAsync(sortOver(here, bytes, listen, controller.signal), { code: 'ERR_CLSORT_ABORTED' });
    t.false(existsSync(here.path('out')));
    const kinds: string[] = [];
    const { parts } = await sortOver(here, bytes, (event) => {
      if (event.is === 'stage') kinds.push(`${event.stage} ${event.done}`);
    });
    t.true(parts.equals(sortedRecords(bytes)));
    t.deepEqual(kinds.slice(0, 2), ['sample 4', 'splitters 1']);
    t.regex(kinds[2] ?? '', /^partition [2-4]$/);
    await running.stop();

    // A file that changes while it is sorted.
    const again = worker(t, here);
    const failing = sortOver(here, bytes, (event) => {
      if (event.is === 'stage' && event.stage === 'partition')
        writeFileSync(join(here.folder, 'in.dat'), bytes.subarray(160));
    });
    await t.throwsAsync(failing, {
      code: 'ERR_CLSORT_INPUT',
      message: /cannot sort .*in\.dat: it has changed since the job started/,
    });
    await again.stop();
  },
);

testWithRedis('a Redis password appears in no error, event or key', async (t) => {
  const secret = 'p@ss word/1';
  const here = await place(t, secret);
  const wrong = redisUrl(here.redis.url.replace(encodeURIComponent(secret), 'other-secret'));
  const options = { queue: 'default', id: idOf('out'), out: 'out', onWarning: () => undefined };
  const refused = await t.throwsAsync(BullmqJobRunner.open({ ...options, url: wrong }), {
    code: 'ERR_CLSORT_IO',
  });
  t.notRegex(JSON.stringify([refused?.message, refused?.cause, refused]), /other-secret/);
  t.regex(refused?.message ?? '', /WRONGPASS|invalid/i);
  worker(t, here);
  const bytes = recordsOf(1000);
  const seen: unknown[] = [];
  const { parts } = await sortOver(here, bytes, (event) => seen.push(event));
  t.true(parts.equals(sortedRecords(bytes)));
  t.false(JSON.stringify(seen).includes('p@ss'));
  const client = here.redis.client();
  for (const key of await client.keys('*')) t.false(key.includes('ss'));
  t.deepEqual(await client.hgetall(workersKey('none')), {});
  client.disconnect();
  for (const text of ['redis://:secret@', 'http://:secret@host', 'not a secret']) {
    const error = t.throws(() => redisUrl(text), { code: 'ERR_CLSORT_USAGE' });
    t.notRegex(`${error?.message}${error?.stack}`, /secret/);
  }
});
