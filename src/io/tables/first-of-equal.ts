import { ByteStrings } from '../../sort/operations/strings/byte-strings.js';
import type { Entry, EntrySink } from './entry.js';
import { ORDER_BYTES } from './policy.js';

/** Bytes of the memory blocks that collect strings: few blocks, and little unused memory. */
const BATCH_BYTES = 2 ** 20;
/** Size of the length that keys start with. */
const LENGTH_BYTES = 4;

/**
 * Keeps the first entry of each group with equal distinct bytes, and uses its code as the key. The key of an input
 * entry is the length of the distinct bytes (big-endian), the distinct bytes, and a code.
 */
export class FirstOfEqual implements EntrySink {
  readonly #maxBytes: number;
  readonly #isWhole: boolean;
  readonly #spill: (codes: ByteStrings, rows: ByteStrings) => Promise<void>;
  #codes = new Gatherer();
  #rows = new Gatherer();
  #last = Buffer.alloc(0);

  /**
   * @param maxBytes  size of the kept entries in bytes at which they are spilled
   * @param isWhole  whether the distinct bytes are the whole row
   */
  constructor(
    maxBytes: number,
    isWhole: boolean,
    spill: (codes: ByteStrings, rows: ByteStrings) => Promise<void>,
  ) {
    this.#maxBytes = maxBytes;
    this.#isWhole = isWhole;
    this.#spill = spill;
  }

  put({ memory, keyAt, valueAt, end }: Entry): boolean {
    const equalAt = keyAt + LENGTH_BYTES;
    const codeAt = equalAt + memory.readUInt32BE(keyAt);
    if (memory.compare(this.#last, 0, this.#last.length, keyAt, codeAt) === 0) return false;
    this.#last = Buffer.from(memory.subarray(keyAt, codeAt));
    this.#codes.add(memory, codeAt, valueAt);
    if (this.#isWhole) this.#rows.add(memory, equalAt, codeAt);
    else this.#rows.add(memory, valueAt, end);
    return this.#codes.bytes + this.#rows.bytes + this.#codes.n * ORDER_BYTES >= this.#maxBytes;
  }

  async flush(): Promise<void> {
    if (this.#codes.n === 0) return;
    const [codes, rows] = [this.#codes.end(), this.#rows.end()];
    this.#codes = new Gatherer();
    this.#rows = new Gatherer();
    await this.#spill(codes, rows);
  }

  end(): Promise<void> {
    return this.flush();
  }
}

/** Collects strings in its own memory. */
class Gatherer {
  readonly #strings = new ByteStrings();
  #batch = Buffer.allocUnsafe(BATCH_BYTES);
  #used = 0;
  #lengths: number[] = [];
  bytes = 0;
  n = 0;

  add(from: Buffer, begin: number, end: number): void {
    const length = end - begin;
    if (this.#used + length > this.#batch.length) {
      this.#close();
      this.#batch = Buffer.allocUnsafe(Math.max(BATCH_BYTES, length));
    }
    from.copy(this.#batch, this.#used, begin, end);
    this.#used += length;
    this.#lengths.push(length);
    this.bytes += length;
    this.n++;
  }

  #close(): void {
    const lengths = new Uint8Array(Uint32Array.from(this.#lengths).buffer);
    this.#strings.add(lengths, this.#batch.subarray(0, this.#used));
    this.#used = 0;
    this.#lengths = [];
  }

  end(): ByteStrings {
    this.#close();
    return this.#strings;
  }
}
