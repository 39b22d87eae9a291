import { constants, unlinkSync } from 'node:fs';
import { access, chmod, type FileHandle, open, realpath, rename, stat, statfs } from 'node:fs/promises';
import { constants as os } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { AbortedError, IoError, UsageError } from '../util/errors.js';
import type { FileHash, FileHashes } from './file-hash.js';
import { assertNotAborted, ioError, isStdin, isStdout, openFd, PIECE_BYTES, writeFully } from './raw.js';
import { resolveTarget } from './resolve-target.js';
import { measureSpan, type OnSpan } from './spans.js';
import { writableOf } from './streams.js';
import { removeOrphansOnce, temporaryName } from './temporary-files.js';

/** Where bytes go. Nothing is to be seen of them under the final name before `commit`. */
export interface Output {
  /** For messages: the path, or `stdout`. */
  readonly name: string;
  /** The file that is written aside, for a process that writes it by itself; undefined for streams. */
  readonly fd?: number | undefined;
  /** Fires with `discard`, for what else is at work for this output. */
  readonly discardSignal?: AbortSignal | undefined;
  /**
   * Asks whether there is room for so many bytes in all, where the system can tell.
   *
   * @throws IoError when there is not; `details` has `needed` and `free`, in bytes
   */
  reserve(bytes: number): Promise<void>;
  /**
   * Has the system find room for so many bytes in all, beside what the caller does until it writes: memory disks spend half the
   * time of a write on that. There for files that are written aside.
   */
  readonly allocate?: ((bytes: number) => void) | undefined;
  write(bytes: Uint8Array): Promise<void>;
  /**
   * Has somebody else write the next bytes, when all before are written; there for files that are written aside.
   *
   * @param write writes so many bytes of the file from `position` on, and has them hashed
   */
  readonly writeBy?:
    | ((
        bytes: number,
        write: (file: {
          readonly fd: number;
          readonly position: number;
          readonly hash?: FileHash;
        }) => Promise<void>,
      ) => Promise<void>)
    | undefined;
  /** Writes over bytes that are written already, from `position` on; there for files that are written aside. */
  readonly patch?: ((bytes: Uint8Array, position: number) => Promise<void>) | undefined;
  /** Puts the whole output in its place. */
  commit(): Promise<void>;
  /** Drops what was written; does nothing after `commit`. Synchronous, so that signal handlers can. */
  discard(): void;
}

/** Hears which files are being written aside. */
export interface TemporaryFiles {
  add(path: string): unknown;
  delete(path: string): unknown;
}

/** What an output is opened with. */
export interface OutputContext {
  readonly stdout: Writable;
  /** Ends what waits, such as for a reader of a pipe. */
  readonly signal: AbortSignal;
  /** For who has to remove them should this thread hang. */
  readonly temporaryFiles?: TemporaryFiles | undefined;
  /** Hears what took how long. */
  readonly onSpan?: OnSpan | undefined;
  /** Get what is written to files. */
  readonly hashes?: FileHashes | undefined;
}

/** The reader of the output has closed it: this is no failure of ours, and there is nothing to tell. */
export class ClosedPipeError extends IoError {}

/** The error for bytes that could not be written. */
export const outputError = (name: string, cause: unknown): IoError =>
  (cause as NodeJS.ErrnoException).code === 'EPIPE'
    ? new ClosedPipeError(`the reader of ${name} has closed it`, { cause })
    : ioError('write', name, cause);

/**
 * Opens an output: `-` is stdout, anything else a file, which is written aside (in the same folder) and
 * renamed, so that a reader sees the old contents or the new ones and a failure leaves the old. A link stays
 * a link: what it names is made or replaced. A pipe is waited for until it has a reader.
 *
 * @throws IoError when it cannot be written, AbortedError
 */
export async function openOutput(path: string, context: OutputContext): Promise<Output> {
  if (isStdout(path)) return streamOutput('stdout', context.stdout, context.signal);
  try {
    if (path === '' || path.endsWith('/')) {
      const code = path === '' ? 'ENOENT' : 'EISDIR';
      throw Object.assign(new Error('no name of a file'), { code });
    }
    const existing = await stat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error; // a name that is too long would be told at the end only
    });
    if (existing?.isDirectory()) throw Object.assign(new Error('is a directory'), { code: 'EISDIR' });
    if (existing?.isFIFO()) return await pipeOutput(path, context.signal);
    if (existing && !existing.isFile()) return await deviceOutput(path); // /dev/null is never replaced
    const target = existing ? await realpath(path) : await resolveTarget(path);
    if (existing) await access(target, constants.W_OK); // a rename would not ask
    await removeOrphansOnce(dirname(target));
    return await AtomicOutput.open(path, target, existing?.mode, context);
  } catch (error) {
    assertNotAborted(context.signal);
    throw ioError('write', path, error);
  }
}

