/** The stage that brings units to their partitions, in the order of the input. */
import type { UnitOrder } from '../unit-order.js';
import { MAX_PLACED_UNITS, Placer } from './place.js';
import type { Spill } from './spill.js';
import type { Splitters } from './splitters.js';

/** Writes in flight; a thread is left for what is read meanwhile. */
const MAX_WRITES = 3;

/** Brings units to partitions: what goes to each of a piece is written from where it was placed. */
export class Partitioner {
  readonly #spill: Spill;
  readonly #names: readonly string[];
  /** Bytes of each partition so far. */
  readonly #sizes: Float64Array;
  readonly #unit: number;
  readonly #placer: Placer;
  /** A piece is placed in one while another one is written. */
  readonly #rooms: readonly [Uint8Array, Uint8Array];
  readonly #writing: [Promise<void>, Promise<void>] = [Promise.resolve(), Promise.resolve()];
  #turn = 0;
  #failure: unknown;

  /**
   * @param to where they go; pieces are placed in `room`, half of it at a time, and `sizes` are the bytes that the
   * partitions have already
   */
  constructor(
    order: UnitOrder,
    splitters: Splitters,
    to: {
      readonly spill: Spill;
      readonly names: readonly string[];
      readonly room: Uint8Array;
      readonly sizes?: readonly number[] | undefined;
    },
  ) {
    const { unit } = order;
    this.#placer = new Placer(order, splitters);
    this.#spill = to.spill;
    this.#names = to.names;
    this.#unit = unit;
    this.#sizes = Float64Array.from(to.sizes ?? new Array(splitters.partitions).fill(0));
    const units = Math.min(MAX_PLACED_UNITS, Math.floor(to.room.length / 2 / unit));
    const bytes = Math.max(1, units) * unit;
    const room = units === 0 ? new Uint8Array(2 * bytes) : to.room;
    this.#rooms = [room.subarray(0, bytes), room.subarray(bytes, 2 * bytes)];
  }

  /** Bytes of each partition, once `flush` has been waited for. */
  get sizes(): number[] {
    return [...this.#sizes];
  }

  /** Takes whole units; they may be overwritten when this is fulfilled. @throws IoError */
  async add(piece: Uint8Array): Promise<void> {
    const step = this.#rooms[0].length;
    for (let at = 0; at < piece.length; at += step) {
      const part = piece.subarray(at, at + step);
      const turn = this.#turn as 0 | 1;
      this.#turn = 1 - turn;
      await this.#writing[turn];
      if (this.#failure) throw this.#failure;
      const placed = this.#spill.room?.(part.length) ?? this.#rooms[turn].subarray(0, part.length);
      const counts = await this.#placer.place(part, placed);
      this.#writing[turn] = this.#write(placed, counts);
    }
  }

  /** Writes all that has come so far. @throws IoError */
  async flush(): Promise<void> {
    await this.settle();
    if (this.#failure) throw this.#failure;
  }

  /** Waits until nothing is being written any more, whatever has failed. */
  async settle(): Promise<void> {
    await Promise.all(this.#writing);
  }

  /** Writes what goes to each partition behind what it has; never rejects, since others are told of a failure. */
  async #write(placed: Uint8Array, counts: Uint32Array): Promise<void> {
    const writes: (() => Promise<void>)[] = [];
    let begin = 0;
    counts.forEach((count, p) => {
      if (count === 0) return;
      const bytes = placed.subarray(begin, begin + count * this.#unit);
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
