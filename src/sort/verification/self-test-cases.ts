/** Cases of the self-tests of sorts: their keys, and what the host engine makes of them. */
import type { Algorithm, AlgorithmShape } from '../../algorithms/algorithm.js';
import { algorithmNamed } from '../../algorithms/registry.js';
import { type HostColumn, keyColumn } from '../../keys/array.js';
import { type Dtype, dtypeInfo } from '../../keys/dtype.js';
import type { Order } from '../../keys/key-codec.js';
import { powerAtLeast } from '../../util/powers.js';
import { Random } from '../../util/random.js';
import { nativeSort } from '../host/native-sort.js';

/** Numbers of keys in the order of the tests, which end when one is too large or the budget is used up. */
const SIZES = [1, 2, 32, 64, 257, 1_000, 4_000, 8_192, 70_001, 300_007];

/** Those of them at which arrays in order are tested: the largest of strictly descending keys of 8, 16 and more bits. */
const ORDERED_SIZES = [32, 8_192, 70_001];

/**
 * Sorts of about the largest size that follow, for variants whose work-groups pass data to each other. If they are
 * deferred, each pattern is tested before with up to this number of keys.
 */
const STRESS_ROUNDS = 8;
const STRESS_PATTERNS: readonly Pattern[] = ['constant', 'random', 'runs'];
const MAX_KEYS_BEFORE_STRESS = 70_001;

const UNSIGNED = { 8: 'u8', 16: 'u16', 32: 'u32', 64: 'u64' } as const satisfies Record<number, Dtype>;
const NON_IDENTITY_CODEC = { 8: 'i8', 16: 'f16', 32: 'f32', 64: 'f64' } as const satisfies Record<
  number,
  Dtype
>;

/** Bits that a variant for windows is tested on. */
export const windowOf = ({ window, keyBits }: AlgorithmShape): readonly [number, number] =>
  window ? [1, keyBits - 2] : [0, keyBits];

/** A case of a self-test, and the seed of its data. */
export interface SeededCase {
  readonly testCase: SortCase;
  readonly seed: number;
}

/** Properties of a variant that its cases depend on. */
interface Variant {
  readonly name: string;
  readonly shape: AlgorithmShape;
  /** Most keys of a segment; undefined if it sorts segments of any length. */
  readonly longest: number | undefined;
  /** Numbers of keys that it supports, ascending. */
  readonly sizes: readonly number[];
}

/** Returns the properties of a compiled variant. */
function variantOf(algorithm: Algorithm): Variant {
  const { name, shape, longest } = algorithm;
  const { keyBits, valueBytes } = shape;
  const request = { dtype: UNSIGNED[keyBits], bits: windowOf(shape), valueBytes };
  return { name, shape, longest, sizes: SIZES.filter((n) => algorithm.supports({ ...request, n }) === true) };
}

/** Returns the properties that a variant is expected to have when it is compiled. */
const expectedVariant = (name: string, shape: AlgorithmShape): Variant => {
  const longest = shape.tuning?.longest;
  return { name, shape, longest: longest === undefined ? undefined : Number(longest), sizes: SIZES };
};

/** The cases of a self-test, in their order. */
export interface TestCases {
  /** Cases that run alone. */
  readonly alone: readonly SeededCase[];
  /** Pairs of cases that run in two queues at a time. */
  readonly pairs: readonly (readonly [SeededCase, SeededCase])[];
}

/** Returns the cases that a compiled variant passes before its first use. */
export const casesOf = (algorithm: Algorithm, defersStress: boolean): TestCases =>
  casesOfVariant(variantOf(algorithm), defersStress);

/** Returns the stress rounds of a compiled variant. */
export const stressCasesOf = (algorithm: Algorithm): TestCases => {
  const variant = variantOf(algorithm);
  const stress = stressCases(variant);
  return {
    alone: stress.map((testCase, i) => ({ testCase, seed: 100 + i })),
    pairs: pairsOf(variant, stress),
  };
};

function casesOfVariant(variant: Variant, defersStress: boolean): TestCases {
  const { name, shape, longest, sizes } = variant;
  const plain = UNSIGNED[shape.keyBits];
  const odd = NON_IDENTITY_CODEC[shape.keyBits];
  const cases: SortCase[] = [];
  // Segments come first, in case the budget is used up: whole arrays are the minor use of these variants.
  if (shape.tuning?.rows === 'none') cases.push(...rowCases(plain, odd, sizes, longest ?? 0));
  else if (algorithmNamed(name).bySegments) cases.push(...segmentCases(plain, odd, sizes, longest));
  if (longest === undefined) {
    cases.push(
      ...sizes.flatMap((n): SortCase[] => [
        { dtype: odd, order: { descending: true, nan: 'first' }, n, pattern: 'random' },
        { dtype: plain, order: {}, n, pattern: 'few' },
        ...(ORDERED_SIZES.includes(n) ? orderedCases(plain, odd, n) : []),
      ]),
    );
  }
  const stress = defersStress ? firstStressCases(variant) : stressCases(variant);
  return {
    alone: [...cases, ...stress].map((testCase, i) => ({ testCase, seed: i + 1 })),
    pairs: pairsOf(variant, defersStress ? stress.slice(0, 1) : stress),
  };
}

