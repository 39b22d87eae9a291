/** Bounds of the key codes of a row group, from its statistics. Runs in the subprocess. */
import { codeColumn, type KeyOrder } from '../../tables/key-codes.js';
import type { Cells } from '../../tables/row-layout.js';
import { fixedBytes, keyKind, type TableType } from '../../tables/table-type.js';

/** Statistics of a leaf column in a row group, as stored in the file. Undefined parts are unknown. */
export interface LeafStatistics {
  readonly min: Uint8Array | undefined;
  readonly max: Uint8Array | undefined;
  readonly nulls: number | undefined;
  /** Whether the file declares that values are compared as their logical type requires. */
  readonly isOrderDeclared: boolean;
}

const FLOATS: readonly string[] = ['f32', 'f64'];
/** Types that every writer compares in the same way. */
const ORDERED: readonly string[] = [
  'i8',
  'i16',
  'i32',
  'i64',
  'date',
  'timestamp',
  'time',
  'duration',
  ...FLOATS,
];

/**
 * Returns a code that no row of a row group precedes. It is that of the smallest value, or of the largest one for
 * descending keys; a truncated value is also a bound. Undefined if the bound is unknown.
 *
 * NaNs are not part of statistics, and a zero has no sign in them.
 */
export function firstCode(
  { min, max, nulls, isOrderDeclared }: LeafStatistics,
  type: TableType,
  order: KeyOrder,
): Uint8Array | undefined {
  const kind = keyKind(type);
  const isFloat = FLOATS.includes(type.is);
  const bound = order.descending ? max : min;
  if (!kind || !bound || !(isOrderDeclared || ORDERED.includes(type.is))) return undefined;
  if (order.nulls === 'first' && nulls !== 0) return undefined;
  if (isFloat && order.nan === 'first') return undefined;
  const isNull = (): boolean => false;
  if (kind.as === 'bytes') return codeOf({ type, isNull, bytes: () => bound }, order);
  const width = fixedBytes(type) ?? 0;
  if (kind.as !== 'number' || type.is === 'f16' || bound.length < width) return undefined;
  const memory = bound.slice(0, width); // integers of less than 32 bits are stored as 32 bits
  if (isFloat && !signZero(memory, order.descending)) return undefined;
  return codeOf({ type, isNull, memory }, order);
}

function codeOf(cells: Cells, order: KeyOrder): Uint8Array {
  const codes = codeColumn(cells, keyKind(cells.type) as NonNullable<ReturnType<typeof keyKind>>, order, 1);
  const code = new Uint8Array(codes.size(0));
  codes.put(0, code, 0);
  return code;
}

/** Makes a zero the first of both zeros in order. Returns false for a NaN, which is no bound. */
function signZero(memory: Uint8Array, descending: boolean): boolean {
  const view = new DataView(memory.buffer, memory.byteOffset, memory.length);
  const isSingle = memory.length === Float32Array.BYTES_PER_ELEMENT;
  const number = isSingle ? view.getFloat32(0, true) : view.getFloat64(0, true);
  if (number === 0) memory[memory.length - 1] = descending ? 0 : 0x80;
  return !Number.isNaN(number);
}
