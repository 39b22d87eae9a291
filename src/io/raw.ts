/**
 * Raw files: keys as little-endian bytes, nothing else. Read and written in pieces, since neither one
 * system call nor (on Node 20) one Buffer holds more than 2 and 4 GiB.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { endianness } from 'node:os';
import type { Readable } from 'node:stream';
import { IoError, UnsupportedError } from '../util/errors.js';

/** The name that stands for stdin or stdout. */
export const STDIO = '-';

const PIECE_BYTES = 16 * 2 ** 20;

/** Where bytes come from. */
export interface Source {
  /** For messages: the path, or `stdin`. */
  readonly name: string;
  /** Bytes in all; undefined while that is not known, as for a pipe. */
  readonly bytes: number | undefined;
  /** The contents in order, in pieces of whole units of `unit` bytes. */
  pieces(unit: number): AsyncGenerator<Uint8Array>;
  /** Everything, in memory of its own. */
  read(unit: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

export function ioError(what: 'read' | 'write', name: string, cause: unknown): IoError {
  const { code = '', message = String(cause) } = cause as NodeJS.ErrnoException;
  const said: Record<string, string> = {
    ENOENT: what === 'read' ? 'there is no such file' : 'its folder does not exist',
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EISDIR: 'it is a directory',
    ENOSPC: 'no space is left on the device',
    EROFS: 'the file system is read-only',
    ENOTDIR: 'a part of the path is no directory',
  };
  return new IoError(`cannot ${what} ${name || "''"}: ${said[code] ?? message}`, {
    cause,
    details: { path: name },
  });
}

/** @throws IoError when the length is no whole number of units */
function assertWhole(bytes: number, unit: number, name: string): void {
  if (bytes % unit === 0) return;
  throw new IoError(
    `${name} has ${bytes} bytes, which is no whole number of elements of ${unit} bytes ` +
      `(${bytes % unit} too many): is the dtype right, and the file complete?`,
    { details: { path: name, bytes, unit } },
  );
}

/**
 * Opens a file, or stdin for `-`.
 *
 * @throws IoError
 */
export async function openSource(path: string, stdin: Readable): Promise<Source> {
  if (endianness() !== 'LE') {
    throw new UnsupportedError(
      'raw files are little-endian and read as they are; this machine is big-endian',
    );
  }
  if (path === STDIO) return streamSource(stdin);
  try {
    const handle = await open(path, 'r');
    const stat = await handle.stat();
    if (stat.isDirectory()) {
      await handle.close();
      throw Object.assign(new Error('is a directory'), { code: 'EISDIR' });
    }
    if (!stat.isFile()) return streamSource(handle.createReadStream(), path, () => handle.close());
    return fileSource(path, handle, stat.size);
  } catch (error) {
    throw ioError('read', path, error);
  }
}

function fileSource(name: string, handle: FileHandle, bytes: number): Source {
  const readInto = async (piece: Uint8Array, position: number): Promise<void> => {
    for (let at = 0; at < piece.length; ) {
      const length = Math.min(piece.length - at, PIECE_BYTES);
      const { bytesRead } = await handle.read(piece, at, length, position + at).catch((error) => {
        throw ioError('read', name, error);
      });
      if (bytesRead === 0) {
        throw new IoError(
          `cannot read ${name}: it ends at byte ${position + at} of ${bytes}; it was cut meanwhile`,
        );
      }
      at += bytesRead;
    }
  };
  return {
    name,
    bytes,
    async *pieces(unit) {
      assertWhole(bytes, unit, name);
      for (let position = 0; position < bytes; position += PIECE_BYTES) {
        const piece = new Uint8Array(Math.min(PIECE_BYTES, bytes - position));
        await readInto(piece, position);
        yield piece;
      }
    },
    async read(unit) {
      assertWhole(bytes, unit, name);
      const all = allocate(bytes, name);
      await readInto(all, 0);
      return all;
    },
    close: () => handle.close(),
  };
}

function streamSource(stream: Readable, name = 'stdin', close = async () => {}): Source {
  async function* pieces(unit: number): AsyncGenerator<Uint8Array> {
    let rest = new Uint8Array(0);
    let bytes = 0;
    try {
      for await (const chunk of stream as AsyncIterable<Uint8Array>) {
        bytes += chunk.length;
        const joined = concatenated([rest, chunk], rest.length + chunk.length);
        const whole = joined.length - (joined.length % unit);
        rest = joined.slice(whole);
        if (whole > 0) yield joined.subarray(0, whole);
      }
    } catch (error) {
      throw error instanceof IoError ? error : ioError('read', name, error);
    }
    assertWhole(bytes, unit, name);
  }
  return {
    name,
    bytes: undefined,
    pieces,
    async read(unit) {
      const chunks: Uint8Array[] = [];
      let bytes = 0;
      for await (const piece of pieces(unit)) {
        chunks.push(piece);
        bytes += piece.length;
      }
      return concatenated(chunks, bytes);
    },
    close,
  };
}

/** The whole of another source in memory, to be read more than once. */
export async function rereadable(source: Source, unit: number): Promise<Source> {
  if (source.bytes !== undefined) return source;
  const all = await source.read(unit);
  return {
    name: source.name,
    bytes: all.length,
    async *pieces() {
      for (let at = 0; at < all.length; at += PIECE_BYTES) yield all.slice(at, at + PIECE_BYTES);
    },
    read: async () => all.slice(),
    close: () => source.close(),
  };
}

function allocate(bytes: number, name: string): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(bytes);
  } catch (cause) {
    throw new IoError(`${name} has ${bytes} bytes, more than one array can hold on this Node`, { cause });
  }
}

function concatenated(chunks: readonly Uint8Array[], bytes: number): Uint8Array<ArrayBuffer> {
  const all = allocate(bytes, 'the input');
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

/** Writes all bytes from the file's position on. */
export async function writeFully(handle: FileHandle, bytes: Uint8Array, name: string): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await handle
      .write(bytes, at, Math.min(bytes.length - at, PIECE_BYTES))
      .catch((error) => {
        throw ioError('write', name, error);
      });
    at += bytesWritten;
  }
}
