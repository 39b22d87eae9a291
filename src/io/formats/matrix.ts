/** Streamed matrices: extraction of single columns, and conversion from column-major to row-major order. */
import { bytesOf, keyWords, newArray } from '../../keys/array.js';
import type { DtypeInfo } from '../../keys/dtype.js';
import { PIECE_BYTES } from '../streams/policy.js';
import type { Source } from '../streams/raw.js';

/** Dimensions of a matrix. */
export interface Matrix {
  readonly info: DtypeInfo;
  readonly rows: number;
  readonly columns: number;
}

type Pieces = AsyncIterable<Uint8Array>;

/** Yields the keys of one column of a row-major matrix. */
export async function* columnOf(
  pieces: Pieces,
  { info, columns }: Matrix,
  column: number,
): AsyncGenerator<Uint8Array> {
  let at = column; // the next key of the column, as an offset from the start of the piece
  for await (const piece of pieces) {
    const keys = keyWords(piece, info) as Uint32Array; // stands for all four types, which are indexed alike
    if (at < keys.length) {
      const count = Math.ceil((keys.length - at) / columns);
      const picked = new (keys.constructor as typeof Uint32Array)(count);
      for (let i = 0; i < count; i++) picked[i] = keys[at + i * columns] as number;
      at += count * columns;
      yield new Uint8Array(picked.buffer);
    }
    at -= keys.length;
  }
}

/** Maximum bytes of a band of rows. */
const BAND_BYTES = 4 * PIECE_BYTES;
/** Below this size, a read per column takes longer than reading all keys. */
const MIN_BYTES = 4096;

/**
 * Converts a column-major matrix to row-major order, in bands of rows. A band is read column by column, or picked from
 * a scan of all keys when it holds little of each column.
 *
 * @param matrix dtype and dimensions
 * @param source reads bytes at any position; undefined when the keys come only once, which are then kept in memory
 * @param pieces returns all keys; called once per band if there is a source
 * @param bandBytes maximum bytes of a band of more than one row
 */
export async function* rowByRow(
  { info, rows, columns }: Matrix,
  source: Source['readAt'],
  pieces: () => Pieces,
  bandBytes: number = BAND_BYTES,
): AsyncGenerator<Uint8Array> {
  const { bytes } = info;
  const inBand = Math.min(rows, Math.max(1, Math.floor(bandBytes / (columns * bytes))));
  const all = source ? pieces : await replayable(pieces());
  for (let first = 0; first < rows; first += inBand) {
    const count = Math.min(inBand, rows - first);
    const band = new Band(info, count, columns);
    if (source && count * bytes >= MIN_BYTES) {
      for (let column = 0; column < columns; column++) {
        const part = new Uint8Array(count * bytes);
        await source(part, (column * rows + first) * bytes);
        band.put(keyWords(part, info), 0, column);
      }
    } else {
      let at = 0;
      for await (const piece of all()) {
        const keys = keyWords(piece, info);
        for (let column = Math.floor(at / rows); column * rows < at + keys.length; column++) {
          const begin = column * rows + first - at;
          const [from, to] = [Math.max(0, begin), Math.min(keys.length, begin + count)];
          if (from < to) band.put(keys.subarray(from, to), from - begin, column);
        }
        at += keys.length;
      }
    }
    yield* band.pieces();
  }
}

/** Makes a stream that can be read once replayable, by keeping its pieces in memory. */
async function replayable(pieces: Pieces): Promise<() => Pieces> {
  const list: Uint8Array[] = [];
  for await (const piece of pieces) list.push(piece);
  return async function* () {
    yield* list;
  };
}

/** A band of rows under construction. */
class Band {
  readonly #keys: Uint32Array;
  readonly #columns: number;

  constructor(info: DtypeInfo, rows: number, columns: number) {
    this.#keys = keyWords(newArray(info.name, rows * columns), info) as Uint32Array; // stands for all four types
    this.#columns = columns;
  }

  put(keys: ArrayLike<number | bigint>, row: number, column: number): void {
    const to = this.#keys;
    for (let i = 0, at = row * this.#columns + column; i < keys.length; i++, at += this.#columns) {
      to[at] = keys[i] as number;
    }
  }

  *pieces(): Generator<Uint8Array> {
    const { byteLength } = this.#keys;
    for (let at = 0; at < byteLength; at += PIECE_BYTES) {
      yield bytesOf(this.#keys, at, Math.min(at + PIECE_BYTES, byteLength));
    }
  }
}
