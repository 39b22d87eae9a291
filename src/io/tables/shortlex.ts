import { inSlices, type Steps } from '../../sort/host/steps.js';
import type { ByteStrings } from '../../sort/operations/strings/byte-strings.js';
import { type Codes, type Span, WORD_BYTES } from '../../sort/operations/strings/code-order.js';

/** Size of a length. */
const LENGTH_BYTES = 4;

/** Returns prefix-free codes that order strings by length, and strings of equal length by their bytes. */
export const shortlexCodes = (strings: ByteStrings, rows: Uint32Array): Codes => ({
  n: rows.length,
  bytes: LENGTH_BYTES + strings.bytes,
  *fill({ begin, end }: Span, words: BigUint64Array, at?: Uint32Array): Steps {
    const out = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
    yield* inSlices(words.length, (start, stop) => {
      for (let i = start; i < stop; i++) {
        const bytes = strings.at(rows[at ? (at[i] as number) : i] as number);
        // Words are little-endian: the last byte of the span is the lowest.
        let place = i * WORD_BYTES + end - begin - 1;
        for (let k = begin; k < end; k++) {
          out[place--] =
            k < LENGTH_BYTES ? bytes.length >>> (8 * (LENGTH_BYTES - 1 - k)) : (bytes[k - LENGTH_BYTES] ?? 0);
        }
      }
    });
  },
  isOver: (i, end) => LENGTH_BYTES + strings.length(rows[i] as number) <= end,
});
