/**
 * Operations on arrays that are sharded over several devices.
 *
 * The sort uses regular runs (a sample sort whose partition is a sort). Each device sorts its part, and the
 * sorted runs are cut by rank. Each device receives its slice of every run, those of other devices through
 * host memory, and sorts the slices in the order of their runs. So each of P devices sends and receives (P −
 * 1) / P of its part, and no device holds more than its part, whatever the keys are. Equal keys come from
 * earlier runs first: the sort is stable.
 */
import { type ArrayOf, byteRange, bytesOf, type HostColumn, keyWords, newArray } from '../../keys/array.js';
import { type Dtype, dtypeInfo } from '../../keys/dtype.js';
import { keyCodec } from '../../keys/key-codec.js';
import type { ReduceOp } from '../../primitives/possible.js';
import { UnsupportedError } from '../../util/errors.js';
import { chain } from '../../util/maybe-promise.js';
import { runWhileAttached, spanOf } from '../calls/assert-not-detached.js';
import type { CallScheduler } from '../calls/call-scheduler.js';
import { WindowOrder } from '../calls/sort-in-chunks.js';
import { combineExtremes } from '../host/host-primitives.js';
import { hostSort } from '../host/host-sort.js';
import { assertDistinct, assertIndexable, assertOnePerKey } from '../model/array-assertions.js';
import { type Column, column } from '../model/column.js';
import { DeviceArray } from '../model/device-array.js';
import { bitWindow, type SortSettings, throwIfAborted } from '../model/options.js';
import { type SortReport, sharedReport } from '../model/report.js';
import { reduce } from '../operations/column-primitives.js';
import { topK } from '../operations/top-k.js';
import type { DeviceWorker } from './device-worker.js';
import { BorrowedColumns, exchange } from './exchange.js';
import { settleAll } from './settle-all.js';
import { ShardedArray, type ShardedArrayOwner } from './sharded-array.js';
import { cutDeviceRuns, SortedRun } from './sorted-run.js';

/** Positions and samples of a part have 32 bits. */
const MAX_PART_LENGTH = 2 ** 32;

/** The outputs of a sort of a sharded array. */
interface SortOutputs {
  readonly sorted: boolean;
  /** Values of each part, or `positions` to generate positions. */
  readonly values?: readonly Column[] | 'positions';
}

/** Keys and values of each device. */
interface Parts {
  readonly keys: readonly Column[];
  readonly values?: readonly Column[];
}

/** The sharded arrays of a Sorter. */
export class ShardedArrays implements ShardedArrayOwner {
  readonly #workers: readonly DeviceWorker[];
  readonly #scheduler: CallScheduler;
  /**
   * Fraction of the keys for each device, 1 in total. It is measured once, so that arrays of equal length
   * have equal parts.
   */
  #weights: Promise<readonly number[]> | undefined;

