/** Matrices that come as a stream of keys: single columns of them, and the other order of their keys. */
import { bytesOf, keyWords, newArray } from '../keys/array.js';
import type { DtypeInfo } from '../keys/dtype.js';
import { PIECE_BYTES, type Source } from './raw.js';

/** A matrix whose keys stand row by row. */
export interface Matrix {
  readonly info: DtypeInfo;
  readonly rows: number;
  readonly columns: number;
}

type Pieces = AsyncIterable<Uint8Array>;

/** The keys of one column, of the keys of all. */
export async function* columnOf(
  pieces: Pieces,
  { info, columns }: Matrix,
  column: number,
): AsyncGenerator<Uint8Array> {
  let at = column; // of the column's next key, in keys from the beginning of the piece
  for await (const piece of pieces) {
    const keys = keyWords(piece, info) as Uint32Array; // stands for all four: each is indexed alike
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

/** Bytes of the rows that are put together at a time. */
const BAND_BYTES = 4 * PIECE_BYTES;
/** Reading fewer bytes at a place takes longer than reading all that is there. */
const MIN_BYTES = 4096;

/**
 * The keys of a matrix row by row, of a source that has them column by column: in bands of rows, whose keys are read
 * column by column, or picked from all keys where a band has few of each.
 *
 * @param source bytes of the keys at any position; undefined where they come only once and are kept therefore
 * @param pieces all keys, as often as asked for where there is a source
 * @param bandBytes what a band may take, if it has more than one row
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

/** What comes once, as often as it is asked for. */
async function replayable(pieces: Pieces): Promise<() => Pieces> {
  const list: Uint8Array[] = [];
  for await (const piece of pieces) list.push(piece);
  return async function* () {
    yield* list;
  };
}

/** Some rows of a matrix, being put together. */
class Band {
  readonly #keys: Uint32Array;
  readonly #columns: number;

  constructor(info: DtypeInfo, rows: number, columns: number) {
    this.#keys = keyWords(newArray(info.name, rows * columns), info) as Uint32Array; // stands for all four
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
