/** What a batch has done, on disk: one line a job, appended as it ends. */
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
import { ioError } from '../io/raw.js';
import { resolveTarget } from '../io/resolve-target.js';
import { UsageError } from '../util/errors.js';
import { type ChecksummedState, type FileState, fileState, isSameState } from './file-state.js';
import { inputsOf, type Job, oneOrAll } from './jobs.js';
import { lock } from './lock.js';
import { isObject } from './rules.js';

const HEAD = `${JSON.stringify({ schema: 'clsort.journal/1' })}\n`;

/** A job that ended. Its files are named as seen from the journal's folder, so that both may move together. */
export interface JournalRecord {
  readonly name: string;
  /** Of several a list. */
  readonly in: string | readonly string[];
  readonly out: string;
  /** All that the result depends on beside the input. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly outcome: 'ok' | 'error';
  readonly at: string;
  readonly seconds: number;
  /** As it was before the job; left out of what is no file. */
  readonly input?: ChecksummedState | readonly ChecksummedState[];
  readonly output?: ChecksummedState;
  /** The file of counts. */
  readonly counts?: FileState;
  readonly device?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** What a record says of how a job ended. */
export type JournalOutcome = Omit<JournalRecord, 'name' | 'in' | 'out' | 'options'>;

/** What of a job tells nothing of its result. */
const IGNORED_FIELDS = new Set(['name', 'in', 'out', 'device', 'tmp']);

/** @param folder as seen from which files are named */
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
   * Opens a journal for this process alone, made if there is none. What a killed process wrote of a last line is dropped.
   *
   * @throws UsageError for a file that is none, or while another process has it; IoError
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

  /** What a journal says, without taking it. @throws as `open` */
  static async inspect(name: string): Promise<Pick<Journal, 'isDone'>> {
    const path = await resolveTarget(name).catch((error) => {
      throw ioError('read', name, error);
    });
    const folder = dirname(resolve(path));
    const { records } = readRecords(path);
    return { isDone: (job) => isDone(job, records.get(relative(folder, job.out)), folder) };
  }

  /** Is there nothing to do for a job: were the options the same, and is the input as it was, and the output as it was left? */
  isDone(job: Job): boolean {
    return isDone(job, this.#records.get(relative(this.#folder, job.out)), this.#folder);
  }

  /** Records how a job ended. It is on its way to the disk at once, and there when `close` is done. @throws IoError */
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

  /** Appends all of a line, or nothing: what comes next is to begin a line of its own. @throws IoError */
  #append(line: string): void {
    const bytes = Buffer.from(line);
    let at = 0;
    try {
      // A disk that is nearly full takes a part, and says nothing.
      while (at < bytes.length) at += writeSync(this.#fd, bytes, at);
    } catch (error) {
      if (at > 0) ftruncateSync(this.#fd, fstatSync(this.#fd).size - at);
      throw ioError('write', this.path, error);
    }
  }

  /** One after the other: many jobs that end meanwhile share the next. */
  async #sync(): Promise<void> {
    while (this.#isUnsynced) {
      this.#isUnsynced = false;
      await promisify(fsync)(this.#fd).catch(() => undefined); // not every file system has it
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

/** Do two names stand for one file, also through links? */
function isSamePath(a: string, b: string): boolean {
  if (a === b) return true;
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    return false; // one of them is not there
  }
}

/** The last record of each output, and how many bytes of the file are whole lines. @throws UsageError */
function readRecords(path: string): { records: Map<string, JournalRecord>; wholeBytes: number } {
  const records = new Map<string, JournalRecord>();
  const bytes = readContents(path);
  const wholeBytes = bytes.lastIndexOf(0x0a) + 1;
  const [head = '', ...lines] = bytes.toString('utf8', 0, wholeBytes).split('\n');
  const begun = wholeBytes > 0 ? `${head}\n` : bytes.toString();
  if (wholeBytes > 0 ? begun !== HEAD : !HEAD.startsWith(begun)) {
    throw notAJournalError(path);
  }
  for (const line of lines) {
    const record = parseRecord(line);
    if (record) records.set(record.out, record);
  }
  return { records, wholeBytes };
}

function readContents(path: string): Buffer {
  try {
    if (!statSync(path).isFile()) throw notAJournalError(path); // a pipe would be waited for
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error instanceof UsageError ? error : ioError('read', path, error);
  }
}

const notAJournalError = (path: string): UsageError =>
  new UsageError(`${path} is no journal of a batch: name another file, or one that is not there yet`, {
    details: { path },
  });

/** A line that tells nothing, as one that a disk has damaged, is one job that is done once more. */
function parseRecord(line: string): JournalRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) && typeof value.out === 'string' ? (value as unknown as JournalRecord) : undefined;
  } catch {
    return undefined;
  }
}
