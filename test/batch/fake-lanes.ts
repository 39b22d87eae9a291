/** Fake worker processes for tests of the runner: no process is started, no device opened, and nothing sorted. */
import type { Job } from '../../src/batch/jobs.js';
import { type LaneHooks, LaneLostError, type OpenLane, type RunningLane } from '../../src/batch/lane.js';
import type { Made } from '../../src/batch/protocol.js';
import { AbortedError } from '../../src/util/errors.js';

/**
 * How a job ends: `ok`, at once or when a promise is fulfilled; an error; `crash` ends its process; `wait` ends only when the job is
 * cancelled; `hang` ends only with the process.
 */
export type Fate = 'ok' | 'crash' | 'wait' | 'hang' | Error | Promise<unknown>;

const MADE: Made = { report: {} as Made['report'], spans: [], began: 0, seconds: 0 };

class FakeLane implements RunningLane {
  readonly #device: string;
  readonly #hooks: LaneHooks;
  readonly #fateOf: (job: Job, device: string) => Fate;
  readonly #underWay = new Set<(error: Error) => void>();
  #hasEnded = false;

  constructor(device: string, hooks: LaneHooks, fateOf: (job: Job, device: string) => Fate) {
    this.#device = device;
    this.#hooks = hooks;
    this.#fateOf = fateOf;
  }

  run(job: Job): ReturnType<RunningLane['run']> {
    const fate = this.#fateOf(job, this.#device);
    let reject: (error: Error) => void = () => undefined;
    const done = new Promise<Made>((resolve, failed) => {
      reject = failed;
      if (fate instanceof Error) failed(fate);
      else if (fate === 'ok') resolve(MADE);
      else if (fate instanceof Promise) fate.then(() => resolve(MADE), failed);
      else if (fate === 'crash') setImmediate(() => this.kill());
    });
    this.#underWay.add(reject);
    const end = () => this.#underWay.delete(reject);
    done.then(end, end);
    const cancel = () => fate === 'wait' && reject(new AbortedError('cancelled'));
    return { done, cancel };
  }

  kill(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const details = { jobs: this.#underWay.size };
    const error = new LaneLostError(`the process of ${this.#device} has ended`, { details });
    this.#hooks.onLost(error);
    for (const reject of this.#underWay) reject(error);
  }

  async close(): Promise<void> {
    this.#hasEnded = true;
  }
}

/** Starts fake processes, and records what they run. */
export class FakeLanes {
  /** The device of each process, in order of their start. */
  readonly opened: string[] = [];
  /** `JOB on DEVICE` for each start of a job. */
  readonly begun: string[] = [];
  /** How a job ends on a device. */
  fateOf: (job: Job, device: string) => Fate = () => 'ok';
  /** The error of a process that cannot open its device. */
  refusalOf: (device: string) => Error | undefined = () => undefined;

  readonly open: OpenLane = async ({ device }, hooks) => {
    this.opened.push(device);
    const refusal = this.refusalOf(device);
    if (refusal) throw refusal;
    return new FakeLane(device, hooks, (job) => {
      this.begun.push(`${job.name} on ${device}`);
      return this.fateOf(job, device);
    });
  };
}
