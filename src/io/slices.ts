/** Transfers of bytes in slices. */
import type { FileHash } from './file-hash.js';

/** Bytes of a slice that is hashed: they are still near the processor when they have been moved. */
const HASHED_BYTES = 4 * 2 ** 20;

/**
 * Reads or writes bytes in slices, and hashes each while the next one is on its way.
 *
 * @param most bytes of a slice where nothing is hashed
 * @param move tells how many bytes it has moved
 */
export async function inSlices(
  bytes: Uint8Array,
  { position, hash, maxBytes }: { position: number; hash?: FileHash | undefined; maxBytes: number },
  move: (at: number, length: number) => Promise<number>,
): Promise<void> {
  const length = hash ? Math.min(maxBytes, HASHED_BYTES) : maxBytes;
  let hashing: Promise<void> | undefined;
  try {
    for (let at = 0; at < bytes.length; ) {
      const movedBytes = await move(at, Math.min(bytes.length - at, length));
      hashing = hash?.add(bytes.subarray(at, at + movedBytes), position + at);
      at += movedBytes;
    }
  } finally {
    await hashing; // the bytes are the caller's again
  }
}
