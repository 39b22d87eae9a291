import { constants, unlinkSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { constants as os } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { AbortedError, IoError, UsageError } from '../../util/errors.js';
import { syncFile } from '../../util/sync-file.js';
import { type FileCalls, type OpenFile, threadedCalls } from './file-calls.js';
import type { FileHash, FileHashes } from './file-hash.js';
import { freeBytes, syncFolder } from './folder.js';
import { PIECE_BYTES } from './policy.js';
import { assertNotAborted, ioError, isStdout, openFd, writeFully } from './raw.js';
import { resolveTarget } from './resolve-target.js';
import { measureSpan, type OnSpan } from './spans.js';
import { writableOf } from './streams.js';
import { removeOrphansOnce, temporaryName } from './temporary-files.js';

/** A destination of bytes. Nothing appears under its final name before `commit`. */
export interface Output {
  /** Name for messages: the path, or `stdout`. */
  readonly name: string;
  /** Descriptor of the temporary file, for a process that writes it directly; undefined for streams. */
  readonly fd?: number | undefined;
  /** Aborts on `discard`, to stop other work for this output. */
  readonly discardSignal?: AbortSignal | undefined;
  /**
   * Checks whether there is space for the whole output, where the system reports it.
   *
   * @param bytes total size of the output
   * @throws IoError when there is not enough space; `details` has `needed` and `free`, in bytes
   */
  reserve(bytes: number): Promise<void>;
  /**
   * Allocates disk space for the whole output in the background, until the first write. Memory file systems spend half
   * the time of a write on that. Defined for temporary files only.
   */
  readonly allocate?: ((bytes: number) => void) | undefined;
  write(bytes: Uint8Array): Promise<void>;
  /**
   * Lets a callback write the next bytes after all earlier writes. Defined for temporary files only.
   *
   * @param write writes `bytes` bytes of the file from `position` on, and adds them to the hash
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
  /** Overwrites bytes that are already written, from `position` on. Defined for temporary files only. */
  readonly patch?: ((bytes: Uint8Array, position: number) => Promise<void>) | undefined;
  /** Publishes the complete output under its final name. */
  commit(): Promise<void>;
  /** Drops the output; does nothing after `commit`. Synchronous, so that signal handlers can call it. */
  discard(): void;
}

/** Registry of the temporary files in use. */
export interface TemporaryFiles {
  add(path: string): unknown;
  delete(path: string): unknown;
}

/** Context that outputs are opened with. */
export interface OutputContext {
  readonly stdout: Writable;
  /** Ends pending waits, such as for a reader of a pipe. */
  readonly signal: AbortSignal;
  /** Registry for the caller that removes temporary files when this thread hangs. */
  readonly temporaryFiles?: TemporaryFiles | undefined;
  /** Receives the timings of the work. */
  readonly onSpan?: OnSpan | undefined;
  /** Receive what is written to files. */
  readonly hashes?: FileHashes | undefined;
  /** Calls to the file system; default in threads. */
  readonly files?: FileCalls | undefined;
}

/** Thrown when the reader of a pipe has closed it. This is not a failure, and nothing is reported. */
export class ClosedPipeError extends IoError {}

/** Returns the error for a failed write. */
export const outputError = (name: string, cause: unknown): IoError =>
  (cause as NodeJS.ErrnoException).code === 'EPIPE'
    ? new ClosedPipeError(`cannot write ${name}: its reader closed the pipe`, { cause })
    : ioError('write', name, cause);

/**
 * Opens an output: stdout for `-`, otherwise a file.
 *
 * A file is written to a temporary file in the same folder, which is renamed on `commit`. Readers see either the old or
 * the new contents, and a failure keeps the old. A symbolic link is followed: its target is created or replaced. For a
 * pipe, the function waits until it has a reader.
 *
 * @param path path of the output
 * @param context stdout, signal, hashes and registry
 * @throws IoError when the output cannot be written
 * @throws AbortedError when the signal aborts
 */
export async function openOutput(path: string, context: OutputContext): Promise<Output> {
  if (isStdout(path)) return streamOutput('stdout', context.stdout, context.signal);
  const { files = threadedCalls } = context;
  try {
    if (path === '' || path.endsWith('/')) {
      const code = path === '' ? 'ENOENT' : 'EISDIR';
      throw Object.assign(new Error('no name of a file'), { code });
    }
    const existing = await files.stat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error; // reports early that a name is too long, for example
    });
    if (existing?.isDirectory()) throw Object.assign(new Error('is a directory'), { code: 'EISDIR' });
    if (existing?.isFIFO()) return await pipeOutput(path, context.signal);
    if (existing && !existing.isFile()) return await deviceOutput(path); // /dev/null must not be replaced
    const target = existing ? await files.realpath(path) : await resolveTarget(path, files);
    if (existing) await files.access(target, constants.W_OK); // a rename would ignore missing write permission
    await removeOrphansOnce(dirname(target));
    return await AtomicOutput.open(path, target, existing?.mode, context);
  } catch (error) {
    assertNotAborted(context.signal);
    throw ioError('write', path, error);
  }
}

/** Codes that the system reports when there is no space, by number. */
const NO_SPACE_CODES = new Map([
  [os.errno.ENOSPC, 'ENOSPC'],
  [os.errno.EDQUOT, 'EDQUOT'],
]);

type AtomicContext = Pick<OutputContext, 'temporaryFiles' | 'hashes' | 'files'>;

