/** Checks sums and prefix sums: exactly for integers, within the documented tolerance for floats. */
import { ExactSum, type Numbers, type Reference } from './reference.js';

const EPSILON: Readonly<Record<string, number>> = { f32: 2 ** -24, f64: 2 ** -53 };

const isInteger = ({ dtype }: Reference): boolean => /^[ui]/.test(dtype);

/**
 * Returns the tolerance `factor` · ⌈log2 n⌉ · ε · `magnitudes`, where `magnitudes` is the sum of the absolute values.
 */
const slack = ({ dtype, n }: Reference, factor: number, magnitudes: number): number =>
  factor * Math.ceil(Math.log2(Math.max(n, 1))) * (EPSILON[dtype] as number) * magnitudes;

export function checkSum(reference: Reference, got: number | bigint): string | undefined {
  const { values, n } = reference;
  if (isInteger(reference)) {
    let sum = 0n;
    for (let i = 0; i < n; i++) sum += BigInt(values[i] as number | bigint);
    const expected = reference.dtype.startsWith('i') ? BigInt.asIntN(64, sum) : BigInt.asUintN(64, sum);
    return got === expected ? undefined : `expected ${expected} for the sum but got ${got}`;
  }
  const [sum, magnitudes] = [new ExactSum(), new ExactSum()];
  for (let i = 0; i < n; i++) {
    sum.add(values[i] as number);
    magnitudes.add(Math.abs(values[i] as number));
  }
  const expected = reference.dtype === 'f32' ? Math.fround(sum.value) : sum.value;
  const tolerance = slack(reference, 2, magnitudes.value);
  if (Math.abs((got as number) - expected) <= tolerance) return undefined;
  return `expected ${expected} (within ${tolerance}) for the sum but got ${got}`;
}

export function checkScan(reference: Reference, sums: Numbers, inclusive: boolean): string | undefined {
  const { values, n, dtype } = reference;
  if (sums.length !== n) return `expected ${n} sums but got ${sums.length}`;
  return isInteger(reference)
    ? checkWhole(values, sums, inclusive, dtype)
    : checkFloats(reference, sums as ArrayLike<number>, inclusive);
}

function checkWhole(values: Numbers, sums: Numbers, inclusive: boolean, dtype: string): string | undefined {
  const width = Number(dtype.slice(1));
  const wrap = dtype.startsWith('i') ? BigInt.asIntN : BigInt.asUintN;
  let sum = 0n;
  for (let i = 0; i < values.length; i++) {
    const next = wrap(width, sum + BigInt(values[i] as number | bigint));
    const expected = inclusive ? next : sum;
    if (BigInt(sums[i] as number | bigint) !== expected) {
      return `expected ${expected} for sum ${i} but got ${sums[i]}`;
    }
    sum = next;
  }
  return undefined;
}

function checkFloats(reference: Reference, sums: ArrayLike<number>, inclusive: boolean): string | undefined {
  const [sum, magnitudes] = [new ExactSum(), new ExactSum()];
  for (let i = 0; i < reference.n; i++) {
    const value = reference.values[i] as number;
    if (inclusive) sum.add(value);
    if (inclusive) magnitudes.add(Math.abs(value));
    const tolerance = slack(reference, 4, magnitudes.value);
    const got = sums[i] as number;
    const expected = reference.dtype === 'f32' ? Math.fround(sum.value) : sum.value;
    if (!(Math.abs(got - expected) <= tolerance)) {
      return `expected ${expected} (within ${tolerance}) for sum ${i} but got ${got}`;
    }
    if (!inclusive) sum.add(value);
    if (!inclusive) magnitudes.add(Math.abs(value));
  }
  return undefined;
}
