/** Order checks of records. */
import { runSync, type Steps } from '../../sort/host/steps.js';
import { SLICE_BYTES } from './policy.js';
import type { RecordOrdering } from './record-ordering.js';

/** Returns the first record of a piece that belongs before its predecessor; −1 when there is none. */
export function* findDescentSteps(order: RecordOrdering, piece: Uint8Array): Steps<number> {
  const { recordBytes, exact } = order;
  const n = piece.length / recordBytes;
  const step = Math.max(2, Math.floor(SLICE_BYTES / recordBytes));
  // Slices share a record, so that every neighbour pair is compared.
  for (let start = 0; start < n - 1; start += step - 1) {
    const slice = piece.subarray(start * recordBytes, Math.min(start + step, n) * recordBytes);
    if (order.isCertainlySorted?.(slice)) {
      yield;
      continue;
    }
    const prefixes = order.prefix(slice);
    const words = new Uint32Array(prefixes.buffer, prefixes.byteOffset, prefixes.length * 2);
    for (let w = 2; w < words.length; w += 2) {
      const [low, high] = [words[w] as number, words[w + 1] as number];
      const [lastLow, lastHigh] = [words[w - 2] as number, words[w - 1] as number];
      if (high > lastHigh || (high === lastHigh && low > lastLow)) continue;
      const i = start + w / 2;
      if (high < lastHigh || low < lastLow) return i;
      if (!exact && order.compare(piece, i, piece, i - 1) < 0) return i;
    }
    yield;
  }
  return -1;
}

/** `findDescentSteps`, run synchronously. */
export const findDescent = (order: RecordOrdering, piece: Uint8Array): number =>
  runSync(findDescentSteps(order, piece));

/** Checks whether records that arrive in pieces are in order. */
export class RecordOrderChecker {
  readonly #order: RecordOrdering;
  /** The last record so far. */
  #last: Uint8Array | undefined;
  #n = 0;
  #descent: number | undefined;

  constructor(order: RecordOrdering) {
    this.#order = order;
  }

  /** Number of records so far. */
  get n(): number {
    return this.#n;
  }

  /** Position of the first record that belongs before its predecessor, from 0. */
  get descent(): number | undefined {
    return this.#descent;
  }

  /** @param piece the next whole records; may be reused after the call */
  add(piece: Uint8Array): void {
    runSync(this.steps(piece));
  }

  /** `add` in steps. */
  *steps(piece: Uint8Array): Steps {
    if (piece.length === 0) return;
    const { recordBytes } = this.#order;
    if (this.#descent === undefined) {
      const boundary = this.#last && Buffer.concat([this.#last, piece.subarray(0, recordBytes)]);
      const isBelow = boundary && findDescent(this.#order, boundary) === 1;
      const at = isBelow ? 0 : yield* findDescentSteps(this.#order, piece);
      if (at !== -1) this.#descent = this.#n + at;
    }
    this.#last = piece.slice(piece.length - recordBytes);
    this.#n += piece.length / recordBytes;
  }
}
