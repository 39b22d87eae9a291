import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { TemporaryFiles } from '../io/streams/output.js';
import { ioError } from '../io/streams/raw.js';
import type { Progress } from '../sort/model/options.js';
import { AbortedError, TimeoutError } from '../util/errors.js';
import { DeviceQueue } from './device-queue.js';
import type { JobResult, Listener } from './events.js';
import { isRetryable } from './failures.js';
import { type Entry, JobQueue } from './job-queue.js';
import { inputsOf, type Job } from './jobs.js';
import { IDLE_MEMORY_SHARE, MAX_PARALLEL, MIN_PARALLEL } from './policy.js';
import { type OpenWorker, WorkerLostError, type WorkerOptions } from './worker-process.js';

/** Returns the default number of concurrent jobs per device: half the number of processors, plus one. */
export const defaultParallel = (): number =>
  Math.max(MIN_PARALLEL, Math.min(MAX_PARALLEL, Math.floor(availableParallelism() / 2) + 1));

export interface RunOptions {
  /** Maximum number of concurrent jobs per device; several small ones count as one. */
  readonly parallel: number;
  /** Number of retries of a failed job. */
  readonly retries: number;
  /** Time limit of a job in seconds. */
  readonly timeout: number | undefined;
  /** Start no more jobs after a failure. */
  readonly failFast: boolean;
  /** Memory limit of all running jobs together, in bytes. */
  readonly memory: number;
  /** Whether results have the states of files, with checksums; default true. */
  readonly hashes?: boolean | undefined;
  readonly signal: AbortSignal;
  readonly temporaryFiles?: TemporaryFiles | undefined;
  /** Opens the worker of a device; default `openWorker` of `local-worker.ts`. */
  readonly openWorker?: OpenWorker | undefined;
  readonly onEvent: Listener;
}

/** Milliseconds that a cancelled job may take to end before its process is killed: its driver may hang. */
const CANCEL_MS = 1000;
/** The same when the whole batch is interrupted. */
const INTERRUPT_MS = 300;

/** A device, and whether its worker process may start later. */
type QueueFacts = Pick<DeviceQueue, 'device' | 'shares'> & Pick<WorkerOptions, 'isLazy'>;

/** Runs jobs concurrently on devices and emits their results as events. Jobs may be added while others run. */
export class Runner {
  readonly #options: RunOptions;
  readonly #deviceQueues: DeviceQueue[] = [];
  readonly #queue = new JobQueue();
  readonly #done: Promise<void>;
  #setDone: () => void = () => undefined;
  readonly #cancels = new Map<Entry, () => void>();
  readonly #idleBytes: number;
  #open = 0;
  #memory = 0;
  #hasAllJobs = false;
  #isStopped = false;
  #lastWorkerError: Error | undefined;

