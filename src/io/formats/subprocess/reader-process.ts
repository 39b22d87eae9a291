/** The parent's side of the subprocess that reads or writes a file. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import {
  type ClsortError,
  DtypeError,
  type ErrorDetails,
  FormatError,
  IoError,
  MemoryError,
  PackageError,
  UnsupportedError,
} from '../../../util/errors.js';
import { programFile } from '../../../util/package.js';
import { permitted } from '../../../util/permission.js';
import { isPlugAndPlay } from '../../../util/runtime.js';
import { assertNotAborted } from '../../streams/raw.js';
import { encodeFrame, type Frame, framesOf } from './frames.js';
import { type MemoryWatch, watchMemory } from './memory-watch.js';
import { type ErrorMessage, FD } from './protocol.js';

const PROGRAM = 'io/formats/subprocess/child.js';

/** JavaScript heap limit in MiB; memory of native libraries is not included. */
const HEAP_MIB = 256;
/** Resident memory limit in bytes. Only a damaged or malicious file needs more. */
const MEMORY_BYTES = 2 ** 30;
/** Maximum length of the stderr output that is kept for crash reports. */
const MAX_STDERR_BYTES = 2048;

/** Environment variables that the subprocess needs to start: search paths of the loader. */
const ENVIRONMENT = ['LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SystemRoot'];
/** Yarn Plug'n'Play passes its package resolver in this variable. */
const PNP_ENVIRONMENT = ['NODE_OPTIONS'];

type ErrorClass = new (message: string, details?: ErrorDetails) => ClsortError;

const ERRORS: readonly ErrorClass[] = [DtypeError, IoError, MemoryError, PackageError];

export interface ReaderProcessOptions {
  /** Display name of the file, for messages. */
  readonly name: string;
  /** Operation on the file, for messages. */
  readonly what: 'read' | 'write';
  readonly fd: number;
  readonly signal?: AbortSignal | undefined;
}

/** A subprocess with access to one open file only. `close` and the signal kill it. */
export class ReaderProcess {
  readonly #file: ReaderProcessOptions;
  readonly #child: ChildProcess;
  readonly #in: Writable;
  readonly #frames: AsyncGenerator<Frame>;
  readonly #ended: Promise<string>;
  readonly #memory: MemoryWatch;
  readonly #kill = (): void => void this.#child.kill('SIGKILL');
  #stderr = '';

  constructor(file: ReaderProcessOptions) {
    const program = programFile(PROGRAM);
    if (process.platform === 'win32' || !existsSync(program)) {
      throw new UnsupportedError(
        process.platform === 'win32'
          ? `cannot ${file.what} ${file.name}: the subprocess for this format needs /dev/fd, which Windows lacks`
          : `cannot ${file.what} ${file.name}: the program ${program} of the subprocess is missing. Copy dist/ of the package`,
      );
    }
    assertNotAborted(file.signal);
    this.#file = file;
    const names = isPlugAndPlay() ? [...ENVIRONMENT, ...PNP_ENVIRONMENT] : ENVIRONMENT;
    const env = Object.fromEntries(
      names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
    );
    const options: SpawnOptions = {
      stdio: ['pipe', 'pipe', 'pipe', file.fd, 'pipe'],
      cwd: '/',
      env,
      detached: true, // keeps it out of terminal signals; this process ends it
      windowsHide: true,
    };
    const args = [`--max-old-space-size=${HEAP_MIB}`, program];
    this.#child = permitted(() => spawn(process.execPath, args, options));
    this.#in = this.#child.stdin as Writable;
    this.#in.on('error', () => undefined); // the failed write reports the error
    this.#frames = framesOf(this.#child.stdout as Readable);
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-MAX_STDERR_BYTES);
    });
    this.#child.stdio[FD.lifeline]?.on('error', () => undefined);
    this.#memory = watchMemory(this.#child.pid, MEMORY_BYTES, this.#kill);
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(error.message));
      this.#child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
    void this.#ended.then(() => this.#memory.stop());
    file.signal?.addEventListener('abort', this.#kill, { once: true });
  }

  /**
   * Sends a frame. Resolves when it is written, so that the caller may reuse its buffers.
   *
   * @throws IoError when the pipe is closed, or the error that the subprocess reports
   */
  async send(frame: Frame): Promise<void> {
    const parts = encodeFrame(frame).filter(({ length }) => length > 0);
    const written = parts.map(
      (part) => new Promise<boolean>((resolve) => this.#in.write(part, (error) => resolve(!error))),
    );
    if ((await Promise.all(written)).every(Boolean)) return;
    await this.receive(); // throws the error that made it close the pipe
    throw new IoError(`cannot ${this.#file.what} ${this.#file.name}: its subprocess closed the pipe`);
  }

  /**
   * Waits for the next frame.
   *
   * @throws ClsortError as reported by the subprocess
   * @throws AbortedError when the signal is aborted
   * @throws MemoryError when the subprocess exceeded its memory limit
   * @throws IoError when the subprocess crashed
   */
  async receive(): Promise<Frame> {
    let next: IteratorResult<Frame> | undefined;
    try {
      next = await this.#frames.next();
    } catch {
      // The data was not a valid frame.
    }
    assertNotAborted(this.#file.signal);
    if (!next || next.done) {
      this.#kill(); // no-op if it has already exited
      throw this.#crashError(await this.#ended);
    }
    const frame = next.value;
    if ('message' in frame && frame.message.is === 'error') throw this.#errorOf(frame.message);
    return frame;
  }

  #errorOf({ code, message, details }: ErrorMessage): ClsortError {
    const { name, what } = this.#file;
    const Type = ERRORS.find((type) => new type('').code === code) ?? FormatError;
    const text = message.replaceAll(`/dev/fd/${FD.file}`, name);
    return new Type(`cannot ${what} ${name}: ${text}`, { details: { ...details, path: name } });
  }

  #crashError(how: string): ClsortError {
    const { name, what } = this.#file;
    if (this.#memory.isExceeded) {
      return new MemoryError(
        `cannot ${what} ${name}: it takes more than ${MEMORY_BYTES / 2 ** 20} MiB of memory. Check that the file is not damaged`,
        { details: { path: name, bytes: MEMORY_BYTES } },
      );
    }
    return new IoError(
      `cannot ${what} ${name}: its subprocess ended without a result (${how}). Check that the file is not damaged`,
      { details: { path: name, how, stderr: this.#stderr } },
    );
  }

  /** Kills the subprocess and waits for its exit. */
  async close(): Promise<void> {
    this.#file.signal?.removeEventListener('abort', this.#kill);
    this.#kill();
    for (const pipe of this.#child.stdio) (pipe as Readable | Writable | null)?.destroy(); // discards unread data
    await this.#ended;
  }
}