/** Returns segments of mixed lengths. */
const segmentCases = (plain: Dtype, odd: Dtype, sizes: readonly number[], longest?: number): SortCase[] =>
  sizes.flatMap((n): SortCase[] => [
    { dtype: odd, order: { descending: true }, n, pattern: 'random', ends: mixedEnds(n, n, longest) },
    { dtype: plain, order: {}, n, pattern: 'few', ends: mixedEnds(n, n + 1, longest) },
  ]);

/** Returns rows of the most keys that the variant sorts, and of the fewest: those of the next smaller tile are fewer. */
const rowCases = (plain: Dtype, odd: Dtype, sizes: readonly number[], longest: number): SortCase[] =>
  sizes.flatMap((size): SortCase[] => {
    const rowsOf = (row: number) => {
      const count = Math.ceil(size / row);
      return { n: count * row, row, ends: Array.from({ length: count }, (_, i) => (i + 1) * row) };
    };
    return [
      { dtype: odd, order: { descending: true }, pattern: 'random', ...rowsOf(longest) },
      { dtype: plain, order: {}, pattern: 'few', ...rowsOf(longest / 2 + 1) },
    ];
  });

/** An array that is ascending, and one that is strictly descending in the order of the case. */
const orderedCases = (plain: Dtype, odd: Dtype, n: number): SortCase[] => [
  { dtype: plain, order: {}, n, pattern: 'ascending' },
  { dtype: odd, order: { descending: true }, n, pattern: 'ascending' },
];

/** Whether stress rounds belong to the self-test of a compiled variant. */
export const hasStressCases = (algorithm: Algorithm): boolean => algorithm.longest === undefined;

/** Returns the stress rounds; none for variants that only sort segments. */
function stressCases({ shape, longest, sizes }: Variant): SortCase[] {
  if (longest !== undefined) return [];
  const dtype = UNSIGNED[shape.keyBits];
  const largest = sizes.at(-1) ?? 0;
  return Array.from({ length: STRESS_ROUNDS }, (_, round): SortCase => {
    const n = largest - round * Math.floor(largest / (2 * STRESS_ROUNDS));
    return { dtype, order: {}, n, pattern: STRESS_PATTERNS[round % STRESS_PATTERNS.length] ?? 'random' };
  });
}

/** Returns one round of each pattern, with fewer keys, to be tested before the first use. */
const firstStressCases = (variant: Variant): SortCase[] =>
  stressCases(variant)
    .slice(0, STRESS_PATTERNS.length)
    .map((one) => ({ ...one, n: Math.min(one.n, MAX_KEYS_BEFORE_STRESS) }));

/** Returns the cases that run in two queues at a time, if work-groups of the variant wait for each other. */
const pairsOf = ({ name }: Variant, cases: readonly SortCase[]): TestCases['pairs'] =>
  algorithmNamed(name).waits
    ? cases.map((testCase, i) => [
        { testCase, seed: 1000 + 2 * i },
        { testCase, seed: 1001 + 2 * i },
      ])
    : [];

export interface SortCase {
  readonly dtype: Dtype;
  readonly order: Order;
  readonly n: number;
  readonly pattern: Pattern;
  /** End of each segment that is sorted separately; missing for a whole array. */
  readonly ends?: readonly number[];
  /** Keys of each segment, if all have as many and the algorithm gets no offsets. */
  readonly row?: number;
}

/** Segment lengths at which one kernel hands over to the next, on some device. */
const SEGMENT_BOUNDS = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];

/**
 * Returns segment ends for a mix of lengths: empty, short, around each bound, and a long rest if the variant permits
 * it.
 */
function mixedEnds(n: number, seed: number, longest = n): number[] {
  const random = new Random(seed);
  const mix = [0, 1, 0, 2, ...SEGMENT_BOUNDS.flatMap((bound) => [bound, bound + 1, random.below(bound), 0])];
  const lengths = mix.filter((length) => length <= longest);
  const ends: number[] = [];
  for (let end = 0, i = 0; end < n; i = (i + 1) % lengths.length) {
    end = Math.min(n, end + (lengths[i] as number));
    ends.push(end);
    if (end > n / 2 && n - end <= longest) break;
  }
  return [...ends, n];
}

type Pattern = 'random' | 'few' | 'constant' | 'runs' | 'ascending';

/** Consecutive equal bytes in pattern 'runs'. */
const RUN_BYTES = 256;

