/** Decompression of a file through a node:zlib stream. */
import type { Transform } from 'node:stream';
import { FormatError } from '../../util/errors.js';

/** A decompressor of node:zlib; `bytesWritten` counts the input bytes it has used. */
export type Decompressor = Transform & { readonly bytesWritten: number };

/**
 * Decompresses pieces of any size. Zeros may follow the compressed data, since tapes pad files with them. node:zlib
 * treats everything after a zero as padding when it arrives together with the end of the data, and otherwise as a
 * premature end.
 *
 * @param stream the decompressor; destroyed at the end
 * @param pieces compressed data
 * @throws FormatError when anything but zeros follows the data
 * @throws errors of the decompressor
 */
export async function* decompressStream(
  stream: Decompressor,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const feeding = feedPieces(stream, pieces);
  feeding.catch((error) => stream.destroy(error)); // passes the error to the reader of the stream
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
    if (unused.some((byte) => byte !== 0)) throw new FormatError('other bytes follow the compressed data');
  }
  if (!isPadding) stream.end();
}

/** Resolves when a stream has consumed a piece, or as much of it as it will. */
const writePiece = (stream: Transform, piece: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.write(piece, (error) => (error ? reject(error) : resolve()));
  });
