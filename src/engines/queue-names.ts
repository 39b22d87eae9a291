import { invalidArgument } from '../util/invalid-argument.js';
import { isObject, parseJson } from '../util/json.js';
import { VERSION } from '../util/package.js';
import type { JobStatus, Task } from './job-runner.js';

/** Prefix of all keys. */
export const PREFIX = 'clsort';

/** @throws UsageError when `name` is not a valid queue name */
export function assertQueue(name: string): void {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(name)) return;
  throw invalidArgument('--queue', 'up to 64 letters, digits, - and _', name);
}

/** Returns the name of a queue, which includes the version, so that workers of other versions never see its tasks. */
export const queueName = (queue: string, version = VERSION): string => `${queue}-${version}`;

/** Returns the key of a hash with the status of each worker, by worker name. */
export const workersKey = (queue: string): string => `${PREFIX}:workers:${queue}`;
/** Returns the key of a hash with the status of each job, by job ID. */
export const jobsKey = (queue: string): string => `${PREFIX}:jobs:${queue}`;
/** Returns the key that exists while a job is being cancelled. */
export const cancelKey = (queue: string, id: string): string => `${PREFIX}:cancel:${queue}:${id}`;

/** Returns the queue's ID of a task; contains no user input. */
export const jobIdOf = ({ job, kind, index }: Task): string => `${job}-${kind}-${index}`;

/** Status of a worker. */
export interface WorkerEntry {
  readonly version: string;
  readonly host: string;
  readonly pid: number;
  readonly device: string;
  /** Milliseconds since 1970, by the worker's clock. */
  readonly at: number;
  readonly task?: string | undefined;
}

/** Status of a job, written by its coordinator. */
export interface JobEntry extends JobStatus, Pick<WorkerEntry, 'version' | 'host' | 'pid' | 'at'> {
  readonly out: string;
  readonly state: 'running' | 'done' | 'failed' | 'cancelled';
}

/** Parses an untrusted entry of a hash; returns undefined when it is invalid. */
export function entryOf<E extends object>(text: string | undefined | null): E | undefined {
  const value = parseJson(text ?? 'null');
  return isObject(value) ? (value as E) : undefined;
}

/** Milliseconds without a heartbeat after which a worker counts as absent; it sends one every two seconds. */
const WORKER_TIMEOUT_MS = 30_000;

/** Returns the present workers of a hash of workers, with untrusted text made safe. */
export function presentWorkers(
  entries: Readonly<Record<string, string>>,
): (WorkerEntry & { readonly name: string })[] {
  return Object.entries(entries).flatMap(([name, text]) => {
    const entry = entryOf<WorkerEntry>(text);
    if (!entry || !(Date.now() - entry.at < WORKER_TIMEOUT_MS)) return [];
    const { version, host, device, task } = entry;
    const states = { version: plainText(version), host: plainText(host), device: plainText(device) };
    return [
      { ...entry, ...states, task: task === undefined ? undefined : plainText(task), name: plainText(name) },
    ];
  });
}

/** Makes untrusted text safe for a terminal by removing control characters. */
export const plainText = (text: unknown): string =>
  String(text ?? '')
    .replaceAll(/\p{Cc}+/gu, ' ')
    .slice(0, 2000);
