import { crossoversFor } from '../algorithms/tuning.js';
import { Device } from '../device/device.js';
import {
  type ArrayOf,
  assertDisjoint,
  bytesOf,
  type DtypeOf,
  dtypeOf,
  keyColumn,
  type ValueArray,
  valueColumn,
} from '../keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../keys/dtype.js';
import { REDUCE_OPS, type ReduceOp } from '../primitives/reduce.js';
import {
  InputError,
  MemoryError,
  NoDeviceError,
  NoLoaderError,
  NoPlatformError,
  UnsupportedError,
  UsageError,
} from '../util/errors.js';
import { ArrayStore, type Keys } from './array-store.js';
import { type Column, column, isOnDevice, type Place } from './column.js';
import { DeviceArray } from './device-array.js';
import { Executor, type SortJob } from './executor.js';
import { hostGather } from './host-sort.js';
import { type LexColumn, lexsort } from './lexsort.js';
import { Operation } from './operation.js';
import {
  bitWindow,
  type HistogramOptions,
  type Into,
  type LexsortColumn,
  type LexsortOptions,
  type OpenOptions,
  type PlanOptions,
  type PrimitiveOptions,
  parseOpenOptions,
  parsePrimitiveOptions,
  parseSortOptions,
  type ScanOptions,
  type SortOptions,
  type SortSettings,
  type TopKOptions,
  throwIfAborted,
  type UniqueOptions,
} from './options.js';
import { explainPlan, type Plan } from './planner.js';
import { digitHistogram, edgesOf, gather, histogram, reduce, scan } from './primitives.js';
import { checkOffsets, type Offsets, segmentedSort } from './segmented-sort.js';
import { topK } from './top-k.js';
import { Turns } from './turns.js';
import { unique } from './unique.js';

/** Widths of values that kernels carry along; others are gathered on the host after an argsort. */
const CARRIED_VALUE_BYTES = new Set([0, 1, 2, 4, 8, 16]);

/** Largest position that a 32-bit index can hold, plus one. */
const MAX_INDICES = 2 ** 32;

/** Positions come as what the keys were: on the host or on the device. */
export type Positions<K extends Keys> = K extends DeviceArray ? DeviceArray<'u32'> : Uint32Array;

/** A column of rows, with an order of its own or as the options say. */
export type RowColumn<K extends Keys> = K | LexsortColumn<K>;

/** A plan, and what it says in words. */
export type ExplainedPlan = Plan & { explain(): string };

/**
 * Sorts on one device, which it owns together with a command queue, compiled programs and pooled memory.
 *
 * Calls may overlap; they run one after the other. `close()` (or `await using`) gives everything back.
 *
 * Every operation takes typed arrays, or device arrays of this Sorter, and gives back the same kind.
 *
 *     const sorter = await Sorter.open({ device: 'gpu' });
 *     const prices = await sorter.upload(Float32Array.of(5, 1, 4)); // copied once
 *     const sorted = await sorter.gather(prices, await sorter.argsort(prices)); // stays on the device
 *     const cheapest = await sorted.read(0, 1); // 1
 *     await sorter.close();
 */
export class Sorter implements AsyncDisposable {
  readonly #executor: Executor;
  /** Who sorts fewer host keys than `below` when nobody asked for a device. */
  readonly #few: { readonly executor: Executor; readonly below: number } | undefined;
  readonly #arrays: ArrayStore;
  readonly #turns = new Turns();

  private constructor(executor: Executor, few?: { executor: Executor; below: number }) {
    this.#executor = executor;
    this.#few = few;
    this.#arrays = new ArrayStore(executor, this.#turns);
  }

