/**
 * Raw files: keys as little-endian bytes, nothing else. Read and written in pieces, since neither one
 * system call nor (on Node 20) one Buffer holds more than 2 and 4 GiB.
 */
import { constants, open as openCallback } from 'node:fs';
import { type FileHandle, lstat, open, readlink, stat } from 'node:fs/promises';
import { endianness } from 'node:os';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { AbortedError, ClsortError, IoError, UnsupportedError } from '../util/errors.js';
import type { FileHash } from './file-hash.js';
import { inSlices } from './slices.js';
import { readableOf } from './streams.js';

/** The name that stands for stdin or stdout. */
export const STDIO = '-';

/** Other names of stdin. What is behind them may be a socket, which cannot be opened a second time. */
const STDIN_NAMES = new Set([STDIO, '/dev/stdin', '/dev/fd/0', '/proc/self/fd/0']);
const STDOUT_NAMES = new Set([STDIO, '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1']);

export const isStdin = (path: string): boolean => STDIN_NAMES.has(path);
export const isStdout = (path: string): boolean => STDOUT_NAMES.has(path);

/** Bytes that are read or written at a time. */
export const PIECE_BYTES = 16 * 2 ** 20;

/** A file descriptor of a path: a FileHandle would close it a second time beside a stream. */
export const openFd = promisify(openCallback);

/** Where bytes come from. */
export interface Source {
  /** For messages: the path, or `stdin`. */
  readonly name: string;
  /** Bytes in all; undefined while that is not known, as for a pipe. */
  readonly bytes: number | undefined;
  /** The file itself, for who reads it by itself; undefined for streams. */
  readonly fd?: number | undefined;
  /** Gets what is read of the file, also by others. */
  readonly hash?: FileHash | undefined;
  /** The first `most` bytes, or all if there are fewer; they are read again by what follows. */
  head(maxBytes: number): Promise<Uint8Array>;
  /** The last `most` bytes; undefined where they cannot be had without reading all. */
  tail(maxBytes: number): Promise<Uint8Array | undefined>;
  /** @throws IoError when it is known to hold no whole number of units */
  assertWhole(recordBytes: number): void;
  /** The contents from byte `from` on, in order, in pieces of whole units of `unit` bytes. */
  pieces(recordBytes: number, from?: number): AsyncGenerator<Uint8Array>;
  /** Everything, in memory of its own. */
  read(recordBytes: number): Promise<Uint8Array>;
  /** Fills `into` from byte `position` on; there where any position can be read. */
  readonly readAt?: ((into: Uint8Array, position: number) => Promise<void>) | undefined;
  close(): Promise<void>;
}

export function ioError(what: 'read' | 'write', name: string, cause: unknown): IoError {
  if (cause instanceof IoError) return cause;
  const { code = '', message = String(cause) } = cause as NodeJS.ErrnoException;
  const said: Record<string, string> = {
    ENOENT: what === 'read' ? 'there is no such file' : 'its folder does not exist',
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EISDIR: 'it is a directory',
    EEXIST: 'a file of that name is there, which is no directory',
    ENOSPC: 'no space is left on the device',
    EROFS: 'the file system is read-only',
    ENOTDIR: 'a part of the path is no directory',
    ELOOP: 'its links lead round in a circle',
    ENAMETOOLONG: 'the name is too long',
    EMFILE: 'too many files are open at once: let the process have more (ulimit -n), or take fewer',
    ENXIO: 'nothing is behind it: it is a socket, or a device that is not there',
  };
  return new IoError(`cannot ${what} ${name || "''"}: ${said[code] ?? message}`, {
    cause,
    details: { path: name },
  });
}

/** @throws IoError when the length is no whole number of units */
function assertWhole(bytes: number, recordBytes: number, name: string): void {
  if (bytes % recordBytes === 0) return;
  throw new IoError(
    `${name} has ${bytes} bytes, which is no whole number of elements of ${recordBytes} bytes ` +
      `(${bytes % recordBytes} too many): is the size of an element right, and the file complete?`,
    { details: { path: name, bytes, unit: recordBytes } },
  );
}

/** @throws AbortedError when the signal has fired */
export function assertNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AbortedError('interrupted', { cause: signal.reason });
}

/**
 * Opens a file, or stdin for `-`. What has no size of its own, or says 0, is read to its end: files under
 * /proc say 0 and hold more. A pipe is waited for without holding a thread.
 *
 * @param signal  ends what waits for bytes, with an AbortedError
 * @param hash  gets what is read of a file
 * @throws IoError
 */
export async function openSource(
  path: string,
  stdin: Readable,
  signal?: AbortSignal,
  hash?: FileHash,
): Promise<Source> {
  if (endianness() !== 'LE') {
    throw new UnsupportedError(
      'raw files are little-endian and read as they are; this machine is big-endian',
    );
  }
  if (isStdin(path)) return streamSource(stdin, { signal });
  try {
    const { O_RDONLY, O_NONBLOCK } = constants;
    if ((await stat(path)).isFIFO()) {
      // Without O_NONBLOCK the call waits for a writer, and nothing can end it.
      return streamSource(readableOf(await openFd(path, O_RDONLY | O_NONBLOCK)), { name: path, signal });
    }
    const handle = await open(path, O_RDONLY);
    const found = await handle.stat();
    if (found.isFile() && found.size > 0) return fileSource(path, handle, found.size, { signal, hash });
    if (!found.isDirectory()) return streamSource(handle.createReadStream(), { name: path, signal });
    await handle.close();
    throw Object.assign(new Error('is a directory'), { code: 'EISDIR' });
  } catch (error) {
    const link = (await lstat(path).catch(() => undefined))?.isSymbolicLink() && (await readlink(path));
    if (link && (error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new IoError(`cannot read ${path}: it is a link to ${link}, which does not exist`, {
        cause: error,
        details: { path },
      });
    }
    throw ioError('read', path, error);
  }
}

function fileSource(
  name: string,
  handle: FileHandle,
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
        `cannot read ${name}: it ends at byte ${position + at} of ${bytes}; it was cut meanwhile`,
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
        read.catch(() => undefined); // told when it is its turn, if somebody still asks
        return read;
      };
      let next = from < bytes ? piece(from) : undefined;
      for (let position = from; next; position += length) {
        const current = await next;
        next = position + length < bytes ? piece(position + length) : undefined; // read while this one is used
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

/** A source of bytes that come in chunks of any length and can be had once. */
export function sourceOfChunks(
  stream: AsyncIterable<Uint8Array>,
  { name, signal, close }: Pick<Source, 'name' | 'close'> & { readonly signal: AbortSignal | undefined },
): Source {
  let chunks: AsyncIterator<Uint8Array> | undefined;
  const peekedChunks: Uint8Array[] = []; // what was looked at and not yet read
  /** The next bytes from the stream itself; undefined at its end. */
  async function readMore(): Promise<Uint8Array | undefined> {
    assertNotAborted(signal);
    try {
      chunks ??= stream[Symbol.asyncIterator]();
      const { value, done } = await chunks.next();
      assertNotAborted(signal); // a destroyed stream ends, or fails, like one that has no more
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
    throw new IoError(`${name} has ${bytes} bytes, more than one array can hold on this Node`, { cause });
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

/** Where bytes are written to, and who gets them. */
interface WriteTarget {
  readonly position: number;
  readonly hash: FileHash | undefined;
}

/** Writes all bytes, from where the file stands or from `to` on. */
export async function writeFully(
  handle: FileHandle,
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
