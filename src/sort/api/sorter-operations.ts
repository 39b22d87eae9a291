import type { DeviceInfo } from '../../device/platform.js';
import {
  type ArrayOf,
  copyBytes,
  type DtypeOf,
  dtypeOf,
  isResizable,
  keyColumn,
  type ValueArray,
} from '../../keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../../keys/dtype.js';
import type { ReduceOp } from '../../primitives/possible.js';
import { type ClsortError, InputError, UnsupportedError, UsageError } from '../../util/errors.js';
import { formatValue } from '../../util/format-value.js';
import type { Backend, Session } from '../backend/backend.js';
import { explainPlan, type Plan, type PlanRequest } from '../backend/plan.js';
import { ArrayStore, type Keys } from '../calls/array-store.js';
import { assertNotDetached } from '../calls/assert-not-detached.js';
import { CallScheduler } from '../calls/call-scheduler.js';
import { type BreakEvenHost, Calls } from '../calls/calls.js';
import { Dependency } from '../calls/dependency.js';
import { gatherSteps } from '../host/host-sort.js';
import { runYielding } from '../host/steps.js';
import type { DeviceGroup } from '../multi-device/device-group.js';
import { DeviceWorker } from '../multi-device/device-worker.js';
import { ShardedArrays } from '../multi-device/sharded-arrays.js';
import type { Predicate } from '../operations/predicate.js';
import type { MemoryUsage } from '../transfer/column-memory.js';
import {
  type Awaitable,
  assertIndexable,
  assertSeparateOutput,
  CARRIED_VALUE_BYTES,
  dtypeOfValues,
  type Positions,
  parse,
  readKeys,
  readValues,
  type Shardable,
  shardedSettings,
  type TopOf,
} from './arguments.js';
import { DeviceArray } from './device-array.js';
import { argsortMany, createPartPool, sortMany } from './many.js';
import {
  bitWindow,
  type CheckedOptions,
  chosenParameters,
  type HistogramOptions,
  type Into,
  type LexsortOptions,
  type PlanOptions,
  type PrimitiveOptions,
  parseUploadOptions,
  requireOptionsObject,
  type ScanOptions,
  type SortOptions,
  type TopKOptions,
  type UniqueOptions,
} from './options.js';
import { OrderOperations, type RowColumn } from './order-operations.js';
import { PrimitiveOperations } from './primitive-operations.js';
import {
  type SegmentedArgsortOptions,
  type SegmentOffsets,
  SegmentOperations,
  type TopKSegmentsOptions,
  type TopSegments,
} from './segment-operations.js';
import {
  type Mask,
  type MergeOptions,
  type SearchSortedOptions,
  SelectOperations,
} from './select-operations.js';
import { ShardedArray } from './sharded-array.js';

/** A plan, and what it says in words. */
export type ExplainedPlan = Plan & { explain(): string };

/** What every Sorter does, on the backend that it was made with. */
export class SorterOperations implements AsyncDisposable {
  readonly #session: Session;
  readonly #scheduler = new CallScheduler();
  readonly #calls: Calls;
  readonly #arrays: ArrayStore;
  readonly #segments: SegmentOperations;
  readonly #orders: OrderOperations;
  readonly #primitives: PrimitiveOperations;
  readonly #selections: SelectOperations;
  readonly #group: DeviceGroup | undefined;
  #openedShardedArrays: ShardedArrays | undefined;
  /** Of `sortMany`. */
  readonly #partPool = createPartPool();
  readonly #onWarning: (warning: ClsortError) => void;

