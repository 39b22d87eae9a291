/**
 * Pairs keys with their positions in records for a partitioned sort. A record holds the code of its key, so one order
 * serves all dtypes, directions and bit ranges.
 */
import { type Dtype, dtypeInfo } from '../../keys/dtype.js';
import { layoutOrdering } from './layout-ordering.js';
import { keyOrdering, type RecordOrdering } from './record-ordering.js';

/** Size of a record in 32-bit words, and the offsets of its fields. */
interface Layout {
  readonly words: number;
  readonly code: number;
  readonly codeWords: 1 | 2;
  readonly position: number;
  readonly positionWords: 1 | 2;
}

export class IndexedKeys {
  /** Order of the records. It is stable, so positions of equal keys stay in order. */
  readonly order: RecordOrdering;
  readonly #keys: RecordOrdering;
  readonly #layout: Layout;

  /**
   * @param keys order of the keys
   * @param dtype dtype of the keys
   * @param isWide whether positions may need more than 32 bits
   */
  constructor(keys: RecordOrdering, dtype: Dtype, isWide: boolean) {
    this.#keys = keys;
    const codeWords = dtypeInfo(dtype).width === 64 ? 2 : 1;
    const positionWords = isWide ? 2 : 1;
    // A record of two words is a 64-bit number that is sorted by its upper half.
    const isNumber = codeWords + positionWords === 2;
    const [code, position] = isNumber ? [1, 0] : [0, codeWords];
    this.#layout = { words: codeWords + positionWords, code, codeWords, position, positionWords };
    const records = `${keys.description} with positions`;
    const order: RecordOrdering = isNumber
      ? keyOrdering({ dtype: 'u64', bits: [32, 64] })
      : layoutOrdering({ record: 4 * this.#layout.words, keys: [`0:u${32 * codeWords}`] });
    this.order = { ...order, description: records };
  }

  /** Returns the size of the records for `bytes` bytes of keys. */
  bytesOf(bytes: number): number {
    return (bytes / this.#keys.recordBytes) * this.order.recordBytes;
  }

  /**
   * Yields the records of keys, piece by piece.
   *
   * @param pieces keys
   * @param onTotal receives the number of keys at the end
   */
  async *interleave(
    pieces: AsyncIterable<Uint8Array>,
    onTotal: (n: number) => void,
  ): AsyncGenerator<Uint8Array> {
    let n = 0;
    for await (const piece of pieces) {
      yield this.#recordsOf(piece, n);
      n += piece.length / this.#keys.recordBytes;
    }
    onTotal(n);
  }

  #recordsOf(piece: Uint8Array, first: number): Uint8Array {
    const { words, code, codeWords, position, positionWords } = this.#layout;
    const prefixes = this.#keys.prefix(piece);
    const codes = new Uint32Array(prefixes.buffer, prefixes.byteOffset, 2 * prefixes.length);
    const records = new Uint32Array(prefixes.length * words);
    for (let i = 0, at = 0; i < prefixes.length; i++, at += words) {
      records[at + code] = codes[2 * i] as number;
      if (codeWords === 2) records[at + 1] = codes[2 * i + 1] as number;
      records[at + position] = first + i; // modulo 2^32
      if (positionWords === 2) records[at + position + 1] = Math.floor((first + i) / 2 ** 32);
    }
    return new Uint8Array(records.buffer);
  }

  /** Returns the positions of records as little-endian numbers of `dtype`. */
  positionsOf(piece: Uint8Array, dtype: 'u32' | 'u64'): Uint8Array {
    const { words, position, positionWords } = this.#layout;
    const aligned = piece.byteOffset % 4 === 0 ? piece : piece.slice();
    const records = new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.length / 4);
    const stride = dtype === 'u64' ? 2 : 1;
    const positions = new Uint32Array((records.length / words) * stride);
    for (let at = position, to = 0; at < records.length; at += words, to += stride) {
      positions[to] = records[at] as number;
      if (stride === 2 && positionWords === 2) positions[to + 1] = records[at + 1] as number;
    }
    return new Uint8Array(positions.buffer);
  }
}
