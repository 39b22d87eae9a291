/** Transfers of bytes in slices. */
import type { FileHash } from './file-hash.js';
import { HASHED_BYTES } from './policy.js';

/**
 * Transfers bytes in slices, and hashes each slice while the next one is transferred.
 *
 * @param bytes buffer to fill or to write
 * @param options.position file offset of the bytes
 * @param options.hash receives the bytes; undefined for no hashing
 * @param options.maxBytes maximum bytes of a slice
 * @param move transfers a slice and returns the number of bytes transferred
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
    await hashing; // afterwards the caller may reuse the bytes
  }
}
