/** Locates the nodes and buffers of the columns of an Arrow schema in a record batch. */
import type { DataType, Field } from 'apache-arrow';
import type { Dtype } from '../../../keys/dtype.js';
import { DTYPES } from '../../../keys/dtype.js';
import type { ArrowPackage, RecordHeader } from './arrow-file.js';
import { damagedFile } from './arrow-file.js';

const PRECISION_BITS = [16, 32, 64];

/** Returns the dtype of an Arrow type; null if it cannot be a key. A dictionary has the dtype of its values. */
export function dtypeOfArrow({ DataType: Types }: ArrowPackage, type: DataType): Dtype | null {
  if (Types.isDictionary(type)) return dtypeOfArrow({ DataType: Types } as ArrowPackage, type.dictionary);
  if (Types.isInt(type)) return known(`${type.isSigned ? 'i' : 'u'}${type.bitWidth}`);
  if (Types.isFloat(type)) return known(`f${PRECISION_BITS[type.precision]}`);
  return null;
}

const known = (name: string): Dtype | null => DTYPES.find((dtype) => dtype === name) ?? null;

/** Index of the first node and buffer of a column. */
export interface ColumnPosition {
  readonly node: number;
  readonly buffer: number;
}

/** Counts the nodes and buffers of the columns that precede a column. */
class NodeCounter {
  readonly #types: ArrowPackage['DataType'];
  readonly #variadic: readonly number[];
  #views = 0;
  node = 0;
  buffer = 0;

  constructor(types: ArrowPackage['DataType'], variadic: readonly number[]) {
    this.#types = types;
    this.#variadic = variadic;
  }

  skip({ type }: Field): void {
    this.node++;
    this.buffer += this.#buffers(type);
    if (!this.#types.isDictionary(type)) for (const child of type.children ?? []) this.skip(child);
  }

  #buffers(type: DataType): number {
    const is = this.#types;
    if (is.isNull(type)) return 0;
    if (is.isDictionary(type)) return 2;
    if (is.isUtf8(type) || is.isBinary(type) || is.isLargeUtf8(type) || is.isLargeBinary(type)) return 3;
    if (is.isUtf8View(type) || is.isBinaryView(type)) return 2 + (this.#variadic[this.#views++] ?? 0);
    if (is.isStruct(type) || is.isFixedSizeList(type)) return 1;
    if (is.isUnion(type)) return is.isDenseUnion(type) ? 2 : 1;
    return 2;
  }
}

/** Returns the position of a column in a record batch, without a range check. */
export function columnBegin(
  { DataType: Types }: ArrowPackage,
  fields: readonly Field[],
  index: number,
  record: RecordHeader,
): ColumnPosition {
  const counter = new NodeCounter(Types, record.variadicBufferCounts);
  for (const field of fields.slice(0, index)) counter.skip(field);
  return { node: counter.node, buffer: counter.buffer };
}

/**
 * Returns the position of a numeric column in a record batch.
 *
 * @throws FormatError when the batch has fewer columns than the schema
 */
export function columnPosition(
  arrow: ArrowPackage,
  fields: readonly Field[],
  index: number,
  record: RecordHeader,
): ColumnPosition {
  const { node, buffer } = columnBegin(arrow, fields, index, record);
  if (node < record.nodes.length && buffer + 1 < record.buffers.length) return { node, buffer };
  throw damagedFile('a batch has fewer columns than the schema');
}
