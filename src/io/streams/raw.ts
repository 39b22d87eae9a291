/**
 * Raw files: little-endian keys without a header. Files are read and written in pieces, since a system call is limited
 * to 2 GiB and, on Node 20, a Buffer to 4 GiB.
 */
import { constants, open as openCallback } from 'node:fs';
import { endianness } from 'node:os';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { AbortedError, ClsortError, IoError, UnsupportedError, UsageError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { deniedPermission } from '../../util/permission.js';
import { type FileCalls, type OpenFile, threadedCalls } from './file-calls.js';
import type { FileHash } from './file-hash.js';
import { PIECE_BYTES } from './policy.js';
import { inSlices } from './slices.js';
import { readableOf } from './streams.js';

/** The path that stands for stdin or stdout. */
export const STDIO = '-';

/** Paths of stdin. They may refer to a socket, which cannot be opened a second time. */
const STDIN_NAMES = new Set([STDIO, '/dev/stdin', '/dev/fd/0', '/proc/self/fd/0']);
const STDOUT_NAMES = new Set([STDIO, '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1']);

export const isStdin = (path: string): boolean => STDIN_NAMES.has(path);
export const isStdout = (path: string): boolean => STDOUT_NAMES.has(path);

/** Opens a file descriptor; a stream over a FileHandle would close it twice. */
export const openFd = promisify(openCallback);

/** A source of bytes. */
export interface Source {
  /** Name for messages: the path, or `stdin`. */
  readonly name: string;
  /** Total bytes; undefined when unknown, as for a pipe. */
  readonly bytes: number | undefined;
  /** Descriptor of the file, for direct reads; undefined for streams. */
  readonly fd?: number | undefined;
  /** Receives the bytes that are read, including direct reads. */
  readonly hash?: FileHash | undefined;
  /** Returns the first `maxBytes` bytes, or all if there are fewer; does not consume them. */
  head(maxBytes: number): Promise<Uint8Array>;
  /** Returns the last `maxBytes` bytes; undefined when that would require reading everything. */
  tail(maxBytes: number): Promise<Uint8Array | undefined>;
  /** @throws IoError when the length is known and not a whole number of records */
  assertWhole(recordBytes: number): void;
  /** Yields the contents from byte `from` on, in order, in pieces of whole records of `recordBytes` bytes. */
  pieces(recordBytes: number, from?: number): AsyncGenerator<Uint8Array>;
  /** Returns the whole contents in a new array. */
  read(recordBytes: number): Promise<Uint8Array>;
  /** Fills `into` from byte `position` on; defined when the source allows random access. */
  readonly readAt?: ((into: Uint8Array, position: number) => Promise<void>) | undefined;
  close(): Promise<void>;
}

export function ioError(what: 'read' | 'write', name: string, cause: unknown): IoError {
  if (cause instanceof IoError) return cause;
  const { code = '', message = String(cause) } = cause as NodeJS.ErrnoException;
  const causes: Record<string, string> = {
    ENOENT: what === 'read' ? 'there is no such file' : 'its folder does not exist',
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EISDIR: 'it is a directory',
    EEXIST: 'a file with that name exists',
    ENOSPC: 'no space is left on the device',
    EROFS: 'the file system is read-only',
    ENOTDIR: 'a part of the path is not a directory',
    ELOOP: 'its symbolic links form a loop',
    ENAMETOOLONG: 'the name is too long',
    EMFILE: 'too many files are open. Raise the limit (ulimit -n), or use fewer files',
    ENXIO: 'it is a socket or the device does not exist',
  };
  return new IoError(
    `cannot ${what} ${name || "''"}: ${causes[code] ?? deniedPermission(cause) ?? message}`,
    { cause, details: { path: name } },
  );
}

/** @throws IoError when the length is not a whole number of records */
function assertWhole(bytes: number, recordBytes: number, name: string): void {
  if (bytes % recordBytes === 0) return;
  throw new IoError(
    `cannot divide ${name} into elements of ${recordBytes} bytes: ${bytes % recordBytes} of its ${bytes} bytes are left over. ` +
      'Check the dtype or the record size, and whether the file is complete',
    { details: { path: name, bytes, unit: recordBytes } },
  );
}

/** Creates the error of a job without inputs. */
export const noInput = (): UsageError => invalidArgument('input', 'at least one file', { text: 'none' });

/** @throws UsageError when several inputs are stdin */
export function assertOneStdin(paths: readonly string[]): void {
  if (paths.filter(isStdin).length <= 1) return;
  throw new UsageError("cannot read stdin twice: several inputs are '-'");
}

/** @throws AbortedError when the signal has aborted */
export function assertNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AbortedError('interrupted', { cause: signal.reason });
}

