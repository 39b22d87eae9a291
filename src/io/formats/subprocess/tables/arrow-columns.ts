/** Reads numeric columns of Arrow IPC files and streams. Runs in the subprocess. */
import type { DataType, Dictionary, Field } from 'apache-arrow';
import type { KeyWords } from '../../../../keys/array.js';
import { dtypeInfo } from '../../../../keys/dtype.js';
import { type Contents, decompressBuffer } from '../arrow-buffer.js';
import {
  type ArrowFile,
  type ArrowPackage,
  type Body,
  damagedFile,
  type RecordHeader,
} from '../arrow-file.js';
import { columnPosition, dtypeOfArrow } from '../arrow-layout.js';
import { BATCH_ROWS, type Batch } from '../protocol.js';
import { ArrowTableDictionaries, type DictionaryValues } from './arrow-dictionaries.js';

type Width = 1 | 2 | 4 | 8;

const WORDS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array } as const;

/**
 * Yields numeric columns in pieces, so that a record batch of any length takes little memory.
 *
 * @throws FormatError when the file is damaged
 */
export function* columnBatches(
  arrow: ArrowPackage,
  file: ArrowFile,
  schema: readonly Field[],
  wanted: readonly number[],
): Generator<Batch> {
  const fields = wanted.map((index) => schema[index] as Field);
  const dictionaries = new ArrowTableDictionaries(arrow, fields);
  for (const found of file.messages()) {
    if ('dictionary' in found) dictionaries.take(found);
    if (!('record' in found)) continue;
    const { length } = found.record;
    const columns = fields.map((field, i) => {
      const dtype = dtypeOfArrow(arrow, field.type);
      if (!dtype) throw new Error('a column of keys that holds no numbers');
      const { bytes } = dtypeInfo(dtype);
      const { id, indexBytes } = dictionaryOf(arrow, field.type);
      const { buffer, node } = columnPosition(arrow, schema, wanted[i] as number, found.record);
      const { values, validity } = openColumn(found, { buffer, node }, indexBytes ?? bytes);
      return (begin: number, end: number): Uint8Array[] => {
        const [valid, read] = [validity(begin, end), values(begin, end)];
        if (indexBytes === undefined) return [valid, read];
        return [valid, gather(read, indexBytes, { valid, known: dictionaries.values.get(id), bytes })];
      };
    });
    for (let begin = 0; begin < length; begin += BATCH_ROWS) {
      const end = Math.min(begin + BATCH_ROWS, length);
      yield { rows: end - begin, buffers: columns.flatMap((column) => column(begin, end)) };
    }
  }
}

function dictionaryOf({ DataType: is }: ArrowPackage, type: DataType) {
  if (!is.isDictionary(type)) return { id: -1, indexBytes: undefined };
  const { id, indices } = type as Dictionary;
  return { id, indexBytes: (indices.bitWidth / 8) as Width };
}

/** Returns functions that read rows `begin` to `end` of a column; `begin` is a multiple of 8. */
function openColumn(
  { record, body }: { readonly record: RecordHeader; readonly body: Body },
  { node, buffer }: ReturnType<typeof columnPosition>,
  width: number,
) {
  const { length: rows = -1, nullCount = 0 } = record.nodes[node] ?? {};
  if (rows !== record.length) throw damagedFile('a column and its batch differ in the number of rows');
  const contents = (index: number, bytes: number): Contents => {
    const { offset = -1, length = -1 } = record.buffers[index] ?? {};
    const found = decompressBuffer(body.part(offset, length), record, bytes);
    if (found.length < bytes) throw damagedFile(`a column of ${rows} rows has too few bytes`);
    return found;
  };
  const bits = nullCount === 0 ? undefined : contents(buffer, Math.ceil(rows / 8));
  const all = contents(buffer + 1, rows * width);
  return {
    values: (begin: number, end: number) => all.bytes(begin * width, end * width),
    /** Empty when there are no nulls. */
    validity: (begin: number, end: number) => bits?.bytes(begin / 8, Math.ceil(end / 8)) ?? new Uint8Array(0),
  };
}

/**
 * Returns dictionary values at indices, which are read as unsigned, so that negative ones are out of range.
 *
 * @throws FormatError when an index is out of range or a value is null
 */
function gather(
  indices: Uint8Array<ArrayBuffer>,
  indexBytes: Width,
  { valid, known, bytes }: { valid: Uint8Array; known: DictionaryValues | undefined; bytes: Width },
): Uint8Array {
  const places: KeyWords = new WORDS[indexBytes](indices.buffer);
  const { rows: count, memory = new Uint8Array(0), isNull } = known ?? { rows: 0 };
  const from = new WORDS[bytes](memory.buffer as ArrayBuffer, memory.byteOffset, count);
  const values = new WORDS[bytes](places.length);
  for (let i = 0; i < places.length; i++) {
    if (valid.length > 0 && !(((valid[i >> 3] ?? 0) >> (i & 7)) & 1)) continue;
    const place = Number(places[i]);
    const value = from[place];
    if (value === undefined)
      throw damagedFile(`index ${places[i]} is outside a dictionary of ${count} values`);
    if (isNull?.(place)) throw damagedFile('a dictionary contains nulls');
    values[i] = value;
  }
  return new Uint8Array(values.buffer);
}
