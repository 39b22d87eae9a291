/** Reads the buffers of an Arrow record batch. Runs in the subprocess. */
import zlib from 'node:zlib';
import { FormatError } from '../../../util/errors.js';
import { type Body, damagedFile, type RecordHeader } from './arrow-file.js';
import { decompressLz4 } from './lz4-frame.js';

/** A readable buffer: the body itself, or its decompressed content. */
export interface Contents {
  readonly length: number;
  bytes(begin?: number, end?: number): Uint8Array<ArrayBuffer>;
}

/** Compression methods of Arrow buffers. */
const LZ4 = 0;
const ZSTD = 1;
/** A compressed buffer starts with its uncompressed length. */
const PREFIX_BYTES = 8;
/** Buffers are padded to a multiple of this. */
const PADDING_BYTES = 64;
/** This value in place of the length marks an uncompressed buffer. */
const PLAIN = -1n;

type Decompress = (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array;

/** Node before 22.15 has no zstd. */
const { zstdDecompressSync } = zlib as unknown as { readonly zstdDecompressSync?: Decompress };

/**
 * Returns the content of a buffer, decompressed if necessary.
 *
 * @param bytes  expected size of the content
 * @throws FormatError when the buffer is damaged or the compression is unsupported
 */
export function decompressBuffer(part: Body, { compression }: RecordHeader, bytes: number): Contents {
  if (!compression || part.length === 0) return part;
  if (part.length < PREFIX_BYTES) throw damagedFile('a compressed buffer is too short');
  const [length = 0n] = new BigInt64Array(part.bytes(0, PREFIX_BYTES).buffer);
  const rest = part.part(PREFIX_BYTES, part.length - PREFIX_BYTES);
  if (length === PLAIN) return rest;
  // apache-arrow writes the compressed length here, so only the size of the result is checked.
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

/** @throws FormatError when the method is unsupported; errors of the decompressor pass through */
function decompress(type: number, bytes: Uint8Array, maxBytes: number): Uint8Array<ArrayBuffer> {
  if (type === LZ4) return decompressLz4(bytes, maxBytes);
  if (type === ZSTD && zstdDecompressSync) {
    return new Uint8Array(zstdDecompressSync(bytes, { maxOutputLength: maxBytes }));
  }
  const [name, why] =
    type === ZSTD
      ? ['zstd', 'which needs Node 22.15 or later']
      : [`method ${type}`, 'which is not supported'];
  throw new FormatError(`it is compressed by ${name}, ${why}. Write it without compression, or as Parquet`, {
    details: { compression: name },
  });
}