/**
 * Opens a file, or stdin for `-`. A source without a size, or of size 0, is read to its end: files under /proc report 0
 * and hold more. Waiting for a pipe does not occupy a thread.
 *
 * @param path path of the source
 * @param stdin stream to use for stdin
 * @param signal ends pending reads with an AbortedError
 * @param how.hash receives the bytes read from a file
 * @param how.files calls to the file system
 * @throws IoError when the source cannot be opened
 * @throws UnsupportedError on a big-endian machine
 */
export async function openSource(
  path: string,
  stdin: Readable,
  signal?: AbortSignal,
  { hash, files = threadedCalls }: Pick<Source, 'hash'> & { readonly files?: FileCalls | undefined } = {},
): Promise<Source> {
  if (endianness() !== 'LE') {
    throw new UnsupportedError(
      'cannot read raw files on this machine: they are little-endian, and the machine is big-endian',
    );
  }
  if (isStdin(path)) return streamSource(stdin, { signal });
  try {
    const { O_RDONLY, O_NONBLOCK } = constants;
    if ((await files.stat(path)).isFIFO()) {
      // Without O_NONBLOCK the call blocks until there is a writer and cannot be interrupted.
      return streamSource(readableOf(await openFd(path, O_RDONLY | O_NONBLOCK)), { name: path, signal });
    }
    const handle = await files.open(path, O_RDONLY);
    const found = await handle.stat();
    if (found.isFile() && found.size > 0) return fileSource(path, handle, found.size, { signal, hash });
    if (!found.isDirectory()) return streamSource(handle.createReadStream(), { name: path, signal });
    await handle.close();
    throw Object.assign(new Error('is a directory'), { code: 'EISDIR' });
  } catch (error) {
    const link =
      (await files.lstat(path).catch(() => undefined))?.isSymbolicLink() && (await files.readlink(path));
    if (link && (error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new IoError(`cannot read ${path}: it links to ${link}, which does not exist`, {
        cause: error,
        details: { path },
      });
    }
    throw ioError('read', path, error);
  }
}

function fileSource(
  name: string,
  handle: OpenFile,
  bytes: number,
  { signal, hash }: { readonly signal: AbortSignal | undefined; readonly hash: FileHash | undefined },
): Source {
  const readInto = async (piece: Uint8Array, position: number): Promise<void> => {
    const move = async (at: number, length: number): Promise<number> => {
      assertNotAborted(signal);
      const { bytesRead } = await handle.read(piece, at, length, position + at).catch((error) => {
        throw ioError('read', name, error);
      });
      if (bytesRead > 0) return bytesRead;
      throw new IoError(
        `cannot read ${name}: it was truncated from ${bytes} to ${position + at} bytes while it was read`,
      );
    };
    await inSlices(piece, { position, hash, maxBytes: PIECE_BYTES }, move);
  };
  const part = async (begin: number, end: number): Promise<Uint8Array> => {
    const read = new Uint8Array(end - begin);
    await readInto(read, begin);
    return read;
  };
  return {
    name,
    bytes,
    fd: handle.fd,
    hash,
    head: (maxBytes) => part(0, Math.min(maxBytes, bytes)),
    tail: (maxBytes) => part(Math.max(0, bytes - maxBytes), bytes),
    assertWhole: (recordBytes) => assertWhole(bytes, recordBytes, name),
    async *pieces(recordBytes, from = 0) {
      assertWhole(bytes - from, recordBytes, name);
      const length = Math.max(recordBytes, PIECE_BYTES - (PIECE_BYTES % recordBytes));
      const piece = (position: number) => {
        const read = part(position, Math.min(position + length, bytes));
        read.catch(() => undefined); // awaited below, unless the consumer stops
        return read;
      };
      let next = from < bytes ? piece(from) : undefined;
      for (let position = from; next; position += length) {
        const current = await next;
        next = position + length < bytes ? piece(position + length) : undefined; // overlaps with the use of this piece
        yield current;
      }
    },
    readAt: readInto,
    async read(recordBytes) {
      assertWhole(bytes, recordBytes, name);
      const all = allocate(bytes, name);
      await readInto(all, 0);
      return all;
    },
    close: () => handle.close(),
  };
}

interface StreamFacts {
  readonly name?: string;
  readonly signal: AbortSignal | undefined;
}

function streamSource(stream: Readable, { name = 'stdin', signal }: StreamFacts): Source {
  const end = (): void => void stream.destroy();
  signal?.addEventListener('abort', end);
  const close = async (): Promise<void> => {
    signal?.removeEventListener('abort', end);
    end();
  };
  return sourceOfChunks(stream, { name, signal, close });
}

/** Returns a source over chunks of any length that can be read once. */
export function sourceOfChunks(
  stream: AsyncIterable<Uint8Array>,
  { name, signal, close }: Pick<Source, 'name' | 'close'> & { readonly signal: AbortSignal | undefined },
): Source {
  let chunks: AsyncIterator<Uint8Array> | undefined;
  const peekedChunks: Uint8Array[] = []; // peeked but not yet consumed
  /** Reads the next chunk from the stream; undefined at its end. */
  async function readMore(): Promise<Uint8Array | undefined> {
    assertNotAborted(signal);
    try {
      chunks ??= stream[Symbol.asyncIterator]();
      const { value, done } = await chunks.next();
      assertNotAborted(signal); // a destroyed stream may look like one that has ended
      return done ? undefined : value;
    } catch (error) {
      assertNotAborted(signal);
      throw error instanceof ClsortError ? error : ioError('read', name, error);
    }
  }
  async function* pieces(recordBytes: number, from = 0): AsyncGenerator<Uint8Array> {
    let rest = new Uint8Array(0);
    let bytes = -from;
    for (
      let chunk = peekedChunks.shift() ?? (await readMore());
      chunk;
      chunk = peekedChunks.shift() ?? (await readMore())
    ) {
      const begin = Math.min(Math.max(0, -bytes), chunk.length);
      bytes += chunk.length;
      const joined = concatenate([rest, chunk.subarray(begin)], rest.length + chunk.length - begin);
      const whole = joined.length - (joined.length % recordBytes);
      rest = joined.slice(whole);
      if (whole > 0) yield joined.subarray(0, whole);
    }
    assertWhole(Math.max(0, bytes), recordBytes, name);
  }
  return {
    name,
    bytes: undefined,
    async head(maxBytes) {
      const length = () => peekedChunks.reduce((sum, chunk) => sum + chunk.length, 0);
      while (length() < maxBytes) {
        const chunk = await readMore();
        if (!chunk) break;
        peekedChunks.push(chunk);
      }
      return concatenate(peekedChunks, length()).subarray(0, maxBytes);
    },
    tail: async () => undefined,
    assertWhole: () => undefined,
    pieces,
    async read(recordBytes) {
      const all: Uint8Array[] = [];
      let bytes = 0;
      for await (const piece of pieces(recordBytes)) {
        all.push(piece);
        bytes += piece.length;
      }
      return concatenate(all, bytes);
    },
    close,
  };
}

function allocate(bytes: number, name: string): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(bytes);
  } catch (cause) {
    throw new IoError(
      `cannot read ${name}: its ${bytes} bytes exceed the size of an array in this version of Node`,
      { cause },
    );
  }
}

function concatenate(chunks: readonly Uint8Array[], bytes: number): Uint8Array<ArrayBuffer> {
  const all = allocate(bytes, 'the input');
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

/** File offset of a write, and the hash that receives the bytes. */
interface WriteTarget {
  readonly position: number;
  readonly hash?: FileHash | undefined;
}

/** Writes all bytes, at the file's current position or at `to.position`. */
export async function writeFully(
  handle: Pick<OpenFile, 'write'>,
  bytes: Uint8Array,
  name: string,
  to?: WriteTarget,
): Promise<void> {
  await inSlices(bytes, { position: 0, ...to, maxBytes: PIECE_BYTES }, async (at, length) => {
    const position = to && to.position + at;
    const { bytesWritten } = await handle.write(bytes, at, length, position).catch((error) => {
      throw ioError('write', name, error);
    });
    return bytesWritten;
  });
}
