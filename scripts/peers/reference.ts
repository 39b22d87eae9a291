/** Operations on random keys, compared with what NumPy returns for the same keys. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Distribution, generate } from '../../src/io/operations/gen.js';
import { newArray } from '../../src/keys/array.js';
import { DTYPES, type Dtype, dtypeInfo, type KeyArray } from '../../src/keys/dtype.js';
import { bytesOf } from '../../src/sort/cases/input.js';
import { Reference } from '../../src/sort/cases/reference.js';
import { DeviceArray } from '../../src/sort/model/device-array.js';
import type { CaseSorter } from '../../src/sort/operations/case.js';
import type { JoinKind } from '../../src/sort/operations/join/join.js';
import { packageRoot } from '../../src/util/paths.js';
import { Random } from '../../src/util/random.js';

export interface RandomCase {
  readonly dtype: Dtype;
  readonly keys: KeyArray;
  /** Other keys of the dtype; every third one is also in `keys`. */
  readonly others: KeyArray;
  readonly number: number;
}

/** With ties, zeros of either sign, and NaNs and infinities of several patterns. */
const DISTRIBUTION_NAMES: readonly Distribution[] = ['special', 'uniform', 'and9'];

/** @param most limit of the number of keys; as many cases have few keys as have many */
export function randomCases(count: number, most: number, seed: bigint): RandomCase[] {
  const random = new Random(seed);
  return Array.from({ length: count }, (_, i) => {
    const dtype = DTYPES[i % DTYPES.length] as Dtype;
    const keysOf = (limit: number): KeyArray => {
      const distribution = DISTRIBUTION_NAMES[random.below(DISTRIBUTION_NAMES.length)] as Distribution;
      const length = Math.floor(limit ** (random.u32() / 2 ** 32));
      const keys = newArray(dtype, length);
      bytesOf(keys).set(generate({ dtype, distribution, count: length, seed: BigInt(random.u32()) }));
      return keys;
    };
    const [keys, others] = [keysOf(most), keysOf(most / 2)];
    for (let j = 0; j < others.length; j += 3) others[j] = keys[j % keys.length] as never;
    return { dtype, keys, others, number: random.u32() };
  });
}

