/** One device at work: a process of its own, as the batch sees it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { TemporaryFiles } from '../io/output.js';
import { removeOrphans } from '../io/temporary-files.js';
import type { Progress } from '../sort/api/options.js';
import { DeviceLostError } from '../util/errors.js';
import { TOO_FEW_FILES, tellsOfTooFewFiles } from '../util/open-files.js';
import { packageFolder } from '../util/package.js';
import type { Job } from './jobs.js';
import { errorTold, type FromChild, type Made, type ToChild } from './protocol.js';

const PROGRAM = ['dist', 'src', 'batch', 'child.js'];

/** Bytes that are kept of what a process says when it crashes. */
const SAID_BYTES = 2048;
/** How long a process may take to close its device. */
const CLOSE_MS = 2000;

/** The process of a device has ended, or was ended, with jobs under way. */
export class LaneLostError extends DeviceLostError {}

export interface LaneHooks {
  readonly asides?: TemporaryFiles | undefined;
  readonly onWarning: (message: string) => void;
  /** The process has ended by itself. */
  readonly onLost: (error: LaneLostError) => void;
}

export interface LaneFacts {
  readonly device: string;
  /** Jobs that are under way at once. */
  readonly parallel: number;
  /** Memory that may wait there for the next job. */
  readonly idleBytes: number;
}

/** A running worker process of a device. */
export type RunningLane = Pick<Lane, 'run' | 'kill' | 'close'>;

/** Starts the worker process of a device. @throws NoDeviceError and the like; LaneLostError if the process exits */
export type OpenLane = (facts: LaneFacts, hooks: LaneHooks) => Promise<RunningLane>;

/** Each job reads or writes at a time, and what waits for a pipe must not keep them from that. */
function environmentFor(parallel: number): NodeJS.ProcessEnv {
  const { UV_THREADPOOL_SIZE = String(Math.min(128, 4 + 2 * parallel)) } = process.env;
  return { ...process.env, UV_THREADPOOL_SIZE };
}

/** The last line of what a process said that tells something: not where in the code it was, nor of which version Node is. */
export const lastSaid = (said: string): string =>
  said
    .trim()
    .split('\n')
    .findLast((line) => !/^\s+at |^Node\.js v|^$/.test(line)) ?? '';

interface Task {
  readonly job: Job;
  readonly onProgress: (progress: Progress) => void;
  readonly resolve: (made: Made) => void;
  readonly reject: (error: Error) => void;
}

export class Lane {
  readonly device: string;
  readonly #hooks: LaneHooks;
  readonly #child: ChildProcess;
  readonly #tasks = new Map<number, Task>();
  readonly #asides = new Set<string>();
  readonly #ended: Promise<void>;
  #opening: { resolve: () => void; reject: (error: Error) => void } | undefined;
  #nextId = 1;
  #said = '';
  #isClosing = false;

  private constructor({ device, parallel }: LaneFacts, hooks: LaneHooks) {
    this.device = device;
    this.#hooks = hooks;
    this.#child = spawn(process.execPath, [join(packageFolder(), ...PROGRAM)], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
      detached: true, // a terminal's signals are for this process, which ends the other
      windowsHide: true,
      env: environmentFor(parallel),
    });
    const said = this.#child.stderr as Readable;
    said.on('data', (chunk: Buffer) => {
      this.#said = (this.#said + chunk.toString()).slice(-SAID_BYTES);
    });
    this.#child.on('message', (message: FromChild) => this.#hear(message));
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', (error) => this.#lose(error.message).then(resolve));
      this.#child.once('exit', (code, signal) => this.#lose(signal ?? `exit code ${code}`).then(resolve));
    });
  }

  /** Starts a process for a device. @throws NoDeviceError and the like, LaneLostError when the driver ends the process */
  static async open(facts: LaneFacts, hooks: LaneHooks): Promise<Lane> {
    const { device, idleBytes } = facts;
    const lane = new Lane(facts, hooks);
    await new Promise<void>((resolve, reject) => {
      lane.#opening = { resolve, reject };
      lane.#say({ is: 'open', device, idleBytes });
    }).catch((error) => {
      lane.kill();
      throw error;
    });
    lane.#opening = undefined;
    return lane;
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
  ): { readonly done: Promise<Made>; readonly cancel: () => void } {
    const id = this.#nextId++;
    const done = new Promise<Made>((resolve, reject) => {
      this.#tasks.set(id, { job, onProgress, resolve, reject });
    });
    this.#say({ is: 'run', id, job, memory });
    return { done, cancel: () => this.#say({ is: 'cancel', id }) };
  }

  /** Ends the process at once, whatever holds it up. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#say({ is: 'close' });
    const late = setTimeout(() => this.kill(), CLOSE_MS);
    await this.#ended;
    clearTimeout(late);
  }

  #say(message: ToChild): void {
    this.#child.send(message, () => undefined); // one that has ended is heard of otherwise
  }

  #hear(message: FromChild): void {
    if (message.is === 'opened') this.#opening?.resolve();
    else if (message.is === 'refused') this.#opening?.reject(errorTold(message.error));
    else if (message.is === 'warning') this.#hooks.onWarning(message.message);
    else if (message.is === 'aside') {
      this.#asides[message.change](message.aside);
      this.#hooks.asides?.[message.change](message.aside);
    } else if (message.is === 'progress') this.#tasks.get(message.id)?.onProgress(message.progress);
    else {
      const task = this.#tasks.get(message.id);
      this.#tasks.delete(message.id);
      if (message.is === 'done') task?.resolve(message.made);
      else task?.reject(errorTold(message.error));
    }
  }

  /** Tells of the end at once, since whoever gave it a job now would never hear of it. Nothing that it was writing stays. */
  async #lose(how: string): Promise<void> {
    const said = tellsOfTooFewFiles(this.#said) ? TOO_FEW_FILES : lastSaid(this.#said);
    const tasks = [...this.#tasks.values()];
    this.#tasks.clear();
    const error = new LaneLostError(
      `the process that sorts on ${this.device} has ended (${how})${said === '' ? '' : `: ${said}`}`,
      { details: { device: this.device, how, stderr: this.#said, jobs: tasks.length } },
    );
    if (!this.#isClosing && !this.#opening) this.#hooks.onLost(error);
    for (const aside of this.#asides) {
      rmSync(aside, { recursive: true, force: true });
      this.#hooks.asides?.delete(aside);
    }
    for (const folder of new Set(tasks.map(({ job }) => dirname(job.out)))) await removeOrphans(folder);
    this.#opening?.reject(error);
    for (const { reject } of tasks) reject(error);
  }
}