  /**
   * @internal `Sorter.open` makes them.
   *
   * @param few what makes calls of few keys, where that is not the device
   * @param group of whose devices the first is that of `keeper`: those that share large arrays
   */
  constructor(
    session: Session,
    onWarning: (warning: ClsortError) => void,
    few?: BreakEvenHost,
    group?: DeviceGroup,
  ) {
    this.#session = session;
    this.#group = group;
    this.#onWarning = onWarning;
    this.#calls = new Calls(session, few, this.#scheduler, onWarning, group);
    this.#arrays = new ArrayStore(session, this.#scheduler);
    const by = { calls: this.#calls, arrays: this.#arrays, group, shardedArrays: () => this.#shardedArrays };
    this.#segments = new SegmentOperations(this.#calls, this.#arrays);
    this.#orders = new OrderOperations(by);
    this.#primitives = new PrimitiveOperations(by);
    this.#selections = new SelectOperations(by);
  }

  /** The opened device, the best one of several; undefined when the host engine sorts. */
  get device(): DeviceInfo | undefined {
    return this.#session.backend.info;
  }

  /** @internal Has the device memory of its own, beside that of the host? */
  get hasDedicatedMemory(): boolean {
    return this.#session.backend.hasDedicatedMemory;
  }

  /** @internal Makes what files pass through on their way to a device aside, before the first one comes. @throws MemoryError */
  async prepareFiles(): Promise<void> {
    if (this.hasDedicatedMemory)
      await this.#session.run(({ memory }) => memory.prepareFiles(), { again: false });
  }

  /** @internal Compiles what a sort of such an array takes, which it would do else: for who has yet to fill it. */
  async prepareSort(
    keys: DeviceArray,
    options: SortOptions,
    { positions }: { positions: boolean },
  ): Promise<void> {
    const settings = parse(options);
    const input = readKeys(this.#arrays, keys, settings);
    const result = positions ? { moved: input.place } : { sorted: input.place };
    const task = { n: input.n, settings, dependency: new Dependency(), onHost: false, again: false };
    await this.#calls.execute(task, async (call) => {
      await call.canSort({ keys: input, ...result });
      return () => undefined;
    });
  }

  /** All opened devices, the best one first; none when the host engine sorts. */
  get devices(): readonly DeviceInfo[] {
    const { device } = this;
    return this.#group ? this.#group.workers.map(({ info }) => info) : device ? [device] : [];
  }

