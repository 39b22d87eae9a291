/** Names in Redis: of queues, and of what workers and coordinators tell each other beside them. */
import { UsageError } from '../util/errors.js';
import { VERSION } from '../util/package.js';
import type { Task } from './job-runner.js';

/** What stands before all keys of queues. */
export const PREFIX = 'clsort';

/** @throws UsageError for what is no name of a queue */
export function assertQueue(name: string): void {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(name)) return;
  throw new UsageError(`--queue is '${name}': expected up to 64 letters, digits, - and _`);
}

/** Workers of another version have another queue: they cannot even see such tasks. */
export const queueName = (queue: string, version = VERSION): string => `${queue}-${version}`;

/** A hash: what each worker of a queue says of itself, by its name. */
export const workersKey = (queue: string): string => `${PREFIX}:workers:${queue}`;
/** A hash: what each coordinator says of its job, by the job's id. */
export const jobsKey = (queue: string): string => `${PREFIX}:jobs:${queue}`;
/** There while a job is to be given up. */
export const cancelKey = (queue: string, id: string): string => `${PREFIX}:cancel:${queue}:${id}`;

/** How the queue knows a task: by nothing that a user has written. */
export const jobIdOf = ({ job, kind, index }: Task): string => `${job}-${kind}-${index}`;

/** What a worker says of itself. */
export interface WorkerEntry {
  readonly version: string;
  readonly host: string;
  readonly pid: number;
  readonly device: string;
  /** Milliseconds since 1970, by its own clock. */
  readonly at: number;
  readonly task?: string | undefined;
}

/** What a coordinator says of its job. */
export interface JobEntry {
  readonly version: string;
  readonly host: string;
  readonly pid: number;
  readonly out: string;
  readonly stage: string;
  readonly done: number;
  readonly tasks: number;
  readonly state: 'running' | 'done' | 'failed' | 'cancelled';
  readonly at: number;
}

/** An entry of a hash, which anybody may have written; undefined for none. */
export function entryOf<E extends object>(text: string | undefined | null): E | undefined {
  try {
    const value: unknown = JSON.parse(text ?? 'null');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as E) : undefined;
  } catch {
    return undefined;
  }
}

/** Text from elsewhere, for a terminal: without what moves its cursor. */
export const plainText = (text: unknown): string =>
  String(text ?? '')
    .replaceAll(/\p{Cc}+/gu, ' ')
    .slice(0, 2000);
