/** Who runs tasks: this process, workers behind a queue, a cluster's scheduler. Engines move tasks, never keys. */
import type { Progress } from '../sort/api/options.js';
import { AbortedError } from '../util/errors.js';

/** The stages of a sort, each of which begins when the one before has ended. */
export const STAGES = ['sample', 'splitters', 'partition', 'sort', 'verify'] as const;

export type Stage = (typeof STAGES)[number];

/** What tasks are of: a stage of a sort, or the jobs of a batch. */
export const TASK_KINDS = [...STAGES, 'batch'] as const;

export type TaskKind = (typeof TASK_KINDS)[number];

/** All that a worker is told: which part of which job. What the job is, stands in the shared folder. */
export interface Task {
  /** The job's id, which is also the name of its folder. */
  readonly job: string;
  readonly kind: TaskKind;
  /** The shard, the part of the result, or the number in the batch, from 0. */
  readonly index: number;
}

/** What happens to tasks. */
export type TaskEvent =
  | { readonly is: 'begin'; readonly task: Task; readonly worker: string }
  | {
      readonly is: 'progress';
      readonly task: Task;
      readonly worker: string;
      readonly progress: Progress;
    }
  /** It is to be tried once more. */
  | { readonly is: 'again'; readonly task: Task; readonly worker: string; readonly error: Error }
  | {
      readonly is: 'done';
      readonly task: Task;
      readonly worker: string;
      readonly seconds: number;
      /** Of processors, and on which device, where the worker has told. */
      readonly cpuSeconds?: number | undefined;
      readonly device?: string | undefined;
    }
  /** It has failed for good. */
  | { readonly is: 'failed'; readonly task: Task; readonly worker: string; readonly error: Error }
  | { readonly is: 'warning'; readonly message: string };

/** How far a job is, for who asks from elsewhere. */
export interface JobStatus {
  readonly stage: string;
  readonly done: number;
  readonly tasks: number;
}

export interface JobRunner {
  readonly name: string;
  /**
   * Runs tasks until each has ended, one way or the other; giving it up early gives up what has not begun.
   *
   * A task may run twice, and on two workers at once: it leaves the same files.
   *
   * @param isDone tells whether a task has its record, which counts more than what the engine remembers
   */
  run(
    tasks: readonly Task[],
    isDone: (task: Task) => Promise<boolean>,
    signal: AbortSignal,
  ): AsyncIterable<TaskEvent>;
  /** Says how far a job is to who asks the engine. */
  reportStatus(status: JobStatus): Promise<void>;
  /** Ends what the engine has open. @param outcome of the job */
  close(outcome: 'done' | 'failed'): Promise<void>;
}

/** `partition 3`: in views and errors, counted from 1. */
export const taskText = ({ kind, index }: Task): string =>
  kind === 'splitters' ? kind : `${kind} ${index + 1}`;

/** Somebody has given the job up, not only this run of it. */
export class CancelledError extends AbortedError {}

export const isCancelled = (error: unknown): boolean =>
  error instanceof CancelledError || (error as Error | undefined)?.cause instanceof CancelledError;
