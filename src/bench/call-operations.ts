/** The operations of `clsort bench calls`, with their inputs. */
import type { DeviceArray, Sorter, SortOptions } from '../index.js';
import { generate } from '../io/operations/gen.js';
import { Random } from '../util/random.js';
import { invalidName } from '../util/suggest.js';
import { SEED } from './sorts.js';

/** An array of u32 on the device or on the host. */
export type Words = Uint32Array | DeviceArray<'u32'>;

/** Inputs of the calls, n elements each. */
export interface CallInputs<W extends Words = Words> {
  /** Uniform over all 32 bits. */
  readonly keys: W;
  /** Positions of the keys: the values of pairs. */
  readonly values: W;
  /** Keys with `DISTINCT` distinct values. */
  readonly few: W;
  /** Random positions. */
  readonly indices: W;
}

/** Arrays, or the number that a reduction returns. */
export type CallResult = readonly (Words | number | bigint)[];

/** One call. `options` apply only to operations that are a single sort. */
export type OperationCall = (
  sorter: Sorter,
  inputs: CallInputs,
  options?: SortOptions,
) => Promise<CallResult>;

export interface CallOperation {
  readonly name: string;
  /**
   * Whether the call's report covers all of its kernels. For operations of several steps, it covers one sort among
   * them.
   */
  readonly isOneSort: boolean;
  /** Prepares the other arguments of a call for n keys, so that this work is not timed. */
  readonly prepare: (n: number) => OperationCall;
}

/** Number of distinct values in `few`. */
const DISTINCT = 1000;
/** Number of keys taken from each segment. */
const FIRST_OF_SEGMENT = 10;
/** Longest segment of the Zipf distribution. */
const MAX_SEGMENT = 65536;

/** Returns the offsets of segments of equal length; the last may be shorter. */
export function equalOffsets(n: number, length: number): Uint32Array {
  const segments = Math.ceil(n / length);
  return Uint32Array.from({ length: segments + 1 }, (_, i) => Math.min(n, i * length));
}

/**
 * Returns equal segments as segmented sorts take them: as their length if it divides n, which matches how peers take
 * rows of a matrix, or as offsets.
 */
const equalSegments = (n: number, length: number): number | Uint32Array =>
  n % length === 0 ? length : equalOffsets(n, length);

/**
 * Returns the offsets of segments of 1 to `MAX_SEGMENT` keys whose lengths follow Zipf's law: probability proportional
 * to 1 / length.
 */
export function zipfOffsets(n: number): Uint32Array {
  const random = new Random(SEED);
  const offsets = [0];
  for (let end = 0; end < n; ) {
    const length = Math.floor(MAX_SEGMENT ** (random.u32() / 2 ** 32));
    end = Math.min(n, end + length);
    offsets.push(end);
  }
  return Uint32Array.from(offsets);
}

const several = (name: string, prepare: CallOperation['prepare']): CallOperation => ({
  name,
  isOneSort: false,
  prepare,
});

const oneSort = (name: string, call: OperationCall): CallOperation => ({
  name,
  isOneSort: true,
  prepare: () => call,
});

const topK = (k: number): CallOperation =>
  several(`topK-${k}`, () => async (sorter, { keys: from }) => {
    const { keys, indices } = await sorter.topK(from, k);
    return [keys, indices];
  });

/** Builds a sort of segments; their offsets are passed before the inputs. */
const ofSegments = (
  name: string,
  offsetsOf: (n: number) => number | Uint32Array,
  call: (offsets: number | Uint32Array, ...rest: Parameters<OperationCall>) => Promise<CallResult>,
): CallOperation => ({
  name,
  isOneSort: true,
  prepare: (n) => {
    const offsets = offsetsOf(n);
    return (...rest) => call(offsets, ...rest);
  },
});

const segmentedSort = (
  name: string | number,
  offsetsOf: (n: number) => number | Uint32Array,
): CallOperation =>
  ofSegments(`segmentedSort-${name}`, offsetsOf, async (offsets, sorter, { keys }, options) => [
    await sorter.segmentedSort(keys, offsets, options),
  ]);

const segmentedArgsort = (length: number): CallOperation =>
  ofSegments(
    `segmentedArgsort-${length}`,
    (n) => equalSegments(n, length),
    async (offsets, sorter, { keys }, options) => [
      await sorter.segmentedArgsort(keys, offsets, { ...options, positions: 'segment' }),
    ],
  );

const segmentedSortPairs = (length: number): CallOperation =>
  ofSegments(
    `segmentedSortPairs-${length}`,
    (n) => equalSegments(n, length),
    async (offsets, sorter, inputs, options) => {
      const { keys, values } = await sorter.segmentedSortPairs(inputs.keys, inputs.values, offsets, options);
      return [keys, values];
    },
  );

/** Returns views of the keys of equal length; the last may be shorter. */
function equalArrays(keys: Uint32Array, length: number): Uint32Array[] {
  const arrays = Math.ceil(keys.length / length);
  return Array.from({ length: arrays }, (_, i) => keys.subarray(i * length, (i + 1) * length));
}

