import { randomBytes } from 'node:crypto';
import type { Entry } from './entry.js';

/** Random seeds; two sums are comparable if they have the same seeds. */
export type SumSeeds = readonly [number, number];

export const sumSeeds = (): SumSeeds => {
  const random = randomBytes(8);
  return [random.readUInt32LE(0), random.readUInt32LE(4)];
};

/** An order-independent checksum of entries: the sums of two seeded 32-bit hashes of each entry. */
export class EntrySum {
  readonly #seeds: SumSeeds;
  #sums: [number, number] = [0, 0];

  constructor(seeds: SumSeeds) {
    this.#seeds = seeds;
  }

  add({ memory, keyAt, valueAt, end }: Entry): void {
    let [a, b] = this.#seeds;
    a = Math.imul(a ^ (valueAt - keyAt), 0x01000193);
    for (let i = keyAt; i < end; i++) {
      const byte = memory[i] as number;
      a = Math.imul(a ^ byte, 0x01000193);
      b = (Math.imul(b, 0x2c1b3c6d) + byte) | 0;
      b ^= b >>> 15;
    }
    this.#count(a ^ (a >>> 15), b);
  }

  /** Adds the entries of another sum. */
  include({ sums: [a, b] }: EntrySum): void {
    this.#count(a, b);
  }

  get sums(): readonly [number, number] {
    return this.#sums;
  }

  equals({ sums: [a, b] }: EntrySum): boolean {
    return this.#sums[0] === a && this.#sums[1] === b;
  }

  #count(a: number, b: number): void {
    this.#sums = [(this.#sums[0] + a) | 0, (this.#sums[1] + b) | 0];
  }
}
