import type { Buffer } from '../device/buffer.js';
import { bytesOf, newArray } from '../keys/array.js';
import type { Dtype } from '../keys/dtype.js';
import type { KeyCodec } from '../keys/key-codec.js';
import type { Binning } from '../primitives/histogram.js';
import type { ReduceOp } from '../primitives/reduce.js';
import { MismatchError, UnsupportedError } from '../util/errors.js';
import { byteLengthOf, type Column, column, isOnDevice } from './column.js';
import { DeviceColumns } from './device-columns.js';
import type { Executor, SortJob } from './executor.js';
import { HostColumns } from './host-columns.js';
import type { SortSettings } from './options.js';
import { borrow, download, lendInput, lendOutput, upload } from './transfer.js';

/**
 * The steps, besides sorts, that operations are made of. On the device they are enqueued, and done when a
 * later sort, or a step that returns a number, is done. Columns have fewer than 2^32 elements.
 */
export interface ColumnSteps {
  /** Equal bits for keys that are equal as numbers: one NaN, +0 for either zero. */
  canonical(from: Column, to: Column): Promise<void>;
  /** `to[i] = from[positions[i]]` for each of `to`; both of the same width. @param positions u32 */
  gather(from: Column, positions: Column, to: Column): Promise<void>;
  /** The number of the segment of each element. @param offsets u32: where each segment begins, then n */
  segmentIds(offsets: Column, ids: Column): Promise<void>;
  /**
   * The distinct keys of a sorted column.
   *
   * @param positions where each key stood in the input
   * @param out `firsts` gets the positions of their first keys, `places` where they begin; u32
   * @returns how many there are
   */
  distinct(
    sorted: Column,
    positions: Column,
    out: { readonly firsts: Column; readonly places: Column },
  ): Promise<number>;
  /** How often each of the distinct keys is there. @param n keys in all */
  counts(places: Column, n: number, to: Column): Promise<void>;
  /** The first keys of the order, as many as `to` takes, and their positions, in input order. */
  select(
    keys: Column,
    codec: KeyCodec,
    to: { readonly keys: Column; readonly positions: Column },
  ): Promise<void>;
  /** Sum, minimum or maximum, as `Sorter.reduce` says. */
  reduce(keys: Column, op: ReduceOp): Promise<number | bigint>;
  /** Prefix sums; `to` may be `from`. */
  scan(from: Column, to: Column, inclusive: boolean): Promise<void>;
  /** Counts of keys by digit, or between codes in ascending order; the last bin has its upper edge too. */
  histogram(keys: Column, binning: Binning): Promise<Uint32Array>;
}

/** A transfer whose two sides are to be compared after the wait. */
interface Transfer {
  same(): Promise<boolean>;
  /** Does it once more, where that is possible. */
  again?(): Promise<void>;
}

/**
 * One operation: sorts and steps on columns, temporary ones among them, which end with it. It runs alike
 * on a device and on the host; only the steps differ.
 */
export class Operation {
  readonly steps: ColumnSteps;
  readonly settings: SortSettings;
  readonly #executor: Executor;
  readonly #lent: { release(): void }[] = [];
  /** Transfers of an operation that is verified. */
  readonly #transfers: Transfer[] = [];

  private constructor(executor: Executor, settings: SortSettings) {
    this.#executor = executor;
    this.settings = settings;
    this.steps = executor.device ? new DeviceColumns(executor.device) : new HostColumns();
  }

