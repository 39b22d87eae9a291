import { type InspectOptions, inspect } from 'node:util';
import type { DeviceInfo } from '../../device/platform/platform.js';
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
import { type ClsortError, InputError, UnsupportedError } from '../../util/errors.js';
import { inspectLine } from '../../util/inspect-line.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { defineRenamedMethods } from '../../util/renamed.js';
import type { Backend, Session } from '../backend/backend.js';
import { ArrayStore, type Keys } from '../calls/array-store.js';
import { assertNotDetached } from '../calls/assert-not-detached.js';
import { CallScheduler } from '../calls/call-scheduler.js';
import { type BreakEvenHost, Calls } from '../calls/calls.js';
import { Dependency } from '../calls/dependency.js';
import { gatherSteps } from '../host/host-sort.js';
import { runYielding } from '../host/steps.js';
import { assertIndexable } from '../model/array-assertions.js';
import { DeviceArray } from '../model/device-array.js';
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
} from '../model/options.js';
import { explainPlan, type Plan, type PlanRequest } from '../model/plan.js';
import type { DeviceGroup } from '../multi-device/device-group.js';
import { DeviceWorker } from '../multi-device/device-worker.js';
import { ShardedArray } from '../multi-device/sharded-array.js';
import { ShardedArrays } from '../multi-device/sharded-arrays.js';
import type { Predicate } from '../operations/predicate.js';
import type { MemoryUsage } from '../transfer/column-memory.js';
import {
  type Awaitable,
  assertCount,
  assertSeparateOutput,
  CARRIED_VALUE_BYTES,
  dtypeOfValues,
  type Positions,
  parse,
  type Reduced,
  type ReducedKeys,
  type ReducedValues,
  readKeys,
  readValues,
  type Shardable,
  shardedSettings,
  type TopOf,
} from './arguments.js';
import { argsortMany, createPartPool, sortMany } from './many.js';
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

/** Options of `upload` for a sharded array. */
type Sharded =
  | { readonly sharded: true }
  | {
      /** @deprecated Use `sharded`. */
      readonly spread: true;
    };

/** Options of `upload` for a device array. */
interface Whole {
  readonly sharded?: false;
  /** @deprecated Use `sharded`. */
  readonly spread?: false;
}

/** A plan, and a method that returns it in words. */
export type ExplainedPlan = Plan & { explain(): string };

/** Operations of every Sorter, on the backend that it was created with. */
export class SorterOperations implements AsyncDisposable {
  static {
    defineRenamedMethods(SorterOperations.prototype);
  }

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
  /** Buffers of `sortMany` and `argsortMany`. */
  readonly #partPool = createPartPool();
  readonly #onWarning: (warning: ClsortError) => void;

  /**
   * @internal Called by `Sorter.open`.
   *
   * @param few host engine that handles calls of few keys, if the device does not
   * @param group devices that share large arrays; the first is that of `session`
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

  /** The opened device, or the best of several; undefined when the host engine sorts. */
  get device(): DeviceInfo | undefined {
    return this.#session.backend.info;
  }

  /** @internal Whether the device has dedicated memory, separate from that of the host. */
  get hasDedicatedMemory(): boolean {
    return this.#session.backend.hasDedicatedMemory;
  }

  /**
   * @internal Allocates the staging memory for files ahead of the first transfer.
   *
   * @throws MemoryError
   */
  async prepareFiles(): Promise<void> {
    if (this.hasDedicatedMemory)
      await this.#session.run(({ memory }) => memory.prepareFiles(), { again: false });
  }

  /** @internal Compiles the kernels of a sort of `keys` ahead of time, while the caller still fills the array. */
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

  /** All opened devices, the best one first; empty when the host engine sorts. */
  get devices(): readonly DeviceInfo[] {
    const { device } = this;
    return this.#group ? this.#group.workers.map(({ info }) => info) : device ? [device] : [];
  }

