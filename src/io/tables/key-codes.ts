/**
 * Codes of keys: for each row one string of bytes, whose order as unsigned bytes is that of the rows. No code is the beginning
 * of another one. A key is a byte that tells nulls, and behind it, of values: numbers as the key codec encodes them, highest byte
 * first; bytes with each 0 as 0 255, and 0 0 at the end. What is descending is flipped, up to nulls.
 */
import { keyWords } from '../../keys/array.js';
import { codeWordsOf, encodeRecords } from '../../keys/codec-records.js';
import { dtypeInfo } from '../../keys/dtype.js';
import { keyCodec } from '../../keys/key-codec.js';
import type { Cells } from './row-layout.js';
import { fixedBytes, type KeyKind } from './table-type.js';

/** How values of a key are ordered. */
export interface KeyOrder {
  readonly descending: boolean;
  readonly nulls: 'first' | 'last';
  readonly nan: 'first' | 'last';
}

/** The codes of one key in a batch. */
export interface CodeColumn {
  size(i: number): number;
  /** Writes the code of row `i`, and says where it ends. */
  put(i: number, to: Uint8Array, at: number): number;
}

/** Bits that tell which bytes of an escaped text are no text. */
const [ZERO, AFTER_ZERO] = [0x00, 0xff];
const END_BYTES = 2;

/** @param rows of the batch */
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

/** Numbers of a dtype, all of a batch encoded at once. */
function numberCodes(
  { memory, offset }: Cells,
  dtype: Extract<KeyKind, { as: 'number' }>['dtype'],
  { descending, nan }: KeyOrder,
  rows: number,
): PutCode {
  const info = dtypeInfo(dtype);
  const width = info.bytes;
  const plain = new Uint8Array(rows * width);
  for (let i = 0; i < rows; i++) {
    const from = offset?.(i) ?? i * width;
    for (let k = 0; k < width; k++) plain[i * width + k] = memory?.[from + k] as number;
  }
  const stride = codeWordsOf(info);
  const codes = new Uint32Array(rows * stride);
  encodeRecords(keyWords(plain, info), codes, stride, keyCodec(dtype, { descending, nan }));
  return (i, to, at) => {
    for (let k = 0; k < width; k++) {
      const byte = width - 1 - k;
      to[at + k] = (codes[i * stride + (byte >> 2)] as number) >>> (8 * (byte & 3));
    }
  };
}

/** Whole numbers of any length, and bytes of a fixed one. */
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
