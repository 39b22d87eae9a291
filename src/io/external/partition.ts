/** The stage that brings units to their partitions, in the order of the input. */
import type { UnitOrder } from '../unit-order.js';
import type { Spill } from './spill.js';
import type { Splitters } from './splitters.js';

/** Bytes of units that are placed at a time: with what is known of them, they stay in a core's cache. */
const SLICE_BYTES = 2 ** 19;
const MOST_SLICE_UNITS = 2 ** 15;

/** Regions for each partition, on the average: one is filled while another is written. */
const REGIONS_EACH = 2;
/** Bytes of a region: larger ones gain nothing. */
const MOST_REGION = 2 ** 20;

/** Writes in flight: as many as there are threads to make them. */
const MOST_WRITES = 4;

/** Units in the order of their partitions: what a slice becomes. */
interface Placed {
  readonly bytes: Uint8Array;
  readonly counts: Uint32Array;
}

/** Brings units to partitions, gathering what goes to each in memory of a given size. */
export class Partitioner {
  readonly #splitters: Splitters;
  readonly #spill: Spill;
  readonly #names: readonly string[];
  /** Bytes of each partition so far. */
  readonly #sizes: Float64Array;
  readonly #unit: number;
  readonly #slice: Slice;
  readonly #free: Uint8Array[] = [];
  readonly #filling: (Uint8Array | undefined)[];
  readonly #filled: Uint32Array;
  readonly #writes = new Set<Promise<void>>();
  #failure: unknown;

  /**
   * @param to where they go; `room` is memory that what goes to a partition is gathered in, and `sizes` the bytes that the partitions have already
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
    const { partitions } = splitters;
    this.#splitters = splitters;
    this.#spill = to.spill;
    this.#names = to.names;
    this.#unit = order.unit;
    this.#slice = new Slice(order.unit, partitions);
    this.#sizes = Float64Array.from(to.sizes ?? new Array(partitions).fill(0));
    const regions = (partitions + 1) * REGIONS_EACH;
    const bytes = Math.min(MOST_REGION, Math.floor(to.room.length / regions));
    const regionBytes = Math.max(order.unit, bytes - (bytes % order.unit));
    const least = regions * regionBytes;
    const room = to.room.length < least ? new Uint8Array(least) : to.room;
    for (let r = 0; r < regions; r++) {
      this.#free.push(room.subarray(r * regionBytes, (r + 1) * regionBytes));
    }
    this.#filling = new Array(partitions).fill(undefined);
    this.#filled = new Uint32Array(partitions);
  }

  /** Bytes of each partition, once `flush` has been waited for. */
  get sizes(): number[] {
    return [...this.#sizes];
  }

  /** Takes whole units; they may be overwritten when this is fulfilled. @throws IoError */
  async add(piece: Uint8Array): Promise<void> {
    const step = this.#slice.units * this.#unit;
    for (let at = 0; at < piece.length; at += step) {
      const { bytes, counts } = this.#slice.place(piece.subarray(at, at + step), this.#splitters);
      let begin = 0;
      for (let p = 0; p < counts.length; p++) {
        const count = counts[p] as number;
        if (count === 0) continue;
        const end = begin + count * this.#unit;
        for (let from = begin; from < end; ) {
          const region = this.#filling[p] ?? (await this.#take(p));
          const filled = this.#filled[p] as number;
          const take = Math.min(end - from, region.length - filled);
          region.set(bytes.subarray(from, from + take), filled);
          this.#filled[p] = filled + take;
          from += take;
          if (filled + take === region.length) this.#write(p);
        }
        begin = end;
      }
    }
  }

  /** Writes all that has come so far. @throws IoError */
  async flush(): Promise<void> {
    for (let p = 0; p < this.#filling.length; p++) {
      if (this.#filling[p]) this.#write(p);
      while (this.#writes.size >= MOST_WRITES) await Promise.race(this.#writes);
    }
    await Promise.all(this.#writes);
    if (this.#failure) throw this.#failure;
  }

  /** Waits until nothing is being written any more, whatever has failed. */
  async settle(): Promise<void> {
    await Promise.all(this.#writes);
  }

  async #take(p: number): Promise<Uint8Array> {
    while (this.#free.length === 0 || this.#writes.size > MOST_WRITES) await Promise.race(this.#writes);
    if (this.#failure) throw this.#failure;
    const region = this.#free.pop() as Uint8Array;
    this.#filling[p] = region;
    this.#filled[p] = 0;
    return region;
  }

  /** Has a region written, and made free again. */
  #write(p: number): void {
    const region = this.#filling[p] as Uint8Array;
    const bytes = region.subarray(0, this.#filled[p]);
    const position = this.#sizes[p] as number;
    this.#filling[p] = undefined;
    this.#sizes[p] = position + bytes.length;
    const write = this.#spill
      .write(this.#names[p] as string, position, bytes)
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => {
        this.#free.push(region);
        this.#writes.delete(write);
      });
    this.#writes.add(write);
  }
}

/** Puts the units of a slice in the order of their partitions, each partition's in the order of the input. */
class Slice {
  readonly units: number;
  readonly #unit: number;
  readonly #partitions: Uint16Array;
  readonly #counts: Uint32Array;
  /** Where the next unit of each partition goes, in units. */
  readonly #next: Uint32Array;
  /** The units as they came, and behind them as they go. */
  readonly #room: Uint8Array;

  constructor(unit: number, partitions: number) {
    this.units = Math.max(1, Math.min(MOST_SLICE_UNITS, Math.floor(SLICE_BYTES / unit)));
    this.#unit = unit;
    this.#partitions = new Uint16Array(this.units);
    this.#counts = new Uint32Array(partitions);
    this.#next = new Uint32Array(partitions);
    // Both halves begin at a multiple of eight.
    this.#room = new Uint8Array(2 * this.#half);
  }

  get #half(): number {
    return Math.ceil((this.units * this.#unit) / 8) * 8;
  }

  place(slice: Uint8Array, splitters: Splitters): Placed {
    const n = slice.length / this.#unit;
    const [counts, next] = [this.#counts.fill(0), this.#next];
    splitters.place(slice, this.#partitions, counts);
    for (let p = 0, sum = 0; p < counts.length; p++) {
      next[p] = sum;
      sum += counts[p] as number;
    }
    this.#room.set(slice);
    const bytes = this.#room.subarray(this.#half, this.#half + slice.length);
    if (this.#unit % 4 === 0) this.#moveWords(n);
    else this.#moveBytes(n);
    return { bytes, counts };
  }

  #moveWords(n: number): void {
    const [partitions, next, words] = [this.#partitions, this.#next, this.#unit / 4];
    const from = new Uint32Array(this.#room.buffer, 0, n * words);
    const to = new Uint32Array(this.#room.buffer, this.#half, n * words);
    for (let i = 0, at = 0; i < n; i++) {
      const p = partitions[i] as number;
      const place = next[p] as number;
      next[p] = place + 1;
      for (let w = place * words; w < (place + 1) * words; w++) to[w] = from[at++] as number;
    }
  }

  #moveBytes(n: number): void {
    const [partitions, next, unit] = [this.#partitions, this.#next, this.#unit];
    const from = this.#room;
    const to = this.#room.subarray(this.#half);
    for (let i = 0, at = 0; i < n; i++) {
      const p = partitions[i] as number;
      const place = next[p] as number;
      next[p] = place + 1;
      for (let b = place * unit; b < (place + 1) * unit; b++) to[b] = from[at++] as number;
    }
  }
}
