/** Fake worker processes for tests of the runner: no process is started, no device is opened and nothing is sorted. */
import type { Job } from '../../src/batch/jobs.js';
import type { JobCompletion } from '../../src/batch/protocol.js';
import {
  type OpenWorker,
  type RunningWorker,
  type WorkerHooks,
  WorkerLostError,
} from '../../src/batch/worker-process.js';
import { AbortedError } from '../../src/util/errors.js';

/**
 * How a job ends: `ok`, at once or when a promise is fulfilled; an error; `crash` ends its process; `wait` ends only when the job is
 * cancelled; `hang` ends only with the process.
 */
export type FakeOutcome = 'ok' | 'crash' | 'wait' | 'hang' | Error | Promise<unknown>;

const COMPLETION: JobCompletion = { report: {} as JobCompletion['report'], spans: [], began: 0, seconds: 0 };

class FakeWorker implements RunningWorker {
  readonly #device: string;
  readonly #hooks: WorkerHooks;
  readonly #outcomeOf: (job: Job, device: string) => FakeOutcome;
  readonly #underWay = new Set<(error: Error) => void>();
  #hasEnded = false;

  constructor(device: string, hooks: WorkerHooks, outcomeOf: (job: Job, device: string) => FakeOutcome) {
    this.#device = device;
    this.#hooks = hooks;
    this.#outcomeOf = outcomeOf;
  }

  run(job: Job): ReturnType<RunningWorker['run']> {
    const outcome = this.#outcomeOf(job, this.#device);
    let reject: (error: Error) => void = () => undefined;
    const done = new Promise<JobCompletion>((resolve, failed) => {
      reject = failed;
      if (outcome instanceof Error) failed(outcome);
      else if (outcome === 'ok') resolve(COMPLETION);
      else if (outcome instanceof Promise) outcome.then(() => resolve(COMPLETION), failed);
      else if (outcome === 'crash') setImmediate(() => this.kill());
    });
    this.#underWay.add(reject);
    const end = () => this.#underWay.delete(reject);
    done.then(end, end);
    const cancel = () => outcome === 'wait' && reject(new AbortedError('cancelled'));
    return { done, cancel };
  }

  kill(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const details = { jobs: this.#underWay.size };
    const error = new WorkerLostError(`the process of ${this.#device} has ended`, { details });
    this.#hooks.onLost(error);
    for (const reject of this.#underWay) reject(error);
  }

  async close(): Promise<void> {
    this.#hasEnded = true;
  }
}

/** Starts fake processes, and records what they run. */
export class FakeWorkers {
  /** The device of each process, in order of their start. */
  readonly opened: string[] = [];
  /** `JOB on DEVICE` for each start of a job. */
  readonly begun: string[] = [];
  /** How a job ends on a device. */
  outcomeOf: (job: Job, device: string) => FakeOutcome = () => 'ok';
  /** The error of a process that cannot open its device. */
  openErrorOf: (device: string) => Error | undefined = () => undefined;

  readonly open: OpenWorker = async ({ device }, hooks) => {
    this.opened.push(device);
    const openError = this.openErrorOf(device);
    if (openError) throw openError;
    return new FakeWorker(device, hooks, (job) => {
      this.begun.push(`${job.name} on ${device}`);
      return this.outcomeOf(job, device);
    });
  };
}
