/** The journal of a batch on disk: one line per finished job, appended when it ends. */

import {
  closeSync,
  fstatSync,
  fsync,
  ftruncateSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ioError } from '../io/streams/raw.js';
import { resolveTarget } from '../io/streams/resolve-target.js';
import { UsageError } from '../util/errors.js';
import { isObject, parseJson } from '../util/json.js';
import { fileState, isSameState } from './file-state.js';
import { inputsOf, type Job, oneOrAll } from './jobs.js';
import { lock } from './lock.js';
import type { JobCompletion } from './protocol.js';

const HEAD = `${JSON.stringify({ schema: 'clsort.journal/1' })}\n`;

/** A finished job. Paths are relative to the folder of the journal, so that files and journal may be moved together. */
export interface JournalRecord extends Pick<JobCompletion, 'input' | 'output' | 'counts' | 'seconds'> {
  readonly name: string;
  /** A list for several inputs. */
  readonly in: string | readonly string[];
  readonly out: string;
  /** All fields that the result depends on, except for the input. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly outcome: 'ok' | 'error';
  readonly at: string;
  readonly device?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** The part of a record that describes the outcome. */
export type JournalOutcome = Omit<JournalRecord, 'name' | 'in' | 'out' | 'options'>;

/** Fields of a job that do not affect its result. */
const IGNORED_FIELDS = new Set(['name', 'in', 'out', 'device', 'tmp']);

/** @param folder folder that paths are relative to */
export const optionsOf = ({ counts, ...job }: Job, folder: string): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries({ ...job, ...(counts !== undefined && { counts: relative(folder, counts) }) })
      .filter(([field]) => !IGNORED_FIELDS.has(field))
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

const inputsFrom = (folder: string, job: Job): string | readonly string[] =>
  oneOrAll(inputsOf(job).map((path) => relative(folder, path)));

export class Journal {
  readonly path: string;
  readonly #folder: string;
  readonly #records: Map<string, JournalRecord>;
  readonly #fd: number;
  readonly #release: () => void;
  #syncing: Promise<void> | undefined;
  #isUnsynced = false;

  private constructor(path: string, fd: number, records: Map<string, JournalRecord>, release: () => void) {
    this.path = path;
    this.#folder = dirname(resolve(path));
    this.#fd = fd;
    this.#records = records;
    this.#release = release;
  }

  /**
   * Opens a journal for exclusive use, creating it if necessary. Drops an incomplete last line of a killed process.
   *
   * @throws UsageError when the file is not a journal, or another process is using it
   * @throws IoError when it cannot be read or written
   */
  static async open(name: string): Promise<Journal> {
    const path = await resolveTarget(name).catch((error) => {
      throw ioError('write', name, error);
    });
    const release = await lock(path);
    try {
      const { records, wholeBytes } = readRecords(path);
      const fd = openSync(path, 'a', 0o666);
      try {
        ftruncateSync(fd, wholeBytes);
        if (wholeBytes === 0) writeSync(fd, HEAD);
      } catch (error) {
        closeSync(fd);
        throw error;
      }
      return new Journal(path, fd, records, release);
    } catch (error) {
      release();
      throw error instanceof UsageError ? error : ioError('write', path, error);
    }
  }

  /**
   * Reads a journal without locking it.
   *
   * @throws UsageError when the file is not a journal
   * @throws IoError when it cannot be read
   */
  static async inspect(name: string): Promise<Pick<Journal, 'isDone'>> {
    const path = await resolveTarget(name).catch((error) => {
      throw ioError('read', name, error);
    });
    const folder = dirname(resolve(path));
    const { records } = readRecords(path);
    return { isDone: (job) => isDone(job, records.get(relative(folder, job.out)), folder) };
  }

