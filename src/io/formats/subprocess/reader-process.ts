/** The child that reads or writes a file of another format, as its parent sees it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
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
import { packageFolder } from '../../../util/package.js';
import { isPlugAndPlay } from '../../../util/runtime.js';
import { assertNotAborted } from '../../raw.js';
import { encodeFrame, type Frame, framesOf } from './frames.js';
import { type MemoryWatch, watchMemory } from './memory-watch.js';
import { type ErrorMessage, FD } from './protocol.js';

const PROGRAM = ['dist', 'src', 'io', 'formats', 'subprocess', 'child.js'];

/** Of the heap of its JavaScript, in MiB; what libraries hold is beside it. */
const HEAP_MIB = 256;
/** Resident bytes from which on the child is stopped: no file takes that much, unless it means to. */
const MEMORY_BYTES = 2 ** 30;
/** Bytes that are kept of what it says when it crashes. */
const MAX_STDERR_BYTES = 2048;

/** Variables that a child needs to start: where the system's loader finds libraries. */
const ENVIRONMENT = ['LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SystemRoot'];
/** Yarn's Plug'n'Play brings the resolver of packages by it. */
const PNP_ENVIRONMENT = ['NODE_OPTIONS'];

type ErrorClass = new (message: string, details?: ErrorDetails) => ClsortError;

const ERRORS: readonly ErrorClass[] = [DtypeError, IoError, MemoryError, PackageError];

/** What a child is started with. */
export interface ReaderProcessOptions {
  /** For messages. */
  readonly name: string;
  /** For messages: what is done to the file. */
  readonly what: 'read' | 'write';
  readonly fd: number;
  readonly signal?: AbortSignal | undefined;
}

/** A process of ours that has one file of another format open, and nothing else. It is killed by `close` and by the signal. */
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
    const program = join(packageFolder(), ...PROGRAM);
    if (process.platform === 'win32' || !existsSync(program)) {
      throw new UnsupportedError(
        process.platform === 'win32'
          ? 'files of this format are read and written by a process that has them as /dev/fd, which Windows has not'
          : `files of this format are read and written by a process that runs ${program}, which is not there: ` +
              'copy dist/ of the package as well',
      );
    }
    assertNotAborted(file.signal);
    this.#file = file;
    const names = isPlugAndPlay() ? [...ENVIRONMENT, ...PNP_ENVIRONMENT] : ENVIRONMENT;
    const env = Object.fromEntries(
      names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
    );
    this.#child = spawn(process.execPath, [`--max-old-space-size=${HEAP_MIB}`, program], {
      stdio: ['pipe', 'pipe', 'pipe', file.fd, 'pipe'],
      cwd: '/',
      env,
      detached: true, // a terminal's signals are for this process, which ends the child
      windowsHide: true,
    });
    this.#in = this.#child.stdin as Writable;
    this.#in.on('error', () => undefined); // the write that fails tells
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

  /** Says something to the child; fulfilled when it has left, so that buffers may be used again. */
  async send(frame: Frame): Promise<void> {
    const parts = encodeFrame(frame).filter(({ length }) => length > 0);
    const written = parts.map(
      (part) => new Promise<boolean>((resolve) => this.#in.write(part, (error) => resolve(!error))),
    );
    if ((await Promise.all(written)).every(Boolean)) return;
    await this.receive(); // which says why it does not listen any more
    throw new IoError(`cannot ${this.#file.what} ${this.#file.name}: its process has closed the pipe`);
  }

  /**
   * What the child says next.
   *
   * @throws the error that it tells of; AbortedError; MemoryError when it took too much, IoError when it crashed
   */
  async receive(): Promise<Frame> {
    let next: IteratorResult<Frame> | undefined;
    try {
      next = await this.#frames.next();
    } catch {
      // What came was no frame.
    }
    assertNotAborted(this.#file.signal);
    if (!next || next.done) {
      this.#kill(); // which changes nothing where it has ended already
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
        `cannot ${what} ${name}: it takes more than ${MEMORY_BYTES / 2 ** 20} MiB of memory; is the file sound?`,
        { details: { path: name, bytes: MEMORY_BYTES } },
      );
    }
    return new IoError(
      `cannot ${what} ${name}: the process that does it has ended without a result (${how}); is the file sound?`,
      { details: { path: name, how, stderr: this.#stderr } },
    );
  }

  /** Ends the child, whatever it is doing. */
  async close(): Promise<void> {
    this.#file.signal?.removeEventListener('abort', this.#kill);
    this.#kill();
    for (const pipe of this.#child.stdio) (pipe as Readable | Writable | null)?.destroy(); // or what is unread holds up its end
    await this.#ended;
  }
}
