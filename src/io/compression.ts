/** Files that are compressed as a whole, as the last part of their names says. */
import type { Transform } from 'node:stream';
import zlib from 'node:zlib';
import { ClsortError, FormatError } from '../util/errors.js';
import { runtime } from '../util/runtime.js';
import { type Decompressor, decompressStream } from './decompress-stream.js';
import type { Output } from './output.js';
import { type Source, sourceOfChunks } from './raw.js';
import { cutAtFrames } from './zstd-frames.js';

/** A way to make files smaller. */
export interface Compression {
  /** For messages: 'gzip'. */
  readonly name: string;
  /** Last part of names, in small letters and without the dot. */
  readonly extension: string;
  compressor(): Promise<Transform>;
  /** @throws FormatError, naming what is missing */
  decompressor(): Promise<Decompressor>;
  /** Cuts what the decompressor has to get in pieces. */
  splitPieces?(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
}

/** Bytes that come out at a time. */
const CHUNK_BYTES = 2 ** 18;

const gzip: Compression = {
  name: 'gzip',
  extension: 'gz',
  compressor: async () => zlib.createGzip({ chunkSize: CHUNK_BYTES }),
  decompressor: async () => zlib.createGunzip({ chunkSize: CHUNK_BYTES }),
};

/** What Node has since 22.15. */
interface ZstdOfNode {
  createZstdCompress?(options: { chunkSize: number }): Transform;
  createZstdDecompress?(options: { chunkSize: number }): Decompressor;
}
const { createZstdCompress, createZstdDecompress } = zlib as object as ZstdOfNode;

/** Node before 22.15 has none. */
const zstdUnavailable = (): FormatError =>
  new FormatError(
    `zstd is built into Node from 22.15 on, and this is ${runtime()}: use a newer Node, or gzip (.gz)`,
  );

const zstd: Compression = {
  name: 'zstd',
  extension: 'zst',
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

/** All that there are, by the last part of names. */
export const COMPRESSIONS: readonly Compression[] = [gzip, zstd];

/** What a compressed source holds, as a source that can be had once. */
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
    const why = (error as Error).message;
    throw new FormatError(
      `${source.name} cannot be read as a ${name} file: ${why}; it is damaged, cut or none`,
      {
        cause: error,
        details: { path: source.name, expected: name },
      },
    );
  }
}

/** An output that compresses what is written to it. */
export interface CompressedOutput extends Output {
  /** Writes what is still in the compressor; to be called before the commit. */
  finish(): Promise<void>;
}

/** Compresses what goes to `output`. */
export async function compressedOutput(
  output: Output,
  { compressor }: Compression,
): Promise<CompressedOutput> {
  const stream = await compressor();
  const written = drain(stream, output);
  written.catch(() => undefined); // told to who writes next, or finishes
  const writeChunk = (bytes: Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      const closed = (): void => reject(new Error('closed')); // without another word to the write under way
      stream.once('close', closed);
      stream.write(bytes, (error) => {
        stream.off('close', closed);
        if (error) reject(error);
        else resolve();
      });
    });
  return {
    name: output.name,
    reserve: async () => undefined, // nobody knows how much it will be
    async write(bytes) {
      if (bytes.length === 0) return;
      try {
        await writeChunk(bytes);
      } catch (error) {
        await written; // why the stream has ended
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
  stream.on('error', () => undefined); // the loop throws it
  for await (const chunk of stream) await output.write(chunk);
}