  /** Whether a job is complete: its options are the same, and its input and output have not changed. */
  isDone(job: Job): boolean {
    return isDone(job, this.#records.get(relative(this.#folder, job.out)), this.#folder);
  }

  /**
   * Records the outcome of a job. Syncing starts at once and has ended when `close` resolves.
   *
   * @throws IoError when writing fails
   */
  add(job: Job, outcome: JournalOutcome): void {
    const record: JournalRecord = {
      name: job.name,
      in: inputsFrom(this.#folder, job),
      out: relative(this.#folder, job.out),
      options: optionsOf(job, this.#folder),
      ...outcome,
    };
    this.#append(`${JSON.stringify(record)}\n`);
    this.#records.set(record.out, record);
    this.#isUnsynced = true;
    this.#syncing ??= this.#sync();
  }

  /**
   * Appends a whole line or nothing, so that the next record starts on a new line.
   *
   * @throws IoError when writing fails
   */
  #append(line: string): void {
    const bytes = Buffer.from(line);
    let at = 0;
    try {
      // A nearly full disk accepts a part without an error.
      while (at < bytes.length) at += writeSync(this.#fd, bytes, at);
    } catch (error) {
      if (at > 0) ftruncateSync(this.#fd, fstatSync(this.#fd).size - at);
      throw ioError('write', this.path, error);
    }
  }

  /** Syncs in sequence; jobs that end meanwhile share the next sync. */
  async #sync(): Promise<void> {
    while (this.#isUnsynced) {
      this.#isUnsynced = false;
      await promisify(fsync)(this.#fd).catch(() => undefined); // some file systems do not support it
    }
    this.#syncing = undefined;
  }

  async close(): Promise<void> {
    await this.#syncing;
    closeSync(this.#fd);
    this.#release();
  }
}

function isDone(job: Job, record: JournalRecord | undefined, folder: string): boolean {
  if (record?.outcome !== 'ok' || !record.output) return false;
  if (JSON.stringify(record.in) !== JSON.stringify(inputsFrom(folder, job))) return false;
  if (JSON.stringify(record.options) !== JSON.stringify(optionsOf(job, folder))) return false;
  if (!isSameState(fileState(job.out), record.output)) return false;
  if (job.counts !== undefined && !isSameState(fileState(job.counts), record.counts)) return false;
  const states = [record.input].flat();
  return inputsOf(job).every(
    (path, i) => isSameState(fileState(path), states[i]) || isSamePath(path, job.out),
  );
}

/** Whether two paths name the same file, also through links. */
function isSamePath(a: string, b: string): boolean {
  if (a === b) return true;
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    return false; // one of them does not exist
  }
}

/**
 * Returns the last record of each output, and the number of bytes in whole lines.
 *
 * @throws UsageError when the file is not a journal
 */
function readRecords(path: string): { records: Map<string, JournalRecord>; wholeBytes: number } {
  const records = new Map<string, JournalRecord>();
  const bytes = readContents(path);
  const wholeBytes = bytes.lastIndexOf(0x0a) + 1;
  const [head = '', ...lines] = bytes.toString('utf8', 0, wholeBytes).split('\n');
  const begun = wholeBytes > 0 ? `${head}\n` : bytes.toString();
  if (wholeBytes > 0 ? begun !== HEAD : !HEAD.startsWith(begun)) throw notAJournalError(path);
  for (const line of lines) {
    const record = parseRecord(line);
    if (record) records.set(record.out, record);
  }
  return { records, wholeBytes };
}

function readContents(path: string): Buffer {
  try {
    if (!statSync(path).isFile()) throw notAJournalError(path); // reading a pipe would block
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error instanceof UsageError ? error : ioError('read', path, error);
  }
}

const notAJournalError = (path: string): UsageError =>
  new UsageError(`cannot use ${path} as the journal: it is another kind of file. Pass another --journal`, {
    details: { path },
  });

/** Parses a line. A damaged line is ignored, so its job is run again. */
function parseRecord(line: string): JournalRecord | undefined {
  const value = parseJson(line);
  return isObject(value) && typeof value.out === 'string' ? (value as unknown as JournalRecord) : undefined;
}