/** Returns the results of an operation of `reference.py` for each case, as bytes. */
export function numPyResults(
  python: string,
  operation: string,
  cases: readonly RandomCase[],
): readonly (readonly Uint8Array[])[] {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-reference-'));
  try {
    const arrays = cases.flatMap(({ keys, others }) => [bytesOf(keys), bytesOf(others)]);
    writeFileSync(join(folder, 'in.bin'), Buffer.concat(arrays));
    const described = cases.map(({ dtype, keys, others, number }) => [
      dtype,
      keys.length,
      others.length,
      number,
    ]);
    writeFileSync(join(folder, 'in.json'), JSON.stringify(described));
    execFileSync(python, [join(packageRoot, 'scripts/peers/reference.py'), folder, operation]);
    const out = new Uint8Array(readFileSync(join(folder, 'out.bin')));
    let at = 0;
    const sizes = JSON.parse(readFileSync(join(folder, 'out.json'), 'utf8')) as number[][];
    return sizes.map((lengths) =>
      lengths.map((length) => {
        at += length;
        return out.subarray(at - length, at);
      }),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns keys of the case, or keys that NumPy returned, in a host array or a device array. */
type Place = (keys: KeyArray | Uint8Array) => Promise<KeyArray>;

/** Returns what is wrong with the results of an operation; undefined when they are correct. */
type Compare = (
  sorter: CaseSorter,
  one: RandomCase & { readonly place: Place },
  expected: readonly Uint8Array[],
) => Promise<string | undefined>;

/** Copies results to the host. */
async function hostOf(result: unknown): Promise<KeyArray> {
  if (!(result instanceof DeviceArray)) return result as KeyArray;
  const keys = await result.read();
  result.dispose();
  return keys;
}

const numbersOf = (dtype: Dtype, bytes: Uint8Array) =>
  Array.from(new Reference(dtype, bytes).values as never[]);

/** Zeros of either sign are equal, and so are NaNs. */
const hasSameNumbers = (dtype: Dtype, ours: Uint8Array, theirs: Uint8Array): boolean => {
  const [found, expected] = [numbersOf(dtype, ours), numbersOf(dtype, theirs)];
  const isSame = (value: number, i: number) =>
    value === expected[i] || (Number.isNaN(value) && Number.isNaN(expected[i]));
  return found.length === expected.length && found.every(isSame);
};

const hasSameBits = (ours: Uint8Array, theirs: Uint8Array): boolean => Buffer.compare(ours, theirs) === 0;

const positionsOf = (positions: KeyArray): Uint8Array =>
  bytesOf(Uint32Array.from(positions as Uint32Array, Number));

/** Options of calls: half of the cases return positions of 64 bits. */
const optionsOf = ({ dtype, number }: RandomCase) => ({
  dtype,
  positions: (number & 2) === 0 ? ('u32' as const) : ('u64' as const),
});

const doublesOf = (bytes: Uint8Array): Float64Array => new Float64Array(bytes.slice().buffer);

/** Interpolations of quantiles, in the order of `reference.py`. */
const METHODS = ['linear', 'lower', 'higher', 'nearest', 'midpoint'] as const;

/**
 * Whether two quantiles are equal. NumPy returns NaN between infinities, and rounds integers of 64 bits to doubles before
 * it interpolates.
 *
 * @param rounding allowed difference of other keys, in units of the last place
 */
function isSameQuantile(dtype: Dtype, ours: number, theirs: number, rounding = 0): boolean {
  if (Number.isNaN(theirs) || ours === theirs) return true;
  const is64 = dtype === 'u64' || dtype === 'i64';
  const allowed = is64
    ? Math.abs(theirs) * 1e-14 + 4096
    : Math.max(Math.abs(theirs) * Number.EPSILON, Number.MIN_VALUE) * rounding;
  return Math.abs(ours - theirs) <= allowed;
}

const KINDS = ['inner', 'left', 'semi', 'anti'] as const;
/** Results of `reference.py` for each kind: the first one, and how many. */
const PAIRS: Readonly<Record<JoinKind, readonly [number, number]>> = {
  inner: [0, 2],
  left: [2, 2],
  semi: [4, 1],
  anti: [5, 1],
};
/** As MOST_JOINED in `reference.py`. */
const MOST_JOINED = [1000, 300] as const;

const compareSets =
  (name: 'intersect' | 'union' | 'difference' | 'setXor'): Compare =>
  async (sorter, { dtype, keys, others, place }, [expected]) => {
    const found = await hostOf(await sorter[name](await place(keys), await place(others), { dtype }));
    return hasSameNumbers(dtype, bytesOf(found), expected as Uint8Array) ? undefined : 'keys differ';
  };

/** Comparisons of the operations that NumPy has, or whose definition is a line of NumPy. */
export const COMPARISONS: Readonly<Record<string, Compare>> = {
  async unique(sorter, one, expected) {
    const how = { ...optionsOf(one), counts: true, index: true, inverse: true } as const;
    const { keys, counts, index, inverse } = await sorter.unique(await one.place(one.keys), how);
    const columns = [counts, index, inverse].map(async (column) => positionsOf(await hostOf(column)));
    const found = [bytesOf(await hostOf(keys)), ...(await Promise.all(columns))];
    const names = ['keys', 'counts', 'index', 'inverse'];
    const wrong = names.filter((_, i) => !hasSameBits(found[i] as Uint8Array, expected[i] as Uint8Array));
    return wrong.length > 0 ? `${wrong.join(', ')} differ` : undefined;
  },
  async quantile(sorter, { dtype, number, place }, [keys, expected]) {
    const input = await place(keys as Uint8Array);
    for (const [i, interpolation] of METHODS.entries()) {
      const q = (number % 101) / 100;
      const ours = await sorter.quantile(input, q, { dtype, interpolation });
      const theirs = doublesOf(expected as Uint8Array)[i] as number;
      if (!isSameQuantile(dtype, ours, theirs)) return `${interpolation} ${q}: ${ours}, NumPy ${theirs}`;
    }
    return undefined;
  },
  async median(sorter, { dtype, place }, [keys, expected]) {
    const ours = await sorter.median(await place(keys as Uint8Array), { dtype });
    const [theirs] = doublesOf(expected as Uint8Array);
    return isSameQuantile(dtype, ours, theirs as number, 1) ? undefined : `${ours}, NumPy ${theirs}`;
  },
  async nth(sorter, { dtype, keys, number, place }, [expected]) {
    const n = keys.length;
    const input = await place(keys);
    const ranks = [number % n, 0, n - 1, n >> 1];
    const found = bytesOf(await hostOf(await sorter.nth(input, ranks, { dtype })));
    if (!hasSameNumbers(dtype, found, expected as Uint8Array)) return 'keys differ';
    const alone = await sorter.nth(input, ranks[0] as number, { dtype });
    return Object.is(alone, numbersOf(dtype, found)[0]) ? undefined : `${alone} for one position`;
  },
  async argpartition(sorter, one, [expected]) {
    const n = one.keys.length;
    const places = new Uint32Array((expected as Uint8Array).slice().buffer);
    const sorted = places.toSorted();
    const ranks = [one.number % n, n >> 1];
    const found = await hostOf(await sorter.argpartition(await one.place(one.keys), ranks, optionsOf(one)));
    const order = Array.from(found as Uint32Array, Number);
    if (new Set(order).size !== n || Math.max(...order) >= n) return 'positions are missing';
    for (const k of ranks) {
      const wanted = sorted[k] as number;
      const isWrong = (position: number, i: number): boolean => {
        const at = places[position] as number;
        return i < k ? at > wanted : i > k ? at < wanted : at !== wanted;
      };
      if (order.some(isWrong)) return `the keys are not separated at position ${k}`;
    }
    return undefined;
  },
  async isIn(sorter, { dtype, keys, others, place }, [expected]) {
    const mask = await hostOf(await sorter.isIn(await place(keys), await place(others), { dtype }));
    return hasSameBits(bytesOf(mask), expected as Uint8Array) ? undefined : 'the mask differs';
  },
  intersect: compareSets('intersect'),
  union: compareSets('union'),
  difference: compareSets('difference'),
  setXor: compareSets('setXor'),
  async join(sorter, one, expected) {
    const [a, b] = [one.keys, one.others].map((keys, i) => keys.subarray(0, MOST_JOINED[i]));
    const input = [await one.place(a as KeyArray), await one.place(b as KeyArray)] as const;
    for (const kind of KINDS) {
      const sides = await sorter.join(...input, { ...optionsOf(one), kind });
      const [first, count] = PAIRS[kind];
      const found = await Promise.all(Object.values(sides).map(hostOf));
      const theirs = expected.slice(first, first + count);
      const isSame = found.every((side, i) => hasSameBits(positionsOf(side), theirs[i] as Uint8Array));
      if (found.length !== count || !isSame) return `pairs of ${kind} differ`;
    }
    return undefined;
  },
};

/**
 * Compares the results of an operation with those of NumPy for each case; every second case has device arrays.
 *
 * @param expected results of `numPyResults`
 * @returns what is wrong, for each wrong case
 */
export async function compareWithNumPy(
  sorter: CaseSorter,
  operation: string,
  cases: readonly RandomCase[],
  expected: readonly (readonly Uint8Array[])[],
): Promise<string[]> {
  const faults: string[] = [];
  for (const [i, one] of cases.entries()) {
    const { dtype } = one;
    const uploaded: DeviceArray[] = [];
    const place: Place = async (given) => {
      const bytes = bytesOf(given);
      const keys = newArray(dtype, bytes.length / dtypeInfo(dtype).bytes);
      bytesOf(keys).set(bytes);
      if ((one.number & 1) === 0) return keys;
      const array = await sorter.upload(keys, { dtype });
      uploaded.push(array);
      return array as never;
    };
    try {
      const wrong = await COMPARISONS[operation]?.(sorter, { ...one, place }, expected[i] ?? []);
      if (wrong !== undefined) faults.push(`case ${i}, ${one.keys.length} ${dtype} keys: ${wrong}`);
    } catch (error) {
      faults.push(`case ${i}, ${one.keys.length} ${dtype} keys: ${error}`);
    } finally {
      for (const array of uploaded) array.dispose();
    }
  }
  return faults;
}
