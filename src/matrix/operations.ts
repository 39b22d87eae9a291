/** The operations of the matrix, each with the check of its result. A new operation needs one entry here. */
import type { DeviceArray, Sorter, SortOptions } from '../index.js';
import type { Dtype, KeyArray } from '../keys/dtype.js';
import { hasSameBytes, isOrderOf, wrong } from './checks.js';
import { digitCounts, edgesFrom, valueCounts } from './histograms.js';
import { bytesOf, type CaseInput, isUntouched } from './input.js';
import { type Numbers, referenceRows } from './reference.js';
import { checkScan, checkSum } from './sums.js';

/** Options of a case; operations without order or algorithm ignore those. */
export interface CaseOptions {
  readonly algorithm: string;
  readonly isStable: boolean;
  readonly descending: boolean;
  readonly nan: 'first' | 'last';
  /** Options for every call. */
  readonly call: Pick<SortOptions, 'dtype' | 'onWarning'>;
  /** Options for sorts. */
  readonly sort: SortOptions;
}

/** Returns what is wrong with a result; undefined when it is correct. */
export type Check = () => string | undefined;

export interface MatrixOperation {
  readonly name: string;
  /** `each`: tried with each algorithm; `auto`: with the planner's choice only; `none`: does not sort. */
  readonly sorts: 'each' | 'auto' | 'none';
  /** Smallest number of keys; default 0. */
  readonly minKeys?: number;
  /**
   * Makes the call.
   *
   * @returns the check of its result
   */
  readonly start: (sorter: Sorter, input: CaseInput, options: CaseOptions) => Promise<Check>;
}

const operation = (
  name: string,
  sorts: MatrixOperation['sorts'],
  start: MatrixOperation['start'],
  minKeys = 0,
): MatrixOperation => ({ name, sorts, start, minKeys });

const sortedBytes = ({ reference }: CaseInput, order: CaseOptions): Uint8Array =>
  reference.pick(reference.order(order));

const checkKeys = (sorted: KeyArray, input: CaseInput, options: CaseOptions): string | undefined =>
  hasSameBytes(sorted, sortedBytes(input, options)) ? undefined : wrong(sorted, sortedBytes(input, options));

const checkPositions = (places: Uint32Array, { reference }: CaseInput, options: CaseOptions) =>
  isOrderOf(places, reference, options) ? undefined : 'positions are wrong';

/** Returns a sort of pairs whose values, of `valueBytes` bytes each, encode the positions of their keys. */
const sortPairs = (valueBytes: 4 | 8): MatrixOperation['start'] => {
  return async (sorter, input, options) => {
    const { n, keys } = input;
    const values = valueBytes === 4 ? new Uint32Array(n) : new BigUint64Array(n);
    for (let i = 0; i < n; i++) values[i] = (valueBytes === 4 ? i : BigInt(i) << 20n) as never;
    const sorted = await sorter.sortPairs(keys, values, options.sort);
    return () => {
      const places = Uint32Array.from(sorted.values as ArrayLike<number | bigint>, (value) =>
        typeof value === 'bigint' ? Number(value >> 20n) : value,
      );
      return checkKeys(sorted.keys, input, options) ?? checkPositions(places, input, options);
    };
  };
};

const LARGEST_SEGMENT = 3000;

/** Returns offsets of segments of random lengths, up to `LARGEST_SEGMENT` - 1 keys; some are empty. */
function segmentsOf({ n, random }: CaseInput): number[] {
  const offsets = [0];
  for (let end = 0; end < n; offsets.push(end)) end = Math.min(n, end + random.below(LARGEST_SEGMENT));
  return offsets.length > 1 ? offsets : [0, 0];
}

/** Returns the expected positions of keys that are sorted segment by segment. */
function segmentOrder({ reference, n }: CaseInput, offsets: readonly number[], order: CaseOptions): number[] {
  const segment = new Uint32Array(n);
  offsets.slice(1).forEach((end, s) => {
    segment.fill(s, offsets[s], end);
  });
  const parts: number[][] = offsets.slice(1).map(() => []);
  for (const i of reference.order(order)) parts[segment[i] as number]?.push(i);
  return parts.flat();
}

