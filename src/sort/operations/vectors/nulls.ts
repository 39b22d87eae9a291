import { InputError } from '../../../util/errors.js';
import { inSlices, type Steps } from '../../host/steps.js';
import { type ArrowChunk, type ArrowVector, chunksOf } from '../../model/arrow-vector.js';

/** The positions of the rows of a vector with nulls. */
export interface NullSplit {
  readonly nulls: Uint32Array;
  readonly others: Uint32Array;
}

/** Returns whether a row of a chunk with nulls is not null. */
export function isValid({ nullBitmap, offset }: ArrowChunk, row: number): boolean {
  const bit = offset + row;
  return ((nullBitmap?.[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0;
}

/**
 * Separates the positions of nulls from the others.
 *
 * @throws InputError when the vector has another number of nulls than it declares
 */
export function* splitNulls(vector: ArrowVector): Steps<NullSplit> {
  const { length, nullCount } = vector;
  const split = { nulls: new Uint32Array(nullCount), others: new Uint32Array(length - nullCount) };
  let [first, atNull, atOther] = [0, 0, 0];
  for (const chunk of chunksOf(vector)) {
    const hasNulls = chunk.nullCount > 0;
    yield* inSlices(chunk.length, (start, end) => {
      for (let row = start; row < end; row++) {
        if (hasNulls && !isValid(chunk, row)) split.nulls[atNull++] = first + row;
        else split.others[atOther++] = first + row;
      }
    });
    first += chunk.length;
  }
  if (atNull === nullCount) return split;
  throw new InputError(
    `cannot read the vector: it declares ${nullCount} nulls, and its bitmap has ${atNull}. Create it with the right nullCount`,
  );
}

/** Returns the bitmap of `n` rows, of which those before `begin` and from `end` on are null; empty without nulls. */
export function nullBitmap(n: number, begin: number, end: number): Uint8Array {
  if (begin === 0 && end === n) return new Uint8Array(0);
  const bitmap = new Uint8Array(Math.ceil(n / 8));
  bitmap.fill(0xff, Math.ceil(begin / 8), Math.floor(end / 8));
  const setBits = (from: number, to: number) => {
    for (let bit = from; bit < to; bit++) bitmap[bit >> 3] = (bitmap[bit >> 3] as number) | (1 << (bit & 7));
  };
  const whole = Math.min(8 * Math.ceil(begin / 8), end);
  setBits(begin, whole);
  setBits(Math.max(whole, 8 * Math.floor(end / 8)), end);
  return bitmap;
}