  /**
   * @param workers one or more devices
   * @param scheduler scheduler of all calls of the Sorter, so that releasing memory and closing also wait for
   *   calls on sharded arrays
   */
  constructor(workers: readonly DeviceWorker[], scheduler: CallScheduler) {
    this.#workers = workers;
    this.#scheduler = scheduler;
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
      const starts = startsOf(keys.n, weights);
      const { bytes } = keys.info;
      return this.#create(dtype, starts, (parts) =>
        this.#onEachWorker(async (worker, m) => {
          const [start, end] = [starts[m] as number, starts[m + 1] as number];
          if (start < end)
            await worker.arrays.store(
              parts[m] as Column,
              byteRange(keys.view, start * bytes, end * bytes),
              0,
            );
        }),
      );
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
      const [sorted] = await this.#order(columns, { sorted: true }, settings);
      return sorted as ShardedArray<D>;
    });
  }

  async argsort(keys: ShardedArray, settings: SortSettings): Promise<ShardedArray<'u32'>> {
    const columns = this.#columnsOf(keys);
    assertIndexable(keys.length);
    return this.#schedule([columns], async () => {
      const [, moved] = await this.#order(columns, { sorted: false, values: 'positions' }, settings);
      return moved as ShardedArray<'u32'>;
    });
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
      const [sorted, moved] = await this.#order(columns, { sorted: true, values: beside }, settings);
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
        return [await worker.operate(task, (call) => reduce(call, own, op))];
      });
      return combineResults(found.flat(), op, keys.dtype);
    });
  }

  async topK<D extends Dtype>(
    keys: ShardedArray<D>,
    k: number,
    settings: SortSettings,
  ): Promise<{ keys: ArrayOf<D>; indices: Uint32Array }> {
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
          await topK(call, own, { keys: first, positions: at });
          await call.copy(first, column(own.dtype, few, top.keys));
          await call.copy(at, column('u32', few, top.indices));
          return () => undefined;
        });
        const start = starts[m] as number;
        for (let i = 0; i < few; i++) top.indices[i] = (top.indices[i] as number) + start;
        return top;
      });
      const n = tops.reduce((sum, { indices }) => sum + indices.length, 0);
      const [all, positions] = [newArray(keys.dtype, n), new Uint32Array(n)];
      let at = 0;
      for (const top of tops) {
        bytesOf(all).set(bytesOf(top.keys), at * bytes);
        positions.set(top.indices, at);
        at += top.indices.length;
      }
      return this.#firstOf(keys.dtype, column(keys.dtype, n, all), positions, Math.min(k, n), settings);
    });
  }

  /** Returns the first k of a few keys, with their positions, which are passed along. */
  #firstOf<D extends Dtype>(
    dtype: D,
    { n, info, place }: Column,
    positions: Uint32Array,
    k: number,
    { descending, nan, bits }: SortSettings,
  ): { keys: ArrayOf<D>; indices: Uint32Array } {
    const sorted = newArray(dtype, n);
    const moved = new Uint32Array(n);
    const keys = { dtype, info, n, view: keyWords(place as ArrayBufferView, info) };
    const values = { view: positions, bytes: 4 };
    hostSort(keys, { descending, nan, bits }, { sorted, values, moved });
    return { keys: sorted.slice(0, k) as ArrayOf<D>, indices: moved.slice(0, k) };
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

  /**
   * Sorts a sharded array.
   *
   * @returns the sorted keys and the moved values, where they are wanted
   */
  async #order(
    columns: readonly Column[],
    wanted: SortOutputs,
    settings: SortSettings,
  ): Promise<[ShardedArray | undefined, ShardedArray | undefined]> {
    const started = performance.now();
    const { dtype } = columns[0] as Column;
    const starts = [0];
    for (const { n } of columns) starts.push((starts.at(-1) as number) + n);
    const length = starts.at(-1) as number;
    const { onReport, onProgress, ...own } = settings;
    const bits = bitWindow(settings.bits, dtypeInfo(dtype));
    const order = new WindowOrder(keyCodec(dtype, settings), bits);
    throwIfAborted(settings.signal);
    onProgress?.({ phase: 'sort', done: 0, total: length });
    const borrowed = new BorrowedColumns();
    const reports: SortReport[] = [];
    try {
      const values =
        wanted.values === 'positions' ? await this.#positions(starts, own, borrowed) : wanted.values;
      const valueDtype = values?.[0]?.dtype;
      const { keys: sliced, values: moved } = await this.#gather(
        { keys: columns, ...(values && { values }) },
        starts,
        order,
        own,
        borrowed,
      );
      throwIfAborted(settings.signal);
      onProgress?.({ phase: 'sort', done: Math.floor(length / 2), total: length });
      // Sorts the slices of each part.
      const results = {
        keys: undefined as ShardedArray | undefined,
        moved: undefined as ShardedArray | undefined,
      };
      const sortAll = (to: { keys?: readonly Column[]; moved?: readonly Column[] }) =>
        this.#onEachWorker(async (worker, m) => {
          const [key, value] = [sliced[m] as Column, moved?.[m]];
          const [sortedTo, movedTo] = [to.keys?.[m], to.moved?.[m]];
          if (key.n === 0) return;
          await worker.sort({
            keys: key,
            settings: { ...own, ...(onReport && { onReport: (report: SortReport) => reports.push(report) }) },
            ...(sortedTo && { sorted: sortedTo.place }),
            ...(value &&
              movedTo && { values: { place: value.place, bytes: value.info.bytes }, moved: movedTo.place }),
          });
        });
      const makeMoved = async (sorted?: readonly Column[]) => {
        const to = sorted ? { keys: sorted } : {};
        if (!valueDtype) return sortAll(to);
        results.moved = await this.#create(valueDtype, starts, (out) => sortAll({ ...to, moved: out }));
        return undefined;
      };
      if (wanted.sorted) results.keys = await this.#create(dtype, starts, makeMoved);
      else await makeMoved();
      onProgress?.({ phase: 'sort', done: length, total: length });
      if (onReport && reports.length > 0) {
        const seconds = (performance.now() - started) / 1000;
        onReport(sharedReport(reports, { n: length, seconds, reason: 'each device sorts what it has' }));
      }
      return [results.keys, results.moved];
    } finally {
      borrowed.release();
    }
  }

  /**
   * Copies the slices of each part to its device, in the order in which they are to be sorted: those of
   * earlier runs first.
   */
  async #gather(
    parts: Parts,
    starts: readonly number[],
    order: WindowOrder,
    settings: SortSettings,
    borrowed: BorrowedColumns,
  ): Promise<Parts> {
    if (parts.keys.filter(({ n }) => n > 0).length <= 1) return parts; // a single part needs no exchange
    const runs = await this.#onEachWorker(async (worker, m) => {
      const [keys, values] = [parts.keys[m] as Column, parts.values?.[m]];
      const sorted = borrowed.take(worker, keys.dtype, keys.n);
      const moved = values && borrowed.take(worker, values.dtype, keys.n);
      await worker.sort({
        keys,
        settings,
        sorted: sorted.place,
        ...(values &&
          moved && { values: { place: values.place, bytes: values.info.bytes }, moved: moved.place }),
      });
      return { run: await SortedRun.of(worker, sorted, order, settings), moved };
    });
    throwIfAborted(settings.signal);
    const sorted = runs.map(({ run }) => run);
    const cuts: number[][] = [runs.map(() => 0)];
    for (const rank of starts.slice(1, -1)) cuts.push(await cutDeviceRuns(sorted, rank, order));
    cuts.push(parts.keys.map(({ n }) => n));
    const slices = (of: readonly Column[]) => exchange(this.#workers, of, cuts, starts, borrowed);
    const keys = await slices(sorted.map(({ column }) => column));
    if (!parts.values) return { keys };
    return { keys, values: await slices(runs.map(({ moved }) => moved as Column)) };
  }

  /** Generates the positions of all elements, on each device those of its part. */
  #positions(
    starts: readonly number[],
    settings: SortSettings,
    borrowed: BorrowedColumns,
  ): Promise<Column[]> {
    return this.#onEachWorker(async (worker, m) => {
      const [first, end] = [starts[m] as number, starts[m + 1] as number];
      const to = borrowed.take(worker, 'u32', end - first);
      if (first === end) return to;
      await worker.operate({ n: to.n, settings, onHost: false, again: false }, (call) =>
        chain(
          call.bindOutput(to, (out) => call.columns.kernels.positions(out, first)),
          () => () => undefined,
        ),
      );
      return to;
    });
  }
}

/** Returns the start of each part, followed by the end of the last one. */
function startsOf(n: number, weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let before = 0;
  const starts = weights.map((weight) => {
    const start = Math.round((before / total) * n);
    before += weight;
    return start;
  });
  return [...starts, n];
}

/** Combines the results of all parts; sums of floats are added in the order of the parts. */
function combineResults(found: readonly (number | bigint)[], op: ReduceOp, dtype: Dtype): number | bigint {
  const [first, ...others] = found as [number | bigint, ...(number | bigint)[]];
  if (op !== 'sum') return others.reduce((a, b) => combineExtremes(op, a as bigint, b as bigint), first);
  if (typeof first === 'bigint') {
    const sum = others.reduce<bigint>((a, b) => a + BigInt(b), first);
    return dtypeInfo(dtype).kind === 'signed' ? BigInt.asIntN(64, sum) : BigInt.asUintN(64, sum);
  }
  const sum = others.reduce<number>((a, b) => a + Number(b), first);
  return dtype === 'f32' ? Math.fround(sum) : sum;
}
