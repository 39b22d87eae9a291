/** The numbers of a column in a message of an Arrow file, piece by piece. Runs in the child. */
import zlib from 'node:zlib';
import { FormatError } from '../../../util/errors.js';
import { type Body, damagedFile, type RecordHeader } from './arrow-file.js';
import type { ColumnPosition } from './arrow-layout.js';
import { decompressLz4 } from './lz4-frame.js';

/** What is read of a body: the body itself, or what was compressed in it. */
export interface Contents {
  readonly length: number;
  bytes(begin?: number, end?: number): Uint8Array<ArrayBuffer>;
}

/** Methods of compression. */
const LZ4 = 0;
const ZSTD = 1;
/** Before a compressed buffer stands its length without compression. */
const PREFIX_BYTES = 8;
/** Bytes that buffers are filled up to multiples of. */
const PADDING_BYTES = 64;
/** In place of that length: the buffer is not compressed. */
const PLAIN = -1n;

type Decompress = (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array;

/** Nodes before 22.15 have no zstd. */
const { zstdDecompressSync } = zlib as unknown as { readonly zstdDecompressSync?: Decompress };

/** A column of numbers of `width` bytes in one record batch. */
export class ArrowColumn {
  readonly rows: number;
  readonly #width: number;
  readonly #validity: Contents | undefined;
  readonly #values: Contents;

  /** @throws FormatError when the batch holds less than it says */
  constructor(record: RecordHeader, body: Body, { node, buffer }: ColumnPosition, width: number) {
    const { length: rows = -1, nullCount = 0 } = record.nodes[node] ?? {};
    if (rows !== record.length) throw damagedFile('a column has not as many rows as its batch');
    const contents = (index: number, bytes: number): Contents => {
      const { offset = -1, length = -1 } = record.buffers[index] ?? {};
      const found = decompressBuffer(body.part(offset, length), record, bytes);
      if (found.length < bytes) throw damagedFile(`a column of ${rows} rows has too few bytes`);
      return found;
    };
    this.rows = rows;
    this.#width = width;
    this.#validity = nullCount === 0 ? undefined : contents(buffer, Math.ceil(rows / 8));
    this.#values = contents(buffer + 1, rows * width);
  }

  /** @param begin a multiple of 8 */
  values(begin: number, end: number): Uint8Array<ArrayBuffer> {
    return this.#values.bytes(begin * this.#width, end * this.#width);
  }

  /** Bits of rows that are no null; empty when none is. @param begin a multiple of 8 */
  validity(begin: number, end: number): Uint8Array<ArrayBuffer> {
    return this.#validity?.bytes(begin / 8, Math.ceil(end / 8)) ?? new Uint8Array(0);
  }
}

/** What is in a buffer of a batch; `bytes` of it are wanted. @throws FormatError */
export function decompressBuffer(part: Body, { compression }: RecordHeader, bytes: number): Contents {
  if (!compression || part.length === 0) return part;
  if (part.length < PREFIX_BYTES) throw damagedFile('a compressed buffer is too short');
  const [length = 0n] = new BigInt64Array(part.bytes(0, PREFIX_BYTES).buffer);
  const rest = part.part(PREFIX_BYTES, part.length - PREFIX_BYTES);
  if (length === PLAIN) return rest;
  // apache-arrow itself writes the length with compression: what counts is whether there is enough.
  const maxBytes = Math.max(bytes + PADDING_BYTES, Number(length));
  let all: Uint8Array<ArrayBuffer>;
  try {
    all = decompress(compression.type, rest.bytes(), maxBytes);
  } catch (cause) {
    if (cause instanceof FormatError) throw cause;
    throw damagedFile(`a compressed buffer cannot be read: ${(cause as Error).message}`);
  }
  return { length: all.length, bytes: (begin = 0, end = all.length) => all.slice(begin, end) };
}

/** @throws FormatError where there is no decompressor; what that throws */
function decompress(type: number, bytes: Uint8Array, maxBytes: number): Uint8Array<ArrayBuffer> {
  if (type === LZ4) return decompressLz4(bytes, maxBytes);
  if (type === ZSTD && zstdDecompressSync) {
    return new Uint8Array(zstdDecompressSync(bytes, { maxOutputLength: maxBytes }));
  }
  const [name, why] =
    type === ZSTD ? ['zstd', 'which takes Node 22.15 or later'] : [`method ${type}`, 'which is not known'];
  throw new FormatError(`it is compressed by ${name}, ${why}: write it without compression, or as Parquet`, {
    details: { compression: name },
  });
}