/** Sorts arrays on the host; on the device, where the keys are contiguous, it sorts segments. */
const sortMany = (length: number): CallOperation =>
  several(`sortMany-${length}`, (n) => {
    const offsets = equalOffsets(n, length);
    let arrays: Uint32Array[] | undefined;
    return async (sorter, { keys }) => {
      if (!(keys instanceof Uint32Array)) return [await sorter.segmentedSort(keys, offsets)];
      arrays ??= equalArrays(keys, length);
      const [first] = await sorter.sortMany(arrays);
      return first ? [new Uint32Array(first.buffer, first.byteOffset, keys.length)] : [];
    };
  });

/** All operations, in the order of their rows. */
export const CALL_OPERATIONS: readonly CallOperation[] = [
  oneSort('sort', async (sorter, { keys }, options) => [await sorter.sort(keys, options)]),
  oneSort('argsort', async (sorter, { keys }, options) => [await sorter.argsort(keys, options)]),
  oneSort('sortPairs', async (sorter, inputs, options) => {
    const { keys, values } = await sorter.sortPairs(inputs.keys, inputs.values, options);
    return [keys, values];
  }),
  // The overloads distinguish columns on the host and on the device; here both may be either.
  several('lexsort', () => async (sorter, { few, keys }) => [
    await sorter.lexsort([few, keys] as readonly DeviceArray[]),
  ]),
  topK(100),
  topK(65536),
  several('unique', () => async (sorter, { few }) => {
    const { keys, counts } = await sorter.unique(few);
    return [keys, counts];
  }),
  several('reduce', () => async (sorter, { keys }) => [await sorter.reduce(keys, 'sum')]),
  several('scan', () => async (sorter, { keys }) => [await sorter.scan(keys, { inclusive: true })]),
  several('histogram', () => async (sorter, { keys }) => [
    await sorter.histogram(keys, { bins: 256, range: [0, 2 ** 32] }),
  ]),
  several('scanMax', () => async (sorter, { keys }) => [
    await sorter.scan(keys, { op: 'max', inclusive: true }),
  ]),
  several('filter', () => async (sorter, { keys }) => [await sorter.filter(keys, { below: 2 ** 31 })]),
  several('partition', () => async (sorter, { keys: from }) => {
    const { keys, count } = await sorter.partition(from, { below: 2 ** 31 });
    return [keys, count];
  }),
  // The overloads distinguish arrays on the host and on the device; here both may be either.
  several('searchSorted', () => async (sorter, { values, indices }) => [
    await sorter.searchSorted(values as DeviceArray, indices as DeviceArray<'u32'>),
  ]),
  several('merge', () => async (sorter, { values }) => [await sorter.merge(values, values)]),
  several('reduceByKey', () => async (sorter, { few, values }) => {
    const { keys, values: reduced } = await sorter.reduceByKey(few, values, 'max');
    return [keys, reduced as Words];
  }),
  several('topKSegments-256', (n) => {
    const offsets = equalSegments(n, 256);
    return async (sorter, { keys: from }) => {
      const { keys, indices } = await sorter.topKSegments(from, offsets, FIRST_OF_SEGMENT);
      return [keys, indices];
    };
  }),
  several('gather', () => async (sorter, { keys, indices }) => [await sorter.gather(keys, indices)]),
  ...[32, 256, 4096, 65536].map((length) => segmentedSort(length, (n) => equalSegments(n, length))),
  segmentedSort('zipf', zipfOffsets),
  ...[32, 256, 4096].map(segmentedArgsort),
  ...[32, 256, 4096].map(segmentedSortPairs),
  sortMany(1000),
];

/**
 * Returns operations by name, by `all`, or by a prefix before the parameter, such as `topK`.
 *
 * @returns the operations, in the order of `CALL_OPERATIONS`
 * @throws UsageError when a name is unknown
 */
export function callOperations(names: readonly string[]): CallOperation[] {
  const found = names.flatMap((word) => {
    const named = CALL_OPERATIONS.filter(
      ({ name }) => word === 'all' || name === word || name.startsWith(`${word}-`),
    );
    if (named.length > 0) return named;
    const known = ['all', ...CALL_OPERATIONS.map(({ name }) => name)];
    throw invalidName('operation', word, known);
  });
  return CALL_OPERATIONS.filter((operation) => found.includes(operation));
}

/** Returns the inputs, the same for every run and peer. */
export function callInputs(n: number): CallInputs<Uint32Array> {
  const bytes = generate({ dtype: 'u32', count: n, distribution: 'uniform', seed: SEED });
  const keys = new Uint32Array(bytes.buffer, bytes.byteOffset, n);
  const random = new Random(SEED + 1);
  const [values, few, indices] = [new Uint32Array(n), new Uint32Array(n), new Uint32Array(n)];
  for (let i = 0; i < n; i++) {
    values[i] = i;
    few[i] = (keys[i] as number) % DISTINCT;
    indices[i] = random.below(n);
  }
  return { keys, values, few, indices };
}
