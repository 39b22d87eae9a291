/** Vectors of DuckDB as cells that are read. Runs in the child. */
import { halvesOf } from '../../formats/foreign/halves.js';
import type { Cells } from '../row-layout.js';
import type { TableType } from '../table-type.js';
import { type ByteAccess, memoryOf, type Vector, validityOf } from './duckdb-vector.js';

/** Bytes of decimals, and of what is 16 bytes long. */
const WIDE = 16;

/** @param bytes of texts and blobs; see byteAccess */
export function duckdbCells(vector: Vector, type: TableType, bytes: ByteAccess): Cells {
  const validity = validityOf(vector);
  const isNull = (i: number): boolean =>
    validity !== undefined && (((validity[i >> 3] as number) >> (i & 7)) & 1) === 0;
  switch (type.is) {
    case 'text':
    case 'json':
    case 'bytes': {
      const known: Uint8Array[] = [];
      const read = (i: number): Uint8Array => {
        known[i] ??= bytes.bytes(vector, i);
        return known[i];
      };
      return { type, isNull, bytes: read };
    }
    case 'list':
    case 'map':
      return { type, isNull, ...itemsOf(vector.listVector ?? vector, type.item.type, bytes) };
    case 'list of fixed length':
      return {
        type,
        isNull,
        begin: (i) => i * type.length,
        count: () => type.length,
        item: duckdbCells(vector.childData as Vector, type.item.type, bytes),
      };
    case 'struct': {
      const fields = type.fields.map((field, k) =>
        duckdbCells(vector.entryVectors?.[k] as Vector, field.type, bytes),
      );
      return { type, isNull, fields };
    }
    default:
      return { type, isNull, memory: valuesOf(vector, type) };
  }
}

function itemsOf({ entryData, childData }: Vector, type: TableType, bytes: ByteAccess) {
  return {
    begin: (i: number) => Number(entryData?.[2 * i]),
    count: (i: number) => Number(entryData?.[2 * i + 1]),
    item: duckdbCells(childData as Vector, type, bytes),
  };
}

/** Values as rows have them. */
function valuesOf(vector: Vector, type: TableType): Uint8Array {
  const memory = memoryOf(vector);
  const n = vector.itemCount;
  if (type.is === 'decimal') return widened(memory, n === 0 ? WIDE : memory.length / n, n);
  if (type.is === 'uuid') return uuidsOf(memory);
  if (type.is !== 'f16') return memory;
  return new Uint8Array(halvesOf(new Uint32Array(memory.slice().buffer)).buffer);
}

/** Whole numbers of `width` bytes as ones of 16. */
function widened(memory: Uint8Array, width: number, n: number): Uint8Array {
  if (width === WIDE) return memory;
  const wide = new Uint8Array(n * WIDE);
  for (let i = 0; i < n; i++) {
    const sign = (memory[(i + 1) * width - 1] as number) & 0x80 ? 0xff : 0;
    for (let k = 0; k < WIDE; k++) wide[i * WIDE + k] = k < width ? (memory[i * width + k] as number) : sign;
  }
  return wide;
}

/** UUIDs as they are written, which DuckDB keeps as whole numbers, little-endian, whose order is theirs. */
function uuidsOf(memory: Uint8Array): Uint8Array {
  const turned = new Uint8Array(memory.length);
  for (let at = 0; at < memory.length; at += WIDE) {
    for (let k = 0; k < WIDE; k++) turned[at + k] = memory[at + WIDE - 1 - k] as number;
    turned[at] = (turned[at] as number) ^ 0x80;
  }
  return turned;
}
