import type { ByteStrings } from '../../sort/operations/strings/byte-strings.js';
import { MemoryError } from '../../util/errors.js';
import { MAX_BYTES } from '../formats/subprocess/frames.js';
import type { Entry, EntrySink } from './entry.js';

import { BATCH_BYTES, BATCH_ROWS } from './policy.js';

/**
 * Checks the size of a batch. Only a single long row can exceed the limit.
 *
 * @throws MemoryError when the batch is too large for a frame
 */
function assertFitsInBatch(bytes: number): void {
  if (bytes > MAX_BYTES / 2) {
    throw new MemoryError(`cannot write a row of ${bytes} bytes: a row has at most ${MAX_BYTES / 2} bytes`);
  }
}

/** Destination of rows. */
export interface RowOutput {
  write(rows: number, bytes: Uint8Array): Promise<void>;
}

export interface RowWriter extends RowOutput {
  /** Writes what follows the rows. */
  end(): Promise<void>;
}

/** Sends rows, which are the values of the entries, to an output. */
export class RowSink implements EntrySink {
  readonly #output: RowOutput;
  readonly #maxRows: number;
  readonly #onRows: (rows: number) => void;
  readonly #parts: number;
  #memory = Buffer.allocUnsafe(BATCH_BYTES + 2 ** 16);
  #used = 0;
  #inBatch = 0;
  /** Number of rows so far. */
  rows = 0;

  /**
   * @param maxRows  number of rows after which the sink is done
   * @param onRows  callback with the number of rows written so far
   * @param parts  number of strings that are a row
   */
  constructor(output: RowOutput, maxRows: number, onRows: (rows: number) => void, parts = 1) {
    this.#output = output;
    this.#maxRows = maxRows;
    this.#onRows = onRows;
    this.#parts = parts;
  }

  get isDone(): boolean {
    return this.rows >= this.#maxRows;
  }

  put({ memory, valueAt, end }: Entry): boolean {
    const at = this.#reserve(end - valueAt);
    memory.copy(this.#memory, at, valueAt, end);
    return this.#isFull;
  }

  /** @returns whether the caller must await `flush` before the next row */
  add(rows: ByteStrings, i: number): boolean {
    const at = this.#reserve(rows.length(i));
    rows.copy(i, this.#memory, at);
    return this.#isFull;
  }

  /** Sends rows at positions to the output. A batch is gathered while the previous one is written. */
  async addAll(rows: ByteStrings, positions: Uint32Array): Promise<void> {
    let spare = Buffer.allocUnsafe(this.#memory.length);
    let writing = Promise.resolve();
    for (let from = 0; from < positions.length; ) {
      const place = { from, maxStrings: BATCH_ROWS, full: BATCH_BYTES };
      const taken = this.#inBatch === 0 ? rows.gather(positions, place, this.#memory) : undefined;
      let { strings, bytes } = taken ?? { strings: 0, bytes: 0 };
      while (strings % this.#parts > 0) bytes -= rows.length(positions[from + --strings] as number);
      if (strings > 0) {
        this.#used = bytes;
        this.#inBatch = strings;
        this.rows += strings / this.#parts;
        from += strings;
      } else if (!this.add(rows, positions[from++] as number)) continue;
      await writing;
      writing = this.flush();
      writing.catch(() => undefined); // reported when it is awaited
      [this.#memory, spare] = [spare, this.#memory];
    }
    await writing;
    await this.flush();
  }

  get #isFull(): boolean {
    const isFull = this.#used >= BATCH_BYTES || this.#inBatch >= BATCH_ROWS;
    return isFull && this.#inBatch % this.#parts === 0;
  }

  /** Counts a string and returns its place in the memory, which grows if necessary. */
  #reserve(bytes: number): number {
    const at = this.#used;
    this.#used += bytes;
    this.#inBatch++;
    this.rows += 1 / this.#parts;
    if (this.#used > this.#memory.length) {
      assertFitsInBatch(this.#used);
      const more = Buffer.allocUnsafe(Math.max(this.#used, 2 * this.#memory.length));
      this.#memory.copy(more, 0, 0, at);
      this.#memory = more;
    }
    return at;
  }

  async flush(): Promise<void> {
    if (this.#inBatch === 0) return;
    const [rows, bytes] = [this.#inBatch / this.#parts, this.#memory.subarray(0, this.#used)];
    this.#used = 0;
    this.#inBatch = 0;
    await this.#output.write(rows, bytes);
    this.#onRows(this.rows);
  }
}
