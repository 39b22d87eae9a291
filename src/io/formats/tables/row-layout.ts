/**
 * Byte layout of rows: the concatenated values of all columns. A value starts with a byte: 1 if present, 0 if null.
 * Then follow, depending on its type: a fixed number of bytes; a length (4 bytes) and that many bytes; a count (4
 * bytes) and that many values; or the values of its fields. Rows can be copied without decoding, and are equal if and
 * only if their bytes are equal.
 */
import { fixedBytes, type TableType } from './table-type.js';

/** A readable column of a batch, with one cell per row. */
export interface Cells {
  readonly type: TableType;
  isNull(i: number): boolean;
  /** False if no cell is null. */
  readonly hasNulls?: false;
  /**
   * Types of fixed length: the little-endian bytes of cell `i` are at `offset` in `memory`, contiguous by default.
   * Types of variable length: `bytes` returns them.
   */
  readonly memory?: Uint8Array;
  offset?(i: number): number;
  bytes?(i: number): Uint8Array;
  /** Lists and maps: the range of the items in `item`. */
  begin?(i: number): number;
  count?(i: number): number;
  readonly item?: Cells;
  /** Structs: the fields. */
  readonly fields?: readonly Cells[];
}

/** Size of a length or a count. */
export const LENGTH_BYTES = 4;

/** Returns the number of bytes that cell `i` takes in a row. */
export function cellSize(cells: Cells, i: number): number {
  if (cells.isNull(i)) return 1;
  const { type, item, fields } = cells;
  const fixed = fixedBytes(type);
  if (fixed !== undefined) return 1 + fixed;
  if (cells.bytes) return 1 + LENGTH_BYTES + cells.bytes(i).length;
  let size = 1;
  if (item) {
    const [begin, count] = [cells.begin?.(i) ?? 0, cells.count?.(i) ?? 0];
    if (type.is !== 'list of fixed length') size += LENGTH_BYTES;
    for (let k = begin; k < begin + count; k++) size += cellSize(item, k);
  }
  for (const field of fields ?? []) size += cellSize(field, i);
  return size;
}

function putLength(to: Uint8Array, at: number, length: number): number {
  to[at] = length;
  to[at + 1] = length >>> 8;
  to[at + 2] = length >>> 16;
  to[at + 3] = length >>> 24;
  return at + LENGTH_BYTES;
}

/** Writes cell `i` and returns its end. */
export function putCell(cells: Cells, i: number, to: Uint8Array, at: number): number {
  if (cells.isNull(i)) {
    to[at] = 0;
    return at + 1;
  }
  to[at++] = 1;
  const { type, item, fields, memory } = cells;
  const fixed = fixedBytes(type);
  if (memory && fixed !== undefined) {
    const from = cells.offset?.(i) ?? i * fixed;
    for (let k = 0; k < fixed; k++) to[at + k] = memory[from + k] as number;
    return at + fixed;
  }
  if (cells.bytes) {
    const bytes = cells.bytes(i);
    at = putLength(to, at, bytes.length);
    to.set(bytes, at);
    return at + bytes.length;
  }
  if (item) {
    const [begin, count] = [cells.begin?.(i) ?? 0, cells.count?.(i) ?? 0];
    if (type.is !== 'list of fixed length') at = putLength(to, at, count);
    for (let k = begin; k < begin + count; k++) at = putCell(item, k, to, at);
  }
  for (const field of fields ?? []) at = putCell(field, i, to, at);
  return at;
}
