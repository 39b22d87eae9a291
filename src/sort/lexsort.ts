import type { Column } from './column.js';
import type { Operation } from './operation.js';
import type { SortSettings } from './options.js';

/** One column of a sort by several. */
export interface LexColumn {
  readonly keys: Column;
  /** Its own direction and place of NaNs. */
  readonly order: Pick<SortSettings, 'descending' | 'nan'>;
}

/**
 * Sorts rows by several columns: stable sorts of positions, from the last column to the first.
 *
 * Keys are compared as numbers: all NaNs are equal, and so are the zeros.
 *
 * @param columns the most significant first; at least one, all of n keys
 * @param moved gets the positions of the rows in order; u32
 */
export async function lexsort(
  operation: Operation,
  columns: readonly LexColumn[],
  moved: Column,
): Promise<void> {
  let positions: Column | undefined;
  for (const [index, { keys, order }] of [...columns.entries()].reverse()) {
    const canonical = operation.temporary(keys.dtype, keys.n);
    await operation.steps.canonical(await operation.bring(keys), canonical);
    let ordered = canonical;
    if (positions) {
      ordered = operation.temporary(keys.dtype, keys.n);
      await operation.steps.gather(canonical, positions, ordered);
    }
    const next = index === 0 ? moved : operation.temporary('u32', keys.n);
    await operation.sort({
      keys: ordered,
      settings: order,
      ...(positions && { values: { place: positions.place, bytes: 4 } }),
      moved: next.place,
    });
    positions = next;
  }
}
