/** The order of the bytes of a key, where it is not the machine's. */
import type { DtypeInfo } from '../keys/dtype.js';

/** Turns the bytes of each key round, in place. */
export function swapBytes({ buffer, byteOffset, byteLength }: Uint8Array, { bytes }: DtypeInfo): void {
  const keys = Buffer.from(buffer, byteOffset, byteLength);
  if (bytes === 2) keys.swap16();
  else if (bytes === 4) keys.swap32();
  else if (bytes === 8) keys.swap64();
}

/** Keys whose most significant byte comes first, as little-endian ones. */
export async function* swapPieces(
  pieces: AsyncGenerator<Uint8Array>,
  info: DtypeInfo,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    swapBytes(piece, info);
    yield piece;
  }
}