/** What the system says where there is no room, and what is told of it. */
const NO_SPACE_CODES = new Map([
  [os.errno.ENOSPC, 'ENOSPC'],
  [os.errno.EDQUOT, 'EDQUOT'],
]);

class AtomicOutput implements Output {
  readonly name: string;
  readonly #target: string;
  readonly #temporary: string;
  readonly #temporaryFiles: OutputContext['temporaryFiles'];
  readonly #handle: FileHandle;
  readonly #discardSignal = new AbortController();
  readonly #hash: FileHash | undefined;
  #allocated: Promise<void> | undefined;
  #position = 0;
  #open = true;

  private constructor(
    { name, target, temporary }: { name: string; target: string; temporary: string },
    { temporaryFiles, hashes }: Pick<OutputContext, 'temporaryFiles' | 'hashes'>,
    handle: FileHandle,
  ) {
    this.name = name;
    this.#target = target;
    this.#temporary = temporary;
    this.#temporaryFiles = temporaryFiles;
    this.#handle = handle;
    this.#hash = hashes?.forOutput(name);
    this.#hash?.invalidate(); // it may be the second try
  }

  /** @param mode of the file that is to be replaced, if there is one */
  static async open(
    name: string,
    target: string,
    mode: number | undefined,
    context: Pick<OutputContext, 'temporaryFiles' | 'hashes'>,
  ): Promise<AtomicOutput> {
    const { temporaryFiles } = context;
    const temporary = join(dirname(target), temporaryName(basename(target)));
    temporaryFiles?.add(temporary);
    try {
      const handle = await open(temporary, 'wx+', mode === undefined ? 0o666 : mode & 0o777);
      const output = new AtomicOutput({ name, target, temporary }, context, handle);
      // The umask does not apply to what was there.
      if (mode !== undefined) {
        await chmod(temporary, mode & 0o7777).catch((error) => {
          output.discard();
          throw error;
        });
      }
      return output;
    } catch (error) {
      temporaryFiles?.delete(temporary);
      throw error;
    }
  }

  get fd(): number {
    return this.#handle.fd;
  }

  get discardSignal(): AbortSignal {
    return this.#discardSignal.signal;
  }

