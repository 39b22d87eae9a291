/**
 * Key codes: one byte string per row, so that the order of the codes as unsigned bytes is the order of the rows.
 * Codes are prefix-free. The code of a key is a null marker, followed by the value unless it is null. Numbers are
 * encoded by the key codec, most significant byte first. In byte strings, 0 is escaped as 0 255, and 0 0 terminates.
 * Descending keys are inverted, except for the null marker.
 */
import { keyWords } from '../../../keys/array.js';
import { codeWordsOf, encodeRecords } from '../../../keys/codec-records.js';
import { dtypeInfo } from '../../../keys/dtype.js';
import { keyCodec } from '../../../keys/key-codec.js';
import type { Cells } from './row-layout.js';
import { fixedBytes, type KeyKind } from './table-type.js';

/** Sort order of a key. */
export interface KeyOrder {
  readonly descending: boolean;
  readonly nulls: 'first' | 'last';
  readonly nan: 'first' | 'last';
}

/** The codes of one key in a batch. */
export interface CodeColumn {
  size(i: number): number;
  /** Writes the code of row `i` and returns its end. */
  put(i: number, to: Uint8Array, at: number): number;
}

/** Escape bytes: 0 is written as ZERO, AFTER_ZERO. */
const [ZERO, AFTER_ZERO] = [0x00, 0xff];
const END_BYTES = 2;

/**
 * Returns the codes of a key column.
 *
 * @param rows  number of rows in the batch
 */
export function codeColumn(cells: Cells, kind: KeyKind, order: KeyOrder, rows: number): CodeColumn {
  const values = kind.as === 'bytes' ? bytesCodes(cells, order) : fixedCodes(cells, kind, order, rows);
  const isFirst = order.nulls === 'first';
  const [ofNull, ofValue] = isFirst ? [0, 1] : [1, 0];
  return {
    size: (i) => (cells.isNull(i) ? 1 : 1 + values.size(i)),
    put(i, to, at) {
      const isNull = cells.isNull(i);
      to[at] = isNull ? ofNull : ofValue;
      return isNull ? at + 1 : values.put(i, to, at + 1);
    },
  };
}

function bytesCodes(cells: Cells, { descending }: KeyOrder): CodeColumn {
  const bytesOf = (i: number): Uint8Array => cells.bytes?.(i) as Uint8Array;
  const flip = descending ? 0xff : 0;
  return {
    size(i) {
      const bytes = bytesOf(i);
      let zeros = 0;
      for (let at = bytes.indexOf(0); at >= 0; at = bytes.indexOf(0, at + 1)) zeros++;
      return bytes.length + zeros + END_BYTES;
    },
    put(i, to, at) {
      const bytes = bytesOf(i);
      for (let k = 0; k < bytes.length; k++) {
        const byte = bytes[k] as number;
        to[at++] = byte ^ flip;
        if (byte === ZERO) to[at++] = AFTER_ZERO ^ flip;
      }
      to[at] = to[at + 1] = ZERO ^ flip;
      return at + END_BYTES;
    },
  };
}

function fixedCodes(
  cells: Cells,
  kind: Exclude<KeyKind, { as: 'bytes' }>,
  order: KeyOrder,
  rows: number,
): CodeColumn {
  const width = fixedBytes(cells.type) as number;
  const codes =
    kind.as === 'number' ? numberCodes(cells, kind.dtype, order, rows) : wholeCodes(cells, kind, order);
  return {
    size: () => width,
    put(i, to, at) {
      codes(i, to, at);
      return at + width;
    },
  };
}

type PutCode = (i: number, to: Uint8Array, at: number) => void;

/** Maximum number of rows that are encoded at a time. */
const BLOCK_ROWS = 128;

/**
 * Returns the codes of numbers of a dtype, which are encoded in blocks of rows. Blocks grow while they follow one another: a
 * search for first rows needs the codes of single rows.
 */
function numberCodes(
  cells: Cells,
  dtype: Extract<KeyKind, { as: 'number' }>['dtype'],
  { descending, nan }: KeyOrder,
  rows: number,
): PutCode {
  const info = dtypeInfo(dtype);
  const width = info.bytes;
  const stride = codeWordsOf(info);
  const codec = keyCodec(dtype, { descending, nan });
  const codes = new Uint32Array(Math.min(rows, BLOCK_ROWS) * stride);
  /** First row and size of the encoded block. */
  let [first, size] = [rows, 0];
  const encode = (i: number): void => {
    size = i === first + size ? Math.min(2 * size, BLOCK_ROWS) : 1;
    first = i;
    const plain = contiguous(cells, width, first, Math.min(rows, first + size));
    encodeRecords(keyWords(plain, info), codes, stride, codec);
  };
  return (i, to, at) => {
    if (i < first || i >= first + size) encode(i);
    const word = (i - first) * stride;
    for (let k = 0; k < width; k++) {
      const byte = width - 1 - k;
      to[at + k] = (codes[word + (byte >> 2)] as number) >>> (8 * (byte & 3));
    }
  };
}

/** Returns the values of cells `begin` to `end`, of fixed length, without gaps. */
function contiguous({ memory, offset }: Cells, width: number, begin: number, end: number): Uint8Array {
  if (memory && !offset) return memory.subarray(begin * width, end * width);
  const plain = new Uint8Array((end - begin) * width);
  for (let i = begin; i < end; i++) {
    const from = offset?.(i) ?? 0;
    for (let k = 0; k < width; k++) plain[(i - begin) * width + k] = memory?.[from + k] as number;
  }
  return plain;
}

/** Returns the codes of integers of any width or of fixed-length bytes. */
function wholeCodes(
  { memory, offset }: Cells,
  kind: Extract<KeyKind, { as: 'whole' | 'fixed' }>,
  { descending }: KeyOrder,
): PutCode {
  const { bytes: width } = kind;
  const flip = descending ? 0xff : 0;
  const isWhole = kind.as === 'whole';
  const sign = isWhole && kind.isSigned ? 0x80 : 0;
  return (i, to, at) => {
    const from = offset?.(i) ?? i * width;
    for (let k = 0; k < width; k++) {
      to[at + k] = (memory?.[from + (isWhole ? width - 1 - k : k)] as number) ^ flip;
    }
    if (width > 0) to[at] = (to[at] as number) ^ sign;
  };
}
