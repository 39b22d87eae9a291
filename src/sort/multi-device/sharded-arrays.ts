/**
 * Operations on arrays that are sharded over several devices.
 *
 * To sort them, the host collects all parts, the devices sort them as a host array, and the parts are uploaded again.
 */
import { type ArrayOf, byteRange, bytesOf, type HostColumn, newArray } from '../../keys/array.js';
import { type Dtype, dtypeInfo } from '../../keys/dtype.js';
import type { ReduceOp } from '../../primitives/possible.js';
import { UnsupportedError } from '../../util/errors.js';
import type { CallScheduler } from '../calls/call-scheduler.js';
import { widePositions } from '../calls/sort-in-chunks.js';
import { assertDistinct, assertOnePerKey, runWhileAttached, spanOf } from '../model/array-assertions.js';
import { type Column, column } from '../model/column.js';
import { DeviceArray } from '../model/device-array.js';
import { type SortSettings, throwIfAborted } from '../model/options.js';
import { ShardedArray, type ShardedArrayOwner } from '../model/sharded-array.js';
import type { PositionDtype } from '../operations/arguments.js';
import { enqueueReduce } from '../operations/reduce/reduce.js';
import { enqueueTopK } from '../operations/top-k/top-k.js';
import type { DeviceGroup } from './device-group.js';
import type { DeviceWorker } from './device-worker.js';
import { combineResults, firstOf, sortJobOf, startsOf, startsOfParts } from './parts.js';
import { settleAll } from './settle-all.js';

/** Positions and samples of a part have 32 bits. */
const MAX_PART_LENGTH = 2 ** 32;

/** A sort of a sharded array. */
interface ShardedSort {
  readonly keys: readonly Column[];
  /** Values that travel with the keys; by default, positions do. */
  readonly values?: readonly Column[];
  /** Dtype of the sorted keys, if they are wanted. */
  readonly sorted?: Dtype;
  /** Dtype of the moved values or positions, if they are wanted. */
  readonly moved?: Dtype;
}

/** The sorted keys and the moved values, where they are wanted. */
type SortResults = [ShardedArray | undefined, ShardedArray | undefined];

/** The sharded arrays of a Sorter. */
export class ShardedArrays implements ShardedArrayOwner {
  readonly #workers: readonly DeviceWorker[];
  readonly #scheduler: CallScheduler;
  readonly #group: DeviceGroup | undefined;
  /**
   * Fraction of the keys for each device, 1 in total. It is measured once, so that arrays of equal length
   * have equal parts.
   */
  #weights: Promise<readonly number[]> | undefined;

  /**
   * @param workers one or more devices
   * @param scheduler scheduler of all calls of the Sorter, so that releasing memory and closing also wait for
   *   calls on sharded arrays
   * @param group the group of the workers; omitted for a single one
   */
  constructor(workers: readonly DeviceWorker[], scheduler: CallScheduler, group?: DeviceGroup) {
    this.#workers = workers;
    this.#scheduler = scheduler;
    this.#group = group;
  }