  /**
   * Sorts `keys` into a new array of the same type. The input does not change.
   *
   * The sort is stable, and the order is total over bit patterns: numbers in order, −0 before +0, then NaN. No bit of a
   * key changes. The planner selects an algorithm, see `plan`. A radix sort takes O(n) time for each digit of the key.
   *
   * @param keys typed array, device array or sharded array, or a promise of one; any dtype
   * @param options `descending` (default `false`), `nan` (default `'last'`), `into` and the other options of a sort,
   *   without `device` and `devices`
   * @returns the sorted keys, in an array of the type and length of `keys`, or in `into`
   * @throws UsageError for an unknown option, an impossible value or a closed Sorter
   * @throws DtypeError when option `dtype` does not fit the array
   * @throws InputError when `keys` is not an array, is detached or holds no whole number of keys; when `into` does not
   *   fit or overlaps the input; when an input is the result of a failed call
   * @throws UnsupportedError when the algorithm or the device cannot sort these keys
   * @throws MemoryError when host or device memory is insufficient
   * @throws DeviceLostError when the device fails
   * @throws TimeoutError when `timeout` has passed
   * @throws MismatchError when the result is wrong and `onMismatch` is `'throw'`
   * @throws AbortedError when `signal` fires
   * @example
   * ```ts
   * const sorted = await sorter.sort(Float32Array.of(3, 1, 2), { descending: true }); // 3, 2, 1
   * ```
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
   * Sorts `keys` in place, with a second array of the same size on the device.
   *
   * After a failure the keys are unchanged, unless the device fails during the last step, which copies the result back.
   * Stable, in the order of `sort`.
   *
   * @param keys typed array or device array, or a promise of one
   * @param options the options of `sort` without `into`
   * @returns `keys`
   * @throws the errors of `sort`
   * @example
   * ```ts
   * await sorter.sortInPlace(prices);
   * ```
   */
  sortInPlace<K extends Keys>(keys: Awaitable<K>, options?: SortOptions): Promise<K> {
    return this.#calls.runWithInputs([keys], async (dependency) => {
      const array = dependency.resolveInput(keys);
      const settings = parse(options);
      const input = readKeys(this.#arrays, array, settings);
      const onHost = !(array instanceof DeviceArray);
      const isShared = this.#group?.isWorthSharing(input.n * input.info.bytes, settings) ?? false;
      if (onHost && (isResizable(array) || isShared)) {
        // A device must not hold memory that may shrink. A result of several devices is copied only when it is
        // complete.
        const sorted = await this.sort<KeyArray>(array, options);
        assertNotDetached([[array, sorted.byteLength]]);
        copyBytes(sorted, array);
        return array;
      }
      dependency.setResult(array);
      const task = { n: input.n, settings, dependency, onHost, again: onHost, overwrites: true };
      await this.#calls.execute(task, async (call) => {
        const sorted = call.columns.temporary(input.dtype, input.n);
        await call.sort({ keys: input, sorted: sorted.place });
        await call.settle();
        task.again = false; // from here on the keys may be partly overwritten
        await call.copy(sorted, onHost ? { ...input, place: array } : input);
        return () => undefined;
      });
      return array;
    });
  }

  /**
   * Returns the positions of `keys` in sorted order: `keys[result[0]]` comes first.
   *
   * Stable: equal keys keep the order of their positions. The order is that of `sort`.
   *
   * @param keys fewer than 2^32 keys: typed array, device array or sharded array, or a promise of one
   * @param options the options of `sort`; `into` is an array of u32
   * @returns positions as u32, where the keys are: a Uint32Array, a device array or a sharded array
   * @throws UnsupportedError for 2^32 keys or more
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * const order = await sorter.argsort(Float32Array.of(3, 1, 2)); // 1, 2, 0
   * ```
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
   * Sorts `keys` and moves `values` along with them. Stable: values of equal keys keep their order.
   *
   * @param keys typed array, device array or sharded array, or a promise of one
   * @param values one value of 1 to 16 bytes for each key, in an array of the same kind as `keys`: both typed arrays,
   *   both device arrays, or both sharded arrays
   * @param options the options of `sort`; `into` is `{ keys, values }`, or one of them
   * @returns sorted keys and the values in the order of their keys, in arrays of the types of the inputs
   * @throws InputError when the lengths do not fit, or keys and values are in different places
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * const { keys, values } = await sorter.sortPairs(temperatures, stationIds);
   * ```
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
          throw new InputError(
            'cannot sort pairs: one array is sharded and the other is not. Shard both or neither',
          );
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
            // No dtype has this size, so both are typed arrays.
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
   * Returns the positions of rows in lexicographic order of their columns: `result[0]` is the position of the first
   * row.
   *
   * Stable. Keys are compared as numbers: all NaNs are equal, and −0 equals +0. One sort handles adjacent columns that
   * have up to 64 bits together; the columns are sorted from the last to the first.
   *
   * @param columns arrays of the same length, the most significant first; or `{ keys, descending, nan, dtype }` for a
   *   column with its own order
   * @param options `descending` and `nan` for columns without an order of their own, and how to run
   * @returns positions as u32, where the columns are
   * @throws InputError when the lengths differ, or there is no column
   * @throws UnsupportedError for 2^32 rows or more
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * const order = await sorter.lexsort([years, { keys: prices, descending: true }]);
   * ```
   */
  lexsort(columns: readonly RowColumn<KeyArray>[], options?: LexsortOptions): Promise<Uint32Array>;
  lexsort(columns: readonly RowColumn<DeviceArray>[], options?: LexsortOptions): Promise<DeviceArray<'u32'>>;
  lexsort(columns: readonly RowColumn<Keys>[], options?: LexsortOptions): Promise<Positions<Keys>> {
    return this.#orders.lexsort(columns, options);
  }

  /**
   * Returns the `k` largest keys, or the smallest, in order, and their positions.
   *
   * The result is the beginning of what `sort` and `argsort` return with `descending: largest`. Of equal keys the first
   * ones are taken. NaNs come last, or first with `nan: 'first'`. Above a break-even size, and if `k` is at most n / 4,
   * a radix select finds the keys before they are sorted. Otherwise all keys are sorted.
   *
   * @param keys fewer than 2^32 keys: typed array, device array or sharded array, or a promise of one
   * @param k number of keys; all of them if there are fewer
   * @param options `largest` (default `true`; `false` for the smallest keys), and the options of `sort` without
   *   `descending` and `into`
   * @returns `keys`, and `indices` as u32, where the input is; for a sharded array, on the host
   * @throws UsageError when `k` is not a whole number
   * @throws UnsupportedError for 2^32 keys or more
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * const { keys, indices } = await sorter.topK(scores, 100);
   * ```
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
   * Sorts each segment of `keys` separately, all of them at once. Segment s is `[offsets[s], offsets[s + 1])`.
   *
   * Stable, in the order of `sort`. The method follows the segment length, after K. Hou, W. Liu, H. Wang, W. Feng,
   * "Fast Segmented Sort on GPUs" (2017).
   *
   * @param keys fewer than 2^32 keys: typed array or device array, or a promise of one
   * @param offsets start of each segment, ascending from 0, then the number of keys: a host array, which is copied, or
   *   a device array of u32. Or a number: the length of every segment, as for the rows of a matrix
   * @param options the options of `sort`
   * @returns the keys, each segment sorted, in an array of the type of `keys`
   * @throws InputError for wrong offsets
   * @throws UnsupportedError for 2^32 keys or more
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * await sorter.segmentedSort(Float32Array.of(3, 1, 2, 9, 7), [0, 3, 5]); // 1, 2, 3, 7, 9
   * ```
   */
  segmentedSort<K extends Keys>(
    keys: Awaitable<K>,
    offsets: Awaitable<SegmentOffsets>,
    options?: SortOptions & Into<K>,
  ): Promise<K> {
    return this.#segments.sort(keys, offsets, options);
  }

  /**
   * Returns the positions of `keys` in the order of `segmentedSort`. The positions of a segment are stored where its
   * keys would be.
   *
   * @param keys fewer than 2^32 keys: typed array or device array, or a promise of one
   * @param offsets as for `segmentedSort`
   * @param options the options of `argsort`, and `positions`: counted from the start of the `array`, as `gather` takes
   *   them, or from the start of each `segment`; default `'array'`
   * @returns positions as u32, where the keys are
   * @throws the errors of `segmentedSort`
   * @example
   * ```ts
   * await sorter.segmentedArgsort(Float32Array.of(3, 1, 2, 9, 7), [0, 3, 5]); // 1, 2, 0, 4, 3
   * ```
   */
  segmentedArgsort<K extends Keys>(
    keys: Awaitable<K>,
    offsets: Awaitable<SegmentOffsets>,
    options?: SegmentedArgsortOptions & Into<Positions<K>>,
  ): Promise<Positions<K>> {
    return this.#segments.argsort(keys, offsets, options);
  }

  /**
   * Sorts each segment of `keys` separately and moves `values` along, as `sortPairs` does. Stable.
   *
   * @param keys fewer than 2^32 keys: typed array or device array, or a promise of one
   * @param values one value of 1 to 16 bytes for each key, where the keys are
   * @param offsets as for `segmentedSort`
   * @param options the options of `sort` without `into`
   * @returns keys and values, sorted within each segment
   * @throws InputError when the lengths do not fit, or keys and values are in different places
   * @throws the other errors of `segmentedSort`
   * @example
   * ```ts
   * const { keys, values } = await sorter.segmentedSortPairs(scores, ids, [0, 3, 5]);
   * ```
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
   * Returns the `k` largest keys of each segment, or the smallest, in order, and their positions. Ties and NaNs are
   * handled as in `topK`.
   *
   * @param keys fewer than 2^32 keys: typed array or device array, or a promise of one
   * @param offsets as for `segmentedSort`
   * @param k number of keys of each segment; a segment with fewer keys returns all of them
   * @param options the options of `topK`, and `positions` as for `segmentedArgsort`
   * @returns `keys` and `indices` (u32) of all segments, concatenated, and `offsets` (u32): the start of each segment
   *   in them, then their number
   * @throws UsageError when `k` is not a whole number
   * @throws the other errors of `segmentedSort`
   * @example
   * ```ts
   * const { keys, indices, offsets } = await sorter.topKSegments(scores, [0, 3, 5], 2);
   * ```
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
   * Sorts many host arrays of one dtype, each separately, in one call. For small arrays, a call for each takes longer
   * than sorting them.
   *
   * Stable, in the order of `sort`.
   *
   * @param arrays typed arrays with fewer than 2^32 keys in all; may be empty
   * @param options the options of `sort` without `into`
   * @returns sorted arrays of the same lengths, in the given order: views of one new buffer
   * @throws DtypeError when the arrays have more than one dtype
   * @throws UnsupportedError for 2^32 keys or more in all
   * @throws the other errors of `sort`, for any of the arrays
   * @example
   * ```ts
   * const [a, b] = await sorter.sortMany([Float32Array.of(3, 1, 2), Float32Array.of(9, 7)]);
   * ```
   */
  sortMany<K extends KeyArray>(arrays: readonly K[], options?: SortOptions): Promise<K[]> {
    return sortMany(this.#segmentSorter, arrays, options);
  }

  /**
   * Returns the positions that `argsort` returns for each of many host arrays, in one call. Positions are counted
   * within each array.
   *
   * @param arrays typed arrays with fewer than 2^32 keys in all; may be empty
   * @param options the options of `sort` without `into`
   * @returns one Uint32Array for each array, in the given order: views of one new buffer
   * @throws the errors of `sortMany`
   * @example
   * ```ts
   * const [a, b] = await sorter.argsortMany([Float32Array.of(3, 1, 2), Float32Array.of(9, 7)]);
   * ```
   */
  argsortMany(arrays: readonly KeyArray[], options?: SortOptions): Promise<Uint32Array[]> {
    return argsortMany(this.#segmentSorter, arrays, options);
  }

  /**
   * Returns the distinct keys in order, and how often each occurs.
   *
   * Keys are compared as numbers: all NaNs are equal, and −0 equals +0. Each result is, bit for bit, the first of its
   * equals in the input. Complexity: a sort and one compaction.
   *
   * @param keys fewer than 2^32 keys: typed array or device array, or a promise of one
   * @param options the options of `sort` without `bitRange` and `into`
   * @returns `keys`, and `counts` as u32, where the input is
   * @throws UnsupportedError for 2^32 keys or more
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * const { keys, counts } = await sorter.unique(Uint8Array.of(3, 1, 3)); // 1, 3 and 1, 2
   * ```
   */
  unique<K extends Keys>(
    keys: Awaitable<K>,
    options?: UniqueOptions,
  ): Promise<{ keys: K; counts: Positions<K> }> {
    return this.#orders.unique(keys, options);
  }

  /**
   * Returns the selected keys in input order: those whose byte of the mask is not 0, or those that satisfy a predicate.
   *
   * Source: compaction by a scan with decoupled look-back, D. Merrill, M. Garland (2016). Complexity: O(n).
   *
   *     await sorter.filter(prices, { from: 10, below: 20 });
   *
   * @param keys fewer than 2^32 keys: typed array or device array, or a promise of one
   * @param by mask of one byte (u8) for each key, where the keys are; or a condition on the keys, see `Predicate`
   * @param options `verify` (default `false`), `dtype`, `signal`, `timeout` and `onWarning`
   * @returns the selected keys, in an array of the type of `keys`
   * @throws InputError when the mask does not fit
   * @throws UnsupportedError for 2^32 keys or more
   * @throws the other errors of `sort`
   */
  filter<K extends Keys>(
    keys: Awaitable<K>,
    by: Awaitable<Mask<K>> | Predicate,
    options?: CheckedOptions,
  ): Promise<K> {
    return this.#selections.filter(keys, by, options);
  }

  /**
   * Returns all keys, the selected ones first. Both groups keep their input order.
   *
   * @param keys fewer than 2^32 keys: typed array or device array, or a promise of one
   * @param by mask or predicate, as for `filter`
   * @param options the options of `filter`, and `into`
   * @returns all keys, and the number of selected keys: these are the first `count`
   * @throws the errors of `filter`
   * @example
   * ```ts
   * const { keys, count } = await sorter.partition(prices, { below: 20 });
   * ```
   */
  partition<K extends Keys>(
    keys: Awaitable<K>,
    by: Awaitable<Mask<K>> | Predicate,
    options?: CheckedOptions & Into<K>,
  ): Promise<{ keys: K; count: number }> {
    return this.#selections.partition(keys, by, options);
  }

  /**
   * Returns the insertion point of each of `keys` in a sorted array: the number of keys of `sorted` that come before
   * it.
   *
   * With `side: 'right'`, keys that are equal to it count as well. The order is that of `sort` with the same
   * `descending` and `nan`, over bit patterns: −0 is before +0, and NaNs have their places. If `sorted` is in another
   * order, the result is undefined. Complexity: one binary search for each key.
   *
   * @param sorted fewer than 2^32 keys in order, of the dtype of `keys` and in the same place
   * @param keys keys to search for: typed array or device array, or a promise of one
   * @param options `side` (default `'left'`), `descending` (default `false`), `nan` (default `'last'`), `into`,
   *   `dtype`, `signal`, `timeout` and `onWarning`
   * @returns positions as u32, where the keys are
   * @throws InputError when the arrays differ in dtype or place
   * @throws UnsupportedError for 2^32 sorted keys or more
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * await sorter.searchSorted(Uint32Array.of(10, 20, 30), Uint32Array.of(20, 25)); // 1, 2
   * ```
   */
  searchSorted<K extends Keys>(
    sorted: Awaitable<K>,
    keys: Awaitable<K>,
    options?: SearchSortedOptions & Into<Positions<K>>,
  ): Promise<Positions<K>> {
    return this.#selections.searchSorted(sorted, keys, options);
  }

  /**
   * Merges two sorted arrays into one. The result is what `sort` returns for the concatenation of `a` and `b`.
   *
   * Both arrays are in the order of `sort` with the same `descending` and `nan`; otherwise the result is not in order
   * either. Of equal keys those of `a` come first. Source: O. Green, R. McColl, D. Bader, "GPU Merge Path" (2012).
   * Complexity: O(n).
   *
   * @param a sorted typed array or device array, or a promise of one
   * @param b sorted array of the same dtype in the same place
   * @param options `descending` (default `false`), `nan` (default `'last'`), `into`, `dtype`, `signal`, `timeout` and
   *   `onWarning`
   * @returns the merged keys, in an array of the type of `a`
   * @throws InputError when the arrays differ in dtype or place
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * await sorter.merge(Uint32Array.of(1, 4), Uint32Array.of(2, 3)); // 1, 2, 3, 4
   * ```
   */
  merge<K extends Keys>(a: Awaitable<K>, b: Awaitable<K>, options?: MergeOptions & Into<K>): Promise<K> {
    return this.#selections.merge(a, b, options);
  }

  /**
   * Returns the distinct keys in order, and the sum, minimum or maximum of the values of each.
   *
   * Keys are compared as in `unique` and need not be sorted. Values are reduced as in `reduce`. They keep their type,
   * except that sums of integers have 64 bits (u64, i64) and wrap. Complexity: a sort and two launches that read every
   * value once.
   *
   *     const { keys, values } = await sorter.reduceByKey(customers, amounts, 'sum');
   *
   * @param keys fewer than 2^32 keys: typed array or device array, or a promise of one
   * @param values one value for each key, in the same place
   * @param op `'sum'`, `'min'` or `'max'`
   * @param options the options of `unique`
   * @returns distinct keys, and one reduced value for each, in an array of the type of `values`; for sums of integers of
   *   u64 or i64
   * @throws InputError when the lengths differ
   * @throws UnsupportedError for sums of f16
   * @throws the other errors of `unique`
   */
  reduceByKey<K extends Keys, V extends Keys, O extends ReduceOp>(
    keys: Awaitable<K>,
    values: Awaitable<V>,
    op: O,
    options?: UniqueOptions,
  ): Promise<{ keys: K; values: ReducedValues<V, O> }> {
    type Result = { keys: K; values: ReducedValues<V, O> };
    return this.#orders.reduceByKey(keys, values, op, options) as Promise<unknown> as Promise<Result>;
  }

  /**
   * Returns the sum, minimum or maximum of `keys`.
   *
   * Sums of integers are BigInts of 64 bits and wrap. Sums of floats have the dtype of the keys and no defined order of
   * additions. They are within 2 log2(n) ε of the sum of magnitudes, where ε is 2^-24 for f32 and 2^-53 for f64. A
   * minimum or maximum is NaN if a key is NaN, and −0 is below +0. For 64-bit integers it is a BigInt.
   *
   * Source: M. Harris, "Optimizing Parallel Reduction in CUDA" (2007); W. Kahan (1965), for sums of floats. Complexity:
   * reads every key once.
   *
   * @param keys typed array, device array or sharded array, or a promise of one
   * @param op `'sum'`, `'min'` or `'max'`
   * @param options `dtype`, `signal`, `timeout` and `onWarning`
   * @returns a number; a BigInt for sums of integers and for 64-bit integers. The sum of no keys is 0
   * @throws InputError for the minimum or maximum of no keys
   * @throws UnsupportedError for sums of f16
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * const largest = await sorter.reduce(prices, 'max');
   * ```
   */
  reduce<D extends Dtype, O extends ReduceOp>(
    keys: Awaitable<Shardable>,
    op: O,
    options: PrimitiveOptions & { readonly dtype: D },
  ): Promise<Reduced<D, O>>;
  reduce<K extends Shardable, O extends ReduceOp>(
    keys: Awaitable<K>,
    op: O,
    options?: PrimitiveOptions & { readonly dtype?: undefined },
  ): Promise<ReducedKeys<K, O>>;
  reduce(keys: Awaitable<Shardable>, op: ReduceOp, options?: PrimitiveOptions): Promise<number | bigint>;
  reduce(keys: Awaitable<Shardable>, op: ReduceOp, options?: PrimitiveOptions): Promise<number | bigint> {
    return this.#primitives.reduce(keys, op, options);
  }

  /**
   * Returns prefix sums: each result is the sum of all keys before its key, and with `inclusive` of the key itself.
   * Option `op` selects minima, maxima or products instead.
   *
   * Results have the dtype of the keys, or `resultDtype`. Integers wrap. Sums of floats are within 4 log2(n) ε of the
   * sum of the magnitudes before them, with ε as in `reduce`. Products are within n ε of themselves, as long as no
   * product of neighbours is too large or small. A minimum or maximum is NaN from the first NaN on, and −0 is below +0.
   * The first exclusive result is 0 for a sum and 1 for a product. For a minimum it is the largest number (infinity for
   * floats), for a maximum the smallest.
   *
   * Source: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016). Complexity:
   * O(n).
   *
   * @param keys typed array or device array, or a promise of one; `resultDtype` requires a typed array
   * @param options `op` (default `'sum'`), `inclusive` (default `false`), `resultDtype`, `verify` (default `false`),
   *   `into`, `dtype`, `signal`, `timeout` and `onWarning`
   * @returns one result for each key, where the keys are
   * @throws UnsupportedError for sums and products of f16
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * await sorter.scan(Uint32Array.of(3, 1, 2), { inclusive: true }); // 3, 4, 6
   * ```
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
   * Counts the keys in each bin. A bin includes its lower edge and excludes its upper edge; the last bin includes both.
   *
   * Keys are compared as numbers: both zeros are at an edge of 0, and NaN is in no bin. With `bitRange` it counts the
   * values of a digit, as a radix sort does. The digit belongs to the codes of the ascending order with NaN last, so
   * every key is in a bin.
   *
   * @param keys fewer than 2^32 keys: typed array or device array, or a promise of one
   * @param options `bins` and `range`, or `edges`, or `bitRange`; `dtype`, `signal`, `timeout` and `onWarning`
   * @returns one count for each bin
   * @throws UsageError when the options do not define bins
   * @throws UnsupportedError for 2^32 keys or more
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * const counts = await sorter.histogram(ages, { bins: 10, range: [0, 100] });
   * ```
   */
  histogram(keys: Awaitable<Keys>, options?: HistogramOptions): Promise<Uint32Array> {
    return this.#primitives.histogram(keys, options);
  }

  /**
   * Gathers elements: `result[i]` is `values[indices[i]]`. With the result of an `argsort`, it sorts further columns.
   *
   * A list of columns, which may have different dtypes, returns a list. The device takes one launch for every eight
   * columns.
   *
   *     const [names, prices] = await sorter.gather([nameIds, amounts], await sorter.argsort(dates));
   *
   * @param values typed array or device array, or a promise of one; or a list of columns that have the same length
   * @param indices positions as u32, as `argsort` returns them, in the same place as the values
   * @param options `dtype` (not for a list), `signal`, `timeout`, `onWarning` and `into`
   * @returns one element for each index, in an array of the type of `values`; for a list, one such array for each
   *   column
   * @throws InputError when an index is out of range, when the columns differ in length, and when values and indices
   *   are in different places
   * @throws the other errors of `sort`
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
   * Copies `keys` into a device array, which operations then use without another transfer.
   *
   * With `sharded`, the result is a sharded array on all devices of the Sorter. The parts follow the speed of the
   * devices, as measured when the first sharded array was created.
   *
   * @param keys typed array
   * @param options `dtype` of the elements, by default that of the array's type; `sharded` (default `false`) for a
   *   `ShardedArray`; `spread` is a deprecated alias
   * @returns a device array or sharded array of this Sorter
   * @throws UsageError for an unknown option, an impossible value or a closed Sorter
   * @throws DtypeError when `dtype` does not fit the array
   * @throws InputError when `keys` is not an array or is detached
   * @throws MemoryError when device memory is insufficient
   * @example
   * ```ts
   * const prices = await sorter.upload(Float32Array.of(5, 1, 4));
   * ```
   */
  async upload<K extends KeyArray>(keys: K, options: Sharded): Promise<ShardedArray<DtypeOf<K>>>;
  async upload<D extends Dtype>(
    keys: KeyArray,
    options: { readonly dtype: D } & Sharded,
  ): Promise<ShardedArray<D>>;
  async upload<K extends KeyArray>(keys: K, options?: Whole): Promise<DeviceArray<DtypeOf<K>>>;
  async upload<D extends Dtype>(
    keys: KeyArray,
    options: { readonly dtype: D } & Whole,
  ): Promise<DeviceArray<D>>;
  async upload(
    keys: KeyArray,
    options?: { readonly dtype?: Dtype; readonly sharded?: boolean; readonly spread?: boolean },
  ): Promise<DeviceArray | ShardedArray> {
    const { spread, sharded = spread, dtype = dtypeOf(keys) } = parseUploadOptions(options);
    const host = keyColumn(keys, dtype);
    const { n } = host;
    if (sharded) {
      this.#scheduler.assertOpen();
      const group = this.#group;
      return this.#shardedArrays.upload(host, dtype, async () => group?.weigh(host, parse()) ?? [1]);
    }
    const array = this.createArray(dtype, n);
    try {
      await array.write(keys);
      return array;
    } catch (error) {
      array.dispose();
      throw error;
    }
  }

  /**
   * Allocates a device array whose contents are undefined. `DeviceArray.write` fills it in pieces.
   *
   * @param dtype dtype of the elements
   * @param length number of elements
   * @returns a device array of this Sorter
   * @throws DtypeError for an unknown dtype
   * @throws UsageError for an impossible length or a closed Sorter
   * @throws MemoryError when device memory is insufficient
   * @example
   * ```ts
   * const keys = sorter.createArray('f32', 1000);
   * ```
   */
  createArray<D extends Dtype>(dtype: D, length: number): DeviceArray<D> {
    assertLength(dtype, length);
    this.#scheduler.assertOpen();
    return this.#arrays.allocate(dtype, length);
  }

  /**
   * Allocates a typed array of zeros that is transferred to and from the device without intermediate copies.
   *
   * The memory is pinned if the device has dedicated memory, and page-aligned host memory otherwise. The allocation
   * takes longer than that of other arrays, so it suits arrays that are reused (option `into`, `sortInPlace`). Pinned
   * memory is not garbage collected: it stays allocated until `freePinned`, or until the Sorter closes.
   *
   * @param dtype dtype of the elements
   * @param length number of elements
   * @returns a typed array of the dtype
   * @throws DtypeError for an unknown dtype
   * @throws UsageError for an impossible length or a closed Sorter
   * @throws MemoryError when memory is insufficient
   * @example
   * ```ts
   * const keys = sorter.allocPinned('f32', 1000);
   * ```
   */
  allocPinned<D extends Dtype>(dtype: D, length: number): ArrayOf<D> {
    assertLength(dtype, length);
    this.#scheduler.assertOpen();
    return this.#arrays.pinned(dtype, length);
  }

  /**
   * Frees an array of `allocPinned`. A pinned array is detached; any other array is left alone. Does nothing after `close()`,
   * which has freed all arrays.
   *
   * @param array array that `allocPinned` returned
   * @throws InputError when `array` is not a typed array
   * @example
   * ```ts
   * await sorter.freePinned(keys);
   * ```
   */
  async freePinned(array: KeyArray): Promise<void> {
    dtypeOf(array);
    await this.#arrays.unpin(array);
  }

  /**
   * Returns the bytes of memory in use by device arrays and calls, pooled for later calls, and at peak, for all devices
   * together.
   *
   * @returns `used`, `idle` and `peak` in bytes
   * @example
   * ```ts
   * const { used, idle, peak } = sorter.memory();
   * ```
   */
  memory(): MemoryUsage {
    const { usage } = this.#session.backend.memory;
    return this.#group?.usage ?? usage;
  }

  /**
   * Releases the memory that is pooled for later calls; the pool keeps at most `poolBytes`.
   *
   * @example
   * ```ts
   * sorter.trim();
   * ```
   */
  trim(): void {
    this.#session.backend.memory.trim();
    this.#partPool.clear();
    this.#group?.trim();
  }

  /**
   * Returns the plan of a `sort` of n keys: algorithm, parameters and chunks. Compiles and runs nothing, so the plan
   * may name a variant that does not work on the device.
   *
   * @param n number of keys
   * @param options the options of `sort`; `dtype` (default `'u32'`) and `valueBytes` (default 0) describe the elements
   * @returns the plan as data; its method `explain` returns it in words
   * @throws UsageError for an unknown option or an impossible value
   * @throws UnsupportedError when the algorithm or the device cannot sort these keys
   * @example
   * ```ts
   * console.log(sorter.plan(1_000_000, { dtype: 'f32' }).explain());
   * ```
   */
  plan(n: number, options?: PlanOptions): ExplainedPlan {
    const { valueBytes = 0, ...rest } = requireOptionsObject(options);
    const settings = parse(rest);
    const info = dtypeInfo(settings.dtype ?? 'u32');
    assertCount('n', n);
    const bits = bitWindow(settings.bits, info);
    const { algorithm, tuning } = settings;
    const parameters = chosenParameters(settings);
    const request = { n, dtype: info.name, bits, valueBytes, algorithm, parameters };
    const { backend } = this.#calls.sessionFor(n, settings, true);
    const plan = planOf(backend, request, tuning.chunk);
    // Plans are compared and printed as data, without the method.
    return Object.defineProperty({ ...plan }, 'explain', { value: () => explainPlan(plan) }) as ExplainedPlan;
  }

  /** Dependencies of `sortMany` and `argsortMany`. */
  get #segmentSorter(): Parameters<typeof sortMany>[0] {
    const { results: memory, concatenateArrays } = this.#session.backend.memory;
    const isOwn = true;
    return {
      memory,
      pool: this.#partPool,
      join: concatenateArrays,
      segmentedSort: (keys, offsets, options) => this.#segments.sort(keys, offsets, options, { isOwn }),
      segmentedArgsort: (keys, offsets, options) => this.#segments.argsort(keys, offsets, options, { isOwn }),
    };
  }

  /**
   * Waits for all calls, then releases the device and all device arrays. May be called twice.
   *
   * @example
   * ```ts
   * await sorter.close();
   * ```
   */
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

  /** Prints the device, or several, and the state in one line: `open` or `closed`. */
  [inspect.custom](_depth: number, options: InspectOptions): string {
    const [name = 'host', ...others] = this.devices.map((device) => device.name);
    const where = others.length > 0 ? { devices: [name, ...others] } : { device: name };
    return inspectLine('Sorter', { ...where, state: this.#scheduler.isClosed ? 'closed' : 'open' }, options);
  }

  /** Operations on sharded arrays; on one device if there are no others. */
  get #shardedArrays(): ShardedArrays {
    const workers = () => this.#group?.workers ?? [new DeviceWorker(this.#session, this.#onWarning)];
    this.#openedShardedArrays ??= new ShardedArrays(workers(), this.#scheduler, this.#group);
    return this.#openedShardedArrays;
  }
}

/**
 * Returns the plan that is tried first.
 *
 * @throws UnsupportedError, UsageError
 */
function planOf(backend: Backend, request: PlanRequest, maxChunk = Number.POSITIVE_INFINITY): Plan {
  const { n } = request;
  const chunk = Math.min(maxChunk, backend.chunkLimit(request));
  for (const plan of backend.plans({ ...request, n: Math.min(n, chunk) })) {
    if (plan.engine === 'host' || chunk >= n) return { ...plan, n };
    return { ...plan, n, chunk, reason: `${plan.reason}, in chunks that fit the device` };
  }
  throw new UnsupportedError('cannot plan the sort: no algorithm is available');
}

/** @throws InputError when outputs overlap each other or an input, or `into` is no pair */
function assertSeparatePairOutput(
  inputs: readonly Keys[],
  into: { keys?: Keys; values?: Keys } | undefined,
): void {
  if (into === undefined) return;
  if (typeof into !== 'object' || into === null || (into.keys ?? into.values) === undefined) {
    throw invalidArgument('into', '{ keys, values }, or one of them', into, { type: InputError });
  }
  for (const one of inputs) for (const to of [into.keys, into.values]) assertSeparateOutput(one, to);
  assertSeparateOutput(into.keys, into.values);
}

/** @throws DtypeError for an unknown dtype; UsageError for an impossible length */
function assertLength(dtype: Dtype, length: number): void {
  dtypeInfo(dtype);
  assertCount('length', length);
}
