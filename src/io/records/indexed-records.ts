/**
 * Pairs records with their positions for a partitioned sort: the argsort of more records than fit in memory. An
 * indexed record holds the code of a key or record and its position.
 */
import { type Dtype, dtypeInfo } from '../../keys/dtype.js';
import { runYielding } from '../../sort/host/steps.js';
import { WORD_BYTES, wordSpan } from '../../sort/operations/strings/code-order.js';
import { layoutOrdering } from './layout-ordering.js';
import { RecordCodes } from './record-codes.js';
import { type RecordLayout, recordKeys } from './record-keys.js';
import { keyOrdering, type RecordOrdering } from './record-ordering.js';

/** Writes the codes of a piece into zeroed indexed records. */
type Encode = (piece: Uint8Array, indexed: Uint32Array) => void | Promise<void>;

/** Size of an indexed record and place of its position, in 32-bit words. */
interface IndexLayout {
  readonly words: number;
  readonly position: number;
  readonly positionWords: 1 | 2;
}

export class IndexedRecords {
  /** Order of the indexed records. It is stable, so positions of equal records stay in order. */
  readonly order: RecordOrdering;
  /** Size of a plain record in bytes. */
  readonly #recordBytes: number;
  readonly #layout: IndexLayout;
  readonly #encode: Encode;

  private constructor(
    records: Pick<RecordOrdering, 'recordBytes' | 'description'>,
    order: RecordOrdering,
    layout: IndexLayout,
    encode: Encode,
  ) {
    this.order = { ...order, description: `${records.description} with positions` };
    this.#recordBytes = records.recordBytes;
    this.#layout = layout;
    this.#encode = encode;
  }

  /**
   * Returns the indexed form of keys. It holds the code of a key, so one order serves all dtypes, directions and bit
   * ranges.
   *
   * @param keys order of the keys
   * @param dtype dtype of the keys
   * @param isWide whether positions may need more than 32 bits
   */
  static ofKeys(keys: RecordOrdering, dtype: Dtype, isWide: boolean): IndexedRecords {
    const codeWords = dtypeInfo(dtype).width === 64 ? 2 : 1;
    const positionWords = isWide ? 2 : 1;
    const words = codeWords + positionWords;
    // A record of two words is a 64-bit number that is sorted by its upper half.
    const isNumber = words === 2;
    const [code, position] = isNumber ? [1, 0] : [0, codeWords];
    const order = isNumber
      ? keyOrdering({ dtype: 'u64', bits: [32, 64] })
      : layoutOrdering({ record: 4 * words, keys: [`0:u${32 * codeWords}`] });
    const encode: Encode = (piece, indexed) => {
      const prefixes = keys.prefix(piece);
      const codes = new Uint32Array(prefixes.buffer, prefixes.byteOffset, 2 * prefixes.length);
      for (let i = 0, at = 0; at < indexed.length; i += 2, at += words) {
        indexed[at + code] = codes[i] as number;
        if (codeWords === 2) indexed[at + 1] = codes[i + 1] as number;
      }
    };
    return new IndexedRecords(keys, order, { words, position, positionWords }, encode);
  }

  /**
   * Returns the indexed form of records.
   *
   * @throws UsageError when the layout is invalid
   * @throws DtypeError when the layout names an unknown dtype
   */
  static ofLayout(layout: RecordLayout): IndexedRecords {
    const codes = new RecordCodes(layout.record, recordKeys(layout));
    const position = Math.ceil(codes.bytes / 4);
    const words = position + 2;
    const recordBytes = 4 * words;
    const encode: Encode = async (piece, indexed) => {
      const to = new Uint8Array(indexed.buffer);
      const n = indexed.length / words;
      for (let begin = 0; begin < codes.bytes; begin += WORD_BYTES) {
        const span = wordSpan(begin, codes.bytes);
        const numbers = new BigUint64Array(n);
        await runYielding(codes.fill({ bytes: piece }, span, numbers));
        const bytes = new Uint8Array(numbers.buffer);
        // The first byte of a code is the most significant byte of its word.
        for (let at = begin; at < span.end; at++) {
          for (let i = 0, from = span.end - 1 - at; i < n; i++, from += WORD_BYTES) {
            to[i * recordBytes + at] = bytes[from] as number;
          }
        }
      }
    };
    return new IndexedRecords(
      layoutOrdering(layout),
      layoutOrdering({ record: recordBytes, keys: [`0:${codes.bytes}`] }),
      { words, position, positionWords: 2 },
      encode,
    );
  }

  /** Returns the size of the indexed records for `bytes` bytes of plain ones. */
  bytesOf(bytes: number): number {
    return (bytes / this.#recordBytes) * this.order.recordBytes;
  }

  /**
   * Yields indexed records, piece by piece.
   *
   * @param pieces plain records
   * @param onTotal receives the number of records at the end
   */
  async *interleave(
    pieces: AsyncIterable<Uint8Array>,
    onTotal: (n: number) => void,
  ): AsyncGenerator<Uint8Array> {
    const { words, position, positionWords } = this.#layout;
    let n = 0;
    for await (const piece of pieces) {
      const indexed = new Uint32Array((piece.length / this.#recordBytes) * words);
      await this.#encode(piece, indexed);
      for (let at = position; at < indexed.length; at += words, n++) {
        indexed[at] = n; // modulo 2^32
        if (positionWords === 2) indexed[at + 1] = Math.floor(n / 2 ** 32);
      }
      yield new Uint8Array(indexed.buffer);
    }
    onTotal(n);
  }

  /** Returns the positions of indexed records as little-endian numbers of `dtype`. */
  positionsOf(piece: Uint8Array, dtype: 'u32' | 'u64'): Uint8Array {
    const { words, position, positionWords } = this.#layout;
    const aligned = piece.byteOffset % 4 === 0 ? piece : piece.slice();
    const indexed = new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.length / 4);
    const stride = dtype === 'u64' ? 2 : 1;
    const positions = new Uint32Array((indexed.length / words) * stride);
    for (let at = position, to = 0; at < indexed.length; at += words, to += stride) {
      positions[to] = indexed[at] as number;
      if (stride === 2 && positionWords === 2) positions[to + 1] = indexed[at + 1] as number;
    }
    return new Uint8Array(positions.buffer);
  }
}
