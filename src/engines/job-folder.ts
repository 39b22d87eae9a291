/**
 * What is kept of a job while it goes on, in the shared folder: `job.json`, which says what is to be done, a record of
 * each task that is done, and files between two stages. Records are written aside and renamed, so that whatever is there is
 * whole; a task without one is done once more.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../io/folder.js';
import { ioError } from '../io/raw.js';
import { temporaryName } from '../io/temporary-files.js';
import { writeFileAtomic } from '../io/write-file-atomic.js';
import { IoError, UsageError } from '../util/errors.js';
import type { Task, TaskKind } from './job-runner.js';
import type { SharedFolder } from './shared-folder.js';

/** The folder of all jobs, in the shared one. */
const JOBS = '.clsort';
const JOB = 'job.json';
/** There while the job is to be given up. */
const CANCELLED = 'cancelled';
/** What processes write that have not ended. */
const TEMPORARY_FOLDER = 'asides';

const ID = /^[0-9a-f]{12}$/;

/** The id of the job that makes an output: the same command goes on with what it has begun. @param out its shared name */
export const idOf = (out: string): string => createHash('sha256').update(out).digest('hex').slice(0, 12);

/** @throws UsageError for what is no id of a job */
export function assertId(id: unknown): asserts id is string {
  if (typeof id === 'string' && ID.test(id)) return;
  throw new UsageError(`${JSON.stringify(id)} is no id of a job: expected 12 digits, from 0 to f`);
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

  /** @throws UsageError for a wrong id, and where a link leads out of the shared folder; IoError where there is no such job */
  static async find({ root }: SharedFolder, id: string): Promise<JobFolder> {
    assertId(id);
    const path = join(root, JOBS, id);
    const found = await realpath(path).catch(() => undefined);
    if (found === undefined) {
      throw new IoError(`there is no job ${id} in ${root}: it has ended, or is of another folder`, {
        details: { id, folder: root },
      });
    }
    if (found === path) return new JobFolder(id, path);
    throw new UsageError(`${path} is a link, which workers do not follow: the job is refused`);
  }

  /** The folder of a job, made if there is none. */
  static async make(shared: SharedFolder, id: string): Promise<JobFolder> {
    assertId(id);
    const path = join(shared.root, JOBS, id);
    await makeFolder(join(path, TEMPORARY_FOLDER), path);
    return JobFolder.find(shared, id);
  }

  /** What is to be done; undefined where that was never written. */
  readJob<J>(): Promise<J | undefined> {
    return this.#read<J>(JOB);
  }

  writeJob(job: object): Promise<void> {
    return this.#put(JOB, job);
  }

  get<R>(kind: TaskKind, index: number): Promise<R | undefined> {
    return this.#read<R>(recordName({ kind, index }));
  }

  /** @throws IoError where there is none: what came before has not been done */
  async expect<R>(kind: TaskKind, index: number): Promise<R> {
    const record = await this.get<R>(kind, index);
    if (record !== undefined) return record;
    throw new IoError(`job ${this.id} has no record of ${kind} ${index + 1}, which comes first`, {
      details: { path: this.path },
    });
  }

  put(kind: TaskKind, index: number, record: object): Promise<void> {
    return this.#put(recordName({ kind, index }), record);
  }

  /** Removes the record of a task, which is then done once more. */
  async forget(kind: TaskKind, index: number): Promise<void> {
    await rm(this.file(recordName({ kind, index })), { force: true });
  }

  /** Which tasks of a kind are done; the folder is listed, since a host may remember for long that a file is not there. */
  async done(kind: TaskKind): Promise<Set<number>> {
    const names = await readdir(this.path).catch(() => []);
    const pattern = new RegExp(`^${kind}-(\\d{6})\\.json$`);
    return new Set(names.flatMap((name) => pattern.exec(name)?.[1] ?? []).map(Number));
  }

  file(...names: readonly string[]): string {
    return join(this.path, ...names);
  }

  /** A name that no other process writes to. */
  temporaryPath(name: string): string {
    return join(this.path, TEMPORARY_FOLDER, temporaryName(name));
  }

  get temporaryFolder(): string {
    return join(this.path, TEMPORARY_FOLDER);
  }

  /** Asks the coordinator of the job to give it up. */
  async cancel(): Promise<void> {
    await writeFile(this.file(CANCELLED), '').catch((error) => {
      throw ioError('write', this.file(CANCELLED), error);
    });
  }

  async isCancelled(): Promise<boolean> {
    return (await stat(this.file(CANCELLED)).catch(() => undefined)) !== undefined;
  }

  /** Removes all of it, what says that there is a job first. */
  async remove(): Promise<void> {
    await rm(join(this.path, JOB), { force: true });
    // Workers that lag behind may still put something there.
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
      throw new IoError(`${path} is no JSON: something else has written it`, { cause, details: { path } });
    }
  }

  #put(name: string, value: object): Promise<void> {
    return writeFileAtomic(this.file(name), JSON.stringify(value), this.temporaryPath(name));
  }
}
