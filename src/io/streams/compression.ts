/** Whole-file compression, selected by the file extension. */
import type { Transform } from 'node:stream';
import zlib from 'node:zlib';
import { ClsortError, FormatError } from '../../util/errors.js';
import { runtime } from '../../util/runtime.js';
import { type Decompressor, decompressStream } from './decompress-stream.js';
import type { Output } from './output.js';
import { CHUNK_BYTES } from './policy.js';
import { type Source, sourceOfChunks } from './raw.js';
import { cutAtFrames } from './zstd-frames.js';

/** A compression format. */
export interface Compression {
  /** Name for messages, such as 'gzip'. */
  readonly name: string;
  /** File extension in lower case, without the dot. */
  readonly extension: string;
  /** Matches the first four bytes of a file, in hexadecimal. */
  readonly magic: RegExp;
  compressor(): Promise<Transform>;
  /** @throws FormatError naming what is missing when the runtime lacks the decompressor */
  decompressor(): Promise<Decompressor>;
  /** Splits the compressed data at the positions where the decompressor requires it. */
  splitPieces?(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
}

const gzip: Compression = {
  name: 'gzip',
  extension: 'gz',
  magic: /^1f8b/,
  compressor: async () => zlib.createGzip({ chunkSize: CHUNK_BYTES }),
  decompressor: async () => zlib.createGunzip({ chunkSize: CHUNK_BYTES }),
};

/** The zstd functions of node:zlib, available from Node 22.15 on. */
interface ZstdOfNode {
  createZstdCompress?(options: { chunkSize: number }): Transform;
  createZstdDecompress?(options: { chunkSize: number }): Decompressor;
}
const { createZstdCompress, createZstdDecompress } = zlib as object as ZstdOfNode;

/** Returns the error for Node before 22.15, which lacks zstd. */
const zstdUnavailable = (): FormatError =>
  new FormatError(
    `cannot use zstd: ${runtime()} does not support it. Use Node 22.15 or later, or gzip (.gz)`,
  );

const zstd: Compression = {
  name: 'zstd',
  extension: 'zst',
  magic: /^(28b52ffd|5.2a4d18)/, // a frame of data, or one to skip
  async compressor() {
    if (!createZstdCompress) throw zstdUnavailable();
    return createZstdCompress({ chunkSize: CHUNK_BYTES });
  },
  async decompressor() {
    if (!createZstdDecompress) throw zstdUnavailable();
    return createZstdDecompress({ chunkSize: CHUNK_BYTES });
  },
  splitPieces: cutAtFrames,
};

/** All supported compressions. */
export const COMPRESSIONS: readonly Compression[] = [gzip, zstd];

/** Returns the compression that the first bytes of a file identify. */
export const compressionOf = (head: Uint8Array): Compression | undefined =>
  COMPRESSIONS.find(({ magic }) => magic.test(Buffer.from(head.subarray(0, 4)).toString('hex')));

/** Wraps a compressed source as a decompressed one that can be read once. */
export function decompressedSource(
  source: Pick<Source, 'name' | 'pieces' | 'close'>,
  compression: Compression,
  signal: AbortSignal | undefined,
): Source {
  const { name, close } = source;
  return sourceOfChunks(decompressedPieces(source, compression), { name, signal, close });
}

async function* decompressedPieces(
  source: Pick<Source, 'name' | 'pieces'>,
  { name, decompressor, splitPieces }: Compression,
): AsyncGenerator<Uint8Array> {
  const stream = await decompressor();
  const pieces = source.pieces(1);
  try {
    yield* decompressStream(stream, splitPieces ? splitPieces(pieces) : pieces);
  } catch (error) {
    if (error instanceof ClsortError && !(error instanceof FormatError)) throw error;
    throw notDecompressed(source.name, name, (error as Error).message, error);
  }
}

/** Returns the error for a file that is not in the format of a compression. */
export const notDecompressed = (path: string, expected: string, why: string, cause?: unknown): FormatError =>
  new FormatError(
    `cannot read ${path} as a ${expected} file: ${why}. It is damaged, incomplete or in another format`,
    { cause, details: { path, expected } },
  );

/** An output that compresses what is written to it. */
export interface CompressedOutput extends Output {
  /** Flushes the compressor; must be called before `commit`. */
  finish(): Promise<void>;
}

/** Returns an output that writes compressed data to `output`. */
export async function compressedOutput(
  output: Output,
  { compressor }: Compression,
): Promise<CompressedOutput> {
  const stream = await compressor();
  const written = drain(stream, output);
  written.catch(() => undefined); // the next write or finish rejects with it
  const writeChunk = (bytes: Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      const closed = (): void => reject(new Error('closed')); // zlib may drop the callback of a pending write
      stream.once('close', closed);
      stream.write(bytes, (error) => {
        stream.off('close', closed);
        if (error) reject(error);
        else resolve();
      });
    });
  return {
    name: output.name,
    reserve: async () => undefined, // the compressed size is unknown
    async write(bytes) {
      if (bytes.length === 0) return;
      try {
        await writeChunk(bytes);
      } catch (error) {
        await written; // rejects with the reason why the stream ended
        throw error;
      }
    },
    async finish() {
      stream.end();
      await written;
    },
    commit: () => output.commit(),
    discard() {
      stream.destroy();
      output.discard();
    },
  };
}

async function drain(stream: Transform, output: Output): Promise<void> {
  stream.on('error', () => undefined); // the loop below throws it
  for await (const chunk of stream) await output.write(chunk);
}
