/**
 * Reference implementation for the results of the matrix. It compares numbers and shares no code with devices or the
 * host engine: no key codecs, no digits, no order of summation.
 */
import type { Dtype } from '../../keys/dtype.js';

/** An order of keys, as in the options `descending` and `nan`. */
export interface ReferenceOrder {
  readonly descending?: boolean;
  readonly nan?: 'first' | 'last';
}

export type Numbers = Exclude<ArrayLike<number> | ArrayLike<bigint>, string>;

/** Decodes a half: a 10-bit fraction and a 5-bit exponent; exponent 0 has no implicit leading one. */
function halfValue(bits: number): number {
  const sign = bits >= 0x8000 ? -1 : 1;
  const [exponent, fraction] = [Math.floor((bits & 0x7fff) / 1024), bits % 1024];
  if (exponent === 31) return fraction === 0 ? sign / 0 : 0 / 0;
  return exponent === 0 ? (sign * fraction) / 2 ** 24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
}

const VALUES: Readonly<Record<Dtype, (buffer: ArrayBuffer) => Numbers>> = {
  u8: (buffer) => new Uint8Array(buffer),
  i8: (buffer) => new Int8Array(buffer),
  u16: (buffer) => new Uint16Array(buffer),
  i16: (buffer) => new Int16Array(buffer),
  f16: (buffer) => Float64Array.from(new Uint16Array(buffer), halfValue),
  // The bits of a bf16 are the upper half of those of an f32.
  bf16: (buffer) => new Float32Array(Uint32Array.from(new Uint16Array(buffer), (bits) => bits << 16).buffer),
  u32: (buffer) => new Uint32Array(buffer),
  i32: (buffer) => new Int32Array(buffer),
  f32: (buffer) => new Float32Array(buffer),
  u64: (buffer) => new BigUint64Array(buffer),
  i64: (buffer) => new BigInt64Array(buffer),
  f64: (buffer) => new Float64Array(buffer),
};

const WIDTHS: Readonly<Record<Dtype, 1 | 2 | 4 | 8>> = {
  ...{ u8: 1, i8: 1, u16: 2, i16: 2, f16: 2, bf16: 2 },
  ...{ u32: 4, i32: 4, f32: 4, u64: 8, i64: 8, f64: 8 },
};

/** Returns the size of a key in bytes. */
export const widthOf = (dtype: Dtype): number => WIDTHS[dtype];

const isNaNs = (value: number | bigint | undefined): boolean => Number.isNaN(value);

/** Keys as numbers, with their cached orders. */
export class Reference {
  readonly dtype: Dtype;
  /** The keys as they are in memory; never modified. */
  readonly bytes: Uint8Array;
  readonly values: Numbers;
  readonly n: number;
  readonly #orders = new Map<string, Uint32Array>();

  constructor(dtype: Dtype, bytes: Uint8Array) {
    this.dtype = dtype;
    this.bytes = bytes;
    this.values = VALUES[dtype](bytes.slice().buffer as ArrayBuffer);
    this.n = this.values.length;
  }

  /** Returns the bits of a key. */
  bits(i: number): bigint {
    const width = widthOf(this.dtype);
    let bits = 0n;
    for (let b = width - 1; b >= 0; b--) bits = bits * 256n + BigInt(this.bytes[i * width + b] as number);
    return bits;
  }

  /** Returns the positions of the keys in order. Ascending, -0 precedes +0; equal keys keep their order. */
  order({ descending = false, nan = 'last' }: ReferenceOrder = {}): Uint32Array {
    const name = `${descending} ${nan}`;
    const known = this.#orders.get(name);
    if (known) return known;
    const { values } = this;
    const all = Array.from({ length: this.n }, (_, i) => i);
    const numbers = all.filter((i) => !isNaNs(values[i]));
    const sign = descending ? -1 : 1;
    numbers.sort((a, b) => {
      const [x, y] = [values[a] as number, values[b] as number];
      if (x < y) return -sign;
      if (x > y) return sign;
      // Zeros of either sign compare equal as numbers but have a defined order.
      return (x === 0 && sign * (Number(Object.is(y, -0)) - Number(Object.is(x, -0)))) || a - b;
    });
    const nans = this.#orderOfNaNs(all.filter((i) => isNaNs(values[i])));
    const order = Uint32Array.from(nan === 'first' ? nans.concat(numbers) : numbers.concat(nans));
    this.#orders.set(name, order);
    return order;
  }

