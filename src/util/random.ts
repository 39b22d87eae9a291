/**
 * Seeded random number generator: sfc32 (small fast counting, C. Doty-Humphrey) with 128 bits of state. The same seed
 * gives the same numbers on every machine.
 */
export class Random {
  #a: number;
  #b: number;
  #c = 0x9e3779b9 | 0;
  #counter = 1;

  /** @param seed 64 bits; higher bits are ignored */
  constructor(seed: bigint | number) {
    const bits = BigInt.asUintN(64, BigInt(seed));
    this.#a = Number(bits & 0xffff_ffffn) | 0;
    this.#b = Number(bits >> 32n) | 0;
    for (let i = 0; i < 12; i++) this.u32(); // mixes every bit of the seed into every bit of state
  }

  /** Returns 32 random bits, unsigned. */
  u32(): number {
    const result = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + result;
    return result >>> 0;
  }

  /** Returns `length` random bytes. From the same seed, more bytes begin with the same ones. */
  bytes(length: number): Uint8Array<ArrayBuffer> {
    const words = new Uint32Array(Math.ceil(length / 4));
    for (let i = 0; i < words.length; i++) words[i] = this.u32();
    return new Uint8Array(words.buffer, 0, length);
  }

  /** Returns a whole number in [0, n), for n up to 2^32. */
  below(n: number): number {
    return Math.floor((this.u32() / 2 ** 32) * n);
  }
}