const extreme = (op: 'min' | 'max'): MatrixOperation['start'] => {
  return async (sorter, { keys, reference, n }, { call }) => {
    const got = await sorter.reduce(keys, op, call);
    return () => {
      const order = reference.order();
      const last = reference.values[order[n - 1] as number] as number;
      const expected = op === 'min' && !Number.isNaN(last) ? reference.values[order[0] as number] : last;
      return Object.is(got, expected) ? undefined : `expected ${expected} for the ${op} but got ${got}`;
    };
  };
};

const scan = (inclusive: boolean): MatrixOperation['start'] => {
  return async (sorter, { summands, summandsReference }, { call }) => {
    const sums = await sorter.scan(summands, { ...call, inclusive });
    return () => checkScan(summandsReference, sums as Numbers, inclusive);
  };
};

const TOP = 100;

/** Returns a scan by minimum or maximum; from the first NaN on, the result is NaN. */
const scanExtreme = (op: 'min' | 'max'): MatrixOperation['start'] => {
  return async (sorter, { keys, reference, n }, { call }) => {
    const found = await sorter.scan(keys, { ...call, op, inclusive: true });
    return () => {
      const ranks = new Uint32Array(n);
      for (const [rank, i] of reference.order({ nan: op === 'min' ? 'first' : 'last' }).entries())
        ranks[i] = rank;
      let best = 0;
      const expected = Array.from({ length: n }, (_, i) => {
        const isBetter = (ranks[i] as number) < (ranks[best] as number) === (op === 'min');
        if (isBetter) best = i;
        return best;
      });
      return hasSameBytes(found, reference.pick(expected)) ? undefined : `the scan by ${op} is wrong`;
    };
  };
};

/** Returns a key such that some keys are less than it; 0 when it would be NaN or missing. */
const middleOf = ({ reference, n }: CaseInput): number | bigint => {
  const middle = reference.values[reference.order()[n >> 2] as number];
  return middle === undefined || Number.isNaN(middle) ? 0 : middle;
};

/** Returns the positions of the keys less than `edge`, and of all others. */
function positionsBelow(
  { reference, n }: CaseInput,
  edge: number | bigint,
): { below: number[]; others: number[] } {
  const all = Array.from({ length: n }, (_, i) => i);
  const isBelow = (i: number) => (reference.values[i] as number) < edge;
  return { below: all.filter(isBelow), others: all.filter((i) => !isBelow(i)) };
}

