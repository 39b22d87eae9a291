/** A worker that takes tasks from a BullMQ queue and runs them one at a time on one device. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Job } from 'bullmq';
import { isRetryable } from '../batch/failures.js';
import { serializeError } from '../batch/protocol.js';
import type { Progress } from '../sort/model/options.js';
import { ClsortError } from '../util/errors.js';
import { VERSION } from '../util/package.js';
import type { WorkerUpdate } from './bullmq-job-runner.js';
import { type Task, taskText } from './job-runner.js';
import {
  cancelKey,
  entryOf,
  type JobEntry,
  jobsKey,
  PREFIX,
  plainText,
  queueName,
  type WorkerEntry,
  workersKey,
} from './queue-names.js';
import { connect, loadBullmq, redact, redisError } from './redis.js';
import { runTask, taskOf } from './run-task.js';
import { cpuSeconds } from './run-times.js';
import type { WorkerContext } from './worker-context.js';

export interface ServeOptions {
  readonly url: URL;
  readonly queue: string;
  /** Name of the device, for status queries. */
  readonly device: string;
  readonly context: Omit<WorkerContext, 'onProgress'>;
  /** Seconds of silence after which a worker counts as dead; default 30. */
  readonly stalled?: number | undefined;
  /** Receives the events of the worker. */
  readonly onEvent: (event: ServeEvent) => void;
  /** Overrides the version, in tests. */
  readonly version?: string | undefined;
}

export type ServeEvent =
  | { readonly is: 'ready'; readonly worker: string }
  | { readonly is: 'begin'; readonly task: Task }
  | { readonly is: 'done'; readonly task: Task; readonly seconds: number }
  | { readonly is: 'failed'; readonly task: Task | undefined; readonly error: Error; readonly again: boolean }
  | { readonly is: 'warning'; readonly message: string };

const DEFAULT_STALLED = 30;
/** Number of times a task may lose its worker before it counts as failed: it may be what ends them. */
const MAX_STALLED = 4;
/** Milliseconds between two heartbeats: several may be lost before a worker counts as absent. */
const HEARTBEAT_MS = 2000;
/** Minimum milliseconds between two progress messages, which pass through Redis. */
const PROGRESS_MS = 500;
/** Milliseconds of silence after which a coordinator counts as absent. */
const COORDINATOR_TIMEOUT_MS = 30_000;

/**
 * Runs tasks until the signal of the context aborts.
 *
 * @throws IoError when Redis does not answer at the start
 * @throws PackageError when a package is not installed
 */
export async function serve(options: ServeOptions): Promise<void> {
  await new QueueWorker(options).run();
}

class QueueWorker {
  readonly #options: ServeOptions;
  readonly #version: string;
  readonly #name = `${hostname()}-${process.pid}-${randomBytes(2).toString('hex')}`;
  readonly #warned = new Set<string>();
  #task: Task | undefined;
  #cancel: AbortController | undefined;

  constructor(options: ServeOptions) {
    this.#options = options;
    this.#version = options.version ?? VERSION;
  }

