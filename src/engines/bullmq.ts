/**
 * Tasks for workers behind a queue of BullMQ on Redis or Valkey, which retries, and finds workers that died. What counts is a
 * task's record in the shared folder: Redis may lose all it knows, and tasks without a record are added again.
 */
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Queue, QueueEvents } from 'bullmq';
import type { Redis } from 'ioredis';
import { errorTold, type ToldError } from '../batch/protocol.js';
import { AbortedError, ClsortError, DeviceLostError, IoError } from '../util/errors.js';
import { VERSION } from '../util/package.js';
import {
  CancelledError,
  type Engine,
  type JobStatus,
  type Task,
  type TaskEvent,
  taskText,
} from './engine.js';
import { Channel } from './events-channel.js';
import {
  cancelKey,
  entryOf,
  type JobEntry,
  jobIdOf,
  jobsKey,
  PREFIX,
  plainText,
  queueName,
  type WorkerEntry,
  workersKey,
} from './queue-names.js';
import { connect, loadBullmq, placeOf, redisError } from './redis.js';

/** What a worker tells of a task that it has. */
export type WorkerWord = {
  readonly worker: string;
} & (
  | { readonly is: 'begin' }
  | { readonly is: 'progress'; readonly phase: string; readonly done: number; readonly total: number | null }
  | { readonly is: 'again' | 'failed'; readonly error: ToldError }
  | { readonly is: 'done'; readonly seconds: number; readonly cpuSeconds: number; readonly device: string }
);

export interface BullOptions {
  readonly url: URL;
  readonly queue: string;
  /** Of the job. */
  readonly id: string;
  /** Name of the output, for who asks how far it is. */
  readonly out: string;
  /** How often a task is tried at most. Default 3. */
  readonly attempts?: number | undefined;
  readonly onWarning: (message: string) => void;
}

/** Between two looks at what is done, since events may be lost. */
const LOOK_MS = 2000;
/** Tasks that are looked at each time. */
const LOOKED_AT = 256;
/** Tasks that are added at a time. */
const ADDED = 500;
/** A worker that has said nothing for so long is not there. */
const SILENT_MS = 30_000;
/** How long the end may take: Redis may not be there. */
const END_MS = 2000;
/** How long an entry of a job that has ended stays. */
const KEPT_SECONDS = 7 * 24 * 3600;
/** Looks at which a task that a worker said to be done may lack its record: folders of a network may lag. */
const LATE_LOOKS = 5;
/** So many records may be missing for good before it is told. */
const MAX_UNSEEN = 2;

export class BullEngine implements Engine {
  readonly name = 'bullmq';
  readonly #options: BullOptions;
  readonly #client: Redis;
  readonly #queue: Queue;
  readonly #events: QueueEvents;
  /** Waits for events: others would wait with it. */
  readonly #waiting: Redis;
  readonly #warned = new Set<string>();
  #status: JobStatus = { stage: 'begin', done: 0, tasks: 0 };

  private constructor(
    options: BullOptions,
    [client, waiting]: readonly [Redis, Redis],
    queue: Queue,
    events: QueueEvents,
  ) {
    this.#waiting = waiting;
    this.#options = options;
    this.#client = client;
    this.#queue = queue;
    this.#events = events;
  }