  /**
   * Opens a device: `auto` (default: the best there is, the host engine if there is none), `cpu`, `gpu`,
   * `host`, `P:D`, or a part of a device's or platform's name. Under `auto` the host engine also takes what
   * is on the host and too little to be worth a trip to the device.
   *
   * @throws UsageError, NoLoaderError, NoPlatformError, NoDeviceError
   */
  static async open(options: OpenOptions = {}): Promise<Sorter> {
    const { device, onWarning } = parseOpenOptions(options);
    if (device === 'host') return new Sorter(new Executor(onWarning));
    try {
      const opened = await Device.open(device);
      const executor = new Executor(onWarning, opened);
      if (device !== 'auto') return new Sorter(executor);
      const below = crossoversFor(opened).host;
      const reason = `the host sorts fewer than ${below} keys sooner`;
      return new Sorter(executor, { executor: new Executor(onWarning, undefined, reason), below });
    } catch (error) {
      if (device !== 'auto' || !isAbsence(error)) throw error;
      onWarning(
        new NoDeviceError(`no OpenCL device, so the host engine sorts: ${error.message}`, { cause: error }),
      );
      return new Sorter(new Executor(onWarning, undefined, error));
    }
  }

  /** The opened device, undefined when the host engine sorts. */
  get device(): Device['info'] | undefined {
    return this.#executor.device?.info;
  }

