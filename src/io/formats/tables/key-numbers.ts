/** Numbers that compare key columns faster than their codes do. */
import { elementsOf, keyWords } from '../../../keys/array.js';
import { dtypeInfo } from '../../../keys/dtype.js';
import type { KeyOrder } from './key-codes.js';
import type { Cells } from './row-layout.js';
import { keyKind } from './table-type.js';

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
  const info = dtypeInfo(dtype);
  return elementsOf(keyWords(memory.subarray(0, rows * info.bytes), info), dtype) as ArrayLike<number>;
}

function roundedIntegers(memory: Uint8Array, dtype: 'i64' | 'u64', rows: number): Float64Array {
  const { buffer, byteOffset } = keyWords(memory, dtypeInfo(dtype));
  const words = new Uint32Array(buffer, byteOffset, 2 * rows);
  const high = dtype === 'i64' ? new Int32Array(words.buffer, words.byteOffset, 2 * rows) : words;
  const numbers = new Float64Array(rows);
  for (let i = 0; i < rows; i++) {
    numbers[i] = (high[2 * i + 1] as number) * HIGH_WORD + (words[2 * i] as number);
  }
  return numbers;
}
