/**
 * Runs tasks on workers behind a BullMQ queue on Redis or Valkey, which retries tasks and detects dead workers. The
 * task records in the shared folder are authoritative: Redis may lose its data, and tasks without a record are added
 * again.
 */
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Queue, QueueEvents } from 'bullmq';
import type { Redis } from 'ioredis';
import { deserializeError, type SerializedError } from '../batch/protocol.js';
import { AbortedError, ClsortError, DeviceLostError, IoError } from '../util/errors.js';
import { VERSION } from '../util/package.js';
import { EventChannel } from './event-channel.js';
import {
  CancelledError,
  type JobRunner,
  type JobStatus,
  type Task,
  type TaskEvent,
  taskText,
} from './job-runner.js';
import {
  cancelKey,
  type JobEntry,
  jobIdOf,
  jobsKey,
  PREFIX,
  plainText,
  presentWorkers,
  queueName,
  workersKey,
} from './queue-names.js';
import { connect, loadBullmq, placeOf, redisError } from './redis.js';

/** A message of a worker about its task. */
export type WorkerUpdate = {
  readonly worker: string;
} & (
  | { readonly is: 'begin' }
  | { readonly is: 'progress'; readonly phase: string; readonly done: number; readonly total: number | null }
  | { readonly is: 'again' | 'failed'; readonly error: SerializedError }
  | { readonly is: 'done'; readonly seconds: number; readonly cpuSeconds: number; readonly device: string }
);

export interface BullmqJobRunnerOptions {
  readonly url: URL;
  readonly queue: string;
  /** ID of the job. */
  readonly id: string;
  /** Name of the output, for status queries. */
  readonly out: string;
  readonly onWarning: (message: string) => void;
}

/** Milliseconds between two polls for completed tasks, since events may be lost. */
const POLL_MS = 2000;
/** Number of tasks checked per poll, which keeps each command to Redis short. */
const TASKS_PER_POLL = 256;
/** Number of tasks added per call, which keeps each command to Redis short. */
const TASKS_PER_ADD = 500;
/** Maximum milliseconds for the shutdown, since Redis may be unreachable. */
const END_MS = 2000;
/** Seconds that the entry of a finished job is kept. */
const RETENTION_SECONDS = 7 * 24 * 3600;
/** Number of polls for which the record of a completed task may be missing, since network folders may lag. */
const MAX_LATE_POLLS = 5;
/** Number of records that may be missing permanently before the run fails. */
const MAX_MISSING_RECORDS = 2;

export class BullmqJobRunner implements JobRunner {
  readonly name = 'bullmq';
  readonly #options: BullmqJobRunnerOptions;
  readonly #client: Redis;
  readonly #queue: Queue;
  readonly #events: QueueEvents;
  /** A separate connection for blocking reads of events, which would delay other commands. */
  readonly #blockingClient: Redis;
  readonly #warned = new Set<string>();
  #status: JobStatus = { stage: 'begin', done: 0, tasks: 0 };

  private constructor(
    options: BullmqJobRunnerOptions,
    [client, blockingClient]: readonly [Redis, Redis],
    queue: Queue,
    events: QueueEvents,
  ) {
    this.#blockingClient = blockingClient;
    this.#options = options;
    this.#client = client;
    this.#queue = queue;
    this.#events = events;
  }

  /**
   * Connects to Redis and opens the queue.
   *
   * @throws IoError when Redis does not answer
   * @throws PackageError when a package is not installed
   */
  static async open(options: BullmqJobRunnerOptions): Promise<BullmqJobRunner> {
    const { Queue, QueueEvents } = await loadBullmq();
    const { url, queue: name, id, onWarning } = options;
    const client = await connect(url, onWarning);
    const settings = { connection: client, prefix: PREFIX, skipVersionCheck: true };
    const queue = new Queue(queueName(name), settings);
    const blockingClient = client.duplicate();
    const events = new QueueEvents(queueName(name), { ...settings, connection: blockingClient });
    // Clients reconnect automatically, and `connect` reports lost connections.
    queue.on('error', () => undefined);
    events.on('error', () => undefined);
    const runner = new BullmqJobRunner(options, [client, blockingClient], queue, events);
    try {
      await events.waitUntilReady();
      await client.del(cancelKey(name, id));
    } catch (error) {
      await runner.close('failed');
      throw redisError(error, url);
    }
    return runner;
  }

