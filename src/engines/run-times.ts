/** What the tasks of a run took, stage by stage: for its report, and for forecasts of other runs. */
import { cpus } from 'node:os';
import type { JobEvent } from './coordinator.js';

export interface StageTimes {
  readonly stage: string;
  /** Of the stage, and how many of them this run did. */
  readonly tasks: number;
  readonly ran: number;
  /** From the beginning of the stage to the end of its last task. */
  readonly seconds: number;
  /** Of all tasks together: on the clock, and of processors. */
  readonly busySeconds: number;
  readonly cpuSeconds: number;
}

/** Where it ran, and what that took. */
export interface RunFacts {
  /** Of the processor of the host that coordinates, and how many cores that has. */
  readonly host: { readonly name: string; readonly cores: number };
  /** Of workers. */
  readonly devices: readonly string[];
  readonly workers: number;
  /** All of it, from the look at the input on. */
  readonly seconds: number;
  readonly stages: readonly StageTimes[];
}

/** The processor of this host. */
export const hostFacts = (): RunFacts['host'] => {
  const all = cpus();
  return { name: all[0]?.model.trim() || 'unknown', cores: all.length };
};

interface StageTally {
  readonly stage: string;
  readonly tasks: number;
  readonly begun: number;
  ran: number;
  /** Of those, how many workers have told what they took: a word may be lost. */
  reported: number;
  ended: number;
  busy: number;
  cpu: number;
}

/** Hears what happens to a job, and adds it up. */
export class RunTimes {
  readonly #begun: number;
  readonly #stages: StageTally[] = [];
  readonly #workers = new Set<string>();
  readonly #devices = new Set<string>();

  /** @param begun when it began, as `performance.now()` tells; default now */
  constructor(begun = performance.now()) {
    this.#begun = begun;
  }

  /** To be handed on as a listener. */
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

/** Seconds of processors that this process has taken since it began. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