  async reserve(bytes: number): Promise<void> {
    const disk = await statfs(dirname(this.#target)).catch(() => undefined);
    if (!disk || disk.blocks === 0) return; // a file system that does not count
    const free = (process.getuid?.() === 0 ? disk.bfree : disk.bavail) * disk.bsize;
    if (bytes <= free) return;
    throw new IoError(
      `cannot write ${this.name}: ${bytes} bytes are needed beside what is there, and its disk has ${free} free; ` +
        'make room, or name an output on another disk',
      { details: { path: this.name, needed: bytes, free } },
    );
  }

  readonly allocate = (bytes: number): void => {
    if (process.platform !== 'linux') return;
    this.#allocated = this.#allocate(bytes);
    this.#allocated.catch(() => undefined); // it is awaited, perhaps after another failure
  };

  /** @throws IoError where there is no room */
  async #allocate(bytes: number): Promise<void> {
    // Most outputs are written by who has no addon.
    const { allocateFileAsync } = await import('../opencl/index.js');
    if (!this.#open) return;
    const result = new BigInt64Array(1);
    await allocateFileAsync(this.#handle.fd, 0, bytes, result);
    const code = NO_SPACE_CODES.get(Number(result[0])); // whatever else it is, a write will tell
    if (code) throw outputError(this.name, Object.assign(new Error(code), { code }));
  }

  async write(bytes: Uint8Array): Promise<void> {
    const position = this.#position;
    this.#position += bytes.length;
    await this.#allocated;
    await writeFully(this.#handle, bytes, this.name, { position, hash: this.#hash });
  }

  readonly writeBy: NonNullable<Output['writeBy']> = async (bytes, write) => {
    const position = this.#position;
    this.#position += bytes;
    await this.#allocated;
    await write({ fd: this.#handle.fd, position, ...(this.#hash && { hash: this.#hash }) });
  };

  async patch(bytes: Uint8Array, position: number): Promise<void> {
    this.#hash?.invalidate();
    await this.#handle.write(bytes, 0, bytes.length, position).catch((error) => {
      throw ioError('write', this.name, error);
    });
  }

  async commit(): Promise<void> {
    try {
      await this.#handle.sync();
      await this.#handle.close();
      await rename(this.#temporary, this.#target);
      this.#open = false;
      this.#temporaryFiles?.delete(this.#temporary);
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
      unlinkSync(this.#temporary);
    } catch {
      // gone already: there is nothing left to drop
    }
    this.#temporaryFiles?.delete(this.#temporary);
    this.#discardSignal.abort();
    this.#handle.close().catch(() => undefined);
  }
}

/** Makes a rename last through a power failure, where the system lets folders be synced. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}

async function deviceOutput(path: string): Promise<Output> {
  const handle = await open(path, 'w');
  const discardSignal = new AbortController();
  return {
    name: path,
    discardSignal: discardSignal.signal,
    reserve: async () => undefined,
    write: (bytes) => writeFully(handle, bytes, path),
    commit: () => handle.close(),
    discard() {
      discardSignal.abort();
      handle.close().catch(() => undefined);
    },
  };
}

/** Milliseconds between two looks whether somebody reads a pipe by now. */
const POLL_MS = 20;

async function pipeOutput(path: string, signal: AbortSignal): Promise<Output> {
  const { O_WRONLY, O_NONBLOCK } = constants;
  for (;;) {
    assertNotAborted(signal);
    try {
      // Without O_NONBLOCK the call waits for a reader, and nothing can end it.
      const stream = writableOf(await openFd(path, O_WRONLY | O_NONBLOCK));
      stream.on('error', () => undefined); // the write that fails tells
      const end = (): void => void stream.destroy();
      const output = streamOutput(path, stream, signal);
      const discard = (): void => {
        output.discard();
        end();
      };
      return { ...output, commit: () => output.commit().finally(end), discard };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENXIO') throw error;
      await delay(POLL_MS);
    }
  }
}

/** Bytes of a write that are looked at, and those that are no text: control characters but tabs and ends of lines. */
const CHECKED_BYTES = 4096;
const isControl = (byte: number): boolean => byte < 0x09 || (byte > 0x0d && byte < 0x20) || byte === 0x7f;

/** @throws UsageError where a terminal would get bytes that are no text */
function assertText(bytes: Uint8Array, stream: Writable & { readonly isTTY?: boolean }): void {
  if (stream.isTTY !== true || !bytes.subarray(0, CHECKED_BYTES).some(isControl)) return;
  throw new UsageError(
    'cannot write binary data to a terminal: name a file (-o FILE), redirect stdout (> FILE), or choose a text format (--to csv)',
  );
}

function streamOutput(name: string, stream: Writable, signal: AbortSignal): Output {
  /** @throws AbortedError also while nobody reads */
  const put = (bytes: Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      const stop = (): void => reject(new AbortedError('interrupted', { cause: signal.reason }));
      signal.addEventListener('abort', stop, { once: true });
      stream.write(bytes, (error) => {
        signal.removeEventListener('abort', stop);
        if (error) reject(outputError(name, error));
        else resolve();
      });
    });
  const discardSignal = new AbortController();
  return {
    name,
    discardSignal: discardSignal.signal,
    reserve: async () => undefined,
    async write(bytes) {
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        assertNotAborted(signal);
        assertText(bytes, stream);
        await put(bytes.subarray(at, at + PIECE_BYTES));
      }
    },
    commit: () => put(new Uint8Array(0)),
    discard: () => discardSignal.abort(),
  };
}

/**
 * Runs `write` with an output that is put in its place when that succeeds, and dropped at once when it
 * fails or the signal fires.
 *
 * @throws IoError; AbortedError when the signal fired; what `write` throws
 */
export async function withOutput(
  path: string,
  context: OutputContext,
  write: (output: Output) => Promise<void>,
): Promise<void> {
  const { signal } = context;
  const output = await openOutput(path, context);
  const drop = () => output.discard();
  signal.addEventListener('abort', drop);
  try {
    assertNotAborted(signal);
    await write(output);
    assertNotAborted(signal);
    await measureSpan('sync', context.onSpan, () => output.commit());
  } catch (error) {
    output.discard();
    assertNotAborted(signal); // a write to a file that the interruption has closed is no failure of its own
    throw error;
  } finally {
    signal.removeEventListener('abort', drop);
  }
}

/** Whether two paths name the same file; stdin and stdout are none. */
export async function isSameFile(a: string, b: string): Promise<boolean> {
  if (isStdin(a) || isStdout(b)) return false;
  const [x, y] = await Promise.all([a, b].map((path) => stat(path).catch(() => undefined)));
  return x !== undefined && y !== undefined && x.dev === y.dev && x.ino === y.ino;
}
