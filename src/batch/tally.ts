/** Progress of a batch: finished jobs, and running jobs per device. */
import type { BatchEvent, JobResult } from './events.js';
import type { Job } from './jobs.js';

interface Sized {
  readonly bytes: number;
}

/** The fields of a finished job that are counted. */
interface EndedJob {
  readonly job: Job;
  readonly outcome: JobResult['outcome'];
  readonly device?: string | undefined;
  readonly input?: Sized | readonly Sized[] | undefined;
}

export interface RunningJob {
  readonly job: Job;
  readonly began: number;
  phase?: string;
  /** Progress of the phase, from 0 to 1; undefined when unknown. */
  share?: number | undefined;
}

export interface DeviceTally {
  readonly running: Map<Job, RunningJob>;
  jobs: number;
  /** Total bytes of sorted inputs. */
  bytes: number;
  /** Number of unexpected exits of its worker process. */
  crashes: number;
}

export class Tally {
  readonly devices = new Map<string, DeviceTally>();
  readonly counts: Record<JobResult['outcome'], number> = { ok: 0, error: 0, done: 0, skipped: 0 };
  readonly #now: () => number;
  readonly #began: number;
  /** Seconds until the first device was open; undefined before. */
  startSeconds: number | undefined;

  constructor(now = () => performance.now()) {
    this.#now = now;
    this.#began = now();
  }

  get seconds(): number {
    return (this.#now() - this.#began) / 1000;
  }

  get ended(): number {
    const { ok, error, done, skipped } = this.counts;
    return ok + error + done + skipped;
  }

  /** Returns the estimated seconds until `jobs` jobs have ended, from the rate so far; undefined before any has run. */
  secondsLeft(jobs: number): number | undefined {
    const run = this.counts.ok + this.counts.error;
    return run === 0 ? undefined : (this.seconds / run) * (jobs - this.ended);
  }

  handle(
    event: Exclude<BatchEvent, { is: 'end' }> | { readonly is: 'end'; readonly result: EndedJob },
  ): void {
    if (event.is === 'warning') return;
    if (event.is === 'opened') this.startSeconds ??= this.seconds;
    if (event.is === 'end') this.#end(event.result);
    else {
      const device = this.#deviceOf(event.device);
      if (event.is === 'begin') device.running.set(event.job, { job: event.job, began: this.#now() });
      else if (event.is === 'again') device.running.delete(event.job);
      else if (event.is === 'lost') device.crashes++;
      else if (event.is === 'progress') {
        const job = device.running.get(event.job);
        const { phase, done, total } = event.progress;
        if (job) Object.assign(job, { phase, share: total > 0 ? done / total : undefined });
      }
    }
  }

  #end(result: EndedJob): void {
    this.counts[result.outcome]++;
    for (const { running } of this.devices.values()) running.delete(result.job);
    if (result.outcome !== 'ok' || result.device === undefined) return;
    const device = this.#deviceOf(result.device);
    device.jobs++;
    for (const input of [result.input ?? []].flat()) device.bytes += input.bytes;
  }

  #deviceOf(name: string): DeviceTally {
    let device = this.devices.get(name);
    if (!device) {
      device = { running: new Map(), jobs: 0, bytes: 0, crashes: 0 };
      this.devices.set(name, device);
    }
    return device;
  }
}
