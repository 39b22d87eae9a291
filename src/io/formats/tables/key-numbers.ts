/** Numbers that compare key columns faster than their codes do. */
import type { KeyOrder } from './key-codes.js';
import type { Cells } from './row-layout.js';
import { keyKind } from './table-type.js';

/** Types of numbers that are compared as they are. */
const ARRAYS = {
  u8: Uint8Array,
  i8: Int8Array,
  u16: Uint16Array,
  i16: Int16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  f64: Float64Array,
} as const;

const HIGH_WORD = 2 ** 32;

/**
 * Returns a number per row, in the order of the values or equal for different ones: 64-bit integers are rounded to
 * 53 bits. The number of a null is any. Undefined for other types, and if nulls come before the values.
 */
export function keyNumbers(
  cells: Cells,
  { nulls }: Pick<KeyOrder, 'nulls'>,
  rows: number,
): ArrayLike<number> | undefined {
  const { memory, offset } = cells;
  const kind = keyKind(cells.type);
  if (kind?.as !== 'number' || !memory || offset) return undefined;
  if (nulls === 'first' && cells.hasNulls !== false)
    for (let i = 0; i < rows; i++) if (cells.isNull(i)) return undefined;
  const { dtype } = kind;
  if (dtype === 'i64' || dtype === 'u64') return roundedIntegers(memory, dtype, rows);
  if (dtype === 'f16' || dtype === 'bf16') return undefined;
  const array = ARRAYS[dtype];
  const { buffer, byteOffset } = aligned(memory, array.BYTES_PER_ELEMENT);
  return new array(buffer as ArrayBuffer, byteOffset, rows);
}

const aligned = (memory: Uint8Array, bytes: number): Uint8Array =>
  memory.byteOffset % bytes === 0 ? memory : memory.slice();

function roundedIntegers(memory: Uint8Array, dtype: 'i64' | 'u64', rows: number): Float64Array {
  const { buffer, byteOffset } = aligned(memory, 8);
  const words = new Uint32Array(buffer as ArrayBuffer, byteOffset, 2 * rows);
  const high = dtype === 'i64' ? new Int32Array(words.buffer, words.byteOffset, 2 * rows) : words;
  const numbers = new Float64Array(rows);
  for (let i = 0; i < rows; i++) {
    numbers[i] = (high[2 * i + 1] as number) * HIGH_WORD + (words[2 * i] as number);
  }
  return numbers;
}
