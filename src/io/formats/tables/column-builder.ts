/** Builds Arrow-style columns from rows in the layout of row-layout.ts. */
import { wordAt } from '../../../util/word-at.js';
import { GrowingBytes } from '../../streams/growing-bytes.js';
import { LENGTH_BYTES } from './row-layout.js';
import { fixedBytes, type TableType } from './table-type.js';

/** Returns the bytes, zero-padded to a multiple of eight. */
function alignedBytes(buffer: GrowingBytes): Uint8Array {
  const { length } = buffer;
  buffer.reserve(-length & 7);
  buffer.length = length;
  return buffer.bytes.subarray(0, length + (-length & 7));
}

function setBit(buffer: GrowingBytes, bit: number): void {
  if (bit >> 3 >= buffer.length) buffer.reserve(1);
  buffer.bytes[bit >> 3] = (buffer.bytes[bit >> 3] as number) | (1 << (bit & 7));
}

/** A column in the layout of Arrow, or a nested part of one. */
export interface Column {
  readonly type: TableType;
  /** The item column of lists and maps. */
  readonly item?: Column;
  /** The field columns of structs. */
  readonly fields: readonly Column[];
  readonly rows: number;
  readonly nulls: number;
  /** Validity bits, set for rows that are not null. */
  readonly validity: Uint8Array;
  /** The concatenated values. */
  readonly data: Uint8Array;
  /** For types of variable length: the start of each value in `data` or `item`, and the end of the last one. */
  readonly offsets: readonly number[];
  isNull(i: number): boolean;
}

/** Returns a column without nulls of rows `first` to `first + rows` of some numbers. */
export function numberColumn(type: TableType, values: Uint8Array, first: number, rows: number): Column {
  const width = fixedBytes(type) as number;
  return {
    ...{ type, rows, nulls: 0, offsets: [], fields: [], isNull: () => false },
    validity: new Uint8Array(Math.ceil(rows / 8)).fill(0xff),
    data: values.subarray(first * width, (first + rows) * width),
  };
}

/** A column that grows row by row. */
export class ColumnBuilder implements Column {
  readonly type: TableType;
  readonly item?: ColumnBuilder;
  readonly fields: readonly ColumnBuilder[];
  readonly #fixed: number | undefined;
  readonly #validity = new GrowingBytes();
  readonly #data = new GrowingBytes();
  readonly #ends: number[] = [0];
  rows = 0;
  nulls = 0;

  constructor(type: TableType) {
    this.type = type;
    this.#fixed = fixedBytes(type);
    if ('item' in type) this.item = new ColumnBuilder(type.item.type);
    this.fields = type.is === 'struct' ? type.fields.map((field) => new ColumnBuilder(field.type)) : [];
  }

  /** Appends the value at an offset of a row and returns its end. */
  take(from: Uint8Array, at: number): number {
    if (from[at++] === 0) {
      this.#skip();
      return at;
    }
    setBit(this.#validity, this.rows);
    this.rows++;
    if (this.#fixed !== undefined) {
      this.#data.append(from, at, at + this.#fixed);
      return at + this.#fixed;
    }
    if (this.item) return this.#takeItems(this.item, from, at);
    if (this.type.is === 'struct') {
      for (const field of this.fields) at = field.take(from, at);
      return at;
    }
    const end = at + LENGTH_BYTES + wordAt(from, at);
    this.#data.append(from, at + LENGTH_BYTES, end);
    this.#ends.push(this.#data.length);
    return end;
  }

  #takeItems(item: ColumnBuilder, from: Uint8Array, at: number): number {
    const isFixed = this.type.is === 'list of fixed length';
    const count = this.type.is === 'list of fixed length' ? this.type.length : wordAt(from, at);
    if (!isFixed) at += LENGTH_BYTES;
    for (let k = 0; k < count; k++) at = item.take(from, at);
    this.#ends.push(item.rows);
    return at;
  }

  /** Appends a null. Nested columns with one entry per row get a null as well. */
  #skip(): void {
    if ((this.rows & 7) === 0) this.#validity.reserve(1);
    this.rows++;
    this.nulls++;
    if (this.#fixed !== undefined) {
      this.#data.reserve(this.#fixed);
      return;
    }
    if (this.type.is === 'list of fixed length') {
      for (let k = 0; this.item && k < this.type.length; k++) this.item.#skip();
    }
    for (const field of this.fields) field.#skip();
    this.#ends.push(this.item ? this.item.rows : this.#data.length);
  }

  get validity(): Uint8Array {
    return alignedBytes(this.#validity);
  }

  isNull(i: number): boolean {
    return this.nulls > 0 && (((this.validity[i >> 3] as number) >> (i & 7)) & 1) === 0;
  }

  get data(): Uint8Array {
    return alignedBytes(this.#data);
  }

  get offsets(): readonly number[] {
    return this.#ends;
  }
}
