import type { Lines } from '../formats/axis.js';
import type { KeyReader } from '../formats/key-file.js';
import type { Multiset } from './multiset.js';
import { type Descent, type FileOrder, OrderScan } from './order-scan.js';

export interface OrderResult {
  readonly n: number;
  readonly descent: Descent | undefined;
}

/** Source of keys. */
type Keys = Pick<KeyReader, 'pieces'>;

/**
 * Scans keys for the first one out of order. Holds a few pieces in memory.
 *
 * @param reader source of the keys
 * @param order expected order
 * @param options.lines for a matrix: the rows or columns that are sorted independently
 * @param options.multiset also receives all keys, since a pipe can be read only once
 * @returns the number of keys, and the first descent or undefined
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

/** Adds all keys of a reader to a multiset. */
export async function countKeys(reader: Keys, multiset: Multiset): Promise<void> {
  let added: Promise<void> | undefined;
  for await (const piece of reader.pieces()) {
    await added; // overlaps with reading the next piece
    added = multiset.add(piece);
    added.catch(() => undefined); // awaited later, possibly after another failure
  }
  await added;
}
