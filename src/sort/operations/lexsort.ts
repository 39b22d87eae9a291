import { keyCodec } from '../../keys/key-codec.js';
import type { Call, Sort } from '../calls/call.js';
import type { Column } from '../model/column.js';
import type { SortSettings } from '../model/options.js';

/** A column of a lexicographic sort. */
export interface LexColumn {
  readonly keys: Column;
  /** Direction of the column, and place of its NaNs. */
  readonly order: Pick<SortSettings, 'descending' | 'nan'>;
}

/** Bits of the widest sortable key. */
const MAX_PACKED_BITS = 64;

/**
 * Sorts rows by several columns, with stable sorts of positions from the last column to the first. Adjacent columns
 * that fit into one key are sorted together.
 *
 * Keys are compared as numbers: all NaNs are equal, and so are both zeros.
 *
 * @param columns the most significant first; at least one, all of n keys
 * @param moved receives the positions of the rows in order; u32
 */
export async function lexsort(call: Call, columns: readonly LexColumn[], moved: Column): Promise<void> {
  let positions: Column | undefined;
  const keys = packColumns(columns);
  for (const [index, packedColumns] of [...keys.entries()].reverse()) {
    const { column, settings } = await (packedColumns.length > 1
      ? concatenateCodes(call, packedColumns)
      : canonicalColumn(call, packedColumns));
    let ordered = column;
    if (positions) {
      ordered = { ...call.columns.temporary(column.dtype, column.n), origin: column.origin };
      await call.columns.kernels.gather(column, positions, ordered);
    }
    const next = index === 0 ? moved : call.columns.temporary('u32', column.n);
    await call.sort({
      keys: ordered,
      settings,
      ...(positions && { values: { place: positions.place, bytes: 4 } }),
      moved: next.place,
    });
    positions = next;
  }
}

/** Groups adjacent columns of up to 64 bits together, into as few groups as that permits. */
export function packColumns(columns: readonly LexColumn[]): LexColumn[][] {
  const groups: LexColumn[][] = [];
  let bits = MAX_PACKED_BITS + 1;
  for (const one of columns) {
    const { width } = one.keys.info;
    if (bits + width > MAX_PACKED_BITS) {
      groups.push([]);
      bits = 0;
    }
    groups.at(-1)?.push(one);
    bits += width;
  }
  return groups;
}

type SortPass = { readonly column: Column; readonly settings: NonNullable<Sort['settings']> };

async function canonicalColumn(call: Call, [only]: readonly LexColumn[]): Promise<SortPass> {
  const { keys, order } = only as LexColumn;
  const canonical = call.columns.temporary(keys.dtype, keys.n);
  const input = await call.bindInput(keys);
  await call.columns.kernels.canonical(input, canonical);
  return { column: { ...canonical, origin: input.origin }, settings: order };
}

/** Concatenates the codes of several columns, the first column in the highest bits. */
async function concatenateCodes(call: Call, packedColumns: readonly LexColumn[]): Promise<SortPass> {
  const total = packedColumns.reduce((sum, { keys }) => sum + keys.info.width, 0);
  const { n } = (packedColumns[0] as LexColumn).keys;
  const column = call.columns.temporary(total > 32 ? 'u64' : 'u32', n);
  let shift = total;
  for (const [i, { keys, order }] of packedColumns.entries()) {
    shift -= keys.info.width;
    const input = await call.bindInput(keys);
    await call.columns.kernels.appendCodes(input, keyCodec(keys.dtype, order), column, shift, i === 0);
  }
  return { column, settings: { descending: false, nan: 'last', bits: [0, total] } };
}