  /**
   * Sorts `keys` into a new array of the same type. Stable; see the README for the total order.
   *
   * @throws UsageError, DtypeError, InputError, AbortedError, MemoryError, UnsupportedError, MismatchError, …
   */
  sort<K extends Shardable>(keys: Awaitable<K>, options?: SortOptions & Into<K>): Promise<K>;
  sort(keys: Awaitable<Shardable>, options?: SortOptions & Into<Keys>): Promise<Shardable> {
    return this.#calls.runWithInputs<Shardable>([keys], (dependency) => {
      const array = dependency.resolveInput(keys);
      const { into, ...rest } = requireOptionsObject(options);
      const settings = parse(rest);
      if (array instanceof ShardedArray)
        return this.#shardedArrays.sort(array, shardedSettings(settings, array, into));
      const input = readKeys(this.#arrays, array, settings);
      assertSeparateOutput(array, into);
      return this.#arrays.withResults((make) => {
        const sorted = make.allocateLike(array, input.dtype, input.n, into);
        dependency.setResult(sorted.result);
        const job = { keys: input, settings, sorted: sorted.place };
        return this.#calls.sort(job, dependency, sorted.result, into);
      });
    });
  }

  /**
   * Sorts the memory of `keys` itself, through a second array of its size on the device. After a failure
   * the keys are as they were, unless the device fails during the last step, copying the result back.
   *
   * @returns `keys`
   * @throws as `sort`
   */
  sortInPlace<K extends Keys>(keys: Awaitable<K>, options?: SortOptions): Promise<K> {
    return this.#calls.runWithInputs([keys], async (dependency) => {
      const array = dependency.resolveInput(keys);
      const settings = parse(options);
      const input = readKeys(this.#arrays, array, settings);
      const onHost = !(array instanceof DeviceArray);
      const isShared = this.#group?.isWorthSharing(input.n * input.info.bytes, settings) ?? false;
      if (onHost && (isResizable(array) || isShared)) {
        // A device must not hold memory that may shrink, and what several devices write is to be whole first.
        const sorted = await this.sort<KeyArray>(array, options);
        assertNotDetached([[array, sorted.byteLength]]);
        copyBytes(sorted, array);
        return array;
      }
      dependency.setResult(array);
      const task = { n: input.n, settings, dependency: dependency, onHost, again: onHost, overwrites: true };
      await this.#calls.execute(task, async (call) => {
        const sorted = call.columns.temporary(input.dtype, input.n);
        await call.sort({ keys: input, sorted: sorted.place });
        await call.settle();
        task.again = false; // from here on the keys may be no longer what was to be sorted
        await call.copy(sorted, onHost ? { ...input, place: array } : input);
        return () => undefined;
      });
      return array;
    });
  }

  /**
   * The positions of `keys` in sorted order: `keys[result[0]]` is the first.
   *
   * @throws as `sort`; UnsupportedError for 2^32 keys and more
   */
  argsort<K extends Shardable>(
    keys: Awaitable<K>,
    options?: SortOptions & Into<Positions<K>>,
  ): Promise<Positions<K>>;
  argsort(
    keys: Awaitable<Shardable>,
    options?: SortOptions & Into<Positions<Keys>>,
  ): Promise<Positions<Shardable>> {
    return this.#calls.runWithInputs<Positions<Shardable>>([keys], (dependency) => {
      const array = dependency.resolveInput(keys);
      const { into, ...rest } = requireOptionsObject(options);
      const settings = parse(rest);
      if (array instanceof ShardedArray)
        return this.#shardedArrays.argsort(array, shardedSettings(settings, array, into));
      const input = readKeys(this.#arrays, array, settings);
      assertIndexable(input.n);
      assertSeparateOutput(array, into);
      return this.#arrays.withResults((make) => {
        const moved = make.allocateBeside(array, 'u32', input.n, into);
        dependency.setResult(moved.result);
        const job = { keys: input, settings, moved: moved.place };
        return this.#calls.sort(job, dependency, moved.result as Positions<Keys>, into);
      });
    });
  }

  /**
   * Sorts `keys` and moves `values` along: `values` holds the same number of elements of 1 to 16 bytes.
   * Either both are typed arrays or both are device arrays.
   *
   * @throws as `sort`; InputError when the lengths do not fit
   */
  sortPairs<K extends Shardable, V extends ValueArray | DeviceArray | ShardedArray>(
    keys: Awaitable<K>,
    values: Awaitable<V>,
    options?: SortOptions & Into<{ keys: K; values: V }>,
  ): Promise<{ keys: K; values: V }>;
  sortPairs(
    keys: Awaitable<Shardable>,
    values: Awaitable<Shardable>,
    options?: SortOptions & Into<{ keys: Keys; values: Keys }>,
  ): Promise<{ keys: Shardable; values: Shardable }> {
    return this.#calls.runWithInputs<{ keys: Shardable; values: Shardable }>(
      [keys, values],
      async (dependency) => {
        const [array, beside] = [dependency.resolveInput(keys), dependency.resolveInput(values)];
        const { into, ...rest } = requireOptionsObject(options);
        const settings = parse(rest);
        if (array instanceof ShardedArray || beside instanceof ShardedArray) {
          if (array instanceof ShardedArray && beside instanceof ShardedArray) {
            return this.#shardedArrays.sortPairs(array, beside, shardedSettings(settings, array, into));
          }
          throw new InputError('keys and values are in different places: spread both or none');
        }
        const input = readKeys(this.#arrays, array, settings);
        const { place, bytes } = readValues(this.#arrays, array, beside, input);
        assertSeparatePairOutput([array, beside], into);
        return this.#arrays.withResults(async (make) => {
          const sorted = make.allocateLike(array, input.dtype, input.n, into?.keys);
          const moved = make.allocateLike(beside, dtypeOfValues(beside), beside.length, into?.values);
          if (CARRIED_VALUE_BYTES.has(bytes)) {
            const job = { keys: input, settings, sorted: sorted.place, values: { place, bytes } };
            await this.#calls.sort({ ...job, moved: moved.place }, dependency, undefined, into);
          } else {
            // No dtype has such a width, so these are typed arrays.
            const positions = new Uint32Array(input.n);
            await this.#calls.sort(
              { keys: input, settings, sorted: sorted.place, moved: positions },
              dependency,
              undefined,
            );
            const [from, to] = [place as ArrayBufferView, moved.place as ArrayBufferView];
            await runYielding(gatherSteps(from, positions, bytes, to), settings.signal);
          }
          return { keys: sorted.result, values: moved.result };
        });
      },
    );
  }

  /**
   * The order of rows that are given by columns, the most significant first: `result[0]` is the position
   * of the first row. Stable. Keys are compared as numbers, so all NaNs are equal, and −0 equals +0.
   *
   * @param columns arrays of the same length, or `{ keys, descending, nan, dtype }` for an order of their own
   * @throws as `sort`; InputError when the lengths differ; UnsupportedError for 2^32 rows and more
   */
  lexsort(columns: readonly RowColumn<KeyArray>[], options?: LexsortOptions): Promise<Uint32Array>;
  lexsort(columns: readonly RowColumn<DeviceArray>[], options?: LexsortOptions): Promise<DeviceArray<'u32'>>;
  lexsort(columns: readonly RowColumn<Keys>[], options?: LexsortOptions): Promise<Positions<Keys>> {
    return this.#orders.lexsort(columns, options);
  }

  /**
   * The `k` largest keys (all of them when there are fewer), or smallest with `largest: false`, in order,
   * and their positions: what `sort` and `argsort` with `descending: largest` would begin with. Of equal
   * keys the first ones are taken, NaNs only when the numbers do not suffice, or first with `nan: 'first'`. Of a spread
   * array the results are arrays of the host.
   *
   * @throws as `sort`; UsageError when k is no whole number
   */
  topK<K extends Shardable>(
    keys: Awaitable<K>,
    k: number,
    options?: TopKOptions,
  ): Promise<{ keys: TopOf<K>; indices: TopOf<Positions<K>> }>;
  topK(
    keys: Awaitable<Shardable>,
    k: number,
    options?: TopKOptions,
  ): Promise<{ keys: Keys; indices: Positions<Keys> }> {
    return this.#orders.topK(keys, k, options);
  }

  /**
   * Sorts each segment of `keys` by itself, all of them at once: segment s is `[offsets[s], offsets[s + 1])`.
   *
   * @param offsets where each segment begins, from 0 on and never falling, and at last the number of keys: an array of the
   *   host, which is copied, or a device array of u32, which only the device looks at. Or a number: how many keys every segment
   *   has, as the rows of a matrix have
   * @throws as `sort`; InputError for wrong offsets; UnsupportedError for 2^32 keys and more
   */
  segmentedSort<K extends Keys>(
    keys: Awaitable<K>,
    offsets: Awaitable<SegmentOffsets>,
    options?: SortOptions & Into<K>,
  ): Promise<K> {
    return this.#segments.sort(keys, offsets, options);
  }

  /**
   * The positions of `keys` in the order of `segmentedSort`: those of each segment stand where its keys would.
   *
   * @param options those of `argsort`, and `positions`: whether positions are counted from the beginning of the `array`, as
   *   `gather` takes them, or of each `segment`. Default `array`.
   * @throws as `segmentedSort`
   */
  segmentedArgsort<K extends Keys>(
    keys: Awaitable<K>,
    offsets: Awaitable<SegmentOffsets>,
    options?: SegmentedArgsortOptions & Into<Positions<K>>,
  ): Promise<Positions<K>> {
    return this.#segments.argsort(keys, offsets, options);
  }

  /**
   * Sorts each segment of `keys` by itself and moves `values` along, as `sortPairs` does.
   *
   * @throws as `segmentedSort`; InputError when the lengths do not fit
   */
  segmentedSortPairs<K extends Keys, V extends ValueArray | DeviceArray>(
    keys: Awaitable<K>,
    values: Awaitable<V>,
    offsets: Awaitable<SegmentOffsets>,
    options?: SortOptions,
  ): Promise<{ keys: K; values: V }> {
    return this.#segments.sortPairs(keys, values, offsets, options);
  }

  /**
   * The `k` largest keys of each segment (smallest with `largest: false`), in order, as `topK` says, and where they are.
   *
   * @param offsets as `segmentedSort` takes them
   * @param options those of `topK`, and `positions` as `segmentedArgsort` takes it
   * @returns keys and indices of all segments one behind the other, and `offsets`, where those of each begin: of segments with
   *   fewer than k keys there are fewer
   * @throws as `segmentedSort`; UsageError when k is no whole number
   */
  topKSegments<K extends Keys>(
    keys: Awaitable<K>,
    offsets: Awaitable<SegmentOffsets>,
    k: number,
    options?: TopKSegmentsOptions,
  ): Promise<TopSegments<K>> {
    return this.#segments.topK(keys, offsets, k, options);
  }

  /**
   * Sorts many arrays of one dtype, each by itself and all in one go: for small ones a call for each takes longer than
   * sorting them.
   *
   * @param arrays arrays of the host; none at all are allowed
   * @returns sorted arrays of the same lengths, in the order given: views of one new buffer
   * @throws as `sort`, for any of them; DtypeError when they are of more than one dtype; UnsupportedError for 2^32 keys
   *   and more in all
   */
  sortMany<K extends KeyArray>(arrays: readonly K[], options?: SortOptions): Promise<K[]> {
    return sortMany(this.#segmentSorter, arrays, options);
  }

  /**
   * The positions of the keys of many arrays in sorted order, each array's counted by themselves: what `argsort` gives for
   * each, made in one go.
   *
   * @returns as many arrays, in the order given: views of one new buffer
   * @throws as `sortMany`
   */
  argsortMany(arrays: readonly KeyArray[], options?: SortOptions): Promise<Uint32Array[]> {
    return argsortMany(this.#segmentSorter, arrays, options);
  }

  /**
   * The distinct keys in order, and how often each is there. Keys are compared as numbers, so all NaNs are
   * one, and so are the zeros; each result is, bit for bit, the first of its equals in the input.
   *
   * @throws as `sort`; UnsupportedError for 2^32 keys and more
   */
  unique<K extends Keys>(
    keys: Awaitable<K>,
    options?: UniqueOptions,
  ): Promise<{ keys: K; counts: Positions<K> }> {
    return this.#orders.unique(keys, options);
  }

  /**
   * The keys that are chosen, in input order: those where the byte of a mask is not 0, or of which a predicate holds.
   *
   *     await sorter.filter(prices, { from: 10, below: 20 });
   *
   * @param by a mask of one byte for each key, where the keys are; or what is to hold of the keys, see `Predicate`
   * @throws as `sort`; InputError when the mask does not fit; UnsupportedError for 2^32 keys and more
   */
  filter<K extends Keys>(
    keys: Awaitable<K>,
    by: Awaitable<Mask<K>> | Predicate,
    options?: CheckedOptions,
  ): Promise<K> {
    return this.#selections.filter(keys, by, options);
  }

  /**
   * The keys that are chosen, as `filter` says, and behind them the others; both in input order.
   *
   * @returns all keys, and how many of them are chosen: these are the first `count`
   * @throws as `filter`
   */
  partition<K extends Keys>(
    keys: Awaitable<K>,
    by: Awaitable<Mask<K>> | Predicate,
    options?: CheckedOptions & Into<K>,
  ): Promise<{ keys: K; count: number }> {
    return this.#selections.partition(keys, by, options);
  }

  /**
   * Where each of `keys` belongs among keys that are in order: how many of `sorted` come before it, with `side: 'right'` those
   * that are equal to it, too. The order is that of `sort` with the same `descending` and `nan`, of bit patterns: −0 is
   * before +0, and NaNs have their places. If `sorted` is in another order the positions mean nothing.
   *
   * @param sorted fewer than 2^32 keys of the same dtype as `keys`, in the same place
   * @throws as `sort`; InputError for two dtypes or places
   */
  searchSorted<K extends Keys>(
    sorted: Awaitable<K>,
    keys: Awaitable<K>,
    options?: SearchSortedOptions & Into<Positions<K>>,
  ): Promise<Positions<K>> {
    return this.#selections.searchSorted(sorted, keys, options);
  }

  /**
   * One array in order out of two that are in the order of `sort` with the same `descending` and `nan`: what `sort` would make
   * of one behind the other. If they are in another order, so is the result.
   *
   * @throws as `searchSorted`
   */
  merge<K extends Keys>(a: Awaitable<K>, b: Awaitable<K>, options?: MergeOptions & Into<K>): Promise<K> {
    return this.#selections.merge(a, b, options);
  }

  /**
   * The distinct keys in order, and the sum, minimum or maximum of the values of each. Keys are compared as by `unique`, and
   * need be in no order; values are reduced as by `reduce`, except that the results are an array: sums of integers of 64 bits
   * (u64, i64), all others of the values' own dtype.
   *
   *     const { keys, values } = await sorter.reduceByKey(customers, amounts, 'sum');
   *
   * @param values as many as keys, in the same place
   * @throws as `unique`; InputError when the lengths differ; UnsupportedError for sums of f16
   */
  reduceByKey<K extends Keys, V extends Keys>(
    keys: Awaitable<K>,
    values: Awaitable<V>,
    op: ReduceOp,
    options?: UniqueOptions,
  ): Promise<{ keys: K; values: V extends DeviceArray ? DeviceArray : KeyArray }> {
    type Result = { keys: K; values: V extends DeviceArray ? DeviceArray : KeyArray };
    return this.#orders.reduceByKey(keys, values, op, options) as Promise<Result>;
  }

  /**
   * The sum, minimum or maximum of `keys`.
   *
   * Sums of integers are BigInts of 64 bits and wrap; sums of floats are of the keys' own type, within
   * 2 log2(n) ε of the sum of magnitudes (ε is 2^-24 for f32, 2^-53 for f64), added up in no particular order. Of a minimum or maximum NaN is
   * the result when it is among the keys, and −0 is below +0; 64-bit integers give BigInts.
   *
   * @throws as `sort`; InputError for the minimum or maximum of no keys; UnsupportedError for sums of f16
   */
  reduce(keys: Awaitable<Shardable>, op: ReduceOp, options?: PrimitiveOptions): Promise<number | bigint> {
    return this.#primitives.reduce(keys, op, options);
  }

  /**
   * Prefix sums: each key's is the sum of all keys before it, with `inclusive` its own too. Or minima, maxima or products
   * (option `op`). Results are of the keys' own type, or of `resultDtype`: integers wrap, sums of floats are within 4 log2(n) ε of the sum of
   * the magnitudes before them, ε as in `reduce`, products within n ε of themselves, as long as no product of neighbours
   * is too large or small. Of a minimum or maximum NaN is the result from the first one on, and −0 is below +0. What
   * comes before the first key is 0 of a sum, 1 of a product, and the largest number of a minimum (infinity of floats), the
   * smallest of a maximum.
   *
   * @throws as `sort`; UnsupportedError for sums and products of f16
   */
  scan<D extends Dtype>(
    keys: Awaitable<KeyArray>,
    options: ScanOptions & Into<ArrayOf<D>> & { readonly resultDtype: D },
  ): Promise<ArrayOf<D>>;
  scan<K extends Keys>(keys: Awaitable<K>, options?: ScanOptions & Into<K>): Promise<K>;
  scan<K extends Keys>(keys: Awaitable<K>, options?: ScanOptions & Into<K>): Promise<K> {
    return this.#primitives.scan(keys, options);
  }

  /**
   * How many keys are in each bin: in bin b those from its lower edge on, that are below the next one; in
   * the last bin also those at its upper edge. Keys are compared as numbers: both zeros are at an edge of 0,
   * and NaN is in no bin. With `bits` instead, how many keys have each digit there, as a radix sort counts
   * them: of the codes of the ascending order with NaN last, so that every key is in a bin.
   *
   * @throws as `sort`; UsageError when the options do not make bins; UnsupportedError for 2^32 keys and more
   */
  histogram(keys: Awaitable<Keys>, options?: HistogramOptions): Promise<Uint32Array> {
    return this.#primitives.histogram(keys, options);
  }

  /**
   * The elements of `values` at `indices`: `result[i]` is `values[indices[i]]`. Brings further columns into
   * the order of an `argsort`. Either both are arrays of the host or both are device arrays.
   *
   * Of a list of columns, which may be of different dtypes, a list comes back: the device takes one launch for each eight
   * columns.
   *
   *     const [names, prices] = await sorter.gather([nameIds, amounts], await sorter.argsort(dates));
   *
   * @param values or a list of columns that have the same number of elements
   * @param indices as `argsort` gives them: of 32 bits
   * @throws as `sort`; InputError when an index is not inside, and when columns have different numbers of elements
   */
  gather<V extends Keys>(
    values: Awaitable<V>,
    indices: Awaitable<Positions<V>>,
    options?: PrimitiveOptions & Into<V>,
  ): Promise<V>;
  gather<V extends readonly Keys[] | readonly []>(
    values: { readonly [I in keyof V]: Awaitable<V[I]> },
    indices: Awaitable<Positions<Keys>>,
    options?: PrimitiveOptions & Into<V>,
  ): Promise<V>;
  gather(
    values: Awaitable<Keys> | readonly Awaitable<Keys>[],
    indices: Awaitable<Positions<Keys>>,
    options?: PrimitiveOptions & Into<never>,
  ): Promise<Keys | Keys[]> {
    return Array.isArray(values)
      ? this.#primitives.gatherColumns(values, indices, options)
      : this.#primitives.gather(values as Awaitable<Keys>, indices, options);
  }

  /**
   * Copies `keys` into a device array, which operations then use without another transfer; with `spread` into one that
   * lies on all devices of the Sorter (see `ShardedArray`), each part on its own, by the speed of the devices as it was
   * measured when the first one was made.
   *
   * @throws UsageError, DtypeError, InputError; MemoryError when the device has no room
   */
  async upload<K extends KeyArray>(
    keys: K,
    options: { readonly spread: true },
  ): Promise<ShardedArray<DtypeOf<K>>>;
  async upload<D extends Dtype>(
    keys: KeyArray,
    options: { readonly dtype: D; readonly spread: true },
  ): Promise<ShardedArray<D>>;
  async upload<K extends KeyArray>(
    keys: K,
    options?: { readonly spread?: false },
  ): Promise<DeviceArray<DtypeOf<K>>>;
  async upload<D extends Dtype>(
    keys: KeyArray,
    options: { readonly dtype: D; readonly spread?: false },
  ): Promise<DeviceArray<D>>;
  async upload(
    keys: KeyArray,
    options?: { readonly dtype?: Dtype; readonly spread?: boolean },
  ): Promise<DeviceArray | ShardedArray> {
    const { spread, dtype = dtypeOf(keys) } = parseUploadOptions(options);
    const host = keyColumn(keys, dtype);
    const { n } = host;
    if (spread) {
      this.#scheduler.assertOpen();
      const group = this.#group;
      return this.#shardedArrays.upload(host, dtype, async () => group?.weigh(host, parse()) ?? [1]);
    }
    const array = this.allocate(dtype, n);
    try {
      await array.write(keys);
      return array;
    } catch (error) {
      array.dispose();
      throw error;
    }
  }

  /**
   * A device array of `length` elements, to be filled by `write` in pieces. Its contents are undefined.
   *
   * @throws DtypeError; UsageError for an impossible length; MemoryError when the device has no room
   */
  allocate<D extends Dtype>(dtype: D, length: number): DeviceArray<D> {
    assertLength(dtype, length);
    this.#scheduler.assertOpen();
    return this.#arrays.allocate(dtype, length);
  }

  /**
   * A typed array of zeros that transfers to and from the device take no copies for: in pinned memory where
   * the device has memory of its own, else on pages of the host. Making it takes longer than making other
   * arrays, so it is for arrays that are used again (option `into`, `sortInPlace`).
   *
   * Pinned memory is not collected: it is the program's until `free`, or until the Sorter closes.
   *
   * @throws DtypeError; UsageError for an impossible length; MemoryError
   */
  alloc<D extends Dtype>(dtype: D, length: number): ArrayOf<D> {
    assertLength(dtype, length);
    this.#scheduler.assertOpen();
    return this.#arrays.pinned(dtype, length);
  }

  /**
   * Gives the memory of an array of `alloc` back; pinned ones are detached. Others are left alone, and so are all when the Sorter
   * is closed, which has given back what there was.
   *
   * @throws InputError for what is no array
   */
  async free(array: KeyArray): Promise<void> {
    dtypeOf(array);
    await this.#arrays.unpin(array);
  }

  /** Bytes of the memory, of all devices together, that device arrays and calls take now, that is kept for the next ones, and took at most. */
  memory(): MemoryUsage {
    const { usage } = this.#session.backend.memory;
    return this.#group?.usage ?? usage;
  }

  /** Gives back the memory that is kept for the next calls, of which at most `poolBytes` are. */
  trim(): void {
    this.#session.backend.memory.trim();
    this.#partPool.clear();
    this.#group?.trim();
  }

  /**
   * How `sort` would sort n keys: algorithm, parameters, chunks. Compiles nothing and runs nothing, so a
   * variant that turns out not to work on the device is still named.
   *
   * @param options those of `sort`; `dtype` (default u32) and `valueBytes` (default 0) say of what
   * @throws UsageError, UnsupportedError
   */
  plan(n: number, options?: PlanOptions): ExplainedPlan {
    const { valueBytes = 0, ...rest } = requireOptionsObject(options);
    const settings = parse(rest);
    const info = dtypeInfo(settings.dtype ?? 'u32');
    if (!Number.isSafeInteger(n) || n < 0)
      throw new UsageError(`n is ${formatValue(n)}: expected a whole number from 0 on`);
    const bits = bitWindow(settings.bits, info);
    const { algorithm, tuning } = settings;
    const parameters = chosenParameters(settings);
    const request = { n, dtype: info.name, bits, valueBytes, algorithm, parameters };
    const { backend } = this.#calls.sessionFor(n, settings, true);
    const plan = planOf(backend, request, tuning.chunk);
    // Plans are compared and printed as data: the method is none of it.
    return Object.defineProperty({ ...plan }, 'explain', { value: () => explainPlan(plan) }) as ExplainedPlan;
  }

  /** What sorts of many arrays are made of. */
  get #segmentSorter(): Parameters<typeof sortMany>[0] {
    const { results: memory, concatenateArrays: join } = this.#session.backend.memory;
    const isOwn = true;
    return {
      memory,
      pool: this.#partPool,
      join,
      segmentedSort: (keys, offsets, options) => this.#segments.sort(keys, offsets, options, { isOwn }),
      segmentedArgsort: (keys, offsets, options) => this.#segments.argsort(keys, offsets, options, { isOwn }),
    };
  }

  /** Waits for what is running, then releases the device and all device arrays. May be called twice. */
  async close(): Promise<void> {
    await this.#scheduler.close();
    await this.#openedShardedArrays?.close();
    await this.#group?.close();
    this.#arrays.clear();
    await this.#session.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The sharded arrays, which lie on one device where there are no others. */
  get #shardedArrays(): ShardedArrays {
    const workers = () => this.#group?.workers ?? [new DeviceWorker(this.#session, this.#onWarning)];
    this.#openedShardedArrays ??= new ShardedArrays(workers(), this.#scheduler);
    return this.#openedShardedArrays;
  }
}