  async run(): Promise<void> {
    const { url, queue, stalled = DEFAULT_STALLED, context, onEvent } = this.#options;
    const { Worker, UnrecoverableError, WaitingError } = await loadBullmq();
    const warn = (message: string): void => onEvent({ is: 'warning', message });
    const client = await connect(url, warn);
    const processJob = async (job: Job, token?: string): Promise<void> => {
      try {
        await this.#perform(job);
      } catch (error) {
        if (context.signal.aborted) {
          // Returns the task to the queue for another worker.
          await job.moveToWait(token);
          throw new WaitingError();
        }
        const isPermanent = !isRetryable(error);
        if (isPermanent) throw new UnrecoverableError(redact((error as Error).message, url));
        throw new Error(redact((error as Error).message, url));
      }
    };
    const worker = new Worker(queueName(queue, this.#version), processJob, {
      connection: client,
      prefix: PREFIX,
      skipVersionCheck: true,
      concurrency: 1,
      lockDuration: stalled * 1000,
      stalledInterval: stalled * 1000,
      maxStalledCount: MAX_STALLED,
      name: this.#name,
    });
    worker.on('error', (error) => {
      // After a long interruption another worker may own the task, which is harmless.
      if (/lock/i.test(error.message)) warn(`another worker has taken over a task (${error.message})`);
    });
    let heartbeat: Promise<void> = Promise.resolve();
    const timer = setInterval(() => {
      if (client.status === 'ready') heartbeat = this.#heartbeat(client).catch(() => undefined);
    }, HEARTBEAT_MS);
    try {
      await worker.waitUntilReady();
      await this.#heartbeat(client);
      onEvent({ is: 'ready', worker: this.#name });
      await new Promise<void>((resolve) => {
        if (context.signal.aborted) resolve();
        context.signal.addEventListener('abort', () => resolve(), { once: true });
      });
      await worker.close();
    } catch (error) {
      throw error instanceof ClsortError ? error : redisError(error, url);
    } finally {
      clearInterval(timer);
      await heartbeat;
      if (client.status === 'ready') await client.hdel(workersKey(queue), this.#name).catch(() => undefined);
      client.disconnect();
    }
  }

  async #perform(job: Job): Promise<void> {
    const { context, onEvent } = this.#options;
    const worker = this.#name;
    // A lost message is harmless.
    const sendUpdate = (update: WorkerUpdate): Promise<void> =>
      job.updateProgress(update).catch(() => undefined);
    const started = performance.now();
    const cpuBefore = cpuSeconds();
    const cancel = new AbortController();
    let task: Task | undefined;
    try {
      task = taskOf(job.data);
      this.#task = task;
      this.#cancel = cancel;
      onEvent({ is: 'begin', task });
      await sendUpdate({ is: 'begin', worker });
      const signal = AbortSignal.any([context.signal, cancel.signal]);
      await runTask(task, {
        ...context,
        signal,
        onProgress: throttle((progress) => void sendUpdate(progressUpdate(progress, worker))),
      });
      const seconds = (performance.now() - started) / 1000;
      const { device } = this.#options;
      await sendUpdate({ is: 'done', worker, seconds, cpuSeconds: cpuSeconds() - cpuBefore, device });
      onEvent({ is: 'done', task, seconds });
    } catch (thrown) {
      const error = thrown as Error;
      const { attempts = 1 } = job.opts;
      const again = isRetryable(error) && job.attemptsMade + 1 < attempts;
      if (!context.signal.aborted)
        await sendUpdate({ is: again ? 'again' : 'failed', worker, error: serializeError(error) });
      onEvent({ is: 'failed', task, error, again: again || context.signal.aborted });
      throw error;
    } finally {
      this.#task = undefined;
      this.#cancel = undefined;
    }
  }

  /** Reports this worker as alive, checks for cancellation, and warns about jobs of other versions. */
  async #heartbeat(client: Awaited<ReturnType<typeof connect>>): Promise<void> {
    const { queue, device, onEvent } = this.#options;
    const task = this.#task;
    const entry: WorkerEntry = {
      ...{ version: this.#version, host: hostname(), pid: process.pid, device, at: Date.now() },
      task: task && `${task.job} ${taskText(task)}`,
    };
    await client.hset(workersKey(queue), this.#name, JSON.stringify(entry));
    if (task && (await client.exists(cancelKey(queue, task.job))) === 1) this.#cancel?.abort();
    for (const [id, text] of Object.entries(await client.hgetall(jobsKey(queue)))) {
      const job = entryOf<JobEntry>(text);
      if (job?.state !== 'running' || !(Date.now() - job.at < COORDINATOR_TIMEOUT_MS)) continue;
      if (job.version === this.#version || this.#warned.has(id)) continue;
      this.#warned.add(id);
      const other = plainText(job.version);
      const message = `this worker of clsort ${this.#version} takes no tasks of job ${plainText(id)}. Install clsort@${other} here`;
      onEvent({ is: 'warning', message });
    }
  }
}

const progressUpdate = ({ phase, done, total }: Progress, worker: string): WorkerUpdate => ({
  ...{ is: 'progress', worker, phase, done },
  total: Number.isFinite(total) ? total : null,
});

/** Limits the rate of calls to a listener. */
function throttle(listen: (progress: Progress) => void): (progress: Progress) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (progress) => {
    const at = performance.now();
    if (at - last < PROGRESS_MS) return;
    last = at;
    listen(progress);
  };
}