  async *run(
    tasks: readonly Task[],
    isDone: (task: Task) => Promise<boolean>,
    signal: AbortSignal,
  ): AsyncGenerator<TaskEvent> {
    const stage = new RunningTasks(tasks, isDone, this.#queue);
    const { channel } = stage;
    const stop = (): void => channel.fail(new AbortedError('interrupted', { cause: signal.reason }));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    const unlisten = stage.listen(this.#events);
    let isOver = false;
    const pollUntilOver = async (): Promise<void> => {
      while (!isOver) {
        await delay(POLL_MS, undefined, { ref: false });
        if (isOver) return;
        if (await this.#isCancelled())
          channel.fail(new CancelledError(`cannot continue job ${this.#options.id}: it was cancelled`));
        await this.#checkWorkers(channel);
        await this.reportStatus({ ...this.#status });
        await stage.poll();
      }
    };
    try {
      // Not awaited: it waits for as long as Redis is unreachable.
      stage
        .add(tasks)
        .then(pollUntilOver)
        .catch((error) => {
          if (!isOver)
            channel.fail(error instanceof ClsortError ? error : redisError(error, this.#options.url));
        });
      yield* channel;
    } finally {
      isOver = true;
      signal.removeEventListener('abort', stop);
      unlisten();
      await Promise.race([stage.giveUp(), delay(END_MS)]);
    }
  }

  async #isCancelled(): Promise<boolean> {
    const { queue, id } = this.#options;
    return (await this.#client.exists(cancelKey(queue, id))) === 1;
  }

  /** Warns once per worker of another version, and once when there are no workers. */
  async #checkWorkers(channel: EventChannel<TaskEvent>): Promise<void> {
    const { queue, url } = this.#options;
    const workers = presentWorkers(await this.#client.hgetall(workersKey(queue)));
    const warn = (key: string, message: string): void => {
      if (this.#warned.has(key)) return;
      this.#warned.add(key);
      channel.push({ is: 'warning', message });
    };
    for (const { name, version } of workers) {
      if (version === VERSION) continue;
      warn(
        `${name} ${version}`,
        `worker ${name} gets no tasks: it runs clsort ${version}. Install clsort@${VERSION} there`,
      );
    }
    if (!workers.some(({ version }) => version === VERSION)) {
      warn(
        'none',
        `queue '${queue}' of ${placeOf(url)} has no worker of clsort ${VERSION}. Start 'clsort worker' on a host`,
      );
    }
  }

  async reportStatus(status: JobStatus): Promise<void> {
    this.#status = status;
    await this.#put('running');
  }

  async #put(state: JobEntry['state']): Promise<void> {
    const { queue, id, out } = this.#options;
    const entry: JobEntry = {
      ...{ version: VERSION, host: hostname(), pid: process.pid, out, state, at: Date.now() },
      ...this.#status,
    };
    if (this.#client.status !== 'ready') return; // the next report repeats it
    await this.#client.hset(jobsKey(queue), id, JSON.stringify(entry)).catch(() => undefined);
    await this.#client.expire(jobsKey(queue), RETENTION_SECONDS).catch(() => undefined);
  }

  async close(outcome: 'done' | 'failed'): Promise<void> {
    await Promise.race([this.#end(outcome), delay(END_MS)]);
    this.#blockingClient.disconnect();
    this.#client.disconnect();
  }

  async #end(outcome: 'done' | 'failed'): Promise<void> {
    await this.#put((await this.#isCancelled().catch(() => false)) ? 'cancelled' : outcome);
    await this.#events.close().catch(() => undefined);
    await this.#queue.close().catch(() => undefined);
  }
}

/** The unfinished tasks of one stage. */
class RunningTasks {
  readonly channel = new EventChannel<TaskEvent>();
  readonly #open: Map<string, Task>;
  readonly #isDone: (task: Task) => Promise<boolean>;
  readonly #queue: Queue;
  /** The last message about each task that has ended or may be retried. */
  readonly #updates = new Map<string, WorkerUpdate>();
  readonly #latePolls = new Map<string, number>();
  /** Number of tasks reported as completed whose record never appeared. */
  #missingRecords = 0;
  /** Start of the next poll. */
  #next = 0;

  constructor(tasks: readonly Task[], isDone: (task: Task) => Promise<boolean>, queue: Queue) {
    this.#open = new Map(tasks.map((task) => [jobIdOf(task), task]));
    this.#isDone = isDone;
    this.#queue = queue;
    if (tasks.length === 0) this.channel.end();
  }

  /** Adds tasks that are not in the queue yet; an earlier coordinator may have added them. */
  async add(tasks: readonly Task[]): Promise<void> {
    for (let first = 0; first < tasks.length; first += TASKS_PER_ADD) {
      const some = tasks.slice(first, first + TASKS_PER_ADD);
      // A task that has ended without a record is run again.
      await Promise.all(some.map((task) => this.#removeEnded(jobIdOf(task))));
      await this.#queue.addBulk(
        some.map((task) => ({
          name: task.kind,
          data: { ...task, version: VERSION },
          opts: {
            jobId: jobIdOf(task),
            attempts: 3,
            backoff: { type: 'exponential', delay: 1000 },
            removeOnComplete: true,
          },
        })),
      );
    }
  }

  async #removeEnded(id: string): Promise<void> {
    const job = await this.#queue.getJob(id);
    if (!job) return;
    const state = await job.getState();
    if (state === 'completed' || state === 'failed') await job.remove().catch(() => undefined);
  }

  listen(events: QueueEvents): () => void {
    const onProgress = ({ jobId, data }: { jobId: string; data: unknown }): void => this.#handle(jobId, data);
    const onCompleted = ({ jobId }: { jobId: string }): void => void this.#ended(jobId);
    const onFailed = ({ jobId, failedReason }: { jobId: string; failedReason: string }): void =>
      this.#failed(jobId, failedReason);
    const onStalled = ({ jobId }: { jobId: string }): void => {
      const task = this.#open.get(jobId);
      if (!task) return;
      const worker = plainText(this.#updates.get(jobId)?.worker ?? 'a worker');
      const error = new Error(
        'cannot reach the worker: it has stopped responding. Another worker takes over the task',
      );
      this.channel.push({ is: 'again', task, worker, error });
    };
    events.on('progress', onProgress);
    events.on('completed', onCompleted);
    events.on('failed', onFailed);
    events.on('stalled', onStalled);
    return () => {
      events.off('progress', onProgress);
      events.off('completed', onCompleted);
      events.off('failed', onFailed);
      events.off('stalled', onStalled);
    };
  }

  #handle(id: string, data: unknown): void {
    const task = this.#open.get(id);
    const update = data as Partial<WorkerUpdate> | null;
    if (!task || typeof update !== 'object' || update === null) return;
    const worker = plainText(update.worker);
    if (update.is === 'begin') this.channel.push({ is: 'begin', task, worker });
    else if (update.is === 'progress') {
      const { phase = '', done = 0, total } = update as Extract<WorkerUpdate, { is: 'progress' }>;
      const progress = { phase: plainText(phase), done: Number(done), total: Number(total ?? Number.NaN) };
      this.channel.push({ is: 'progress', task, worker, progress });
      return;
    } else if (update.is === 'again') {
      this.channel.push({ is: 'again', task, worker, error: errorOf(update as WorkerUpdate) });
    }
    this.#updates.set(id, update as WorkerUpdate);
  }

  /** Handles the end of a task, which counts only if its record exists. */
  async #ended(id: string): Promise<void> {
    const task = this.#open.get(id);
    if (!task || !(await this.#isDone(task).catch(() => false)) || !this.#open.delete(id)) return;
    const update = this.#updates.get(id);
    const worker = plainText(update?.worker ?? 'a worker');
    const [seconds, cpuSeconds] =
      update?.is === 'done' ? [Number(update.seconds), Number(update.cpuSeconds)] : [0, 0];
    const device = update?.is === 'done' ? plainText(update.device) : undefined;
    this.channel.push({ is: 'done', task, worker, seconds, cpuSeconds, device });
    if (this.#open.size === 0) this.channel.end();
  }

  #failed(id: string, reason: string): void {
    const task = this.#open.get(id);
    if (!task || !this.#open.delete(id)) return;
    const update = this.#updates.get(id);
    const error =
      update?.is === 'failed'
        ? errorOf(update)
        : new DeviceLostError(
            `cannot complete ${taskText(task)}: its worker failed without a report (${plainText(reason)})`,
          );
    this.channel.push({ is: 'failed', task, worker: plainText(update?.worker ?? 'a worker'), error });
    if (this.#open.size === 0) this.channel.end();
  }

  /** Polls some of the open tasks, in case events or the data of Redis were lost. */
  async poll(): Promise<void> {
    const ids = [...this.#open.keys()];
    const begin = this.#next >= ids.length ? 0 : this.#next;
    this.#next = begin + TASKS_PER_POLL;
    for (const id of ids.slice(begin, begin + TASKS_PER_POLL)) {
      await this.#ended(id);
      const task = this.#open.get(id);
      if (!task) continue;
      const job = await this.#queue.getJob(id);
      const state = await job?.getState();
      if (state === 'failed') {
        this.#handle(id, job?.progress);
        this.#failed(id, job?.failedReason ?? 'unknown reason');
      } else if (state === undefined || state === 'unknown' || state === 'completed') {
        // A task leaves the queue on completion, and its record may become visible later.
        const polls = (this.#latePolls.get(id) ?? 0) + 1;
        this.#latePolls.set(id, polls);
        const isReported = this.#updates.get(id)?.is === 'done';
        if (polls < (isReported ? MAX_LATE_POLLS : 2)) continue;
        this.#latePolls.delete(id);
        if (isReported && ++this.#missingRecords > MAX_MISSING_RECORDS) throw missingRecordError(task);
        await this.add([task]);
      } else this.#latePolls.delete(id);
    }
  }

  /** Removes all tasks that no worker has started. */
  async giveUp(): Promise<void> {
    for (const id of this.#open.keys()) {
      const job = await this.#queue.getJob(id).catch(() => undefined);
      await job?.remove().catch(() => undefined); // running tasks are locked
    }
  }
}

function errorOf(update: WorkerUpdate): Error {
  if (!('error' in update)) return new Error('cannot complete the task: its worker reported no cause');
  const { code, message, system } = update.error ?? {};
  return deserializeError({
    code: code === undefined ? 'ERR_CLSORT_INTERNAL' : plainText(code),
    message: plainText(message),
    system: system === undefined ? undefined : plainText(system),
  });
}

const missingRecordError = (task: Task): IoError =>
  new IoError(
    `cannot read the record of ${taskText(task)}: a worker has completed the task, but its record is not in the ` +
      'shared folder. Check that --workers-folder names the same folder on every host',
    { details: { job: task.job } },
  );