/** The plan that is tried first. @throws UnsupportedError, UsageError */
function planOf(backend: Backend, request: PlanRequest, maxChunk = Number.POSITIVE_INFINITY): Plan {
  const { n } = request;
  const chunk = Math.min(maxChunk, backend.chunkLimit(request));
  for (const plan of backend.plans({ ...request, n: Math.min(n, chunk) })) {
    if (plan.engine === 'host' || chunk >= n) return { ...plan, n };
    return { ...plan, n, chunk, reason: `${plan.reason}, in chunks that fit the device` };
  }
  throw new UnsupportedError('there is no plan');
}

/** @throws InputError when results would be written over each other or over what is still read, or `into` is no pair */
function assertSeparatePairOutput(
  inputs: readonly Keys[],
  into: { keys?: Keys; values?: Keys } | undefined,
): void {
  if (into === undefined) return;
  if (typeof into !== 'object' || into === null || (into.keys ?? into.values) === undefined) {
    throw new InputError(`into is ${formatValue(into)}: expected { keys, values }, or one of them`);
  }
  for (const one of inputs) for (const to of [into.keys, into.values]) assertSeparateOutput(one, to);
  assertSeparateOutput(into.keys, into.values);
}

/** @throws DtypeError, UsageError */
function assertLength(dtype: Dtype, length: number): void {
  dtypeInfo(dtype);
  if (!Number.isSafeInteger(length) || length < 0) {
    throw new UsageError(`${formatValue(length)} elements: expected a whole number from 0 on`);
  }
}
