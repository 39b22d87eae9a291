import { randomBytes } from 'node:crypto';
import { unlinkSync } from 'node:fs';
import { chmod, type FileHandle, open, realpath, rename, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { AbortedError, IoError } from '../util/errors.js';
import { ioError, STDIO, writeFully } from './raw.js';

/** Where bytes go. Nothing is to be seen of them under the final name before `commit`. */
export interface Output {
  /** For messages: the path, or `stdout`. */
  readonly name: string;
  write(bytes: Uint8Array): Promise<void>;
  /** Puts the whole output in its place. */
  commit(): Promise<void>;
  /** Drops what was written; does nothing after `commit`. Synchronous, so that signal handlers can. */
  discard(): void;
}

/**
 * Opens an output: `-` is stdout, anything else a file, which is written aside (in the same folder) and
 * renamed, so that a reader sees the old contents or the new ones and a failure leaves the old.
 *
 * @throws IoError when it cannot be written
 */
export async function openOutput(path: string, stdout: Writable): Promise<Output> {
  if (path === STDIO) return streamOutput(stdout);
  const existing = await stat(path).catch(() => undefined);
  if (existing?.isDirectory()) throw new IoError(`cannot write ${path}: it is a directory`);
  if (existing && !existing.isFile()) return deviceOutput(path); // a pipe or /dev/null is never replaced
  // Through a link, the file that it names is replaced and the link stays.
  const target = existing ? await realpath(path) : path;
  const aside = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
  let handle: FileHandle;
  try {
    handle = await open(aside, 'wx', existing ? existing.mode & 0o777 : 0o666);
    if (existing) await chmod(aside, existing.mode & 0o7777); // the umask does not apply to what was there
  } catch (error) {
    throw ioError('write', path, error);
  }
  return new FileOutput(path, target, aside, handle);
}

class FileOutput implements Output {
  readonly name: string;
  readonly #target: string;
  readonly #aside: string;
  readonly #handle: FileHandle;
  #open = true;

  constructor(name: string, target: string, aside: string, handle: FileHandle) {
    this.name = name;
    this.#target = target;
    this.#aside = aside;
    this.#handle = handle;
  }

  write(bytes: Uint8Array): Promise<void> {
    return writeFully(this.#handle, bytes, this.name);
  }

  async commit(): Promise<void> {
    try {
      await this.#handle.sync();
      await this.#handle.close();
      await rename(this.#aside, this.#target);
      this.#open = false;
      await syncFolder(dirname(this.#target));
    } catch (error) {
      this.discard();
      throw ioError('write', this.name, error);
    }
  }

  discard(): void {
    if (!this.#open) return;
    this.#open = false;
    try {
      unlinkSync(this.#aside);
    } catch {
      // gone already: there is nothing left to drop
    }
    this.#handle.close().catch(() => undefined);
  }
}

/** Makes a rename last through a power failure, where the system lets folders be synced. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}

async function deviceOutput(path: string): Promise<Output> {
  const handle = await open(path, 'w').catch((error) => {
    throw ioError('write', path, error);
  });
  return {
    name: path,
    write: (bytes) => writeFully(handle, bytes, path),
    commit: () => handle.close(),
    discard: () => void handle.close().catch(() => undefined),
  };
}

function streamOutput(stream: Writable): Output {
  const put = (bytes: Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      stream.write(bytes, (error) => (error ? reject(ioError('write', 'stdout', error)) : resolve()));
    });
  return { name: 'stdout', write: put, commit: () => put(new Uint8Array(0)), discard: () => undefined };
}

/**
 * Runs `write` with an output that is put in its place when that succeeds, and dropped at once when it
 * fails or `signal` fires.
 *
 * @throws IoError; AbortedError when the signal fired; what `write` throws
 */
export async function withOutput(
  path: string,
  { stdout, signal }: { readonly stdout: Writable; readonly signal: AbortSignal },
  write: (output: Output) => Promise<void>,
): Promise<void> {
  const output = await openOutput(path, stdout);
  const drop = () => output.discard();
  signal.addEventListener('abort', drop);
  try {
    await write(output);
    assertGoing(signal);
    await output.commit();
  } catch (error) {
    output.discard();
    assertGoing(signal); // a write to a file that the interruption has closed is no failure of its own
    throw error;
  } finally {
    signal.removeEventListener('abort', drop);
  }
}

/** @throws AbortedError when the signal has fired */
export function assertGoing(signal: AbortSignal): void {
  if (signal.aborted) throw new AbortedError('interrupted', { cause: signal.reason });
}

/** Whether two paths name the same file; `-` names none. */
export async function isSameFile(a: string, b: string): Promise<boolean> {
  if (a === STDIO || b === STDIO) return false;
  const [x, y] = await Promise.all([a, b].map((path) => stat(path).catch(() => undefined)));
  return x !== undefined && y !== undefined && x.dev === y.dev && x.ino === y.ino;
}
