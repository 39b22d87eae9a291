/** Finds the rows that may be among the first ones in order, while rows are read. */
import type { CodeColumn, KeyOrder } from './key-codes.js';
import { SPARE_ROWS } from './policy.js';

/** Rows of a batch. */
export interface RankedRows {
  readonly rows: number;
  readonly codes: CodeColumn;
  /** Number of the first row among all rows. Default: the rows follow those of the batch before. */
  readonly firstRow?: number;
  /**
   * Numbers of the first key. A number after another one in this order means that its row comes later; equal numbers
   * and NaNs mean nothing. Default: codes are compared.
   */
  readonly numbers?: ArrayLike<number> | undefined;
  /** Returns the value to keep for a row. */
  readonly value?: ((i: number) => Uint8Array) | undefined;
}

interface Candidate {
  readonly code: Buffer;
  /** Number of the row among all rows. */
  readonly row: number;
  /** Number of the first key; NaN if unknown. */
  readonly number: number;
  readonly value: Uint8Array | undefined;
}

/** A row among the first ones. */
export type FirstRow = Pick<Candidate, 'row' | 'value'>;

/**
 * Keeps the codes of the first `k` rows. Of rows with equal codes, those with lower numbers come first. Time: O(n)
 * comparisons of numbers or codes, as long as few rows become candidates; memory: O(k) codes.
 */
export class FirstRows {
  readonly #k: number;
  readonly #descending: boolean;
  readonly #candidates: Candidate[] = [];
  /** The last of the first `k` rows so far; undefined while there are fewer. */
  #last: Candidate | undefined;
  #rows = 0;
  #code = Buffer.alloc(64);

  /** @param order  order of the numbers; default ascending */
  constructor(k: number, { descending }: Pick<KeyOrder, 'descending'> = { descending: false }) {
    this.#k = k;
    this.#descending = descending;
  }

  /** Takes the rows of a batch, and returns the indices of those that may be among the first `k` of all. */
  select(rows: number, codes: CodeColumn): Uint32Array {
    const first = this.#rows;
    this.add({ rows, codes });
    return Uint32Array.from(
      this.#candidates.flatMap(({ row }) => (row >= first ? [row - first] : [])),
    ).sort();
  }

  /** Takes the rows of a batch. */
  add({ rows, codes, firstRow = this.#rows, numbers, value }: RankedRows): void {
    this.#rows = firstRow + rows;
    if (this.#k === 0) return;
    for (let i = this.#next(0, rows, numbers); i < rows; i = this.#next(i + 1, rows, numbers)) {
      const size = codes.size(i);
      if (size > this.#code.length) this.#code = Buffer.alloc(2 * size);
      codes.put(i, this.#code, 0);
      const row = firstRow + i;
      if (!this.#mayPrecede(this.#code, size, row)) continue;
      const code = Buffer.from(this.#code.subarray(0, size));
      this.#candidates.push({ code, row, number: numbers?.[i] ?? Number.NaN, value: value?.(i) });
      if (this.#candidates.length >= 2 * this.#k + SPARE_ROWS) this.#prune();
    }
  }

  /** Returns whether a row with a number of at least `row` and a code that is or follows `bound` may be among the first. */
  mayContain(bound: Uint8Array, row: number): boolean {
    return this.#k > 0 && this.#mayPrecede(bound, bound.length, row);
  }

  /** Returns the first `k` rows of all, by their numbers. */
  rows(): readonly FirstRow[] {
    this.#prune();
    return this.#candidates.toSorted((a, b) => a.row - b.row);
  }

  /** Returns the next row from `i` on whose number does not exclude it. */
  #next(i: number, rows: number, numbers: ArrayLike<number> | undefined): number {
    const last = this.#last?.number ?? Number.NaN;
    if (!numbers || Number.isNaN(last)) return i;
    if (this.#descending) while (i < rows && (numbers[i] as number) < last) i++;
    else while (i < rows && (numbers[i] as number) > last) i++;
    return i;
  }

  /** Returns whether the first `size` bytes of a code, or of a row with such a code, come before the last candidate. */
  #mayPrecede(code: Uint8Array, size: number, row: number): boolean {
    if (!this.#last) return true;
    const { code: last } = this.#last;
    const length = Math.min(size, last.length);
    for (let k = 0; k < length; k++) {
      const difference = (code[k] as number) - (last[k] as number);
      if (difference !== 0) return difference < 0;
    }
    // Codes are prefix-free: a shorter one is a bound of the first key only.
    return size < last.length || row < this.#last.row;
  }

  #prune(): void {
    this.#candidates.sort((a, b) => Buffer.compare(a.code, b.code) || a.row - b.row);
    if (this.#candidates.length < this.#k) return;
    this.#candidates.length = this.#k;
    this.#last = this.#candidates.at(-1);
  }
}