  /**
   * Returns the order of NaNs, the same ascending and descending: NaNs without sign bit by ascending bits, then those
   * with sign bit by descending bits.
   */
  #orderOfNaNs(nans: readonly number[]): number[] {
    const top = 2n ** BigInt(8 * widthOf(this.dtype) - 1);
    const rank = new Map(
      nans.map((i) => {
        const bits = this.bits(i);
        return [i, bits < top ? bits : 3n * top - bits];
      }),
    );
    return nans.toSorted((a, b) => {
      const [x, y] = [rank.get(a) as bigint, rank.get(b) as bigint];
      return x < y ? -1 : x > y ? 1 : a - b;
    });
  }

  /** Returns the keys at `positions`. */
  pick(positions: ArrayLike<number>): Uint8Array {
    const width = widthOf(this.dtype);
    const picked = new Uint8Array(positions.length * width);
    for (let i = 0; i < positions.length; i++) {
      const at = (positions[i] as number) * width;
      for (let b = 0; b < width; b++) picked[i * width + b] = this.bytes[at + b] as number;
    }
    return picked;
  }

  /**
   * Returns the position of the first occurrence of each distinct number, in order, and the counts; and for each key its
   * place among these numbers. All NaNs are one number.
   */
  distinct(order: ReferenceOrder): {
    readonly first: number[];
    readonly counts: number[];
    readonly inverse: Uint32Array;
  } {
    const found = new Map<number | bigint, { first: number; count: number }>();
    for (let i = 0; i < this.n; i++) {
      const value = this.values[i] as number | bigint; // a Map treats zeros of either sign as equal, and NaNs too
      const known = found.get(value);
      if (known) known.count++;
      else found.set(value, { first: i, count: 1 });
    }
    const firsts = new Map([...found.values()].map(({ first, count }) => [first, count]));
    const first = [...this.order(order)].filter((i) => firsts.has(i));
    const places = new Map(first.map((i, place) => [this.values[i], place]));
    const inverse = Uint32Array.from({ length: this.n }, (_, i) => places.get(this.values[i]) as number);
    return { first, counts: first.map((i) => firsts.get(i) as number), inverse };
  }
}

/**
 * Returns the positions of rows in lexicographic order. All NaNs compare equal, and so do zeros.
 *
 * @param columns of the same length; the first is the primary key
 */
export function referenceRows(columns: readonly Numbers[], n: number, descending: boolean): number[] {
  const sign = descending ? -1 : 1;
  return Array.from({ length: n }, (_, i) => i).sort((a, b) => {
    for (const column of columns) {
      const [x, y] = [column[a] as number, column[b] as number];
      if (x < y) return -sign;
      if (x > y) return sign;
      const nans = Number(isNaNs(x)) - Number(isNaNs(y)); // NaN is last in either direction
      if (nans !== 0) return nans;
    }
    return a - b;
  });
}

/** A compensated sum with the accuracy of two doubles (A. Neumaier, 1974). */
export class ExactSum {
  #sum = 0;
  #lost = 0;

  add(value: number): void {
    const next = this.#sum + value;
    const isLarger = Math.abs(this.#sum) >= Math.abs(value);
    this.#lost += isLarger ? this.#sum - next + value : value - next + this.#sum;
    this.#sum = next;
  }

  get value(): number {
    return this.#sum + this.#lost;
  }
}
