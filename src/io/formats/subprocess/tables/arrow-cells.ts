/** Reads columns of an Arrow record batch as cells. Runs in the subprocess. */
import type { DataType, Dictionary, Field } from 'apache-arrow';
import type { Cells } from '../../tables/row-layout.js';
import { fixedBytes, type TableType } from '../../tables/table-type.js';
import { type Contents, decompressBuffer } from '../arrow-buffer.js';
import { type ArrowPackage, type Body, damagedFile, type RecordHeader } from '../arrow-file.js';
import type { ColumnPosition } from '../arrow-layout.js';
import { isShort } from './arrow-types.js';
import { intervalsOf, timesOfInt96 } from './parquet-values.js';

/** Dictionary values by dictionary ID. */
export type Dictionaries = ReadonlyMap<number, Cells>;

const bit = (bits: Uint8Array, i: number): boolean => (((bits[i >> 3] as number) >> (i & 7)) & 1) === 1;

/** Iterates over the nodes and buffers of a record batch, starting at a column. */
export class ArrowBatch {
  readonly #arrow: ArrowPackage;
  readonly #record: RecordHeader;
  readonly #body: Body;
  readonly #dictionaries: Dictionaries;
  #node: number;
  #buffer: number;
  /** Total size of the consumed buffers in bytes. */
  takenBytes = 0;

  constructor(
    arrow: ArrowPackage,
    { record, body }: { readonly record: RecordHeader; readonly body: Body },
    { node, buffer }: ColumnPosition,
    dictionaries: Dictionaries,
  ) {
    this.#arrow = arrow;
    this.#record = record;
    this.#body = body;
    this.#dictionaries = dictionaries;
    this.#node = node;
    this.#buffer = buffer;
  }

  /**
   * Returns the next column, or nested part of one.
   *
   * @param rows  minimum number of rows
   * @throws FormatError when the batch holds less than its header states
   */
  cells(field: Field, type: TableType, rows: number): Cells {
    const { length = -1, nullCount = 0 } = this.#record.nodes[this.#node++] ?? {};
    if (!(length >= rows)) throw damagedFile('a column and its batch differ in the number of rows');
    if (type.is === 'null') return { type, isNull: () => true };
    const bits = nullCount === 0 ? undefined : this.#bytes(Math.ceil(rows / 8));
    if (!bits) this.#buffer++;
    const isNull = bits ? (i: number) => !bit(bits, i) : () => false;
    if (this.#arrow.DataType.isDictionary(field.type)) return this.#places(field.type, type, isNull, rows);
    switch (type.is) {
      case 'struct': {
        const fields = type.fields.map((part, k) =>
          this.cells(field.type.children[k] as Field, part.type, rows),
        );
        return { type, isNull, fields };
      }
      case 'list of fixed length': {
        const { length: each } = type;
        if (!this.#arrow.DataType.isFixedSizeList(field.type)) {
          const cells = this.#list(field, type, isNull, rows);
          for (let i = 0; i < rows; i++) {
            if (!isNull(i) && cells.count?.(i) !== each)
              throw damagedFile(`a list does not have ${each} items`);
          }
          return cells;
        }
        const item = this.cells(field.type.children[0] as Field, type.item.type, rows * each);
        return { type, isNull, item, begin: (i) => i * each, count: () => each };
      }
      case 'list':
      case 'map':
        return this.#list(field, type, isNull, rows);
      case 'text':
      case 'json':
      case 'bytes': {
        const { DataType: is } = this.#arrow;
        const ends = this.#offsets(rows, is.isLargeUtf8(field.type) || is.isLargeBinary(field.type));
        const data = this.#bytes(ends[rows] ?? 0);
        return { type, isNull, bytes: (i) => data.subarray(ends[i], ends[i + 1]) };
      }
      default:
        return {
          type,
          isNull,
          ...(bits ? {} : { hasNulls: false }),
          ...this.#values(field.type, type, isNull, rows),
        };
    }
  }

  /** Returns a list column with offsets of 32 or 64 bits. */
  #list(
    field: Field,
    type: Extract<TableType, { is: 'list' | 'list of fixed length' | 'map' }>,
    isNull: (i: number) => boolean,
    rows: number,
  ): Cells {
    const ends = this.#offsets(rows, this.#arrow.DataType.isLargeList(field.type));
    const item = this.cells(field.type.children[0] as Field, type.item.type, ends[rows] ?? 0);
    const begin = (i: number): number => ends[i] as number;
    return { type, isNull, item, begin, count: (i) => (ends[i + 1] as number) - begin(i) };
  }

