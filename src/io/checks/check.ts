/** Passes over keys or records that hold a few pieces in memory. */
import type { Multiset } from './multiset.js';

type Pieces = AsyncIterable<Uint8Array>;

/**
 * Passes pieces to an order check.
 *
 * @param pieces whole keys or records
 * @param check receives the pieces; may already hold the end of a preceding file
 * @param multiset also receives them, since a pipe can be read only once
 * @returns `check`
 */
export async function scanOrder<C extends { add(piece: Uint8Array): void }>(
  pieces: Pieces,
  check: C,
  multiset?: Multiset,
): Promise<C> {
  for await (const piece of pieces) {
    const added = multiset?.add(piece);
    check.add(piece);
    await added;
  }
  return check;
}

export async function countPieces(pieces: Pieces, multiset: Multiset): Promise<void> {
  let added: Promise<void> | undefined;
  for await (const piece of pieces) {
    await added; // overlaps with reading the next piece
    added = multiset.add(piece);
    added.catch(() => undefined); // awaited later, possibly after another failure
  }
  await added;
}
