/** Conversion of keys whose byte order differs from the machine's. */
import type { DtypeInfo } from '../../keys/dtype.js';

/** Reverses the bytes of each key in place. */
export function swapBytes({ buffer, byteOffset, byteLength }: Uint8Array, { bytes }: DtypeInfo): void {
  const keys = Buffer.from(buffer, byteOffset, byteLength);
  if (bytes === 2) keys.swap16();
  else if (bytes === 4) keys.swap32();
  else if (bytes === 8) keys.swap64();
}

/** Converts big-endian keys to little-endian ones, in place. */
export async function* swapPieces(
  pieces: AsyncGenerator<Uint8Array>,
  info: DtypeInfo,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    swapBytes(piece, info);
    yield piece;
  }
}
