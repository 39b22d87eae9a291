/**
 * What the matrix holds results against. It compares numbers, and shares nothing with devices and the host engine: no codes
 * of keys, no digits, no sums in their order.
 */
import type { Dtype } from '../keys/dtype.js';

/** An order of keys, as the options `descending` and `nan` say it. */
export interface ReferenceOrder {
  readonly descending?: boolean;
  readonly nan?: 'first' | 'last';
}

export type Numbers = Exclude<ArrayLike<number> | ArrayLike<bigint>, string>;

/** A half is a fraction of 10 bits, times a power of two; those of exponent 0 have no leading one. */
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
  u32: (buffer) => new Uint32Array(buffer),
  i32: (buffer) => new Int32Array(buffer),
  f32: (buffer) => new Float32Array(buffer),
  u64: (buffer) => new BigUint64Array(buffer),
  i64: (buffer) => new BigInt64Array(buffer),
  f64: (buffer) => new Float64Array(buffer),
};

const WIDTHS: Readonly<Record<Dtype, 1 | 2 | 4 | 8>> = {
  ...{ u8: 1, i8: 1, u16: 2, i16: 2, f16: 2 },
  ...{ u32: 4, i32: 4, f32: 4, u64: 8, i64: 8, f64: 8 },
};

/** Bytes of a key. */
export const widthOf = (dtype: Dtype): number => WIDTHS[dtype];

const isNaNs = (value: number | bigint | undefined): boolean => Number.isNaN(value);

/** Keys as numbers, and what is known of them once it was worked out. */
export class Reference {
  readonly dtype: Dtype;
  /** The keys as they are in memory; never written to. */
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

  /** The bits of a key. */
  bits(i: number): bigint {
    const width = widthOf(this.dtype);
    let bits = 0n;
    for (let b = width - 1; b >= 0; b--) bits = bits * 256n + BigInt(this.bytes[i * width + b] as number);
    return bits;
  }

  /** Positions of the keys in order: −0 before +0 among ascending ones, equal keys as they came. */
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
      // Zeros of either sign are equal as numbers, and ordered all the same.
      return (x === 0 && sign * (Number(Object.is(y, -0)) - Number(Object.is(x, -0)))) || a - b;
    });
    const nans = this.#orderOfNaNs(all.filter((i) => isNaNs(values[i])));
    const order = Uint32Array.from(nan === 'first' ? nans.concat(numbers) : numbers.concat(nans));
    this.#orders.set(name, order);
    return order;
  }

  /** In either direction: those without the sign bit by their bits, then those with it, the largest bits first. */
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

  /** Elements of `width` bytes each at `positions`; by default the keys. */
  pick(positions: ArrayLike<number>, from = this.bytes, width = widthOf(this.dtype)): Uint8Array {
    const picked = new Uint8Array(positions.length * width);
    for (let i = 0; i < positions.length; i++) {
      const at = (positions[i] as number) * width;
      for (let b = 0; b < width; b++) picked[i * width + b] = from[at + b] as number;
    }
    return picked;
  }

  /** The first position of each distinct number, in order, and how often it is there; all NaNs are one. */
  distinct(order: ReferenceOrder): { readonly first: number[]; readonly counts: number[] } {
    const found = new Map<number | bigint, { first: number; count: number }>();
    for (let i = 0; i < this.n; i++) {
      const value = this.values[i] as number | bigint; // a Map takes zeros, and NaNs, for the same
      const known = found.get(value);
      if (known) known.count++;
      else found.set(value, { first: i, count: 1 });
    }
    const firsts = new Map([...found.values()].map(({ first, count }) => [first, count]));
    const first = [...this.order(order)].filter((i) => firsts.has(i));
    return { first, counts: first.map((i) => firsts.get(i) as number) };
  }
}

/**
 * Positions of rows, the first column deciding: all NaNs are equal, and so are zeros.
 *
 * @param columns of the same length
 */
export function referenceRows(columns: readonly Numbers[], n: number, descending: boolean): number[] {
  const sign = descending ? -1 : 1;
  return Array.from({ length: n }, (_, i) => i).sort((a, b) => {
    for (const column of columns) {
      const [x, y] = [column[a] as number, column[b] as number];
      if (x < y) return -sign;
      if (x > y) return sign;
      const nans = Number(isNaNs(x)) - Number(isNaNs(y)); // last in either direction
      if (nans !== 0) return nans;
    }
    return a - b;
  });
}

/** A sum as exact as two doubles make it: what one addition loses is kept (A. Neumaier, 1974). */
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
