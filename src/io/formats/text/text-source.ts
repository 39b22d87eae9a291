/** Text that is read more than once: to determine the columns, and then for the rows. */
import type { FileHandle } from 'node:fs/promises';
import { loadTableFunctions } from '../../../sort/host/native-tables.js';
import { FormatError, MemoryError } from '../../../util/errors.js';
import { compressionOf, decompressedSource } from '../../streams/compression.js';
import { PIECE_BYTES } from '../../streams/policy.js';
import { assertNotAborted, ioError, type Source } from '../../streams/raw.js';
import { spoolSource } from '../subprocess/spool.js';
import { MIN_NATIVE_BYTES, WINDOW_BYTES } from './policy.js';

/** Maximum size of a record in bytes. */
export const MAX_RECORD_BYTES = 2 ** 30;

const BOM = [0xef, 0xbb, 0xbf];

/** A decompressed text without its byte order mark. */
export class TextSource {
  readonly name: string;
  /** Whether the text starts with a byte order mark. */
  readonly hasMark: boolean;
  readonly #open: () => AsyncGenerator<Uint8Array>;
  readonly #temporary: FileHandle | undefined;
  readonly #signal: AbortSignal | undefined;

  private constructor(
    name: string,
    open: () => AsyncGenerator<Uint8Array>,
    {
      hasMark,
      temporary,
      signal,
    }: { hasMark: boolean; temporary: FileHandle | undefined; signal: AbortSignal | undefined },
  ) {
    this.name = name;
    this.hasMark = hasMark;
    this.#open = open;
    this.#temporary = temporary;
    this.#signal = signal;
  }

  /**
   * Opens a source. A source without random access is first copied to a temporary file.
   *
   * @throws FormatError when the text is UTF-16 or cannot be decompressed
   * @throws IoError when reading fails
   */
  static async open(source: Source, signal: AbortSignal | undefined): Promise<TextSource> {
    const { name } = source;
    const temporary = source.readAt ? undefined : await spoolSource(source, signal);
    try {
      const packed = temporary ? () => piecesOf(temporary, name) : () => piecesAt(source);
      const compression = compressionOf(await headOf(packed(), 4));
      const open = compression
        ? () =>
            decompressedSource(
              { name, pieces: packed, close: async () => undefined },
              compression,
              signal,
            ).pieces(1)
        : packed;
      const head = await headOf(open(), BOM.length);
      if (startsWith(head, [0xff, 0xfe]) || startsWith(head, [0xfe, 0xff])) {
        throw new FormatError(
          `cannot read ${name}: it is UTF-16, not UTF-8. Convert the file, for example with iconv`,
          { details: { path: name } },
        );
      }
      const text = new TextSource(name, open, { hasMark: startsWith(head, BOM), temporary, signal });
      if (!(await text.head(MIN_NATIVE_BYTES)).isAll) await loadTableFunctions();
      return text;
    } catch (error) {
      await temporary?.close();
      throw error;
    }
  }

  /**
   * Returns the beginning of the text.
   *
   * @returns at most `maxBytes` bytes, and whether that is the whole text
   */
  async head(maxBytes: number): Promise<{ bytes: Uint8Array; isAll: boolean }> {
    const mark = this.hasMark ? BOM.length : 0;
    const bytes = await headOf(this.#open(), mark + maxBytes + 1);
    return { bytes: bytes.subarray(mark, mark + maxBytes), isAll: bytes.length <= mark + maxBytes };
  }

  /**
   * Passes the text to `take`, window by window. A yielded value is valid until the next one is requested.
   *
   * @param take  returns the number of bytes consumed; the rest is passed again with the following bytes
   * @throws FormatError when the text cannot be decompressed; errors of `take` pass through
   * @throws IoError when reading fails
   * @throws AbortedError when the signal is aborted
   * @throws MemoryError when a record is too long
   */
  async *windows<T>(take: (bytes: Buffer, isLast: boolean) => { used: number; found: T }): AsyncGenerator<T> {
    let window = Buffer.allocUnsafe(WINDOW_BYTES);
    let filled = 0;
    let skip = this.hasMark ? BOM.length : 0;
    let done = 0;
    const step = (isLast: boolean): T => {
      const { used, found } = take(window.subarray(0, filled), isLast);
      done = used;
      return found;
    };
    /** Discards the consumed bytes, after the consumer is done with the window. */
    const move = (): void => {
      window.copyWithin(0, done, filled);
      filled -= done;
      done = 0;
      if (2 * filled <= window.length) return;
      if (filled >= MAX_RECORD_BYTES) throw this.#tooLong();
      const more = Buffer.allocUnsafe(2 * window.length);
      window.copy(more, 0, 0, filled);
      window = more;
    };
    for await (const piece of this.#open()) {
      assertNotAborted(this.#signal);
      let at = Math.min(skip, piece.length);
      skip -= at;
      while (at < piece.length) {
        const part = piece.subarray(at, at + window.length - filled);
        window.set(part, filled);
        filled += part.length;
        at += part.length;
        if (filled < window.length) continue;
        yield step(false);
        move();
      }
    }
    if (filled > 0) yield step(true);
  }

  #tooLong(): MemoryError {
    return new MemoryError(
      `cannot read ${this.name}: a record has more than ${MAX_RECORD_BYTES} bytes. Check that all quotes are closed`,
      { details: { path: this.name, bytes: MAX_RECORD_BYTES } },
    );
  }

  async close(): Promise<void> {
    await this.#temporary?.close();
  }
}

const startsWith = (bytes: Uint8Array, magic: readonly number[]): boolean =>
  magic.every((byte, i) => bytes[i] === byte);

async function* piecesOf(handle: FileHandle, name: string): AsyncGenerator<Uint8Array> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  for (let at = 0; ; ) {
    const { bytesRead } = await handle.read(piece, 0, piece.length, at).catch((error) => {
      throw ioError('read', name, error);
    });
    if (bytesRead === 0) return;
    yield piece.subarray(0, bytesRead);
    at += bytesRead;
  }
}

/** Yields the pieces of a source. A piece is read while the previous one is used, and valid until the next one is requested. */
async function* piecesAt({ readAt, bytes = 0, pieces }: Source): AsyncGenerator<Uint8Array> {
  if (!readAt) return yield* pieces(1);
  const memory = [Buffer.allocUnsafe(WINDOW_BYTES), Buffer.allocUnsafe(WINDOW_BYTES)] as const;
  const read = (k: 0 | 1, at: number): Promise<Uint8Array> => {
    const piece = memory[k].subarray(0, Math.max(0, bytes - at));
    const reading = readAt(piece, at).then(() => piece);
    reading.catch(() => undefined); // reported when it is awaited
    return reading;
  };
  let next = read(0, 0);
  for (let at = 0, k = 0 as 0 | 1; at < bytes; at += WINDOW_BYTES) {
    const piece = await next;
    k = k === 0 ? 1 : 0;
    if (at + WINDOW_BYTES < bytes) next = read(k, at + WINDOW_BYTES);
    yield piece;
  }
}

/** Returns the first bytes. */
async function headOf(pieces: AsyncGenerator<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    parts.push(piece.slice(0, maxBytes - bytes)); // copied, because the piece may be reused
    bytes += piece.length;
    if (bytes >= maxBytes) break;
  }
  return Buffer.concat(parts);
}