  /** @throws IoError where Redis does not answer; PackageError where packages are missing */
  static async open(options: BullOptions): Promise<BullEngine> {
    const { Queue, QueueEvents } = await loadBullmq();
    const { url, queue: name, id, onWarning } = options;
    const client = await connect(url, onWarning);
    const settings = { connection: client, prefix: PREFIX, skipVersionCheck: true };
    const queue = new Queue(queueName(name), settings);
    const waiting = client.duplicate();
    const events = new QueueEvents(queueName(name), { ...settings, connection: waiting });
    // The connection is made again by itself, and who lost it is told by `connect`.
    queue.on('error', () => undefined);
    events.on('error', () => undefined);
    const engine = new BullEngine(options, [client, waiting], queue, events);
    try {
      await events.waitUntilReady();
      await client.del(cancelKey(name, id));
    } catch (error) {
      await engine.close('failed');
      throw redisError(error, url);
    }
    return engine;
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
    const look = async (): Promise<void> => {
      while (!isOver) {
        await delay(LOOK_MS, undefined, { ref: false });
        if (isOver) return;
        if (await this.#isCancelled()) channel.fail(new CancelledError('the job was cancelled'));
        await this.#lookAtWorkers(channel);
        await this.tell({ ...this.#status });
        await stage.look();
      }
    };
    try {
      // It waits as long as Redis is not there, and must hold up nothing.
      stage
        .add(tasks)
        .then(look)
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

  /** Says once of each worker that is of another version, and once that there is none. */
  async #lookAtWorkers(channel: Channel<TaskEvent>): Promise<void> {
    const { queue, url } = this.#options;
    const entries = Object.entries(await this.#client.hgetall(workersKey(queue)));
    const warn = (key: string, message: string): void => {
      if (this.#warned.has(key)) return;
      this.#warned.add(key);
      channel.push({ is: 'warning', message });
    };
    let ours = 0;
    for (const [name, text] of entries) {
      const entry = entryOf<WorkerEntry>(text);
      if (!entry || !(Date.now() - entry.at < SILENT_MS)) continue;
      if (entry.version === VERSION) ours++;
      else {
        const other = plainText(entry.version);
        warn(
          `${name} ${other}`,
          `worker ${plainText(name)} runs clsort ${other}, and this is ${VERSION}: it is refused, and gets no task`,
        );
      }
    }
    if (ours === 0) {
      warn(
        'none',
        `no worker of clsort ${VERSION} is at queue '${queue}' of ${placeOf(url)}: start 'clsort worker' on a host`,
      );
    }
  }

  async tell(status: JobStatus): Promise<void> {
    this.#status = status;
    await this.#put('running');
  }

  async #put(state: JobEntry['state']): Promise<void> {
    const { queue, id, out } = this.#options;
    const entry: JobEntry = {
      ...{ version: VERSION, host: hostname(), pid: process.pid, out, state, at: Date.now() },
      ...this.#status,
    };
    if (this.#client.status !== 'ready') return; // it is said again soon
    await this.#client.hset(jobsKey(queue), id, JSON.stringify(entry)).catch(() => undefined);
    await this.#client.expire(jobsKey(queue), KEPT_SECONDS).catch(() => undefined);
  }

  async close(outcome: 'done' | 'failed'): Promise<void> {
    await Promise.race([this.#end(outcome), delay(END_MS)]);
    this.#waiting.disconnect();
    this.#client.disconnect();
  }

  async #end(outcome: 'done' | 'failed'): Promise<void> {
    await this.#put((await this.#isCancelled().catch(() => false)) ? 'cancelled' : outcome);
    await this.#events.close().catch(() => undefined);
    await this.#queue.close().catch(() => undefined);
  }
}

/** The tasks of one stage, until each has ended. */
class RunningTasks {
  readonly channel = new Channel<TaskEvent>();
  readonly #open: Map<string, Task>;
  readonly #isDone: (task: Task) => Promise<boolean>;
  readonly #queue: Queue;
  /** What workers said last of tasks that have ended, or may be tried again. */
  readonly #words = new Map<string, WorkerWord>();
  readonly #late = new Map<string, number>();
  /** Tasks that workers said to be done, and whose records did not come. */
  #unseen = 0;
  /** Where the next look begins. */
  #next = 0;

  constructor(tasks: readonly Task[], isDone: (task: Task) => Promise<boolean>, queue: Queue) {
    this.#open = new Map(tasks.map((task) => [jobIdOf(task), task]));
    this.#isDone = isDone;
    this.#queue = queue;
    if (tasks.length === 0) this.channel.end();
  }

  /** Adds those that the queue does not have yet: an earlier coordinator may have added them. */
  async add(tasks: readonly Task[]): Promise<void> {
    for (let first = 0; first < tasks.length; first += ADDED) {
      const some = tasks.slice(first, first + ADDED);
      // What has ended, and has no record, is run once more.
      await Promise.all(some.map((task) => this.#forget(jobIdOf(task))));
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

  async #forget(id: string): Promise<void> {
    const job = await this.#queue.getJob(id);
    if (!job) return;
    const state = await job.getState();
    if (state === 'completed' || state === 'failed') await job.remove().catch(() => undefined);
  }

  listen(events: QueueEvents): () => void {
    const onProgress = ({ jobId, data }: { jobId: string; data: unknown }): void => this.#hear(jobId, data);
    const onCompleted = ({ jobId }: { jobId: string }): void => void this.#ended(jobId);
    const onFailed = ({ jobId, failedReason }: { jobId: string; failedReason: string }): void =>
      this.#failed(jobId, failedReason);
    const onStalled = ({ jobId }: { jobId: string }): void => {
      const task = this.#open.get(jobId);
      if (!task) return;
      const worker = plainText(this.#words.get(jobId)?.worker ?? 'a worker');
      const error = new Error('the worker has not been heard of: another one takes the task');
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

  #hear(id: string, data: unknown): void {
    const task = this.#open.get(id);
    const word = data as Partial<WorkerWord> | null;
    if (!task || typeof word !== 'object' || word === null) return;
    const worker = plainText(word.worker);
    if (word.is === 'begin') this.channel.push({ is: 'begin', task, worker });
    else if (word.is === 'progress') {
      const { phase = '', done = 0, total } = word as Extract<WorkerWord, { is: 'progress' }>;
      const progress = { phase: plainText(phase), done: Number(done), total: Number(total ?? Number.NaN) };
      this.channel.push({ is: 'progress', task, worker, progress });
      return;
    } else if (word.is === 'again') {
      this.channel.push({ is: 'again', task, worker, error: errorOf(word as WorkerWord) });
    }
    this.#words.set(id, word as WorkerWord);
  }

  /** A task is over: so it is when its record is there. */
  async #ended(id: string): Promise<void> {
    const task = this.#open.get(id);
    if (!task || !(await this.#isDone(task).catch(() => false)) || !this.#open.delete(id)) return;
    const word = this.#words.get(id);
    const worker = plainText(word?.worker ?? 'a worker');
    const [seconds, cpuSeconds] =
      word?.is === 'done' ? [Number(word.seconds), Number(word.cpuSeconds)] : [0, 0];
    const device = word?.is === 'done' ? plainText(word.device) : undefined;
    this.channel.push({ is: 'done', task, worker, seconds, cpuSeconds, device });
    if (this.#open.size === 0) this.channel.end();
  }

  #failed(id: string, reason: string): void {
    const task = this.#open.get(id);
    if (!task || !this.#open.delete(id)) return;
    const word = this.#words.get(id);
    const error =
      word?.is === 'failed'
        ? errorOf(word)
        : new DeviceLostError(
            `${taskText(task)} has failed without a word of its worker: ${plainText(reason)}`,
          );
    this.channel.push({ is: 'failed', task, worker: plainText(word?.worker ?? 'a worker'), error });
    if (this.#open.size === 0) this.channel.end();
  }

  /** Looks at some of what is open: events may have been lost, or all that Redis knew. */
  async look(): Promise<void> {
    const ids = [...this.#open.keys()];
    const begin = this.#next >= ids.length ? 0 : this.#next;
    this.#next = begin + LOOKED_AT;
    for (const id of ids.slice(begin, begin + LOOKED_AT)) {
      await this.#ended(id);
      const task = this.#open.get(id);
      if (!task) continue;
      const job = await this.#queue.getJob(id);
      const state = await job?.getState();
      if (state === 'failed') {
        this.#hear(id, job?.progress);
        this.#failed(id, job?.failedReason ?? 'for an unknown reason');
      } else if (state === undefined || state === 'unknown' || state === 'completed') {
        // A task that has just been completed is no longer known: its record may take a moment to be seen.
        const looks = (this.#late.get(id) ?? 0) + 1;
        this.#late.set(id, looks);
        const isSaid = this.#words.get(id)?.is === 'done';
        if (looks < (isSaid ? LATE_LOOKS : 2)) continue;
        this.#late.delete(id);
        if (isSaid && ++this.#unseen > MAX_UNSEEN) throw unseen(task);
        await this.add([task]);
      } else this.#late.delete(id);
    }
  }

  /** Takes back what nobody has begun. */
  async giveUp(): Promise<void> {
    for (const id of this.#open.keys()) {
      const job = await this.#queue.getJob(id).catch(() => undefined);
      await job?.remove().catch(() => undefined); // one that a worker has is locked
    }
  }
}

function errorOf(word: WorkerWord): Error {
  if (!('error' in word)) return new Error('the task failed');
  const { code, message, system } = word.error ?? {};
  return errorTold({
    code: code === undefined ? 'ERR_CLSORT_INTERNAL' : plainText(code),
    message: plainText(message),
    system: system === undefined ? undefined : plainText(system),
  });
}

const unseen = (task: Task): IoError =>
  new IoError(
    `workers say that ${taskText(task)} is done, and there is no record of it here: do they share another folder ` +
      '(--workers-folder), or does this host see late what they write?',
    { details: { job: task.job } },
  );