  /**
   * Uploads keys to all devices, a part to each. The keys must stay attached until the promise settles.
   *
   * @param weigh returns the fraction of the keys for each device; called once, for the first keys
   * @returns the sharded array
   * @throws InputError when the keys were detached or shrunk meanwhile
   * @throws UnsupportedError when a part has more than 2^32 - 1 elements
   * @throws MemoryError when memory runs out
   */
  upload<D extends Dtype>(
    keys: HostColumn,
    dtype: D,
    weigh: () => Promise<readonly number[]>,
  ): Promise<ShardedArray<D>> {
    const upload = async () => {
      if (keys.n > 0) {
        this.#weights ??= weigh().catch((error: unknown) => {
          this.#weights = undefined;
          throw error;
        });
      }
      const weights = (await this.#weights) ?? this.#workers.map(() => 1);
      return this.#distribute(dtype, startsOf(keys.n, weights), keys.view);
    };
    const spans = [spanOf(keys.view)];
    return this.#scheduler.runConcurrently(0, () => runWhileAttached(spans, upload));
  }

  load(parts: readonly DeviceArray[], view: ArrayBufferView, offset: number): Promise<void> {
    const load = async (): Promise<void> => {
      let start = 0;
      await settleAll(
        parts.map(async (one, m) => {
          const { bytes } = dtypeInfo(one.dtype);
          const first = start;
          start += one.length;
          const [from, to] = [
            Math.max(first, offset),
            Math.min(first + one.length, offset + view.byteLength / bytes),
          ];
          if (from >= to) return;
          const { arrays } = this.#workers[m] as DeviceWorker;
          await arrays.load(
            one.columnFor(arrays),
            byteRange(view, (from - offset) * bytes, (to - offset) * bytes),
            from - first,
          );
        }),
      );
    };
    const spans = [spanOf(view)];
    return this.#scheduler.runConcurrently(0, () => runWhileAttached(spans, load));
  }

  discard(parts: readonly DeviceArray[]): void {
    this.#scheduler.waitForAll().then(() => {
      for (const one of parts) one.dispose();
    });
  }

  async sort<D extends Dtype>(keys: ShardedArray<D>, settings: SortSettings): Promise<ShardedArray<D>> {
    const columns = this.#columnsOf(keys);
    return this.#schedule([columns], async () => {
      const [sorted] = await this.#order({ keys: columns, sorted: keys.dtype }, settings);
      return sorted as ShardedArray<D>;
    });
  }

  async argsort<P extends PositionDtype>(
    keys: ShardedArray,
    settings: SortSettings,
    dtype: P,
  ): Promise<ShardedArray<P>> {
    const columns = this.#columnsOf(keys);
    return this.#schedule([columns], async () => {
      const positions = dtype === 'u64' ? await this.#positionsOf(columns) : undefined;
      try {
        const values = positions && { values: this.#columnsOf(positions) };
        const [, moved] = await this.#order({ keys: columns, ...values, moved: dtype }, settings);
        return moved as ShardedArray<P>;
      } finally {
        positions?.dispose();
      }
    });
  }

  /** Creates the positions of elements as u64, on the devices of the elements. */
  #positionsOf(columns: readonly Column[]): Promise<ShardedArray<'u64'>> {
    const starts = startsOfParts(columns);
    return this.#distribute('u64', starts, widePositions(starts.at(-1) as number));
  }

  async sortPairs<D extends Dtype, V extends Dtype>(
    keys: ShardedArray<D>,
    values: ShardedArray<V>,
    settings: SortSettings,
  ): Promise<{ keys: ShardedArray<D>; values: ShardedArray<V> }> {
    const [columns, beside] = [this.#columnsOf(keys), this.#columnsOf(values)];
    assertDistinct(keys, values);
    assertOnePerKey('values', values.length, keys.length);
    return this.#schedule([columns, beside], async () => {
      const order = { keys: columns, values: beside, sorted: keys.dtype, moved: values.dtype };
      const [sorted, moved] = await this.#order(order, settings);
      return { keys: sorted as ShardedArray<D>, values: moved as ShardedArray<V> };
    });
  }

  async reduce(keys: ShardedArray, op: ReduceOp, settings: SortSettings): Promise<number | bigint> {
    const columns = this.#columnsOf(keys);
    return this.#schedule([columns], async () => {
      const some = columns.some(({ n }) => n > 0);
      const found = await this.#onEachWorker(async (worker, m) => {
        const own = columns[m] as Column;
        // If there are no keys at all, the first device returns the result, or throws the error, for empty
        // input.
        if (own.n === 0 && (some || m > 0)) return [];
        const task = { n: own.n, settings, onHost: false, again: false };
        return [await worker.operate(task, (call) => enqueueReduce(call, own, op))];
      });
      return combineResults(found.flat(), op, keys.dtype);
    });
  }

  async topK<D extends Dtype, P extends PositionDtype>(
    keys: ShardedArray<D>,
    k: number,
    settings: SortSettings,
    positionDtype: P,
  ): Promise<{ keys: ArrayOf<D>; indices: ArrayOf<P> }> {
    const columns = this.#columnsOf(keys);
    return this.#schedule([columns], async () => {
      const { bytes } = dtypeInfo(keys.dtype);
      const starts = columns.map((_, m) => columns.slice(0, m).reduce((sum, { n }) => sum + n, 0));
      const tops = await this.#onEachWorker(async (worker, m) => {
        const own = columns[m] as Column;
        const few = Math.min(k, own.n);
        const top = { keys: newArray(keys.dtype, few), indices: new Uint32Array(few) };
        if (few === 0) return top;
        const task = { n: own.n, settings, onHost: false, again: false };
        await worker.operate(task, async (call) => {
          const [first, at] = [call.columns.temporary(own.dtype, few), call.columns.temporary('u32', few)];
          await enqueueTopK(call, own, { keys: first, positions: at });
          await call.copy(first, column(own.dtype, few, top.keys));
          await call.copy(at, column('u32', few, top.indices));
          return () => undefined;
        });
        return top;
      });
      const n = tops.reduce((sum, { indices }) => sum + indices.length, 0);
      const [all, positions] = [newArray(keys.dtype, n), newArray<PositionDtype>(positionDtype, n)];
      let at = 0;
      for (const [m, top] of tops.entries()) {
        bytesOf(all).set(bytesOf(top.keys), at * bytes);
        for (const index of top.indices) {
          const position = (starts[m] as number) + index;
          positions[at++] = positions instanceof BigUint64Array ? BigInt(position) : position;
        }
      }
      const found = firstOf(keys.dtype, column(keys.dtype, n, all), positions, Math.min(k, n), settings);
      return found as { keys: ArrayOf<D>; indices: ArrayOf<P> };
    });
  }

  /** Waits for the devices' calls and releases their memory. */
  async close(): Promise<void> {
    for (const worker of this.#workers) await worker.close();
  }

  #columnsOf(array: ShardedArray): Column[] {
    return array.partsFor(this).map((one, m) => one.columnFor((this.#workers[m] as DeviceWorker).arrays));
  }

  /**
   * Runs a call exclusively when it is its turn.
   *
   * @throws DeviceLostError when a part of an array was lost with its device
   */
  #schedule<T>(arrays: readonly (readonly Column[])[], call: () => Promise<T>): Promise<T> {
    return this.#scheduler.runExclusive(async () => {
      for (const [m, { arrays: store }] of this.#workers.entries()) {
        store.assertLive(
          arrays.map((columns) => columns[m] as Column),
          'a part of this sharded array',
        );
      }
      return call();
    });
  }

  /** Runs `work` on all devices and waits for all of them. */
  #onEachWorker<T>(work: (worker: DeviceWorker, m: number) => Promise<T>): Promise<T[]> {
    return settleAll(this.#workers.map((worker, m) => work(worker, m)));
  }

  /** Creates an array whose parts `fill` writes; the parts are disposed of when it fails. */
  async #create<D extends Dtype>(
    dtype: D,
    starts: readonly number[],
    fill: (columns: readonly Column[]) => Promise<unknown>,
  ): Promise<ShardedArray<D>> {
    const parts: DeviceArray[] = [];
    try {
      for (const [m, { arrays }] of this.#workers.entries()) {
        const n = (starts[m + 1] as number) - (starts[m] as number);
        if (n >= MAX_PART_LENGTH) {
          throw new UnsupportedError(`cannot store ${n} elements on one device: the limit is 2^32 - 1`);
        }
        parts.push(new DeviceArray(arrays, dtype, arrays.take(dtype, n)));
      }
      await fill(parts.map((one, m) => one.columnFor((this.#workers[m] as DeviceWorker).arrays)));
      return new ShardedArray(this, dtype, parts);
    } catch (error) {
      for (const one of parts) one.dispose();
      throw error;
    }
  }

  /** Creates an array of the elements of a host array. */
  #distribute<D extends Dtype>(
    dtype: D,
    starts: readonly number[],
    view: ArrayBufferView,
  ): Promise<ShardedArray<D>> {
    return this.#create(dtype, starts, (parts) =>
      this.#onEachWorker(async ({ arrays }, m) => {
        const { n, info } = parts[m] as Column;
        const start = (starts[m] as number) * info.bytes;
        if (n > 0) await arrays.store(parts[m] as Column, byteRange(view, start, start + n * info.bytes), 0);
      }),
    );
  }

  /** Copies all parts to host memory. */
  async #collect(columns: readonly Column[]): Promise<Column> {
    const {
      dtype,
      info: { bytes },
    } = columns[0] as Column;
    const starts = startsOfParts(columns);
    const [first] = this.#workers as [DeviceWorker];
    const n = starts.at(-1) as number;
    const view = first.allocateHostMemory(n * bytes);
    await this.#onEachWorker(async ({ arrays }, m) => {
      const [start, end] = [(starts[m] as number) * bytes, (starts[m + 1] as number) * bytes];
      if (start < end) await arrays.load(columns[m] as Column, byteRange(view, start, end), 0);
    });
    return column(dtype, n, view);
  }

  /** Sorts a sharded array. The results are disposed of when it fails. */
  async #order(order: ShardedSort, settings: SortSettings): Promise<SortResults> {
    throwIfAborted(settings.signal);
    const results: SortResults = [undefined, undefined];
    try {
      if (this.#group) await this.#orderOnHost(this.#group, order, settings, results);
      else await this.#orderOnDevice(order, settings, results);
      return results;
    } catch (error) {
      for (const one of results) one?.dispose();
      throw error;
    }
  }

  /** Collects the parts in host memory, where the group sorts them, and distributes the result. */
  async #orderOnHost(
    group: DeviceGroup,
    { keys, values, sorted, moved }: ShardedSort,
    settings: SortSettings,
    results: SortResults,
  ): Promise<void> {
    const [first] = this.#workers as [DeviceWorker];
    const starts = startsOfParts(keys);
    const n = starts.at(-1) as number;
    const allocate = (dtype?: Dtype) => dtype && first.allocateHostMemory(n * dtypeInfo(dtype).bytes);
    const to = { sorted: allocate(sorted), moved: allocate(moved) };
    const collected = values && (await this.#collect(values));
    const job = sortJobOf(await this.#collect(keys), collected, to, settings);
    if (n > 0) {
      const shared = group.sharedJob(job);
      await (shared ? group.sort(shared) : first.sort(job));
    }
    if (sorted && to.sorted) results[0] = await this.#distribute(sorted, starts, to.sorted);
    if (moved && to.moved) results[1] = await this.#distribute(moved, starts, to.moved);
  }

  /** Sorts on the only device. */
  async #orderOnDevice(
    { keys: [keys], values, sorted, moved }: ShardedSort,
    settings: SortSettings,
    results: SortResults,
  ): Promise<void> {
    const [first] = this.#workers as [DeviceWorker];
    const own = keys as Column;
    const create = (dtype: Dtype) => this.#create(dtype, [0, own.n], async () => undefined);
    if (sorted) results[0] = await create(sorted);
    if (moved) results[1] = await create(moved);
    const [sortedTo, movedTo] = results.map((array) => array && this.#columnsOf(array)[0]?.place);
    const job = sortJobOf(own, values?.[0], { sorted: sortedTo, moved: movedTo }, settings);
    if (own.n > 0) await first.sort(job);
  }
}
