/** Random Arrow vectors, and the results of operations on them by a plain reference. */
import * as arrow from 'apache-arrow';
import { bytesOf } from '../../../src/keys/array.js';
import type { Dtype } from '../../../src/keys/dtype.js';
import type { Random } from '../../../src/util/random.js';
import { referenceCode } from '../../reference.js';

export interface NumberType {
  readonly type: arrow.DataType;
  readonly dtype: Dtype;
}

export const NUMBER_TYPES: readonly NumberType[] = [
  { type: new arrow.Int8(), dtype: 'i8' },
  { type: new arrow.Int16(), dtype: 'i16' },
  { type: new arrow.Int32(), dtype: 'i32' },
  { type: new arrow.Int64(), dtype: 'i64' },
  { type: new arrow.Uint8(), dtype: 'u8' },
  { type: new arrow.Uint16(), dtype: 'u16' },
  { type: new arrow.Uint32(), dtype: 'u32' },
  { type: new arrow.Uint64(), dtype: 'u64' },
  { type: new arrow.Float16(), dtype: 'f16' },
  { type: new arrow.Float32(), dtype: 'f32' },
  { type: new arrow.Float64(), dtype: 'f64' },
  { type: new arrow.DateDay(), dtype: 'i32' },
  { type: new arrow.DateMillisecond(), dtype: 'i64' },
  { type: new arrow.TimeSecond(), dtype: 'i32' },
  { type: new arrow.TimeNanosecond(), dtype: 'i64' },
  { type: new arrow.TimestampMicrosecond(), dtype: 'i64' },
  { type: new arrow.DurationSecond(), dtype: 'i64' },
];

/** Order of the rows of a vector. */
export interface RowOrder {
  readonly descending: boolean;
  readonly nulls: 'first' | 'last';
  readonly nan?: 'first' | 'last';
}

export const ROW_ORDERS: readonly RowOrder[] = [
  { descending: false, nulls: 'last' },
  { descending: false, nulls: 'first', nan: 'first' },
  { descending: true, nulls: 'last', nan: 'first' },
  { descending: true, nulls: 'first' },
];

/** Cuts a vector at random places into slices, so that chunks begin inside their buffers. */
export function inSlices(vector: arrow.Vector, random: Random, chunks: number): arrow.Vector {
  const cuts = Array.from({ length: chunks - 1 }, () => random.below(vector.length + 1)).toSorted(
    (a, b) => a - b,
  );
  const pieces = [0, ...cuts].map((begin, i) => vector.slice(begin, cuts[i] ?? vector.length));
  return new arrow.Vector(pieces.flatMap(({ data }) => data));
}

/** Returns a bitmap of n bits, of which about the share `nulls` are 0. */
export function randomBitmap(n: number, nulls: number, random: Random): Uint8Array {
  const bitmap = new Uint8Array(Math.ceil(n / 8));
  for (let i = 0; i < n; i++) {
    if (random.u32() / 2 ** 32 >= nulls) bitmap[i >> 3] = (bitmap[i >> 3] as number) | (1 << (i & 7));
  }
  return bitmap;
}

/**
 * Returns a vector of n random bit patterns, some of them equal, as the middle of a longer vector.
 *
 * @param nulls share of nulls
 */
export function randomNumbers(
  { type, dtype }: NumberType,
  n: number,
  { nulls, chunks }: { readonly nulls: number; readonly chunks: number },
  random: Random,
): arrow.Vector {
  const margin = random.below(20);
  const length = n + 2 * margin;
  const data = new type.ArrayType(length);
  const bytes = bytesOf(data);
  bytes.set(random.bytes(bytes.length));
  // The package reads dates and times as numbers, which have to be safe integers.
  if (dtype === 'i64' && !arrow.DataType.isInt(type)) {
    for (let i = 0; i < length; i++) data[i] = BigInt.asIntN(48, data[i]);
  }
  // Few distinct keys in half of the vectors, zeros of either sign among them.
  if (random.below(2) === 0) {
    const distinct = 1 + random.below(9);
    for (let i = distinct; i < length; i++) data[i] = data[random.below(distinct)];
  }
  if (dtype.startsWith('f') && dtype !== 'f16') {
    for (let i = 0; i < length; i += 7) data[i] = [0, -0, Number.NaN][random.below(3)] as number;
  }
  const nullBitmap = nulls > 0 ? randomBitmap(length, nulls, random) : undefined;
  const whole = new arrow.Vector([
    arrow.makeData({ type: type as arrow.Int, length, data, ...(nullBitmap && { nullBitmap }) }),
  ]);
  return inSlices(whole.slice(margin, margin + n), random, chunks);
}

/** Returns the bit pattern of each row of a vector of numbers; undefined for nulls. */
export function patternsOf(vector: arrow.Vector): (bigint | undefined)[] {
  return vector.data.flatMap(({ values, length, stride }, chunk) => {
    const first = vector.data.slice(0, chunk).reduce((sum, one) => sum + one.length, 0);
    const bytes = bytesOf(values.subarray(0, length * stride) as ArrayBufferView);
    const width = bytes.length / Math.max(1, length);
    return Array.from({ length }, (_, row) => {
      if (!vector.isValid(first + row)) return undefined;
      let pattern = 0n;
      for (let k = width - 1; k >= 0; k--)
        pattern = (pattern << 8n) | BigInt(bytes[row * width + k] as number);
      return pattern;
    });
  });
}

/** Returns the code of each row, which orders the rows that are not null; undefined for nulls. */
export function codesOf(
  vector: arrow.Vector,
  dtype: Dtype,
  { descending, nan }: RowOrder,
): (bigint | undefined)[] {
  return patternsOf(vector).map((pattern) =>
    pattern === undefined ? undefined : referenceCode(dtype, { descending, ...(nan && { nan }) }, pattern),
  );
}

/** Returns the positions of rows in the order of their codes. */
export function referencePositions<C>(
  codes: readonly (C | undefined)[],
  nulls: RowOrder['nulls'],
  compare: (a: C, b: C) => number,
): number[] {
  const others = codes.flatMap((code, i) => (code === undefined ? [] : [{ code, i }]));
  const order = others.toSorted((a, b) => compare(a.code, b.code) || a.i - b.i).map(({ i }) => i);
  const ofNulls = codes.flatMap((code, i) => (code === undefined ? [i] : []));
  return nulls === 'first' ? [...ofNulls, ...order] : [...order, ...ofNulls];
}

/** Whether rows are equal for `unique`. */
const isEqual = (a: unknown, b: unknown): boolean => a === b || (Number.isNaN(a) && Number.isNaN(b));

/** Returns what `unique` returns for a vector whose rows are in order at `positions`; `keys` are positions. */
export function distinctRows(
  vector: arrow.Vector,
  positions: readonly number[],
): { keys: number[]; counts: Uint32Array; index: Uint32Array; inverse: Uint32Array } {
  const groups: number[][] = [];
  for (const [i, position] of positions.entries()) {
    if (i > 0 && isEqual(vector.get(position), vector.get(positions[i - 1] as number)))
      groups.at(-1)?.push(position);
    else groups.push([position]);
  }
  const keys = groups.map((group) => group.reduce((a, b) => Math.min(a, b)));
  const inverse = new Uint32Array(positions.length);
  for (const [id, group] of groups.entries()) for (const position of group) inverse[position] = id;
  return {
    keys,
    counts: Uint32Array.from(groups, ({ length }) => length),
    index: Uint32Array.from(keys),
    inverse,
  };
}
