/**
 * Thrift compact protocol, the encoding of Parquet metadata. Decodes any struct for modification and re-encoding,
 * including unknown fields. Runs in the subprocess.
 */
import { FormatError } from '../../../../util/errors.js';
import { GrowingBytes } from '../../../streams/growing-bytes.js';

/** Field types. */
export const THRIFT = {
  true: 1,
  false: 2,
  byte: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  map: 11,
  struct: 12,
} as const;

/** Fields of a struct by number, in ascending order. */
export type Struct = Map<number, ThriftValue>;

export type ThriftValue =
  | { readonly type: 1 | 2 }
  | { readonly type: 3 | 4 | 5 | 6; readonly number: bigint }
  | { readonly type: 7 | 8; readonly bytes: Uint8Array }
  | { readonly type: 9 | 10; readonly of: number; readonly items: readonly ThriftValue[] }
  | { readonly type: 12; readonly fields: Struct };

/** Maximum nesting depth of structs. */
const MAX_DEPTH = 32;
const DOUBLE_BYTES = 8;
/** Length nibble of a list whose length follows its header. */
const LONG_LIST = 15;

const damagedMetadata = (what: string): FormatError =>
  new FormatError(`its metadata cannot be read: ${what}. Check that the file is not damaged`);

class Decoder {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Number of bytes decoded so far. */
  get length(): number {
    return this.#at;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw damagedMetadata('it ends too early');
    return byte;
  }

  #varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw damagedMetadata('a number is too long');
  }

  #zigzag(): bigint {
    const value = this.#varint();
    return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
  }

  #take(bytes: number): Uint8Array {
    if (bytes > this.#bytes.length - this.#at) throw damagedMetadata('a value goes beyond its end');
    this.#at += bytes;
    return this.#bytes.subarray(this.#at - bytes, this.#at);
  }

  struct(depth: number): Struct {
    if (depth > MAX_DEPTH) throw damagedMetadata('it is nested too deeply');
    const fields: Struct = new Map();
    let id = 0;
    for (;;) {
      const head = this.#byte();
      if (head === 0) return fields;
      id = head >> 4 ? id + (head >> 4) : Number(this.#zigzag());
      fields.set(id, this.#value(head & 15, depth));
    }
  }

  #value(type: number, depth: number): ThriftValue {
    switch (type) {
      case THRIFT.true:
      case THRIFT.false:
        return { type };
      case THRIFT.byte:
        return { type, number: BigInt.asIntN(8, BigInt(this.#byte())) };
      case THRIFT.i16:
      case THRIFT.i32:
      case THRIFT.i64:
        return { type, number: this.#zigzag() };
      case THRIFT.double:
        return { type, bytes: this.#take(DOUBLE_BYTES) };
      case THRIFT.binary:
        return { type, bytes: this.#take(Number(this.#varint())) };
      case THRIFT.list:
      case THRIFT.set:
        return this.#list(type, depth);
      case THRIFT.struct:
        return { type, fields: this.struct(depth + 1) };
      default:
        throw damagedMetadata(`a field has the unknown type ${type}`);
    }
  }

  #list(type: 9 | 10, depth: number): ThriftValue {
    const head = this.#byte();
    const of = head & 15;
    const count = head >> 4 === LONG_LIST ? Number(this.#varint()) : head >> 4;
    // An item takes at least one byte.
    if (count > this.#bytes.length - this.#at) throw damagedMetadata('a list goes beyond its end');
    const items: ThriftValue[] = [];
    for (let i = 0; i < count; i++) {
      const isBool = of === THRIFT.true || of === THRIFT.false;
      items.push(isBool ? { type: this.#byte() === 1 ? 1 : 2 } : this.#value(of, depth + 1));
    }
    return { type, of, items };
  }
}

/** @throws FormatError when the data is damaged */
export const decodeStruct = (bytes: Uint8Array): Struct => new Decoder(bytes).struct(0);

/**
 * Decodes the struct at the start of some bytes, and returns its length as well.
 *
 * @throws FormatError when the data is damaged
 */
export function decodePrefix(bytes: Uint8Array): { readonly fields: Struct; readonly length: number } {
  const decoder = new Decoder(bytes);
  return { fields: decoder.struct(0), length: decoder.length };
}

class Encoder {
  readonly #out = new GrowingBytes(4096);

  get bytes(): Uint8Array {
    return this.#out.bytes.subarray(0, this.#out.length);
  }

  #byte(byte: number): void {
    const at = this.#out.reserve(1);
    this.#out.bytes[at] = byte;
  }

  #varint(value: bigint): void {
    for (; value >= 128n; value >>= 7n) this.#byte(Number(value & 127n) | 128);
    this.#byte(Number(value));
  }

  #zigzag(value: bigint): void {
    this.#varint(BigInt.asUintN(64, (value << 1n) ^ (value >> 63n)));
  }

  struct(fields: Struct): void {
    let last = 0;
    for (const [id, value] of [...fields].sort(([a], [b]) => a - b)) {
      const step = id - last;
      last = id;
      if (step > 0 && step < 16) this.#byte((step << 4) | value.type);
      else {
        this.#byte(value.type);
        this.#zigzag(BigInt(id));
      }
      this.#value(value);
    }
    this.#byte(0);
  }

  #value(value: ThriftValue): void {
    if ('fields' in value) this.struct(value.fields);
    else if ('items' in value) this.#list(value.of, value.items);
    else if ('bytes' in value) {
      if (value.type === THRIFT.binary) this.#varint(BigInt(value.bytes.length));
      this.#out.append(value.bytes);
    } else if ('number' in value) {
      if (value.type === THRIFT.byte) this.#byte(Number(value.number & 255n));
      else this.#zigzag(value.number);
    }
  }

  #list(of: number, items: readonly ThriftValue[]): void {
    this.#byte((Math.min(items.length, LONG_LIST) << 4) | of);
    if (items.length >= LONG_LIST) this.#varint(BigInt(items.length));
    for (const item of items) {
      if (item.type === THRIFT.true || item.type === THRIFT.false) this.#byte(item.type);
      else this.#value(item);
    }
  }
}

export function encodeStruct(fields: Struct): Uint8Array {
  const encoder = new Encoder();
  encoder.struct(fields);
  return encoder.bytes;
}