  /**
   * Sorts `keys` into a new array of the same type. Stable; see the README for the total order.
   *
   * @throws UsageError, DtypeError, InputError, AbortedError, MemoryError, UnsupportedError, MismatchError, …
   */
  async sort<K extends Keys>(keys: K, options: SortOptions & Into<K> = {}): Promise<K> {
    const { into, ...rest } = options;
    const settings = parse(rest);
    const input = this.#read(keys, settings);
    assertApart(keys, into);
    return this.#arrays.making(async (make) => {
      const sorted = make.like(keys, input.dtype, input.n, into);
      await this.#sort({ keys: input, settings, sorted: sorted.place });
      return sorted.result;
    });
  }

  /**
   * Sorts the memory of `keys` itself, through a second array of its size on the device. After a failure
   * the keys are as they were, unless the device fails during the last step, copying the result back.
   *
   * @returns `keys`
   * @throws as `sort`
   */
  async sortInPlace<K extends Keys>(keys: K, options?: SortOptions): Promise<K> {
    const settings = parse(options);
    const input = this.#read(keys, settings);
    if (keys instanceof DeviceArray) {
      const sorted = this.#arrays.take(input.dtype, input.n);
      try {
        await this.#sort({ keys: input, settings, sorted: sorted.place });
      } catch (error) {
        this.#arrays.discard(sorted);
        throw error;
      }
      keys.replace(sorted);
      return keys;
    }
    const task = { n: input.n, settings, onHost: true, again: true };
    await this.#operate(task, async (operation) => {
      const sorted = operation.temporary(input.dtype, input.n);
      await operation.sort({ keys: input, sorted: sorted.place });
      task.again = false; // from here on the keys may be no longer what was to be sorted
      await operation.copy(sorted, { ...input, place: bytesOf(keys) });
    });
    return keys;
  }

  /**
   * The positions of `keys` in sorted order: `keys[result[0]]` is the first.
   *
   * @throws as `sort`; UnsupportedError for 2^32 keys and more
   */
  async argsort<K extends Keys>(
    keys: K,
    options: SortOptions & Into<Positions<K>> = {},
  ): Promise<Positions<K>> {
    const { into, ...rest } = options;
    const settings = parse(rest);
    const input = this.#read(keys, settings);
    assertIndexable(input.n);
    assertApart(keys, into);
    return this.#arrays.making(async (make) => {
      const moved = make.beside(keys, 'u32', input.n, into);
      await this.#sort({ keys: input, settings, moved: moved.place });
      return moved.result as Positions<K>;
    });
  }

  /**
   * Sorts `keys` and moves `values` along: `values` holds the same number of elements of 1 to 16 bytes.
   * Either both are typed arrays or both are device arrays.
   *
   * @throws as `sort`; InputError when the lengths do not fit
   */
  async sortPairs<K extends Keys, V extends ValueArray | DeviceArray>(
    keys: K,
    values: V,
    options: SortOptions & Into<{ keys: K; values: V }> = {},
  ): Promise<{ keys: K; values: V }> {
    const { into, ...rest } = options;
    const settings = parse(rest);
    const input = this.#read(keys, settings);
    const { place, bytes } = this.#readValues(keys, values, input);
    for (const array of [keys, values]) for (const to of [into?.keys, into?.values]) assertApart(array, to);
    assertApart(into?.keys, into?.values);
    return this.#arrays.making(async (make) => {
      const sorted = make.like(keys, input.dtype, input.n, into?.keys);
      const moved = make.like(values, dtypeOfValues(values), values.length, into?.values);
      if (CARRIED_VALUE_BYTES.has(bytes)) {
        const job = { keys: input, settings, sorted: sorted.place, values: { place, bytes } };
        await this.#sort({ ...job, moved: moved.place });
      } else {
        // No dtype has such a width, so these are typed arrays.
        const positions = new Uint32Array(input.n);
        await this.#sort({ keys: input, settings, sorted: sorted.place, moved: positions });
        hostGather(place as ArrayBufferView, positions, bytes, moved.place as ArrayBufferView);
      }
      return { keys: sorted.result, values: moved.result };
    });
  }

  /**
   * The order of rows that are given by columns, the most significant first: `result[0]` is the position
   * of the first row. Stable. Keys are compared as numbers, so all NaNs are equal, and −0 equals +0.
   *
   * @param columns arrays of the same length, or `{ keys, descending, nan, dtype }` for an order of their own
   * @throws as `sort`; InputError when the lengths differ; UnsupportedError for 2^32 rows and more
   */
  async lexsort(columns: readonly RowColumn<KeyArray>[], options?: LexsortOptions): Promise<Uint32Array>;
  async lexsort(
    columns: readonly RowColumn<DeviceArray>[],
    options?: LexsortOptions,
  ): Promise<DeviceArray<'u32'>>;
  async lexsort(columns: readonly RowColumn<Keys>[], options?: LexsortOptions): Promise<Positions<Keys>> {
    const settings = parse(options, ['bits', 'dtype']);
    const parsed = columns.map((one): { like: Keys; column: LexColumn } => {
      const { keys, ...own } = ArrayBuffer.isView(one) || one instanceof DeviceArray ? { keys: one } : one;
      const order = parse({ ...pick(settings), ...own }, ['bits']);
      return { like: keys, column: { keys: this.#read(keys, order), order: pick(order) } };
    });
    const [first] = parsed;
    if (!first) throw new InputError('no columns to sort by: expected at least one');
    const { n } = first.column.keys;
    for (const { column: other } of parsed) {
      if (other.keys.n !== n) {
        throw new InputError(`columns of ${n} and of ${other.keys.n} keys: expected the same number`);
      }
    }
    assertIndexable(n);
    return this.#arrays.making(async (make) => {
      const moved = make.beside(first.like, 'u32', n);
      if (n > 0) {
        const onHost = !parsed.some((one) => one.like instanceof DeviceArray);
        await this.#operate({ n, settings, onHost, again: onHost }, (operation) =>
          lexsort(
            operation,
            parsed.map((one) => one.column),
            column('u32', n, moved.place),
          ),
        );
      }
      return moved.result as Positions<Keys>;
    });
  }

  /**
   * The `k` largest keys (all of them when there are fewer), or smallest with `largest: false`, in order,
   * and their positions: what `sort` and `argsort` with `descending: largest` would begin with. Of equal
   * keys the first ones are taken, NaNs only when the numbers do not suffice, or first with `nan: 'first'`.
   *
   * @throws as `sort`; UsageError when k is no whole number
   */
  async topK<K extends Keys>(
    keys: K,
    k: number,
    options: TopKOptions = {},
  ): Promise<{ keys: K; indices: Positions<K> }> {
    const { largest = true, ...rest } = options;
    if (typeof largest !== 'boolean') throw new UsageError("option 'largest': expected true or false");
    if (!Number.isSafeInteger(k) || k < 0)
      throw new UsageError(`k is ${k}: expected a whole number from 0 on`);
    const settings = parse({ ...rest, descending: largest });
    if ('descending' in options) throw new UsageError("topK takes 'largest', not 'descending'");
    const input = this.#read(keys, settings);
    assertIndexable(input.n);
    const count = Math.min(k, input.n);
    return this.#arrays.making(async (make) => {
      const top = make.like(keys, input.dtype, count);
      const indices = make.beside(keys, 'u32', count);
      if (count > 0) {
        await this.#operate(taskOf(input, settings, keys), (operation) =>
          topK(operation, input, {
            keys: column(input.dtype, count, top.place),
            positions: column('u32', count, indices.place),
          }),
        );
      }
      return { keys: top.result, indices: indices.result as Positions<K> };
    });
  }

  /**
   * Sorts each segment of `keys` by itself: segment s is `[offsets[s], offsets[s + 1])`.
   *
   * @param offsets where each segment begins, from 0 on and never falling, and at last the number of keys
   * @throws as `sort`; InputError for wrong offsets; UnsupportedError for 2^32 keys and more
   */
  async segmentedSort<K extends Keys>(keys: K, offsets: Offsets, options?: SortOptions): Promise<K> {
    const settings = parse(options);
    const input = this.#read(keys, settings);
    assertIndexable(input.n);
    const begins = checkOffsets(offsets, input.n);
    return this.#arrays.making(async (make) => {
      const sorted = make.like(keys, input.dtype, input.n);
      if (input.n > 0) {
        await this.#operate(taskOf(input, settings, keys), (operation) =>
          segmentedSort(operation, input, begins, column(input.dtype, input.n, sorted.place)),
        );
      }
      return sorted.result;
    });
  }

  /**
   * The distinct keys in order, and how often each is there. Keys are compared as numbers, so all NaNs are
   * one, and so are the zeros; each result is, bit for bit, the first of its equals in the input.
   *
   * @throws as `sort`; UnsupportedError for 2^32 keys and more
   */
  async unique<K extends Keys>(keys: K, options?: UniqueOptions): Promise<{ keys: K; counts: Positions<K> }> {
    const settings = parse(options, ['bits']);
    const input = this.#read(keys, settings);
    assertIndexable(input.n);
    return this.#arrays.making(async (make) => {
      const results = (distinct: number) => {
        const found = make.like(keys, input.dtype, distinct);
        const counts = make.beside(keys, 'u32', distinct);
        return {
          keys: column(input.dtype, distinct, found.place),
          counts: column('u32', distinct, counts.place),
          result: { keys: found.result, counts: counts.result as Positions<K> },
        };
      };
      if (input.n === 0) return results(0).result;
      const made = await this.#operate(taskOf(input, settings, keys), (operation) =>
        unique(operation, input, results),
      );
      return made.result;
    });
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
  async reduce(keys: Keys, op: ReduceOp, options?: PrimitiveOptions): Promise<number | bigint> {
    if (!REDUCE_OPS.includes(op)) {
      throw new UsageError(`unknown reduction '${op}': expected ${REDUCE_OPS.join(', ')}`);
    }
    const settings = parsePrimitive(options);
    const input = this.#read(keys, settings);
    return this.#operate(taskOf(input, settings, keys), (operation) => reduce(operation, input, op));
  }

  /**
   * Prefix sums: each key's is the sum of all keys before it, with `inclusive` its own too. Sums are of the
   * keys' own type: those of integers wrap, those of floats are within 4 log2(n) ε of the sum of
   * the magnitudes before them, ε as in `reduce`.
   *
   * @throws as `sort`; UnsupportedError for dtypes other than u32 i32 u64 i64 f32 f64
   */
  async scan<K extends Keys>(keys: K, options: ScanOptions & Into<K> = {}): Promise<K> {
    const { inclusive = false, into, ...rest } = options;
    if (typeof inclusive !== 'boolean') throw new UsageError("option 'inclusive': expected true or false");
    const settings = parsePrimitive(rest);
    const input = this.#read(keys, settings);
    assertApart(keys, into);
    return this.#arrays.making(async (make) => {
      const sums = make.like(keys, input.dtype, input.n, into);
      const to = column(input.dtype, input.n, sums.place);
      await this.#operate(taskOf(input, settings, keys), (operation) =>
        scan(operation, input, to, inclusive),
      );
      return sums.result;
    });
  }

  /**
   * How many keys are in each bin: in bin b those from its lower edge on, that are below the next one; in
   * the last bin also those at its upper edge. Keys are compared as numbers: both zeros are at an edge of 0,
   * and NaN is in no bin. With `bits` instead, how many keys have each digit there, as a radix sort counts
   * them: of the codes of the ascending order with NaN last, so that every key is in a bin.
   *
   * @throws as `sort`; UsageError when the options do not make bins; UnsupportedError for 2^32 keys and more
   */
  async histogram(keys: Keys, options: HistogramOptions = {}): Promise<Uint32Array> {
    const { bins, range, edges, bits, ...rest } = options;
    const settings = parsePrimitive(rest);
    const input = this.#read(keys, settings);
    const byValue = bins !== undefined || range !== undefined || edges !== undefined;
    if (bits !== undefined && byValue) {
      throw new UsageError("option 'bits' says all of the bins: leave out 'bins', 'range' and 'edges'");
    }
    const all = bits === undefined ? edgesOf(options) : undefined;
    const digits = bits && parse({ bits }).bits;
    if (input.n >= MAX_INDICES) {
      throw new UnsupportedError(`counts have 32 bits: at most 2^32 - 1 keys, not ${input.n}`);
    }
    return this.#operate(taskOf(input, settings, keys), (operation) =>
      all ? histogram(operation, input, all) : digitHistogram(operation, input, digits),
    );
  }

  /**
   * The elements of `values` at `indices`: `result[i]` is `values[indices[i]]`. Brings further columns into
   * the order of an `argsort`. Either both are arrays of the host or both are device arrays.
   *
   * @param indices as `argsort` gives them: of 32 bits
   * @throws as `sort`; InputError when an index is not inside
   */
  async gather<V extends Keys>(
    values: V,
    indices: Positions<V>,
    options: PrimitiveOptions & Into<V> = {},
  ): Promise<V> {
    const { into, ...rest } = options;
    const settings = parsePrimitive(rest);
    const input = this.#read(values, settings);
    if (values instanceof DeviceArray !== indices instanceof DeviceArray) {
      throw new InputError('values and indices are in different places: upload both or none');
    }
    const by = this.#read(indices, {});
    if (by.dtype !== 'u32') throw new InputError(`indices are ${by.dtype}: expected a Uint32Array or u32`);
    if (!(values instanceof DeviceArray))
      assertDisjoint(values, indices as Uint32Array, 'values and indices');
    for (const array of [values, indices]) assertApart(array, into);
    return this.#arrays.making(async (make) => {
      const gathered = make.like(values, input.dtype, by.n, into);
      const to = column(input.dtype, by.n, gathered.place);
      await this.#operate(taskOf(input, settings, values), (operation) => gather(operation, input, by, to));
      return gathered.result;
    });
  }

  /**
   * Copies `keys` into a device array, which operations then use without another transfer.
   *
   * @throws DtypeError, InputError; MemoryError when the device has no room
   */
  async upload<K extends KeyArray>(keys: K): Promise<DeviceArray<DtypeOf<K>>>;
  async upload<D extends Dtype>(keys: KeyArray, options: { readonly dtype: D }): Promise<DeviceArray<D>>;
  async upload(keys: KeyArray, options: { readonly dtype?: Dtype } = {}): Promise<DeviceArray> {
    const dtype = options.dtype ?? dtypeOf(keys);
    const { n } = keyColumn(keys, dtype);
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
    this.#turns.assertOpen();
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
    this.#turns.assertOpen();
    return this.#arrays.pinned(dtype, length);
  }

  /** Gives the memory of an array of `alloc` back; pinned ones are detached. Others are left alone. */
  async free(array: KeyArray): Promise<void> {
    await this.#arrays.unpin(array);
  }

  /**
   * How `sort` would sort n keys: algorithm, parameters, chunks. Compiles nothing and runs nothing, so a
   * variant that turns out not to work on the device is still named.
   *
   * @param options those of `sort`; `dtype` (default u32) and `valueBytes` (default 0) say of what
   * @throws UsageError, UnsupportedError
   */
  plan(n: number, options: PlanOptions = {}): ExplainedPlan {
    const { valueBytes = 0, ...rest } = options;
    const settings = parse(rest);
    const info = dtypeInfo(settings.dtype ?? 'u32');
    if (!Number.isSafeInteger(n) || n < 0)
      throw new UsageError(`n is ${n}: expected a whole number from 0 on`);
    const bits = bitWindow(settings.bits, info);
    const { algorithm, scan, radixBits, tuning } = settings;
    const request = { n, dtype: info.name, bits, valueBytes, algorithm, scan, radixBits };
    const executor = this.#executorFor(n, settings, true);
    const plan = executor.plan(request, tuning.chunk ?? Number.POSITIVE_INFINITY);
    // Plans are compared and printed as data: the method is none of it.
    return Object.defineProperty({ ...plan }, 'explain', { value: () => explainPlan(plan) }) as ExplainedPlan;
  }

  /** Waits for what is running, then releases the device and all device arrays. May be called twice. */
  async close(): Promise<void> {
    await this.#turns.close();
    this.#arrays.clear();
    await this.#executor.device?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #sort(job: SortJob): Promise<void> {
    const places = [job.keys.place, job.sorted, job.values?.place, job.moved];
    const onHost = !places.some((place) => place && isOnDevice(place));
    const executor = this.#executorFor(job.keys.n, job.settings, onHost);
    return this.#turns.alone(() => executor.run(() => executor.sort(job), { again: onHost }));
  }

  /**
   * Runs an operation. When nobody asked for a device, one on host memory for which the device has no room is
   * left to the host.
   */
  #operate<T>(task: Task, use: (operation: Operation) => Promise<T>): Promise<T> {
    const { n, settings, onHost } = task;
    const executor = this.#executorFor(n, settings, onHost);
    const run = () => Operation.run(executor, settings, use);
    return this.#turns.alone(async () => {
      try {
        return await executor.run(run, task);
      } catch (error) {
        if (!(error instanceof MemoryError) || !this.#few || !task.again || !executor.device) throw error;
        const message = `${error.message}; the host does without the device`;
        executor.warn(settings, new MemoryError(message, { cause: error }));
        executor.device.pool.clear();
        const reason = 'the device has no room for this';
        const host = new Executor((warning) => executor.warn(settings, warning), undefined, reason);
        return Operation.run(host, { ...settings, algorithm: 'auto' }, use);
      }
    });
  }

  /** Whoever is sooner done, unless the options ask for what only a device has. */
  #executorFor(n: number, { algorithm, scan, radixBits }: SortSettings, onHost: boolean): Executor {
    const open = algorithm === 'auto' && scan === 'auto' && radixBits === undefined;
    return this.#few && onHost && open && n < this.#few.below ? this.#few.executor : this.#executor;
  }

  /** Keys as a caller passes them, checked. */
  #read(keys: Keys, { dtype }: Pick<SortSettings, 'dtype'>): Column {
    if (keys instanceof DeviceArray) {
      if (dtype !== undefined && dtype !== keys.dtype) {
        throw new UsageError(`option 'dtype' is ${dtype}: this device array holds ${keys.dtype} keys`);
      }
      return keys.columnFor(this.#arrays);
    }
    const { dtype: own, n, view } = keyColumn(keys, dtype);
    return column(own, n, view);
  }

  #readValues(keys: Keys, values: ValueArray | DeviceArray, { n }: Column): { place: Place; bytes: number } {
    if (values instanceof DeviceArray !== keys instanceof DeviceArray) {
      throw new InputError('keys and values are in different places: upload both or none');
    }
    if (values instanceof DeviceArray) {
      if (values === keys) throw new InputError('keys and values are the same device array');
      const { place, info, n: count } = values.columnFor(this.#arrays);
      if (count !== n)
        throw new InputError(`${count} values do not fit ${n} keys: expected one for each key`);
      return { place, bytes: info.bytes };
    }
    const { bytes } = valueColumn(values, { n });
    if (!(keys instanceof DeviceArray)) assertDisjoint(keys, values, 'keys and values');
    return { place: values, bytes };
  }
}

