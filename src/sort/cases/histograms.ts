/** Expected results of histograms. */
import { type Reference, widthOf } from './reference.js';

const BINS = 8;

/** Returns ascending bin edges, at least two, taken from the keys themselves. */
export function edgesFrom(reference: Reference): number[] | bigint[] {
  const { values, n } = reference;
  const numbers = [...reference.order()].map((i) => values[i]).filter((value) => !Number.isNaN(value));
  const every = Math.max(1, Math.floor(n / BINS));
  const edges = numbers.filter((value, i) => i % every === 0 && Number.isFinite(Number(value)));
  const rising = edges.filter((value, i) => i === 0 || (value as number) > (edges[i - 1] as number));
  if (rising.length > 1) return rising as number[];
  const isWide = ['u64', 'i64'].includes(reference.dtype);
  return isWide ? [0n, 1n] : [0, 1];
}

/** Counts the keys per bin. A bin includes its lower edge and excludes its upper edge; the last bin includes both. */
export function valueCounts({ values, n }: Reference, edges: readonly (number | bigint)[]): Uint32Array {
  const counts = new Uint32Array(edges.length - 1);
  const last = edges.length - 2;
  for (let i = 0; i < n; i++) {
    const value = values[i] as number;
    const bin = edges.findIndex((edge, e) => {
      const upper = edges[e + 1];
      if (upper === undefined) return false;
      return value >= edge && (value < upper || (e === last && value === upper));
    });
    if (bin >= 0) counts[bin] = (counts[bin] as number) + 1;
  }
  return counts;
}

/** Returns the rank of a key among all bit patterns, in ascending order with NaN last. */
function rankOf(reference: Reference, i: number): bigint {
  const bits = reference.bits(i);
  const width = 8 * widthOf(reference.dtype);
  const top = 2n ** BigInt(width - 1);
  if (reference.dtype.startsWith('u')) return bits;
  if (reference.dtype.startsWith('i')) return (bits + top) % (2n * top);
  // Ranks of floats: negative numbers first, then positive ones, then NaNs.
  const fraction = { f16: 10n, bf16: 7n, f32: 23n, f64: 52n }[reference.dtype as 'f32'] as bigint;
  const numbers = top - 2n ** fraction + 1n; // of one sign, infinity included
  const magnitude = bits % top;
  const isNegative = bits >= top;
  if (magnitude < numbers) return isNegative ? numbers - 1n - magnitude : numbers + magnitude;
  const beyond = magnitude - numbers;
  const nans = top - numbers; // of one sign
  return 2n * numbers + (isNegative ? 2n * nans - 1n - beyond : beyond);
}

/** Counts the keys by the digit in bits `[begin, end)` of their rank. */
export function digitCounts(reference: Reference, begin: number, end: number): Uint32Array {
  const counts = new Uint32Array(2 ** (end - begin));
  for (let i = 0; i < reference.n; i++) {
    const digit = Number((rankOf(reference, i) / 2n ** BigInt(begin)) % 2n ** BigInt(end - begin));
    counts[digit] = (counts[digit] as number) + 1;
  }
  return counts;
}
