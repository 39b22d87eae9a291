/** Row groups of a Parquet file in a search for first rows. */
import type { TableType } from '../../tables/table-type.js';
import type { WantedKey } from '../protocol.js';
import type { RowGroup } from './parquet-footer.js';
import { firstCode } from './parquet-statistics.js';
import type { Search } from './record-batches.js';

/** A row group with its place in the file. */
export interface PlacedGroup {
  readonly index: number;
  readonly firstRow: number;
  readonly group: RowGroup;
}

export function placedGroups(groups: readonly RowGroup[]): readonly PlacedGroup[] {
  let firstRow = 0;
  return groups.map((group, index) => {
    firstRow += group.rows;
    return { index, group, firstRow: firstRow - group.rows };
  });
}

/** Precedes all codes. */
const NO_BOUND = new Uint8Array(0);

/**
 * Yields the row groups that a search does not exclude, in the order of their bounds, so that the first rows are found
 * early.
 *
 * @param leaf index of the leaf column of the first key
 * @param type its type; undefined for unsupported types
 */
export function* searchedGroups(
  groups: readonly PlacedGroup[],
  { leaf, type }: { readonly leaf: number; readonly type: TableType | undefined },
  { keys, first, trustsStatistics = false, countsNulls }: Search,
): Generator<PlacedGroup> {
  const [key] = keys as [WantedKey];
  const bounded = groups.map((place) => {
    const statistics = place.group.statistics(leaf);
    const isBounded = trustsStatistics && type && !(countsNulls && statistics.nulls !== 0);
    return { place, bound: (isBounded && firstCode(statistics, type, key)) || NO_BOUND };
  });
  for (const { bound, place } of bounded.sort((a, b) => Buffer.compare(a.bound, b.bound))) {
    if (first.mayContain(bound, place.firstRow)) yield place;
  }
}
