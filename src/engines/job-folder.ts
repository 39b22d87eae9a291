/**
 * The state of a job in the shared folder: `job.json`, which describes the job, one record per completed task, and
 * files between stages. Records are written to a temporary file and renamed, so that each is complete. A task without a
 * record is run again.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../io/streams/folder.js';
import { ioError } from '../io/streams/raw.js';
import { temporaryName } from '../io/streams/temporary-files.js';
import { writeFileAtomic } from '../io/streams/write-file-atomic.js';
import { IoError, UsageError } from '../util/errors.js';
import { invalidArgument } from '../util/invalid-argument.js';
import type { Task, TaskKind } from './job-runner.js';
import type { SharedFolder } from './shared-folder.js';

/** Folder of all jobs, inside the shared folder. */
const JOBS = '.clsort';
const JOB = 'job.json';
/** Exists while cancellation is requested. */
const CANCELLED = 'cancelled';
/** Folder of unfinished files of running processes. */
const TEMPORARY_FOLDER = 'temporary';

const ID = /^[0-9a-f]{12}$/;

/**
 * Returns the job ID of an output. The same command thus finds the job that it started.
 *
 * @param out output name relative to the shared folder
 */
export const idOf = (out: string): string => createHash('sha256').update(out).digest('hex').slice(0, 12);

/** @throws UsageError when `id` is not a job ID */
export function assertId(id: unknown): asserts id is string {
  if (typeof id === 'string' && ID.test(id)) return;
  throw invalidArgument('the job id', '12 hexadecimal digits', id);
}

const recordName = ({ kind, index }: Omit<Task, 'job'>): string =>
  `${kind}-${String(index).padStart(6, '0')}.json`;

export class JobFolder {
  readonly id: string;
  readonly path: string;

  private constructor(id: string, path: string) {
    this.id = id;
    this.path = path;
  }

  /**
   * Opens the folder of an existing job.
   *
   * @throws UsageError when the ID is invalid or the folder is a link
   * @throws IoError when there is no such job
   */
  static async find({ root }: SharedFolder, id: string): Promise<JobFolder> {
    assertId(id);
    const path = join(root, JOBS, id);
    const found = await realpath(path).catch(() => undefined);
    if (found === undefined) {
      throw new IoError(`cannot find job ${id} in ${root}: it has ended, or belongs to another folder`, {
        details: { id, folder: root },
      });
    }
    if (found === path) return new JobFolder(id, path);
    throw new UsageError(`cannot open ${path}: it is a symbolic link, which workers do not follow`);
  }

  /** Opens the folder of a job, creating it if necessary. */
  static async make(shared: SharedFolder, id: string): Promise<JobFolder> {
    assertId(id);
    const path = join(shared.root, JOBS, id);
    await makeFolder(join(path, TEMPORARY_FOLDER), path);
    return JobFolder.find(shared, id);
  }

  /** Returns the description of the job; undefined when it was never written. */
  readJob<J>(): Promise<J | undefined> {
    return this.#read<J>(JOB);
  }

  writeJob(job: object): Promise<void> {
    return this.#put(JOB, job);
  }

  get<R>(kind: TaskKind, index: number): Promise<R | undefined> {
    return this.#read<R>(recordName({ kind, index }));
  }

  /** @throws IoError when there is no record, which means that an earlier task has not completed */
  async expect<R>(kind: TaskKind, index: number): Promise<R> {
    const record = await this.get<R>(kind, index);
    if (record !== undefined) return record;
    throw new IoError(
      `cannot continue job ${this.id}: it has no record of ${kind} ${index + 1}, which runs first`,
      { details: { path: this.path } },
    );
  }

  put(kind: TaskKind, index: number, record: object): Promise<void> {
    return this.#put(recordName({ kind, index }), record);
  }

  /** Removes the record of a task, which is then run again. */
  async forget(kind: TaskKind, index: number): Promise<void> {
    await rm(this.file(recordName({ kind, index })), { force: true });
  }

  /** Returns the completed tasks of a kind. Lists the folder, since hosts may cache the absence of a file for long. */
  async done(kind: TaskKind): Promise<Set<number>> {
    const names = await readdir(this.path).catch(() => []);
    const pattern = new RegExp(`^${kind}-(\\d{6})\\.json$`);
    return new Set(names.flatMap((name) => pattern.exec(name)?.[1] ?? []).map(Number));
  }

  file(...names: readonly string[]): string {
    return join(this.path, ...names);
  }

  /** Returns a path that no other process writes to. */
  temporaryPath(name: string): string {
    return join(this.path, TEMPORARY_FOLDER, temporaryName(name));
  }

  get temporaryFolder(): string {
    return join(this.path, TEMPORARY_FOLDER);
  }

  /** Asks the coordinator to cancel the job. */
  async cancel(): Promise<void> {
    await writeFile(this.file(CANCELLED), '').catch((error) => {
      throw ioError('write', this.file(CANCELLED), error);
    });
  }

  async isCancelled(): Promise<boolean> {
    return (await stat(this.file(CANCELLED)).catch(() => undefined)) !== undefined;
  }

  /** Removes the folder, starting with the description of the job. */
  async remove(): Promise<void> {
    await rm(join(this.path, JOB), { force: true });
    // Slow workers may still write to it.
    await rm(this.path, { recursive: true, force: true, maxRetries: 5 });
  }

  async #read<R>(name: string): Promise<R | undefined> {
    const path = join(this.path, name);
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw ioError('read', path, error);
    });
    if (text === undefined) return undefined;
    try {
      return JSON.parse(text) as R;
    } catch (cause) {
      throw new IoError(`cannot read ${path} as JSON: another program has changed it`, {
        cause,
        details: { path },
      });
    }
  }

  #put(name: string, value: object): Promise<void> {
    return writeFileAtomic(this.file(name), JSON.stringify(value), this.temporaryPath(name));
  }
}