/** All operations, in the order of their rows. */
export const OPERATIONS: readonly MatrixOperation[] = [
  operation('sort', 'each', async (sorter, input, options) => {
    const sorted = await sorter.sort(input.keys, options.sort);
    return () => checkKeys(sorted, input, options);
  }),
  operation('argsort', 'each', async (sorter, input, options) => {
    const places = await sorter.argsort(input.keys, options.sort);
    return () => checkPositions(places, input, options);
  }),
  operation('sortPairs', 'each', sortPairs(4)),
  operation('sortPairs-8', 'auto', sortPairs(8)),
  operation('sortInPlace', 'auto', async (sorter, input, options) => {
    const array = input.keys.slice();
    const sorted = await sorter.sortInPlace(array, options.sort);
    return () => (sorted === array ? checkKeys(array, input, options) : 'returned another array');
  }),
  operation('lexsort', 'auto', async (sorter, { keys, dtype, n, random, reference }, options) => {
    const { dtype: _, ...sort } = options.sort;
    const few = Uint32Array.from({ length: n }, () => random.below(9));
    const places = await sorter.lexsort([few, { keys, dtype }], { ...sort, nan: 'last' });
    return () => {
      const expected = referenceRows([few, reference.values], n, options.descending);
      return hasSameBytes(places, bytesOf(Uint32Array.from(expected))) ? undefined : 'rows are wrong';
    };
  }),
  operation('topK', 'auto', async (sorter, { keys, reference }, options) => {
    const { descending: largest = false, ...sort } = options.sort;
    const top = await sorter.topK(keys, TOP, { ...sort, largest });
    return () => {
      const expected = reference.order(options).slice(0, TOP);
      if (!hasSameBytes(top.indices, bytesOf(expected))) return 'positions are wrong';
      return hasSameBytes(top.keys, reference.pick(expected)) ? undefined : 'keys are wrong';
    };
  }),
  operation('segmentedSort', 'auto', async (sorter, input, options) => {
    const offsets = segmentsOf(input);
    const sorted = await sorter.segmentedSort(input.keys, offsets, options.sort);
    return () => {
      const expected = input.reference.pick(segmentOrder(input, offsets, options));
      return hasSameBytes(sorted, expected) ? undefined : wrong(sorted, expected);
    };
  }),
  operation('segmentedArgsort', 'auto', async (sorter, input, options) => {
    const offsets = segmentsOf(input);
    const places = await sorter.segmentedArgsort(input.keys, offsets, options.sort);
    return () => {
      const expected = bytesOf(Uint32Array.from(segmentOrder(input, offsets, options)));
      return hasSameBytes(places, expected) ? undefined : wrong(places, expected);
    };
  }),
  operation('sortMany', 'auto', async (sorter, input, options) => {
    const offsets = segmentsOf(input);
    const parts = offsets.slice(1).map((end, s) => input.keys.subarray(offsets[s], end));
    const sorted = await sorter.sortMany(parts, options.sort);
    return () => {
      const expected = input.reference.pick(segmentOrder(input, offsets, options));
      const all = Buffer.concat(sorted.map(bytesOf));
      return hasSameBytes(all, expected) ? undefined : wrong(all, expected);
    };
  }),
  operation('unique', 'auto', async (sorter, { keys, reference }, options) => {
    const { keys: found, counts } = await sorter.unique(keys, options.sort);
    return () => {
      const expected = reference.distinct(options);
      if (!hasSameBytes(counts, bytesOf(Uint32Array.from(expected.counts)))) return 'counts are wrong';
      return hasSameBytes(found, reference.pick(expected.first)) ? undefined : 'keys are wrong';
    };
  }),
  operation('deviceArrays', 'auto', async (sorter, input, options) => {
    const { dtype, keys } = input;
    const { dtype: _, ...sort } = options.sort;
    const there: DeviceArray<Dtype> = await sorter.upload(keys, { dtype });
    try {
      const sorted = await (await sorter.gather(there, sorter.argsort(there, sort))).read();
      return () => checkKeys(sorted as KeyArray, input, options);
    } finally {
      there.dispose();
    }
  }),
  operation('reduce-sum', 'none', async (sorter, { summands, summandsReference }, { call }) => {
    const sum = await sorter.reduce(summands, 'sum', call);
    return () => checkSum(summandsReference, sum);
  }),
  operation('reduce-min', 'none', extreme('min'), 1),
  operation('reduce-max', 'none', extreme('max'), 1),
  operation('scan', 'none', scan(false)),
  operation('scan-inclusive', 'none', scan(true)),
  operation('scan-min', 'none', scanExtreme('min')),
  operation('scan-max', 'none', scanExtreme('max')),
  operation('filter', 'none', async (sorter, input, { call }) => {
    const edge = middleOf(input);
    const selected = await sorter.filter(input.keys, { below: edge }, call);
    return () => {
      const expected = input.reference.pick(positionsBelow(input, edge).below);
      return hasSameBytes(selected, expected) ? undefined : wrong(selected, expected);
    };
  }),
  operation('filter-mask', 'none', async (sorter, { keys, reference, n, random }, { call }) => {
    const mask = Uint8Array.from({ length: n }, () => random.below(3));
    const selected = await sorter.filter(keys, mask, call);
    return () => {
      const expected = reference.pick([...mask.keys()].filter((i) => mask[i] !== 0));
      return hasSameBytes(selected, expected) ? undefined : wrong(selected, expected);
    };
  }),
  operation('partition', 'none', async (sorter, input, { call }) => {
    const edge = middleOf(input);
    const parted = await sorter.partition(input.keys, { below: edge }, call);
    return () => {
      const { below, others } = positionsBelow(input, edge);
      if (parted.count !== below.length) return `expected ${below.length} keys below but got ${parted.count}`;
      const expected = input.reference.pick([...below, ...others]);
      return hasSameBytes(parted.keys, expected) ? undefined : wrong(parted.keys, expected);
    };
  }),
  operation('searchSorted', 'none', async (sorter, input, { call }) => {
    const { keys, reference, n } = input;
    const sorted = keys.slice();
    bytesOf(sorted).set(reference.pick(reference.order()));
    const places = await sorter.searchSorted(sorted, keys, { ...call, side: 'left' });
    return () => {
      if (!hasSameBytes(sorted, reference.pick(reference.order()))) return 'the searched array was changed';
      // Keys of equal bits are adjacent in the order; their insertion point is that of the first of them.
      const expected = new Uint32Array(n);
      let first = 0;
      for (const [place, i] of reference.order().entries()) {
        if (place > 0 && reference.bits(i) !== reference.bits(reference.order()[place - 1] as number))
          first = place;
        expected[i] = first;
      }
      return hasSameBytes(places, bytesOf(expected)) ? undefined : 'positions are wrong';
    };
  }),
  operation('merge', 'none', async (sorter, { keys, reference, n }, { call }) => {
    const order = reference.order();
    const [a, b] = [keys.slice(0, n >> 1), keys.slice(n >> 1)];
    bytesOf(a).set(reference.pick(order.filter((i) => i < n >> 1)));
    bytesOf(b).set(reference.pick(order.filter((i) => i >= n >> 1)));
    const merged = await sorter.merge(a, b, call);
    return () => {
      if (!hasSameBytes(a, reference.pick(order.filter((i) => i < n >> 1))))
        return 'a merged array was changed';
      const expected = reference.pick(order);
      return hasSameBytes(merged, expected) ? undefined : wrong(merged, expected);
    };
  }),
  operation('reduceByKey', 'auto', async (sorter, { keys, dtype, reference, n }, options) => {
    const values = Uint32Array.from({ length: n }, (_, i) => (i * 31) % 1009);
    const found = await sorter.reduceByKey(keys, values, 'sum', { ...options.sort, dtype });
    return () => {
      const { first } = reference.distinct(options);
      const sums = new Map<number | bigint, bigint>(); // a Map treats zeros of either sign as equal, and NaNs too
      for (let i = 0; i < n; i++) {
        const key = reference.values[i] as number;
        sums.set(key, (sums.get(key) ?? 0n) + BigInt(values[i] as number));
      }
      const expected = BigUint64Array.from(first, (i) => sums.get(reference.values[i] as number) ?? 0n);
      if (!hasSameBytes(found.keys, reference.pick(first))) return 'keys are wrong';
      return hasSameBytes(found.values, bytesOf(expected)) ? undefined : 'sums are wrong';
    };
  }),
  operation('topKSegments', 'auto', async (sorter, input, options) => {
    const offsets = segmentsOf(input);
    const { descending: largest = false, ...sort } = options.sort;
    const top = await sorter.topKSegments(input.keys, offsets, 10, { ...sort, largest });
    return () => {
      const all = segmentOrder(input, offsets, options);
      const expected = offsets
        .slice(1)
        .flatMap((end, s) => all.slice(offsets[s], Math.min(end, (offsets[s] as number) + 10)));
      if (!hasSameBytes(top.indices, bytesOf(Uint32Array.from(expected)))) return 'positions are wrong';
      return hasSameBytes(top.keys, input.reference.pick(expected)) ? undefined : 'keys are wrong';
    };
  }),
  operation('histogram', 'none', async (sorter, { keys, reference }, { call }) => {
    const edges = edgesFrom(reference);
    const counts = await sorter.histogram(keys, { ...call, edges });
    return () =>
      hasSameBytes(counts, bytesOf(valueCounts(reference, edges))) ? undefined : 'counts are wrong';
  }),
  operation('histogram-digits', 'none', async (sorter, { keys, reference }, { call }) => {
    const counts = await sorter.histogram(keys, { ...call, bitRange: [2, 8] });
    return () =>
      hasSameBytes(counts, bytesOf(digitCounts(reference, 2, 8))) ? undefined : 'counts are wrong';
  }),
  operation(
    'gather',
    'none',
    async (sorter, { keys, n, random, reference }, { call }) => {
      const indices = Uint32Array.from({ length: n }, () => random.below(n));
      const gathered = await sorter.gather(keys, indices, call);
      return () => (hasSameBytes(gathered, reference.pick(indices)) ? undefined : 'elements are wrong');
    },
    1,
  ),
];

/** Starts an operation. The returned check also verifies that the keys are unchanged. */
export async function startCase(
  { start }: MatrixOperation,
  sorter: Sorter,
  input: CaseInput,
  options: CaseOptions,
): Promise<Check> {
  const check = await start(sorter, input, options);
  return () => check() ?? (isUntouched(input) ? undefined : 'the input keys were changed');
}
