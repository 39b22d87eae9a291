/** Fills DuckDB vectors with columns. Runs in the subprocess. */

import type { Column } from '../../tables/column-builder.js';
import type { TableType } from '../../tables/table-type.js';
import { halvesToSingles } from '../half-float.js';
import { type ByteAccess, memoryOf, type Vector } from './duckdb-vector.js';

const WIDE = 16;

/**
 * Fills a vector with a column, and flushes it to DuckDB.
 *
 * @param vector  must have as many rows as the column
 */
export function fillVector(vector: Vector, column: Column, access: ByteAccess): void {
  const { type } = column;
  if (vector.listVector) {
    fillVector(vector.listVector, column, access);
    return;
  }
  if (column.item) fillList(vector, column, column.item, access);
  else if (type.is === 'struct') {
    for (const [k, field] of column.fields.entries()) {
      fillVector(vector.entryVectors?.[k] as Vector, field, access);
    }
    setValidity(vector, column);
    flushOwn(vector);
  } else if (['text', 'json', 'null', 'bytes', 'bytes of fixed length'].includes(type.is)) {
    fillBytes(vector, column, access);
  } else {
    const memory = memoryOf(vector);
    memory.set(valuesOf(column, memory.length / Math.max(1, column.rows)).subarray(0, memory.length));
    setValidity(vector, column);
    vector.flush();
  }
}

/** Sets the validity of all rows, because item vectors may contain earlier values. */
function setValidity(vector: Vector, { validity, rows }: Column): void {
  const words = new BigUint64Array(Math.ceil(rows / 64));
  new Uint8Array(words.buffer).set(validity.subarray(0, Math.ceil(rows / 8)));
  (vector.validity as { data: BigUint64Array }).data = words;
}

/** Flushes a struct whose fields have already been flushed. */
function flushOwn(vector: Vector): void {
  const { validity, vector: handle } = vector as unknown as {
    readonly validity: { flush(handle: unknown): void };
    readonly vector: unknown;
  };
  validity.flush(handle);
}

function fillBytes(vector: Vector, column: Column, access: ByteAccess): void {
  const { data, offsets, type } = column;
  const fixed = type.is === 'bytes of fixed length' ? type.bytes : undefined;
  for (let i = 0; i < column.rows; i++) {
    if (column.isNull(i)) continue;
    const [begin, end] = fixed === undefined ? [offsets[i], offsets[i + 1]] : [i * fixed, (i + 1) * fixed];
    access.set(vector, i, data.subarray(begin, end));
  }
  setValidity(vector, column);
  access.flush(vector);
}

/**
 * Fills a list vector. Flushing lists of the right lengths, with any content, allocates the items, which are then
 * filled in.
 */
function fillList(vector: Vector, column: Column, item: Column, access: ByteAccess): void {
  const { itemCache } = vector;
  if (!itemCache) throw new Error('this version of @duckdb/node-api does not expose its lists');
  const { offsets } = column;
  for (let i = 0; i < column.rows; i++) {
    const length = (offsets[i + 1] as number) - (offsets[i] as number);
    itemCache[i] = column.isNull(i) && length === 0 ? { items: [] } : { items: new Array(length) };
  }
  setValidity(vector, column);
  vector.flush();
  if (item.rows > 0) fillVector(vector.childData as Vector, item, access);
}

/**
 * Converts values to their DuckDB representation.
 *
 * @param width  bytes per value in DuckDB
 */
function valuesOf({ type, data, rows }: Column, width: number): Uint8Array {
  if (type.is === 'decimal') return narrowIntegers(data, width, rows);
  if (type.is === 'uuid') return hugeintsOf(data);
  if (type.is === 'f16') return new Uint8Array(halvesToSingles(new Uint16Array(data.slice().buffer)).buffer);
  if (type.is === 'bf16') {
    const halves = new Uint16Array(data.slice().buffer);
    return new Uint8Array(Uint32Array.from(halves, (bits) => bits << 16).buffer);
  }
  const factor = factorOf(type);
  const scaledData = factor === 1n ? data : scaleValues(data, factor);
  return type.is === 'time' && type.isUtc ? utcTimes(scaledData) : scaledData;
}

/** Returns the factor that converts a time to a unit that DuckDB has. */
function factorOf(type: TableType): bigint {
  if (type.is !== 'time' && !(type.is === 'timestamp' && type.zone !== undefined)) return 1n;
  return type.unit === 's' ? 1_000_000n : type.unit === 'ms' ? 1000n : 1n;
}

/** @throws RangeError when a value does not fit into 64 bits */
function scaleValues(data: Uint8Array, factor: bigint): Uint8Array {
  const values = new BigInt64Array(data.slice().buffer);
  for (const [i, value] of values.entries()) {
    const more = value * factor;
    if (BigInt.asIntN(64, more) !== more)
      throw new RangeError('a time is outside the range of microseconds of 64 bits');
    values[i] = more;
  }
  return new Uint8Array(values.buffer);
}

/**
 * Converts UTC times of day to DuckDB's packed form: microseconds above the low 24 bits, which hold 15:59:59 minus
 * the UTC offset in seconds.
 */
function utcTimes(data: Uint8Array): Uint8Array {
  const values = new BigInt64Array(data.slice().buffer);
  for (const [i, value] of values.entries()) values[i] = (value << 24n) | 57_599n;
  return new Uint8Array(values.buffer);
}

/** Truncates 16-byte integers to `width` bytes, which hold their values. */
function narrowIntegers(data: Uint8Array, width: number, rows: number): Uint8Array {
  if (width === WIDE) return data;
  const narrow = new Uint8Array(rows * width);
  for (let i = 0; i < rows; i++) narrow.set(data.subarray(i * WIDE, i * WIDE + width), i * width);
  return narrow;
}

/** Converts UUIDs to little-endian signed integers with the same order. */
function hugeintsOf(data: Uint8Array): Uint8Array {
  const turned = new Uint8Array(data.length);
  for (let at = 0; at < data.length; at += WIDE) {
    for (let k = 0; k < WIDE; k++) turned[at + k] = data[at + WIDE - 1 - k] as number;
    turned[at + WIDE - 1] = (turned[at + WIDE - 1] as number) ^ 0x80;
  }
  return turned;
}
