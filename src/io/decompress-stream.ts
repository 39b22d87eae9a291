/** What a decompressor makes of a compressed file. */
import type { Transform } from 'node:stream';
import { FormatError } from '../util/errors.js';

/** A stream of node:zlib: it counts the bytes that it has used. */
export type Decompressor = Transform & { readonly bytesWritten: number };

/**
 * Unpacks all pieces, however they are cut. Behind the compressed data zeros may follow, which tapes pad files with; node:zlib
 * takes whatever follows a zero for padding, if it comes with the end of the data, and else for an early end.
 *
 * @throws FormatError when something else follows; what the decompressor throws
 */
export async function* decompressStream(
  stream: Decompressor,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const feeding = feedPieces(stream, pieces);
  feeding.catch((error) => stream.destroy(error)); // whoever reads the stream is told
  try {
    yield* stream;
    await feeding;
  } finally {
    stream.destroy();
  }
}

async function feedPieces(stream: Decompressor, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  let fedBytes = 0;
  let isPadding = false;
  for await (const piece of pieces) {
    let unused = piece;
    if (!isPadding) {
      await writePiece(stream, piece);
      fedBytes += piece.length;
      unused = piece.subarray(piece.length - (fedBytes - stream.bytesWritten));
      isPadding = unused.length > 0;
    }
    if (unused.some((byte) => byte !== 0)) throw new FormatError('something follows behind its data');
  }
  if (!isPadding) stream.end();
}

/** Resolves when a stream has used a piece as far as it will. */
const writePiece = (stream: Transform, piece: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.write(piece, (error) => (error ? reject(error) : resolve()));
  });
