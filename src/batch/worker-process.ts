/** The worker process of a device, as seen from the batch. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import type { TemporaryFiles } from '../io/streams/output.js';
import { removeOrphans } from '../io/streams/temporary-files.js';
import type { Progress } from '../sort/model/options.js';
import { DeviceLostError } from '../util/errors.js';
import { isOpenFilesError, OPEN_FILES_MESSAGE } from '../util/open-files.js';
import { programFile } from '../util/package.js';
import { permitted } from '../util/permission.js';
import type { Job } from './jobs.js';
import { deserializeError, type FromChild, type JobCompletion, type ToChild } from './protocol.js';

const PROGRAM = 'batch/worker.js';

/** Bytes of stderr to keep for messages about crashes: some lines, since the cause is at the end. */
const MAX_STDERR_BYTES = 2048;
/** Milliseconds that a process may take to close its device before it is killed: its driver may hang. */
const CLOSE_MS = 2000;

/** Thrown for running jobs when the worker process ends or is killed. */
export class WorkerLostError extends DeviceLostError {}

export interface WorkerHooks {
  readonly temporaryFiles?: TemporaryFiles | undefined;
  readonly onWarning: (message: string) => void;
  /** Called when the process has ended unexpectedly. */
  readonly onLost: (error: WorkerLostError) => void;
}

export interface WorkerOptions {
  readonly device: string;
  /** Maximum number of concurrent jobs. */
  readonly parallel: number;
  /** Maximum size of idle buffers, in bytes. */
  readonly idleBytes: number;
  /** Whether completions have the states of files, with checksums; default true. */
  readonly hashes?: boolean | undefined;
  /** Whether all known jobs are small, so that a process may start later; default false. */
  readonly isLazy?: boolean | undefined;
}

export interface RunningWorker extends Pick<WorkerProcess, 'kill' | 'close'> {
  /**
   * Runs a job concurrently with others.
   *
   * @param memory memory limit in bytes
   * @param isSmall whether this process may run the job
   * @returns `done` rejects with the error of the job, or a WorkerLostError; `cancel` makes it reject with an
   * AbortedError
   */
  run(
    job: Job,
    memory: number,
    onProgress: (progress: Progress) => void,
    isSmall: boolean,
  ): { readonly done: Promise<JobCompletion>; readonly cancel: () => void };
}

/**
 * Opens the worker of a device. It throws NoDeviceError (or a similar error) when the device cannot be opened,
 * and WorkerLostError when the process ends.
 */
export type OpenWorker = (options: WorkerOptions, hooks: WorkerHooks) => Promise<RunningWorker>;

/** Enlarges the thread pool: each job reads or writes, and waiting for a pipe must not block the others. */
function workerEnvironment(parallel: number): NodeJS.ProcessEnv {
  const { UV_THREADPOOL_SIZE = String(Math.min(128, 4 + 2 * parallel)) } = process.env;
  return { ...process.env, UV_THREADPOOL_SIZE };
}

/** Returns the last meaningful line of stderr, without stack frames and the version of Node. */
export const lastMessageLine = (text: string): string =>
  text
    .trim()
    .split('\n')
    .findLast((line) => !/^\s+at |^Node\.js v|^$/.test(line)) ?? '';

interface Task {
  readonly job: Job;
  readonly onProgress: (progress: Progress) => void;
  readonly resolve: (completion: JobCompletion) => void;
  readonly reject: (error: Error) => void;
}

export class WorkerProcess implements RunningWorker {
  readonly device: string;
  readonly #hooks: WorkerHooks;
  readonly #child: ChildProcess;
  readonly #tasks = new Map<number, Task>();
  readonly #temporaryFiles = new Set<string>();
  readonly #exited: Promise<void>;
  #opening: { resolve: () => void; reject: (error: Error) => void } | undefined;
  #nextId = 1;
  #stderr = '';
  #isClosing = false;