class AtomicOutput implements Output {
  readonly name: string;
  readonly #target: string;
  readonly #temporary: string;
  readonly #temporaryFiles: OutputContext['temporaryFiles'];
  readonly #handle: OpenFile;
  readonly #files: FileCalls;
  readonly #discardSignal = new AbortController();
  readonly #hash: FileHash | undefined;
  #allocated: Promise<void> | undefined;
  #position = 0;
  #reserved = 0;
  #open = true;

  private constructor(
    { name, target, temporary }: { name: string; target: string; temporary: string },
    { temporaryFiles, hashes, files = threadedCalls }: AtomicContext,
    handle: OpenFile,
  ) {
    this.name = name;
    this.#target = target;
    this.#temporary = temporary;
    this.#temporaryFiles = temporaryFiles;
    this.#handle = handle;
    this.#files = files;
    this.#hash = hashes?.forOutput(name);
    this.#hash?.invalidate(); // this may be a second attempt
  }

  /** @param mode mode of the file to replace; undefined when there is none */
  static async open(
    name: string,
    target: string,
    mode: number | undefined,
    context: AtomicContext,
  ): Promise<AtomicOutput> {
    const { temporaryFiles, files = threadedCalls } = context;
    const temporary = join(dirname(target), temporaryName(basename(target)));
    temporaryFiles?.add(temporary);
    try {
      const handle = await files.open(temporary, 'wx+', mode === undefined ? 0o666 : mode & 0o777);
      const output = new AtomicOutput({ name, target, temporary }, context, handle);
      // The umask must not change the mode of an existing file.
      if (mode !== undefined) {
        await files.chmod(temporary, mode & 0o7777).catch((error) => {
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
    if (bytes <= this.#reserved) return;
    this.#reserved = bytes;
    const free = await freeBytes(dirname(this.#target), this.#files);
    if (free === undefined || bytes <= free) return;
    throw new IoError(
      `cannot write ${this.name}: it needs ${bytes} bytes, and its disk has ${free} free. ` +
        'Free space, or name an output on another disk',
      { details: { path: this.name, needed: bytes, free } },
    );
  }

  readonly allocate = (bytes: number): void => {
    if (process.platform !== 'linux') return;
    this.#allocated = this.#allocate(bytes);
    this.#allocated.catch(() => undefined); // awaited later, possibly after another failure
  };

  /** @throws IoError when there is not enough space */
  async #allocate(bytes: number): Promise<void> {
    // Loaded on demand, since most writers do not need the addon.
    const { allocateFileAsync } = await import('../../opencl/index.js');
    if (!this.#open) return;
    const result = new BigInt64Array(1);
    await allocateFileAsync(this.#handle.fd, 0, bytes, result);
    const code = NO_SPACE_CODES.get(Number(result[0])); // a write reports any other error
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
      await syncFile(this.#handle);
      await this.#handle.close();
      await this.#files.rename(this.#temporary, this.#target);
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
      // It no longer exists.
    }
    this.#temporaryFiles?.delete(this.#temporary);
    this.#discardSignal.abort();
    this.#handle.close().catch(() => undefined);
  }
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

/** Milliseconds between two checks for a reader of a pipe: no event announces one. */
const POLL_MS = 20;

async function pipeOutput(path: string, signal: AbortSignal): Promise<Output> {
  const { O_WRONLY, O_NONBLOCK } = constants;
  for (;;) {
    assertNotAborted(signal);
    try {
      // Without O_NONBLOCK the call blocks until there is a reader and cannot be interrupted.
      const stream = writableOf(await openFd(path, O_WRONLY | O_NONBLOCK));
      stream.on('error', () => undefined); // the failing write reports the error
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

/** Number of leading bytes of a write that are checked for binary data: control characters except whitespace. */
const CHECKED_BYTES = 4096;
const isControl = (byte: number): boolean => byte < 0x09 || (byte > 0x0d && byte < 0x20) || byte === 0x7f;

/** @throws UsageError when a terminal would receive binary data */
function assertText(bytes: Uint8Array, stream: Writable & { readonly isTTY?: boolean }): void {
  if (stream.isTTY !== true || !bytes.subarray(0, CHECKED_BYTES).some(isControl)) return;
  throw new UsageError(
    'cannot write binary data: stdout is a terminal. Name a file (-o FILE), redirect stdout (> FILE), or choose a text format (--to csv)',
  );
}

function streamOutput(name: string, stream: Writable, signal: AbortSignal): Output {
  /** @throws AbortedError when the signal aborts, even while no reader takes the bytes */
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
 * Runs `write` with an output, commits the output on success, and discards it on failure or abort.
 *
 * @param path path of the output, `-` for stdout
 * @param context stdout, signal, hashes and registry
 * @param write writes the contents
 * @returns the result of `write`
 * @throws IoError when the output cannot be written
 * @throws AbortedError when the signal aborts
 * @throws errors of `write`
 */
export async function withOutput<T>(
  path: string,
  context: OutputContext,
  write: (output: Output) => Promise<T>,
): Promise<T> {
  const { signal } = context;
  const output = await openOutput(path, context);
  const drop = () => output.discard();
  signal.addEventListener('abort', drop);
  try {
    assertNotAborted(signal);
    const made = await write(output);
    assertNotAborted(signal);
    await measureSpan('sync', context.onSpan, () => output.commit());
    return made;
  } catch (error) {
    output.discard();
    assertNotAborted(signal); // an abort closes the file, which makes a pending write fail
    throw error;
  } finally {
    signal.removeEventListener('abort', drop);
  }
}

/** Returns a writer of raw bytes. */
export const bytesTo = (output: Output) => ({
  write: (piece: Uint8Array): Promise<void> => output.write(piece),
  end: async (): Promise<void> => undefined,
});
