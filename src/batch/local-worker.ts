/**
 * A worker that runs small jobs in this process. The host engine sorts them, so no driver can crash it. If
 * all known jobs are small, a process starts when another job arrives.
 */
import { ArrayPool } from '../io/streams/array-pool.js';
import { blockingCalls } from '../io/streams/file-calls.js';
import { hostSorter } from '../sort/api/host-sorter.js';
import type { SorterOperations } from '../sort/api/sorter-operations.js';
import { throwIfAborted } from '../sort/model/options.js';
import { DeviceLostError } from '../util/errors.js';
import type { Job } from './jobs.js';
import { noStreams } from './no-streams.js';
import {
  type RunningWorker,
  type WorkerHooks,
  WorkerLostError,
  type WorkerOptions,
  WorkerProcess,
} from './worker-process.js';

/** Whether the host engine may sort on behalf of a device. */
const mayBeHost = (device: string): boolean => device === 'auto' || device === 'host';

/**
 * Opens the worker of a device. Only a worker of `auto` or `host` runs small jobs in this process.
 *
 * @throws the errors of `WorkerProcess.open`
 */
export async function openWorker(options: WorkerOptions, hooks: WorkerHooks): Promise<RunningWorker> {
  if (!mayBeHost(options.device)) return WorkerProcess.open(options, hooks);
  const process = options.isLazy ? undefined : await WorkerProcess.open(options, hooks);
  return new LocalWorker(options, hooks, process);
}

class LocalWorker implements RunningWorker {
  readonly #options: WorkerOptions;
  readonly #hooks: WorkerHooks;
  readonly #running = new Set<AbortController>();
  #sorter: SorterOperations | undefined;
  #arrays: ArrayPool | undefined;
  #process: Promise<WorkerProcess> | undefined;
  #isKilled = false;

  constructor(options: WorkerOptions, hooks: WorkerHooks, process: WorkerProcess | undefined) {
    this.#options = options;
    this.#hooks = hooks;
    this.#process = process && Promise.resolve(process);
  }

  readonly run: RunningWorker['run'] = (job, memory, onProgress, isSmall) => {
    const controller = new AbortController();
    const cancel = (): void => controller.abort();
    if (isSmall && !needsDevice(job)) return { done: this.#runHere(job, controller), cancel };
    this.#process ??= this.#start();
    const done = this.#process.then((worker) => {
      throwIfAborted(controller.signal);
      const execution = worker.run(job, memory, onProgress);
      controller.signal.addEventListener('abort', execution.cancel);
      return execution.done;
    });
    return { done, cancel };
  };

  async #runHere(job: Job, controller: AbortController) {
    const { onWarning, temporaryFiles } = this.#hooks;
    const warn = ({ message }: Pick<Error, 'message'>): void => onWarning(message);
    this.#sorter ??= hostSorter(warn, 'a small job of a batch');
    this.#arrays ??= new ArrayPool(this.#sorter, this.#options.idleBytes);
    this.#running.add(controller);
    try {
      const { runJob } = await import('./run-job.js'); // a batch on other machines does not load it
      const { signal } = controller;
      const own = { signal, temporaryFiles, onWarning: warn, files: blockingCalls, arrays: this.#arrays };
      const context = { ...noStreams(), ...own };
      return await runJob(this.#sorter, { job, hashes: this.#options.hashes }, context);
    } finally {
      this.#running.delete(controller);
    }
  }

  async #start(): Promise<WorkerProcess> {
    try {
      const worker = await WorkerProcess.open(this.#options, this.#hooks);
      if (this.#isKilled) worker.kill();
      return worker;
    } catch (error) {
      this.#process = undefined; // the next job tries again
      if (!(error instanceof WorkerLostError)) throw error;
      const { message, details } = error;
      throw new DeviceLostError(message, { cause: error, details }); // counts as a failure of the job
    }
  }

  kill(): void {
    this.#isKilled = true;
    for (const controller of this.#running) controller.abort();
    this.#process?.then((worker) => worker.kill()).catch(() => undefined); // the job reports the error
  }

  async close(): Promise<void> {
    const worker = await this.#process?.catch(() => undefined);
    await worker?.close();
    await this.#sorter?.close();
  }
}

/** Whether a job has an option that only devices support. */
const needsDevice = ({ algorithm = 'auto', scan = 'auto', radixBits, tuning }: Job): boolean =>
  !(algorithm === 'auto' || algorithm === 'host') || scan !== 'auto' || (radixBits ?? tuning) !== undefined;