  private constructor({ device, parallel }: WorkerOptions, hooks: WorkerHooks) {
    this.device = device;
    this.#hooks = hooks;
    const options: SpawnOptions = {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
      detached: true, // terminal signals go to this process only, which ends the worker
      windowsHide: true,
      env: workerEnvironment(parallel),
    };
    this.#child = permitted(() => spawn(process.execPath, [programFile(PROGRAM)], options));
    const stderr = this.#child.stderr as Readable;
    stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-MAX_STDERR_BYTES);
    });
    this.#child.on('message', (message: FromChild) => this.#receive(message));
    this.#exited = new Promise((resolve) => {
      this.#child.once('error', (error) => this.#handleExit(error.message).then(resolve));
      this.#child.once('exit', (code, signal) =>
        this.#handleExit(signal ?? `exit code ${code}`).then(resolve),
      );
    });
  }

  /**
   * Starts the worker process of a device.
   *
   * @throws NoDeviceError (or a similar error) when the device cannot be opened
   * @throws WorkerLostError when the driver crashes the process
   */
  static async open(options: WorkerOptions, hooks: WorkerHooks): Promise<WorkerProcess> {
    const { device, idleBytes, hashes = true } = options;
    const worker = new WorkerProcess(options, hooks);
    await new Promise<void>((resolve, reject) => {
      worker.#opening = { resolve, reject };
      worker.#send({ is: 'open', device, idleBytes, hashes });
    }).catch((error) => {
      worker.kill();
      throw error;
    });
    worker.#opening = undefined;
    return worker;
  }

  run(job: Job, memory: number, onProgress: (progress: Progress) => void): ReturnType<RunningWorker['run']> {
    const id = this.#nextId++;
    const done = new Promise<JobCompletion>((resolve, reject) => {
      this.#tasks.set(id, { job, onProgress, resolve, reject });
    });
    this.#send({ is: 'run', id, job, memory });
    return { done, cancel: () => this.#send({ is: 'cancel', id }) };
  }

  /** Kills the process, even if it is blocked. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#send({ is: 'close' });
    const killTimer = setTimeout(() => this.kill(), CLOSE_MS);
    await this.#exited;
    clearTimeout(killTimer);
  }

  #send(message: ToChild): void {
    this.#child.send(message, () => undefined); // the exit handler reports a process that has ended
  }

  #receive(message: FromChild): void {
    if (message.is === 'opened') this.#opening?.resolve();
    else if (message.is === 'refused') this.#opening?.reject(deserializeError(message.error));
    else if (message.is === 'warning') this.#hooks.onWarning(message.message);
    else if (message.is === 'temporary') {
      this.#temporaryFiles[message.change](message.path);
      this.#hooks.temporaryFiles?.[message.change](message.path);
    } else if (message.is === 'progress') this.#tasks.get(message.id)?.onProgress(message.progress);
    else {
      const task = this.#tasks.get(message.id);
      this.#tasks.delete(message.id);
      if (message.is === 'done') task?.resolve(message.completion);
      else task?.reject(deserializeError(message.error));
    }
  }

  /**
   * Handles the exit of the process. Reports the loss first, so that no further job is assigned, and then removes
   * temporary files.
   */
  async #handleExit(how: string): Promise<void> {
    const stderr = isOpenFilesError(this.#stderr) ? OPEN_FILES_MESSAGE : lastMessageLine(this.#stderr);
    const tasks = [...this.#tasks.values()];
    this.#tasks.clear();
    const error = new WorkerLostError(
      `cannot sort on ${this.device}: the worker process has ended (${how})${stderr === '' ? '' : `: ${stderr}`}`,
      { details: { device: this.device, how, stderr: this.#stderr, jobs: tasks.length } },
    );
    if (!this.#isClosing && !this.#opening) this.#hooks.onLost(error);
    for (const path of this.#temporaryFiles) {
      rmSync(path, { recursive: true, force: true });
      this.#hooks.temporaryFiles?.delete(path);
    }
    for (const folder of new Set(tasks.map(({ job }) => dirname(job.out)))) await removeOrphans(folder);
    this.#opening?.reject(error);
    for (const { reject } of tasks) reject(error);
  }
}
