/** Finds the rows that may be among the first ones in order, while rows are read. */
import type { CodeColumn } from './key-codes.js';
import { SPARE_ROWS } from './policy.js';

interface Candidate {
  readonly code: Buffer;
  /** Number of the row among all rows so far. */
  readonly row: number;
}

/**
 * Keeps the codes of the first `k` rows. Of rows with equal codes, earlier ones come first. Time: O(n) comparisons of
 * codes, as long as few rows become candidates; memory: O(k) codes.
 */
export class FirstRows {
  readonly #k: number;
  #candidates: Candidate[] = [];
  #last: Buffer | undefined;
  #rows = 0;
  #code = Buffer.alloc(64);

  constructor(k: number) {
    this.#k = k;
  }

  /** Takes the rows of a batch, and returns the indices of those that may be among the first `k` of all. */
  select(rows: number, codes: CodeColumn): Uint32Array {
    if (this.#k === 0) return new Uint32Array(0);
    const first = this.#rows;
    this.#rows += rows;
    for (let i = 0; i < rows; i++) {
      const size = codes.size(i);
      if (size > this.#code.length) this.#code = Buffer.alloc(2 * size);
      const code = this.#code;
      codes.put(i, code, 0);
      if (this.#last && !isBefore(code, size, this.#last)) continue;
      this.#candidates.push({ code: Buffer.from(code.subarray(0, size)), row: first + i });
      if (this.#candidates.length >= 2 * this.#k + SPARE_ROWS) this.#prune();
    }
    const found = this.#candidates.flatMap(({ row }) => (row >= first ? [row - first] : []));
    return Uint32Array.from(found).sort();
  }

  #prune(): void {
    this.#candidates.sort((a, b) => Buffer.compare(a.code, b.code) || a.row - b.row);
    this.#candidates.length = this.#k;
    this.#last = this.#candidates.at(-1)?.code;
  }
}

/** Returns whether the first `size` bytes of a code are less than another code. Codes are prefix-free. */
function isBefore(code: Uint8Array, size: number, other: Uint8Array): boolean {
  const length = Math.min(size, other.length);
  for (let k = 0; k < length; k++) {
    const difference = (code[k] as number) - (other[k] as number);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
