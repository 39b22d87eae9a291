/** One device at work: a process of its own, as the batch sees it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { TemporaryFiles } from '../io/output.js';
import { removeOrphans } from '../io/temporary-files.js';
import type { Progress } from '../sort/api/options.js';
import { DeviceLostError } from '../util/errors.js';
import { isOpenFilesError, OPEN_FILES_MESSAGE } from '../util/open-files.js';
import { packageFolder } from '../util/package.js';
import type { Job } from './jobs.js';
import { deserializeError, type FromChild, type JobCompletion, type ToChild } from './protocol.js';

const PROGRAM = ['dist', 'src', 'batch', 'child.js'];

/** Bytes that are kept of what a process says when it crashes. */
const MAX_STDERR_BYTES = 2048;
/** How long a process may take to close its device. */
const CLOSE_MS = 2000;

/** The process of a device has ended, or was ended, with jobs under way. */
export class WorkerLostError extends DeviceLostError {}

export interface WorkerHooks {
  readonly temporaryFiles?: TemporaryFiles | undefined;
  readonly onWarning: (message: string) => void;
  /** The process has ended by itself. */
  readonly onLost: (error: WorkerLostError) => void;
}

export interface WorkerOptions {
  readonly device: string;
  /** Jobs that are under way at once. */
  readonly parallel: number;
  /** Memory that may wait there for the next job. */
  readonly idleBytes: number;
}

/** A running worker process of a device. */
export type RunningWorker = Pick<WorkerProcess, 'run' | 'kill' | 'close'>;

/** Starts the worker process of a device. @throws NoDeviceError and the like; LaneLostError if the process exits */
export type OpenWorker = (options: WorkerOptions, hooks: WorkerHooks) => Promise<RunningWorker>;

/** Each job reads or writes at a time, and what waits for a pipe must not keep them from that. */
function workerEnvironment(parallel: number): NodeJS.ProcessEnv {
  const { UV_THREADPOOL_SIZE = String(Math.min(128, 4 + 2 * parallel)) } = process.env;
  return { ...process.env, UV_THREADPOOL_SIZE };
}

/** The last line of what a process said that tells something: not where in the code it was, nor of which version Node is. */
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

export class WorkerProcess {
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
    this.#child = spawn(process.execPath, [join(packageFolder(), ...PROGRAM)], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
      detached: true, // a terminal's signals are for this process, which ends the other
      windowsHide: true,
      env: workerEnvironment(parallel),
    });
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

  /** Starts a process for a device. @throws NoDeviceError and the like, LaneLostError when the driver ends the process */
  static async open(options: WorkerOptions, hooks: WorkerHooks): Promise<WorkerProcess> {
    const { device, idleBytes } = options;
    const worker = new WorkerProcess(options, hooks);
    await new Promise<void>((resolve, reject) => {
      worker.#opening = { resolve, reject };
      worker.#send({ is: 'open', device, idleBytes });
    }).catch((error) => {
      worker.kill();
      throw error;
    });
    worker.#opening = undefined;
    return worker;
  }

  /**
   * Runs a job beside those that are under way.
   *
   * @returns `cancel` asks for an early end, by an AbortedError
   * @throws (by `done`) what the job throws; LaneLostError
   */
  run(
    job: Job,
    memory: number,
    onProgress: (progress: Progress) => void,
  ): { readonly done: Promise<JobCompletion>; readonly cancel: () => void } {
    const id = this.#nextId++;
    const done = new Promise<JobCompletion>((resolve, reject) => {
      this.#tasks.set(id, { job, onProgress, resolve, reject });
    });
    this.#send({ is: 'run', id, job, memory });
    return { done, cancel: () => this.#send({ is: 'cancel', id }) };
  }

  /** Ends the process at once, whatever holds it up. */
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
    this.#child.send(message, () => undefined); // one that has ended is heard of otherwise
  }

  #receive(message: FromChild): void {
    if (message.is === 'opened') this.#opening?.resolve();
    else if (message.is === 'refused') this.#opening?.reject(deserializeError(message.error));
    else if (message.is === 'warning') this.#hooks.onWarning(message.message);
    else if (message.is === 'aside') {
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

  /** Tells of the end at once, since whoever gave it a job now would never hear of it. Nothing that it was writing stays. */
  async #handleExit(how: string): Promise<void> {
    const stderr = isOpenFilesError(this.#stderr) ? OPEN_FILES_MESSAGE : lastMessageLine(this.#stderr);
    const tasks = [...this.#tasks.values()];
    this.#tasks.clear();
    const error = new WorkerLostError(
      `the process that sorts on ${this.device} has ended (${how})${stderr === '' ? '' : `: ${stderr}`}`,
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