/** An operation, as far as it matters who does it. */
interface Task {
  readonly n: number;
  readonly settings: SortSettings;
  /** All of its keys and results are in host memory. */
  readonly onHost: boolean;
  /** It may be run once more when it has failed. */
  again: boolean;
}

const taskOf = ({ n }: Column, settings: SortSettings, keys: Keys): Task => {
  const onHost = !(keys instanceof DeviceArray);
  return { n, settings, onHost, again: onHost };
};

const dtypeOfValues = (values: ValueArray | DeviceArray): Dtype =>
  values instanceof DeviceArray ? values.dtype : dtypeOf(values);

const pick = ({ descending, nan }: SortSettings): LexColumn['order'] => ({ descending, nan });

/** Options, checked, without those that the operation has no use for. */
function parse(options: SortOptions = {}, without: readonly (keyof SortOptions)[] = []): SortSettings {
  const settings = parseSortOptions(options);
  for (const name of without) {
    if (options[name] !== undefined) throw new UsageError(`option '${name}' has no meaning here`);
  }
  if (options.device !== undefined) throw deviceIsOpen();
  return settings;
}

/** Options of operations that sort nothing, checked. */
function parsePrimitive(options: PrimitiveOptions = {}): SortSettings {
  const settings = parsePrimitiveOptions(options);
  if (options.device !== undefined) throw deviceIsOpen();
  throwIfAborted(settings.signal);
  return settings;
}

const deviceIsOpen = () =>
  new UsageError("option 'device' belongs to Sorter.open: this Sorter has its device already");

/** @throws DtypeError, UsageError */
function assertLength(dtype: Dtype, length: number): void {
  dtypeInfo(dtype);
  if (!Number.isSafeInteger(length) || length < 0) {
    throw new UsageError(`${length} elements: expected a whole number from 0 on`);
  }
}

/** @throws InputError when a result would be written over what is still read */
function assertApart(array: Keys | undefined, into: Keys | undefined): void {
  if (array === undefined || into === undefined) return;
  if (array === into) throw new InputError('into is the input itself: use sortInPlace');
  if (array instanceof DeviceArray || into instanceof DeviceArray) return;
  assertDisjoint(array, into, 'into and another array');
}

function assertIndexable(n: number): void {
  if (n >= MAX_INDICES) {
    throw new UnsupportedError(`positions have 32 bits: at most 2^32 - 1 keys, not ${n}`);
  }
}

/** There is no OpenCL here: no loader, driver or device, or no addon for this Node and system. */
const isAbsence = (error: unknown): error is Error =>
  [NoLoaderError, NoPlatformError, NoDeviceError, UnsupportedError].some((type) => error instanceof type);
