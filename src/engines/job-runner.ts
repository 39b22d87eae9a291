/**
 * Job runners execute tasks: in this process, on workers behind a queue, or by a cluster scheduler. They never move
 * keys.
 */
import type { Progress } from '../sort/model/options.js';
import { AbortedError } from '../util/errors.js';

/** The stages of a sort; each starts after the previous one has ended. */
export const STAGES = ['sample', 'splitters', 'partition', 'sort', 'verify'] as const;

export type Stage = (typeof STAGES)[number];

/** Kinds of tasks: the stages of a sort, and the jobs of a batch. */
export const TASK_KINDS = [...STAGES, 'batch'] as const;

export type TaskKind = (typeof TASK_KINDS)[number];

/** All that a worker receives: the job and the part of it. The shared folder holds the description of the job. */
export interface Task {
  /** ID of the job, which is also the name of its folder. */
  readonly job: string;
  readonly kind: TaskKind;
  /** Index of the shard, the part of the result, or the job in the batch, from 0. */
  readonly index: number;
}

export type TaskEvent =
  | ({ readonly task: Task; readonly worker: string } & (
      | { readonly is: 'begin' }
      | { readonly is: 'progress'; readonly progress: Progress }
      /** The task will be retried, or has failed permanently. */
      | { readonly is: 'again' | 'failed'; readonly error: Error }
      | {
          readonly is: 'done';
          readonly seconds: number;
          /** CPU seconds and device, when the worker has reported them. */
          readonly cpuSeconds?: number | undefined;
          readonly device?: string | undefined;
        }
    ))
  | { readonly is: 'warning'; readonly message: string };

/** Progress of a job, for status queries. */
export interface JobStatus {
  readonly stage: string;
  readonly done: number;
  readonly tasks: number;
}

export interface JobRunner {
  readonly name: string;
  /**
   * Runs tasks until each has ended. Leaving the iteration early drops the tasks that have not started.
   *
   * A task may run twice, also on two workers at once; it leaves the same files.
   *
   * @param tasks the tasks
   * @param isDone whether a task has a record, which overrides the state of the job runner
   * @param signal aborts the run
   */
  run(
    tasks: readonly Task[],
    isDone: (task: Task) => Promise<boolean>,
    signal: AbortSignal,
  ): AsyncIterable<TaskEvent>;
  /** Publishes the progress of the job for status queries. */
  reportStatus(status: JobStatus): Promise<void>;
  /**
   * Closes all resources of the job runner.
   *
   * @param outcome outcome of the job
   */
  close(outcome: 'done' | 'failed'): Promise<void>;
}

/** Formats a task for display, counted from 1, such as `partition 3`. */
export const taskText = ({ kind, index }: Task): string =>
  kind === 'splitters' ? kind : `${kind} ${index + 1}`;

/** Thrown when the job itself was cancelled, not only this run of it. */
export class CancelledError extends AbortedError {}

export const isCancelled = (error: unknown): boolean =>
  error instanceof CancelledError || (error as Error | undefined)?.cause instanceof CancelledError;
