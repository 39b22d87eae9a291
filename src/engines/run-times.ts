/** Times of a run by stage, for its report. */
import { cpus } from 'node:os';
import type { JobEvent } from './coordinator.js';

export interface StageTimes {
  readonly stage: string;
  /** Total number of tasks of the stage, and the number that this run executed. */
  readonly tasks: number;
  readonly ran: number;
  /** Wall-clock time from the start of the stage to the end of its last task. */
  readonly seconds: number;
  /** Sums over all tasks: wall-clock time and CPU time. */
  readonly busySeconds: number;
  readonly cpuSeconds: number;
}

/** Environment and times of a run. */
export interface RunFacts {
  /** CPU model and number of cores of the coordinating host. */
  readonly host: { readonly name: string; readonly cores: number };
  /** Devices of the workers. */
  readonly devices: readonly string[];
  readonly workers: number;
  /** Total time, starting with the inspection of the inputs. */
  readonly seconds: number;
  readonly stages: readonly StageTimes[];
}

/** Returns CPU model and number of cores of this host. */
const hostFacts = (): RunFacts['host'] => {
  const all = cpus();
  return { name: all[0]?.model.trim() || 'unknown', cores: all.length };
};

interface StageTally {
  readonly stage: string;
  readonly tasks: number;
  readonly begun: number;
  ran: number;
  /** Number of tasks whose worker has reported times; messages may be lost. */
  reported: number;
  ended: number;
  busy: number;
  cpu: number;
}

/** Accumulates times from the events of a job. */
export class RunTimes {
  readonly #begun: number;
  readonly #stages: StageTally[] = [];
  readonly #workers = new Set<string>();
  readonly #devices = new Set<string>();

  /** @param begun start time, a value of `performance.now()`; default now */
  constructor(begun = performance.now()) {
    this.#begun = begun;
  }

  /** Handles an event; bound, so that it can be passed as a listener. */
  readonly handle = (event: JobEvent): void => {
    const at = performance.now();
    if (event.is === 'stage') {
      const { stage, tasks } = event;
      this.#stages.push({ stage, tasks, begun: at, ran: 0, reported: 0, ended: at, busy: 0, cpu: 0 });
    }
    const tally = this.#stages.at(-1);
    if (event.is !== 'done' || !tally) return;
    const { worker, seconds, cpuSeconds = 0, device } = event;
    tally.ran++;
    tally.ended = at;
    if (seconds > 0) tally.reported++;
    tally.busy += seconds;
    tally.cpu += cpuSeconds;
    this.#workers.add(worker);
    if (device !== undefined) this.#devices.add(device);
  };

  get facts(): RunFacts {
    return {
      host: hostFacts(),
      devices: [...this.#devices].toSorted(),
      workers: this.#workers.size,
      seconds: (performance.now() - this.#begun) / 1000,
      stages: this.#stages.map(({ stage, tasks, ran, reported, begun, ended, busy, cpu }) => {
        const all = ran / Math.max(1, reported);
        const seconds = (ended - begun) / 1000;
        return { stage, tasks, ran, seconds, busySeconds: busy * all, cpuSeconds: cpu * all };
      }),
    };
  }
}

/** Returns the CPU seconds of this process since its start. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
