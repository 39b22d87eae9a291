/** Sorts rows by their codes. */

import type { Sorter } from '../../sort/api/sorter.js';
import { runYielding } from '../../sort/host/steps.js';
import type { SortOptions } from '../../sort/model/options.js';
import { type ByteStrings, selectCodes } from '../../sort/operations/strings/byte-strings.js';
import { argsortCodes } from '../../sort/operations/strings/code-order.js';
import { UnsupportedError } from '../../util/errors.js';
import { mismatch } from '../file-sort/sort-reports.js';
import { distinctStrings } from './distinct-strings.js';
import { selectFirst } from './select-first.js';

/** Maximum number of rows with 32-bit positions. */
const MAX_ROWS = 2 ** 32 - 1;

/** Selection of the sorted rows. */
export interface RowSelection {
  /** Number of rows to keep from the start. */
  readonly head?: number | undefined;
  /** The bytes that define equality of rows, of which only the first in order is kept; undefined to keep all rows. */
  readonly distinct?: ByteStrings | undefined;
}

/**
 * Returns the positions of the rows in sorted order. The order is stable.
 *
 * @throws UnsupportedError when there are 2^32 or more rows
 * @throws the errors of `Sorter.argsort`
 */
export async function tablePositions(
  sorter: Sorter,
  codes: ByteStrings,
  { head, distinct }: RowSelection,
  options: Omit<SortOptions, 'dtype' | 'descending' | 'nan' | 'bitRange' | 'device'>,
): Promise<Uint32Array> {
  if (codes.n > MAX_ROWS) {
    throw new UnsupportedError(
      `cannot sort ${codes.n} rows in memory: positions have 32 bits, so at most ${MAX_ROWS} rows fit`,
      { details: { rows: codes.n, most: MAX_ROWS } },
    );
  }
  const rows =
    distinct &&
    (await runYielding(
      distinctStrings(distinct, (i, j) => codes.compare(i, j)),
      options.signal,
    ));
  const all = await runYielding(codes.significant(), options.signal);
  const some = rows ? selectCodes(all, rows) : all;
  const order =
    head === undefined
      ? await argsortCodes(sorter, some, options)
      : await selectFirst(sorter, some, head, options);
  return rows ? order.map((i) => rows[i] as number) : order;
}

/**
 * Verifies that positions are in stable sorted order and without duplicates.
 *
 * @throws MismatchError when verification fails
 */
export function verifyOrder(
  codes: ByteStrings,
  positions: Uint32Array,
): { readonly order: boolean; readonly permutation: boolean } {
  const seen = new Uint8Array(Math.ceil(codes.n / 8));
  const found = { order: true, permutation: true };
  for (let i = 0; i < positions.length; i++) {
    const row = positions[i] as number;
    const mask = 1 << (row & 7);
    if (row >= codes.n || (seen[row >> 3] as number) & mask) found.permutation = false;
    else seen[row >> 3] = (seen[row >> 3] as number) | mask;
    if (i === 0 || !found.permutation) continue;
    const before = positions[i - 1] as number;
    const difference = codes.compare(before, row);
    if (difference > 0 || (difference === 0 && before > row)) found.order = false;
  }
  if (found.order && found.permutation) return found;
  throw mismatch('rows', found);
}
