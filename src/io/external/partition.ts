/** The stage that distributes records to partitions, in input order. */
import type { Multiset } from '../checks/multiset.js';
import type { RecordOrdering } from '../records/record-ordering.js';
import { assertNotAborted } from '../streams/raw.js';
import { Placer } from './place.js';
import { MAX_PLACED_RECORDS, MAX_WRITES } from './policy.js';
import type { Spill } from './spill.js';
import type { Splitters } from './splitters.js';

/** Distributes records to partitions: places each piece by partition, then writes the part of each partition. */
export class Partitioner {
  readonly #spill: Spill;
  readonly #names: readonly string[];
  /** Size of each partition so far, in bytes. */
  readonly #sizes: Float64Array;
  readonly #recordBytes: number;
  readonly #placer: Placer;
  /** One receives placed records while the other is written. */
  readonly #buffers: readonly [Uint8Array, Uint8Array];
  readonly #writing: [Promise<void>, Promise<void>] = [Promise.resolve(), Promise.resolve()];
  #bufferIndex = 0;
  #failure: unknown;

  /**
   * @param order order of the records
   * @param splitters bounds of the partitions
   * @param to spill and partition names; `buffer` is split into two halves for placed pieces, and `sizes` has the bytes
   * that the partitions already hold
   */
  constructor(
    order: RecordOrdering,
    splitters: Splitters,
    to: {
      readonly spill: Spill;
      readonly names: readonly string[];
      readonly buffer: Uint8Array;
      readonly sizes?: readonly number[] | undefined;
    },
  ) {
    const { recordBytes } = order;
    this.#placer = new Placer(order, splitters);
    this.#spill = to.spill;
    this.#names = to.names;
    this.#recordBytes = recordBytes;
    this.#sizes = Float64Array.from(to.sizes ?? new Array(splitters.partitions).fill(0));
    const recordCount = Math.min(MAX_PLACED_RECORDS, Math.floor(to.buffer.length / 2 / recordBytes));
    const bytes = Math.max(1, recordCount) * recordBytes;
    const buffer = recordCount === 0 ? new Uint8Array(2 * bytes) : to.buffer;
    this.#buffers = [buffer.subarray(0, bytes), buffer.subarray(bytes, 2 * bytes)];
  }

  /** Size of each partition in bytes; complete after `flush` has resolved. */
  get sizes(): number[] {
    return [...this.#sizes];
  }

  /**
   * Adds whole records, which may be overwritten once the promise resolves.
   *
   * @throws IoError when a write fails
   */
  async add(piece: Uint8Array): Promise<void> {
    const step = this.#buffers[0].length;
    for (let at = 0; at < piece.length; at += step) {
      const part = piece.subarray(at, at + step);
      const bufferIndex = this.#bufferIndex as 0 | 1;
      this.#bufferIndex = 1 - bufferIndex;
      await this.#writing[bufferIndex];
      if (this.#failure) throw this.#failure;
      const placed =
        this.#spill.allocate?.(part.length) ?? this.#buffers[bufferIndex].subarray(0, part.length);
      const counts = await this.#placer.place(part, placed);
      this.#writing[bufferIndex] = this.#write(placed, counts);
    }
  }

  /**
   * Adds all pieces and waits for the writes, also after a failure.
   *
   * @param pieces whole records
   * @param options.checksum also receives the records
   * @param options.onAdded called after each piece with its size in bytes
   * @throws IoError when a write fails
   * @throws AbortedError when the signal aborts
   */
  async addAll(
    pieces: AsyncIterable<Uint8Array>,
    {
      signal,
      checksum,
      onAdded,
    }: {
      readonly signal: AbortSignal;
      readonly checksum?: Multiset | undefined;
      readonly onAdded?: (bytes: number) => Promise<void> | void;
    },
  ): Promise<void> {
    try {
      for await (const piece of pieces) {
        assertNotAborted(signal);
        const counted = checksum?.add(piece);
        counted?.catch(() => undefined); // awaited later, possibly after another failure
        await this.add(piece);
        await counted;
        await onAdded?.(piece.length);
      }
      await this.flush();
    } finally {
      await Promise.all(this.#writing);
    }
  }

  /**
   * Waits for all writes.
   *
   * @throws IoError when a write failed
   */
  async flush(): Promise<void> {
    await Promise.all(this.#writing);
    if (this.#failure) throw this.#failure;
  }

  /** Appends placed records to their partitions. Never rejects: `add` and `flush` throw the failure. */
  async #write(placed: Uint8Array, counts: Uint32Array): Promise<void> {
    const writes: (() => Promise<void>)[] = [];
    let begin = 0;
    counts.forEach((count, p) => {
      if (count === 0) return;
      const bytes = placed.subarray(begin, begin + count * this.#recordBytes);
      const position = this.#sizes[p] as number;
      begin += bytes.length;
      this.#sizes[p] = position + bytes.length;
      writes.push(() => this.#spill.write(this.#names[p] as string, position, bytes));
    });
    const some = async (): Promise<void> => {
      try {
        for (let write = writes.shift(); write && !this.#failure; write = writes.shift()) await write();
      } catch (error) {
        this.#failure ??= error;
      }
    };
    await Promise.all(Array.from({ length: MAX_WRITES }, some));
  }
}
