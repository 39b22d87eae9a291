/** Reads columns of JavaScript values as cells. */
import { dtypeOf } from '../../keys/array.js';
import type { KeyArray } from '../../keys/dtype.js';
import { InputError } from '../../util/errors.js';
import type { Cells } from '../formats/tables/row-layout.js';

/**
 * A table column: a typed array, or an array of numbers, BigInts, booleans, strings, Dates or Uint8Arrays, all of one
 * kind. `null` and `undefined` are missing values. Arrays of other values are permuted with the rows, but cannot be
 * sort keys.
 */
export type TableColumn = KeyArray | readonly unknown[];

type Kind = 'number' | 'bigint' | 'boolean' | 'string' | 'date' | 'bytes';

function kindOf(value: unknown): Kind | undefined {
  if (value instanceof Date) return 'date';
  if (value instanceof Uint8Array) return 'bytes';
  const kind = typeof value;
  return kind === 'number' || kind === 'bigint' || kind === 'boolean' || kind === 'string' ? kind : undefined;
}

const isMissing = (value: unknown): boolean => value === null || value === undefined;

/**
 * Returns a column as cells; undefined for values without an order.
 *
 * @throws InputError when kinds of values are mixed, or an integer has more than 128 bits
 */
export function cellsOf(column: TableColumn, name: string): Cells | undefined {
  if (!Array.isArray(column)) {
    const { buffer, byteOffset, byteLength } = column as KeyArray;
    return {
      type: { is: dtypeOf(column as KeyArray) },
      isNull: () => false,
      memory: new Uint8Array(buffer, byteOffset, byteLength),
    };
  }
  const values: readonly unknown[] = column;
  const first = values.findIndex((value) => !isMissing(value));
  const kind = kindOf(values[first]);
  const isNull = (i: number): boolean => isMissing(values[i]);
  if (first < 0) return { type: { is: 'bool' }, isNull, memory: new Uint8Array(values.length) };
  if (!kind) return undefined;
  const other = values.findIndex((value) => !isMissing(value) && kindOf(value) !== kind);
  if (other >= 0) {
    throw new InputError(
      `cannot compare the values of column ${name}: row ${first} has a ${kind}, and row ${other} has a ` +
        `${kindOf(values[other]) ?? typeof values[other]}`,
      { details: { column: name, rows: [first, other] } },
    );
  }
  return { isNull, ...contentsOf(values, kind, name) };
}

function contentsOf(values: readonly unknown[], kind: Kind, name: string): Omit<Cells, 'isNull'> {
  switch (kind) {
    case 'string': {
      const encoder = new TextEncoder();
      return { type: { is: 'text' }, bytes: (i) => encoder.encode(values[i] as string) };
    }
    case 'bytes':
      return { type: { is: 'bytes' }, bytes: (i) => values[i] as Uint8Array };
    case 'boolean':
      return { type: { is: 'bool' }, memory: Uint8Array.from(values, Number) };
    case 'bigint':
      return { type: { is: 'i128' }, memory: wholeNumbers(values, name) };
    default: {
      const numbers = Float64Array.from(values, (value) => (isMissing(value) ? 0 : Number(value)));
      return { type: { is: 'f64' }, memory: new Uint8Array(numbers.buffer) };
    }
  }
}

const WIDTH = 128;

function wholeNumbers(values: readonly unknown[], name: string): Uint8Array {
  const words = new BigUint64Array(2 * values.length);
  for (const [i, value] of values.entries()) {
    if (typeof value !== 'bigint') continue;
    if (BigInt.asIntN(WIDTH, value) !== value) {
      throw new InputError(
        `cannot compare the values of column ${name}: the whole number in row ${i} has more than ${WIDTH} bits`,
      );
    }
    words[2 * i] = BigInt.asUintN(64, value);
    words[2 * i + 1] = BigInt.asUintN(64, value >> 64n);
  }
  return new Uint8Array(words.buffer);
}
