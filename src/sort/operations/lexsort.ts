import type { SortSettings } from '../api/options.js';
import type { Column } from '../backend/column.js';
import type { Call } from '../calls/call.js';

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
export async function lexsort(call: Call, columns: readonly LexColumn[], moved: Column): Promise<void> {
  let positions: Column | undefined;
  for (const [index, { keys, order }] of [...columns.entries()].reverse()) {
    const canonical = call.columns.temporary(keys.dtype, keys.n);
    const input = await call.bring(keys);
    await call.columns.steps.canonical(input, canonical);
    let ordered: Column = { ...canonical, origin: input.origin };
    if (positions) {
      ordered = { ...call.columns.temporary(keys.dtype, keys.n), origin: input.origin };
      await call.columns.steps.gather(canonical, positions, ordered);
    }
    const next = index === 0 ? moved : call.columns.temporary('u32', keys.n);
    await call.sort({
      keys: ordered,
      settings: order,
      ...(positions && { values: { place: positions.place, bytes: 4 } }),
      moved: next.place,
    });
    positions = next;
  }
}