  /** Returns the first `bytes` bytes of the next buffer. */
  #bytes(bytes: number): Uint8Array<ArrayBuffer> {
    const { offset = -1, length = -1 } = this.#record.buffers[this.#buffer++] ?? {};
    const found: Contents = decompressBuffer(this.#body.part(offset, length), this.#record, bytes);
    if (found.length < bytes) throw damagedFile('a column has too few bytes');
    this.takenBytes += bytes;
    return found.bytes(0, bytes);
  }

  /** Returns the start of each value and the end of the last one, which are ascending and not negative. */
  #offsets(rows: number, isLarge: boolean): readonly number[] | Float64Array | Int32Array {
    if (rows === 0) {
      this.#buffer++; // may be an empty buffer
      return [0];
    }
    const bytes = this.#bytes((rows + 1) * (isLarge ? 8 : 4));
    const offsets = isLarge
      ? Float64Array.from(new BigInt64Array(bytes.buffer), Number)
      : new Int32Array(bytes.buffer);
    let last = 0;
    for (const offset of offsets) {
      if (!(offset >= last)) throw damagedFile('the offsets of values decrease');
      last = offset;
    }
    return offsets;
  }

  #values(
    arrowType: DataType,
    type: TableType,
    isNull: (i: number) => boolean,
    rows: number,
  ): Pick<Cells, 'memory' | 'offset'> {
    const width = fixedBytes(type) ?? 0;
    if (this.#arrow.DataType.isFixedSizeBinary(arrowType) && arrowType.byteWidth !== width) {
      const values = this.#bytes(rows * arrowType.byteWidth);
      return { memory: type.is === 'timestamp' ? timesOfInt96(values, isNull) : intervalsOf(values) };
    }
    if (type.is === 'bool') {
      const bits = this.#bytes(Math.ceil(rows / 8));
      return { memory: Uint8Array.from({ length: rows }, (_, i) => Number(bit(bits, i))) };
    }
    if (type.is === 'time' && isShort(type.unit)) {
      const short = new Int32Array(this.#bytes(rows * 4).buffer);
      return { memory: new Uint8Array(BigInt64Array.from(short, BigInt).buffer) };
    }
    if (this.#arrow.DataType.isDecimal(arrowType)) {
      const each = arrowType.bitWidth / 8; // may be wider than the digits need
      return { memory: this.#bytes(rows * each), offset: (i) => i * each };
    }
    return { memory: this.#bytes(rows * width) };
  }

  /**
   * Returns a dictionary column as its values.
   *
   * @throws FormatError when an index is out of range
   */
  #places(field: Dictionary, type: TableType, isNull: (i: number) => boolean, rows: number): Cells {
    const bytes = this.#bytes((rows * field.indices.bitWidth) / 8);
    const places = new field.indices.ArrayType(bytes.buffer) as ArrayLike<number | bigint>;
    const values = this.#dictionaries.get(field.id);
    const known = values ? (values as Cells & { readonly rows: number }).rows : 0;
    for (let i = 0; i < rows; i++) {
      if (isNull(i)) continue;
      const place = Number(places[i]);
      if (!(place >= 0 && place < known))
        throw damagedFile(`index ${place} is outside a dictionary of ${known} values`);
    }
    const at = (i: number): number => Number(places[i]);
    const { memory, bytes: texts, offset } = values ?? {};
    const width = fixedBytes(type) ?? 0;
    return {
      type,
      isNull: (i) => isNull(i) || (values?.isNull(at(i)) ?? true),
      ...(memory && { memory, offset: (i) => offset?.(at(i)) ?? at(i) * width }),
      ...(texts && { bytes: (i) => texts(at(i)) }),
    };
  }
}
