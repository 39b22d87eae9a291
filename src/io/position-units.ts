/**
 * Keys with their positions, as units that are sorted in partitions: the code of each key, so that one order does for all
 * dtypes, directions and windows of bits, and where it stood.
 */
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { recordOrder } from './record-order.js';
import { keyOrder, type UnitOrder } from './unit-order.js';

/** 32-bit words of a unit, and where in it they are. */
interface Layout {
  readonly words: number;
  readonly code: number;
  readonly codeWords: 1 | 2;
  readonly position: number;
  readonly positionWords: 1 | 2;
}

export class PositionUnits {
  /** By which units are sorted; equal ones stay, and with them the positions of equal keys. */
  readonly order: UnitOrder;
  readonly #keys: UnitOrder;
  readonly #layout: Layout;

  /**
   * @param keys the order of the keys
   * @param isWide whether positions take more than 32 bits, or may do so
   */
  constructor(keys: UnitOrder, dtype: Dtype, isWide: boolean) {
    this.#keys = keys;
    const codeWords = dtypeInfo(dtype).width === 64 ? 2 : 1;
    const positionWords = isWide ? 2 : 1;
    // Of two words the unit is a number of 64 bits, whose higher half is what counts.
    const isNumber = codeWords + positionWords === 2;
    const [code, position] = isNumber ? [1, 0] : [0, codeWords];
    this.#layout = { words: codeWords + positionWords, code, codeWords, position, positionWords };
    const units = `${keys.units} with positions`;
    const order: UnitOrder = isNumber
      ? keyOrder({ dtype: 'u64', bits: [32, 64] })
      : recordOrder({ record: 4 * this.#layout.words, keys: [`0:u${32 * codeWords}`] });
    this.order = { ...order, units };
  }

  /** Bytes of the units of so many bytes of keys. */
  bytesOf(bytes: number): number {
    return (bytes / this.#keys.unit) * this.order.unit;
  }

  /** The units of keys in pieces. @param onTotal hears how many there were at the end */
  async *of(pieces: AsyncIterable<Uint8Array>, onTotal: (n: number) => void): AsyncGenerator<Uint8Array> {
    let n = 0;
    for await (const piece of pieces) {
      yield this.#unitsOf(piece, n);
      n += piece.length / this.#keys.unit;
    }
    onTotal(n);
  }

  #unitsOf(piece: Uint8Array, first: number): Uint8Array {
    const { words, code, codeWords, position, positionWords } = this.#layout;
    const prefixes = this.#keys.prefix(piece);
    const codes = new Uint32Array(prefixes.buffer, prefixes.byteOffset, 2 * prefixes.length);
    const units = new Uint32Array(prefixes.length * words);
    for (let i = 0, at = 0; i < prefixes.length; i++, at += words) {
      units[at + code] = codes[2 * i] as number;
      if (codeWords === 2) units[at + 1] = codes[2 * i + 1] as number;
      units[at + position] = first + i; // modulo 2^32
      if (positionWords === 2) units[at + position + 1] = Math.floor((first + i) / 2 ** 32);
    }
    return new Uint8Array(units.buffer);
  }

  /** The positions of units, as little-endian numbers of a dtype. */
  positionsOf(piece: Uint8Array, dtype: 'u32' | 'u64'): Uint8Array {
    const { words, position, positionWords } = this.#layout;
    const aligned = piece.byteOffset % 4 === 0 ? piece : piece.slice();
    const units = new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.length / 4);
    const stride = dtype === 'u64' ? 2 : 1;
    const positions = new Uint32Array((units.length / words) * stride);
    for (let at = position, to = 0; at < units.length; at += words, to += stride) {
      positions[to] = units[at] as number;
      if (stride === 2 && positionWords === 2) positions[to + 1] = units[at + 1] as number;
    }
    return new Uint8Array(positions.buffer);
  }
}