/** The longest random bytes so far, with room for more seeds: generating them takes longer than sorting them. */
let randomBytes = new Uint8Array();

/** Returns the numbers 0, 2, 4, … in `unit` bytes each: those of a window without the lowest bit also ascend. */
function ascendingBytes(length: number, unit: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0, at = 0; at < length; i++, at += unit)
    for (let k = 0; k < Math.min(unit, 4); k++) bytes[at + k] = (2 * i) >>> (8 * k);
  return bytes;
}

/** Returns test data, aligned to 8 bytes; different for each seed up to 2^16. */
function testBytes(length: number, pattern: Pattern, seed: number, unit = 1): Uint8Array {
  if (pattern === 'ascending') return ascendingBytes(length, unit);
  if (pattern === 'constant') return new Uint8Array(length).fill(0xff);
  const begin = 8 * seed;
  const aligned = Math.ceil(length / 4) * 4;
  if (randomBytes.length < begin + aligned) randomBytes = new Random(0).bytes(powerAtLeast(begin + aligned));
  const bytes = randomBytes.slice(begin, begin + aligned);
  if (pattern === 'few') {
    const words = new Uint32Array(bytes.buffer);
    for (let i = 0; i < words.length; i++) words[i] = (words[i] as number) & 0x01010101;
  } else if (pattern === 'runs') {
    for (let i = 0; i < length; i += RUN_BYTES) bytes.fill(bytes[i] as number, i, i + RUN_BYTES);
  }
  return bytes.subarray(0, length);
}

/** The data of a case, and what the host engine makes of them. */
export interface PreparedCase {
  readonly testCase: SortCase;
  readonly keys: HostColumn;
  readonly values: Uint8Array;
  readonly offsets: Uint32Array | undefined;
  readonly expected: { readonly sorted: Uint8Array; readonly moved: Uint8Array };
}

async function prepareCase(shape: AlgorithmShape, { testCase, seed }: SeededCase): Promise<PreparedCase> {
  const { valueBytes } = shape;
  const { dtype, order, n, pattern, ends } = testCase;
  const unit = dtypeInfo(dtype).bytes;
  const keys = keyColumn(testBytes(n * unit, pattern, seed, unit), dtype);
  const values = testBytes(n * valueBytes, 'random', seed + 99);
  const offsets = ends && Uint32Array.of(0, ...ends);
  const expected = { sorted: new Uint8Array(n * keys.info.bytes), moved: new Uint8Array(values.length) };
  const withValues = valueBytes > 0 && {
    values: { place: values, bytes: valueBytes },
    moved: expected.moved,
  };
  await nativeSort(
    keys,
    { ...order, bits: windowOf(shape) },
    { sorted: expected.sorted, ...withValues },
    { segments: offsets && { offsets: { n: offsets.length, place: offsets } } },
  );
  return { testCase, keys, values, offsets, expected };
}

/**
 * Data of the cases of one variant. Those of `ahead` are prepared while the programs are compiled and while the device
 * runs earlier cases: computing keys and expected results takes about as long as the device takes.
 */
export class CaseData {
  readonly #shape: AlgorithmShape;
  /** Cases that are not prepared, and those that are. */
  readonly #waiting = new Map<string, SeededCase>();
  readonly #prepared = new Map<string, Promise<PreparedCase>>();

  constructor(shape: AlgorithmShape) {
    this.#shape = shape;
  }

  /** Starts to prepare the cases that a variant is expected to pass before its first use. */
  static ahead(name: string, shape: AlgorithmShape, defersStress: boolean): CaseData {
    const data = new CaseData(shape);
    const { alone, pairs } = casesOfVariant(expectedVariant(name, shape), defersStress);
    for (const one of [...alone, ...pairs.flat()]) data.#waiting.set(keyOf(one), one);
    void data.#prepareAll();
    return data;
  }

  async #prepareAll(): Promise<void> {
    for (const [key, one] of this.#waiting) {
      this.#waiting.delete(key);
      const prepared = prepareCase(this.#shape, one);
      this.#prepared.set(key, prepared);
      await prepared.catch(() => undefined); // rejects where it is taken
    }
  }

  /** Returns the data of a case, which are then no longer kept. */
  take(one: SeededCase): Promise<PreparedCase> {
    const key = keyOf(one);
    const prepared = this.#prepared.get(key);
    this.#waiting.delete(key);
    this.#prepared.delete(key);
    return prepared ?? prepareCase(this.#shape, one);
  }

  /** Drops all data. */
  clear(): void {
    this.#waiting.clear();
    this.#prepared.clear();
  }
}

const keyOf = ({ testCase: { dtype, n, pattern, row }, seed }: SeededCase): string =>
  `${seed} ${dtype} ${n} ${pattern} ${row}`;