  private constructor(deviceQueues: readonly QueueFacts[], options: RunOptions) {
    this.#options = options;
    this.#idleBytes = Math.floor((options.memory * IDLE_MEMORY_SHARE) / Math.max(1, deviceQueues.length));
    this.#done = new Promise((resolve) => {
      this.#setDone = resolve;
    });
    for (const facts of deviceQueues) this.#addDeviceQueue(facts);
  }

  #addDeviceQueue({ device, shares, isLazy }: QueueFacts): DeviceQueue {
    const { onEvent, temporaryFiles, parallel, hashes, openWorker } = this.#options;
    const facts = { device, shares, isLazy, parallel, hashes, idleBytes: this.#idleBytes };
    const onWarning = (message: string) => onEvent({ is: 'warning', message });
    const onChange = (is: 'opened' | 'lost' | 'gone', error?: Error): void => {
      if (is === 'gone') this.#lastWorkerError = error;
      else onEvent({ is, device });
      this.#pump();
    };
    const deviceQueue = new DeviceQueue(facts, { onWarning, temporaryFiles }, onChange, openWorker);
    this.#deviceQueues.push(deviceQueue);
    return deviceQueue;
  }

  /**
   * Opens all devices.
   *
   * @param devices device names, and whether each accepts jobs without a device
   * @param options limits and callbacks
   * @throws NoDeviceError (or a similar error) when a device cannot be opened; all others are closed then
   */
  static async open(devices: readonly QueueFacts[], options: RunOptions): Promise<Runner> {
    const runner = new Runner(devices, options);
    const { signal } = options;
    const interrupt = (): void => runner.#interrupt();
    signal.addEventListener('abort', interrupt, { once: true });
    const opened = await Promise.allSettled(
      runner.#deviceQueues.map((deviceQueue) => deviceQueue.openFirst()),
    );
    const failed = opened.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
    if (failed) {
      for (const deviceQueue of runner.#deviceQueues) deviceQueue.kill();
      throw failed.reason;
    }
    return runner;
  }

  /** Adds jobs; the largest ones start first. */
  add(entries: readonly Entry[]): void {
    this.#open += entries.length;
    this.#queue.add(entries);
    for (const { job } of entries) {
      if (job.device === undefined || this.#deviceQueues.some(({ device }) => device === job.device))
        continue;
      void this.#addDeviceQueue({ device: job.device, shares: false }).start();
    }
    if (this.#isStopped) this.#skipQueued();
    this.#pump();
  }

  /**
   * Declares that no more jobs will be added.
   *
   * @returns a promise that resolves when all jobs have ended and the devices are closed
   */
  async end(): Promise<void> {
    this.#hasAllJobs = true;
    this.#pump();
    await this.#done;
    if (this.#options.signal.aborted) for (const deviceQueue of this.#deviceQueues) deviceQueue.kill();
    await Promise.all(this.#deviceQueues.map((deviceQueue) => deviceQueue.close()));
  }

  #pump(): void {
    this.#redistribute();
    for (const deviceQueue of this.#deviceQueues) while (this.#start(deviceQueue)) {}
    if (this.#hasAllJobs && this.#open === 0) this.#setDone();
  }

  /** Starts a job on a device if limits allow it. */
  #start(deviceQueue: DeviceQueue): boolean {
    const { device, shares, running, worker } = deviceQueue;
    const { parallel, memory } = this.#options;
    if (!worker || this.#isStopped) return false;
    if ([...running].some(({ isSuspect }) => isSuspect)) return false;
    const others = this.#deviceQueues.filter((one) => one !== deviceQueue && one.shares && one.isAlive);
    const consumer = { device, shares, isIdle: running.size === 0, others: others.map((one) => one.device) };
    const next = this.#queue.next(consumer);
    if (!next || next === 'wait') return false;
    const weight = [...running].reduce((sum, one) => sum + one.weight, 0);
    if (weight + next.entry.weight > parallel) return false;
    // A job that needs more than the remaining memory waits for others to end.
    if (this.#memory > 0 && this.#memory + next.entry.memory > memory) return false;
    next.take();
    void this.#run(next.entry, deviceQueue);
    return true;
  }

  async #run(entry: Entry, deviceQueue: DeviceQueue): Promise<void> {
    const { job, memory, limit } = entry;
    const { device, running, worker } = deviceQueue;
    const { onEvent, timeout } = this.#options;
    const [began, started] = [Date.now(), performance.now()];
    const seconds = () => (performance.now() - started) / 1000;
    running.add(entry);
    this.#memory += memory;
    onEvent({ is: 'begin', job, device });
    let isLate = false;
    let timer: NodeJS.Timeout | undefined;
    try {
      if (!worker) throw new Error(`cannot run ${job.name}: ${device} has no worker process`);
      assertPresent(job);
      if (this.#options.signal.aborted)
        throw new AbortedError(`cannot run ${job.name}: the batch was interrupted`);
      const onProgress = (progress: Progress) => onEvent({ is: 'progress', job, device, progress });
      const { done, cancel } = worker.run(job, limit, onProgress, entry.isSmall);
      this.#cancels.set(entry, cancel);
      if (timeout !== undefined) {
        timer = setTimeout(() => {
          isLate = true;
          cancel();
          timer = setTimeout(() => worker.kill(), CANCEL_MS);
        }, timeout * 1000);
      }
      const made = await done;
      this.#release(entry, deviceQueue);
      this.#finish({ job, outcome: 'ok', device, attempts: entry.failures + 1, ...made });
    } catch (error) {
      this.#release(entry, deviceQueue);
      const loss = error instanceof WorkerLostError ? error : undefined;
      const isAtFault = loss === undefined || loss.details.jobs === 1;
      const reported = isLate && (isAtFault || error instanceof AbortedError) ? lateError(timeout) : error;
      const isLoss = loss !== undefined;
      this.#fail(entry, { error: reported, isLoss, isAtFault, device, began, seconds: seconds() });
    } finally {
      clearTimeout(timer);
      this.#pump();
    }
  }

  #release(entry: Entry, { running }: DeviceQueue): void {
    running.delete(entry);
    this.#cancels.delete(entry);
    this.#memory -= entry.memory;
  }

  #fail(entry: Entry, { isLoss, isAtFault, ...failure }: Failure): void {
    const { job } = entry;
    const { onEvent, retries, signal } = this.#options;
    if (signal.aborted) {
      this.#finish({ job, outcome: 'skipped' });
      return;
    }
    entry.isSuspect ||= isLoss;
    entry.avoid = failure.device;
    // A job that was not alone may not be at fault, so this does not count as its failure.
    if (isAtFault) entry.failures++;
    const canRetry = entry.failures <= retries && (isLoss || isRetryable(failure.error));
    if (!canRetry || this.#isStopped) {
      this.#finish({ job, outcome: 'error', attempts: entry.failures, ...failure });
      return;
    }
    onEvent({ is: 'again', job, device: failure.device, error: failure.error });
    this.#queue.requeue(entry);
  }

  #finish(result: JobResult): void {
    this.#open--;
    this.#options.onEvent({ is: 'end', result });
    if (result.outcome === 'error' && this.#options.failFast && !this.#isStopped) this.stop();
  }

  /** Starts no more jobs; running ones end normally. */
  stop(): void {
    this.#isStopped = true;
    this.#skipQueued();
  }

  /** Skips all jobs that have not started. */
  #skipQueued(): void {
    for (const { job } of this.#queue.removeUnassignable([], false))
      this.#finish({ job, outcome: 'skipped' });
  }

  /** Fails the jobs that no remaining device can run, with the error of the lost device. */
  #redistribute(): void {
    if (!this.#lastWorkerError) return;
    const alive = this.#deviceQueues.filter(({ isAlive }) => isAlive);
    const lost = this.#queue.removeUnassignable(
      alive.map(({ device }) => device),
      alive.some(({ shares }) => shares),
    );
    for (const { job, failures } of lost) {
      this.#finish({ job, outcome: 'error', error: this.#lastWorkerError, seconds: 0, attempts: failures });
    }
  }

  #interrupt(): void {
    this.stop();
    for (const cancel of this.#cancels.values()) cancel();
    setTimeout(() => {
      for (const deviceQueue of this.#deviceQueues) deviceQueue.kill();
    }, INTERRUPT_MS).unref();
    this.#pump();
  }
}

interface Failure {
  readonly error: unknown;
  /** Whether the worker process has ended. */
  readonly isLoss: boolean;
  /** Whether the job is certainly the cause. */
  readonly isAtFault: boolean;
  readonly device: string;
  readonly began: number;
  readonly seconds: number;
}

/**
 * Checks that inputs exist, to avoid the round trip to a worker process.
 *
 * @throws IoError when an input does not exist
 */
function assertPresent(job: Job): void {
  for (const path of inputsOf(job)) {
    try {
      statSync(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw ioError('read', path, error);
    }
  }
}

const lateError = (timeout: number | undefined): TimeoutError =>
  new TimeoutError(`cannot complete the job: it exceeded the --timeout of ${timeout} s`, {
    details: { timeout },
  });
