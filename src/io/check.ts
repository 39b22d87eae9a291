import type { Lines } from './axis.js';
import type { KeyReader } from './formats/key-file.js';
import type { Multiset } from './multiset.js';
import { type Descent, type FileOrder, OrderScan } from './order-scan.js';

export interface OrderResult {
  readonly n: number;
  readonly descent: Descent | undefined;
}

/** What keys are taken from. */
type Keys = Pick<KeyReader, 'pieces'>;

/**
 * Looks through keys for the first one out of order, in memory for a few pieces.
 *
 * @param lines of a matrix: what is in order by itself
 * @param keys counts the keys in on the way, since a pipe can be read only once
 */
export async function checkOrder(
  reader: Keys,
  order: FileOrder,
  { lines, multiset }: { readonly lines?: Lines | undefined; readonly multiset?: Multiset | undefined } = {},
): Promise<OrderResult> {
  const scan = new OrderScan(order, lines);
  for await (const piece of reader.pieces()) {
    const added = multiset?.add(piece);
    scan.add(piece);
    await added;
  }
  return { n: scan.n, descent: scan.descent };
}

/** Counts keys in. */
export async function countKeys(reader: Keys, multiset: Multiset): Promise<void> {
  let added: Promise<void> | undefined;
  for await (const piece of reader.pieces()) {
    await added; // while the next piece was read
    added = multiset.add(piece);
    added.catch(() => undefined); // it is awaited, perhaps after another failure
  }
  await added;
}