  /** Runs `use`, waits for what it enqueued, and gives its temporaries back. */
  static async run<T>(
    executor: Executor,
    settings: SortSettings,
    use: (operation: Operation) => Promise<T>,
  ): Promise<T> {
    const operation = new Operation(executor, settings);
    const finish = async () => executor.device?.queue.finish(settings.timeout);
    try {
      const result = await use(operation);
      await finish();
      for (const transfer of operation.#transfers) await operation.#check(transfer, finish);
      return result;
    } catch (error) {
      // Nothing may be in flight on host memory that the caller gets back; the first failure is the one to tell.
      await finish().catch(() => undefined);
      throw error;
    } finally {
      for (const lent of operation.#lent.splice(0)) lent.release();
    }
  }

  /** A column until the end of the operation. @throws MemoryError */
  temporary(dtype: Dtype, n: number): Column {
    const { device } = this.#executor;
    if (!device) return column(dtype, n, newArray(dtype, n));
    const lent = borrow(device, byteLengthOf({ n, dtype }));
    this.#lent.push(lent);
    return column(dtype, n, lent.buffer);
  }

  /** The column where steps can read it. @throws MemoryError */
  async bring(from: Column): Promise<Column> {
    const { device } = this.#executor;
    if (!device) return from;
    const lent = await lendInput(device, from.place);
    this.#lent.push(lent);
    if (lent.copy) await this.#watch(lent.buffer, lent.copy);
    return { ...from, place: lent.buffer };
  }

  /** Sorts by the settings of the operation, unless `settings` says otherwise. */
  sort({
    settings,
    ...job
  }: Omit<SortJob, 'settings'> & { settings?: Partial<SortSettings> }): Promise<void> {
    const { onProgress: _, ...own } = this.settings; // the progress of one sort is not that of the operation
    return this.#executor.sort({ ...job, settings: { ...own, ...settings } });
  }

  /** Lets `write` fill a column where steps can, and brings the result to where `to` is. */
  async into(to: Column, write: (to: Column) => Promise<void>): Promise<void> {
    const { device } = this.#executor;
    if (!device) return write(to);
    const lent = lendOutput(device, to.place);
    this.#lent.push(lent);
    await write({ ...to, place: lent.buffer });
    const collect = () => lent.collect(this.settings.timeout);
    if (lent.copy) await this.#watch(lent.buffer, lent.copy, collect);
    await collect();
  }

  /** Has a transfer checked at the end of the operation, if that is wanted. @param again does it once more */
  async #watch(buffer: Buffer, copy: ArrayBufferView, again?: () => Promise<void>): Promise<void> {
    const checksums = this.settings.verify ? await this.#executor.checksums() : undefined;
    if (checksums)
      this.#transfers.push({ same: checksums.watch([{ buffer, copy }]), ...(again && { again }) });
  }

  /** @throws MismatchError when what was transferred is not the same on both sides */
  async #check({ same, again }: Transfer, finish: () => Promise<unknown>): Promise<void> {
    if (await same()) return;
    await again?.();
    await finish();
    if (again && (await same())) return;
    throw new MismatchError(
      'data changed on the way between the host and the device: the result is not used',
    );
  }

  /**
   * Does in host memory what the device cannot do, and says why in a warning.
   *
   * @param lacking what the device cannot do, and what it would need
   * @param use gets the keys there, and the steps that work there
   */
  async onHost<T>(
    lacking: string,
    keys: Column,
    use: (keys: Column, steps: ColumnSteps) => Promise<T>,
  ): Promise<T> {
    const { device } = this.#executor;
    const message = `${lacking}, which ${device?.info.name} does not have: the host makes them`;
    this.#executor.warn(this.settings, new UnsupportedError(message));
    if (!isOnDevice(keys.place)) return use(keys, new HostColumns());
    const copy = column(keys.dtype, keys.n, newArray(keys.dtype, keys.n));
    await this.copy(keys, copy);
    await device?.queue.finish(this.settings.timeout);
    return use(copy, new HostColumns());
  }

  /** The device has no doubles, which this operation needs for such keys. */
  lacksDoubles(dtype: Dtype): boolean {
    const { device } = this.#executor;
    return dtype === 'f64' && device !== undefined && !device.capabilities.fp64;
  }

  /** Copies as many keys as `to` has from the front of `from`, a temporary column. */
  async copy(from: Column, to: Column): Promise<void> {
    const { device } = this.#executor;
    const bytes = byteLengthOf(to);
    if (!isOnDevice(from.place)) {
      const keys = bytesOf(from.place).subarray(0, bytes);
      if (!isOnDevice(to.place)) bytesOf(to.place).set(keys);
      else if (device) {
        await upload(device, to.place, keys);
        await this.#watch(to.place, keys);
      }
      return;
    }
    if (!device) throw new UnsupportedError('a column on the device, without a device');
    if (isOnDevice(to.place)) return device.queue.copy(from.place, to.place, { bytes });
    const [source, target] = [from.place, to.place];
    const fetch = () => download(device, source, target, { deadlineSeconds: this.settings.timeout });
    await this.#watch(source, target, fetch);
    await fetch();
  }
}
