import type {
  FileRange,
  FileTransferResult,
  StagedTransferTarget,
  TransferTarget,
} from '../../device/staging.js';
import {
  type ArrayOf,
  copyBytes,
  dtypeOf,
  emptyLike,
  isResizable,
  type MemorySource,
  newArray,
  newBytes,
} from '../../keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../../keys/dtype.js';
import { DeviceLostError, InputError } from '../../util/errors.js';
import { chain, chainOrRecover, type MaybePromise, toPromise } from '../../util/maybe-promise.js';
import { type ArrayOwner, DeviceArray } from '../api/device-array.js';
import type { Session } from '../backend/backend.js';
import { byteLengthOf, type Column, column, isOnDevice, type Place } from '../backend/column.js';
import type { ColumnMemory } from '../transfer/column-memory.js';
import { assertNotDetached, runWhileAttached, spanOf } from './assert-not-detached.js';
import type { CallScheduler } from './call-scheduler.js';
import { EventLoopYield } from './event-loop-yield.js';
import { GcPressure } from './gc-pressure.js';

/** Keys as operations take them: an array of the host, or one that stays on the device. */
export type Keys = KeyArray | DeviceArray;

/** A result in the making: where it is to be written, and what the caller gets. */
export interface ResultTarget<R> {
  readonly place: Place;
  readonly result: R;
}

/** Makes results: on the device for device arrays, else in new arrays of the host. */
export interface ResultAllocator {
  /** Room for n keys in an array of the type of `array`, or in `into`, an array for results of an earlier call. */
  allocateLike<K extends Keys>(array: K, dtype: Dtype, n: number, into?: K): ResultTarget<K>;
  /** Room for n elements of `dtype` where `beside` is. */
  allocateBeside(beside: Keys, dtype: Dtype, n: number, into?: Keys): ResultTarget<Keys>;
}

/** Results that stand aside until all is well, and where they belong. */
interface StagedResult {
  readonly from: ArrayBufferView;
  readonly to: ArrayBufferView;
}

/** The memory of a Sorter's device arrays. */
export class ArrayStore implements ArrayOwner {
  readonly #session: Session;
  readonly #scheduler: CallScheduler;
  /** Columns on the device that are not given back. */
  readonly #live = new Set<Column>();
  /** What is discarded by who took it, whatever happens. */
  readonly #callerOwned = new Set<Column>();
  readonly #gcPressure = new GcPressure(() => this.#memory.collectGarbage());
  readonly #loopYield = new EventLoopYield(() => this.#gcPressure.check());
  readonly #collected = new FinalizationRegistry<Column>((dropped) => this.discard(dropped, true));

  constructor(session: Session, scheduler: CallScheduler) {
    this.#session = session;
    this.#scheduler = scheduler;
    session.onGiveUp(() => this.clear());
  }

  get #memory(): ColumnMemory {
    return this.#session.backend.memory;
  }

  /** @throws MemoryError */
  allocate<D extends Dtype>(dtype: D, n: number): DeviceArray<D> {
    return new DeviceArray(this, dtype, this.take(dtype, n));
  }

  /** Memory for a device array. @throws MemoryError */
  take(dtype: Dtype, n: number): Column {
    const taken = this.#take(dtype, n);
    const bytes = byteLengthOf(taken);
    this.#loopYield.grow(bytes);
    if (isOnDevice(taken.place)) this.#gcPressure.grow(bytes);
    return taken;
  }

  /** The same for who discards it in any case: V8 would find nothing to collect. @throws MemoryError */
  borrow(dtype: Dtype, n: number): Column {
    const taken = this.#take(dtype, n);
    this.#callerOwned.add(taken);
    return taken;
  }

  #take(dtype: Dtype, n: number): Column {
    const taken = column(dtype, n, this.#memory.take(dtype, n));
    if (isOnDevice(taken.place)) this.#live.add(taken);
    return taken;
  }

  assertOpen(): void {
    this.#scheduler.assertOpen();
  }

  watch(array: DeviceArray, column: Column): void {
    // What is in host memory is collected with its array, unless somebody holds it.
    if (isOnDevice(column.place)) this.#collected.register(array, column, array);
  }

  unwatch(array: DeviceArray): void {
    this.#collected.unregister(array);
  }

  /**
   * Takes memory back, when calls that were made before are done with it: one may have to be made once more.
   *
   * @param collected whether V8 has collected the array
   */
  discard(discarded: Column, collected = false): void {
    if (this.#scheduler.isIdle) this.#give(discarded, collected);
    else this.#scheduler.waitForAll().then(() => this.#give(discarded, collected));
  }

  #give(discarded: Column, collected: boolean): void {
    const isOwn = !this.#callerOwned.delete(discarded);
    const bytes = isOwn ? byteLengthOf(discarded) : 0;
    if (isOnDevice(discarded.place)) {
      if (!this.#live.delete(discarded)) return;
      this.#gcPressure.shrink(bytes, collected);
    }
    this.#loopYield.shrink(bytes);
    this.#memory.give(discarded.place, collected);
  }

  /** Takes the memory of all arrays back. */
  clear(): void {
    for (const live of [...this.#live]) this.#give(live, false);
    this.#memory.trim();
  }

  /**
   * An array of the host that the device reaches directly, so that transfers need no copies: pinned memory
   * for a device with memory of its own, else memory on pages.
   */
  pinned<D extends Dtype>(dtype: D, n: number): ArrayOf<D> {
    return this.#memory.pinned(dtype, n);
  }

  /** Gives the memory of a `pinned` array back, when calls that were made before are done with it. */
  async unpin({ buffer }: ArrayBufferView): Promise<void> {
    if (this.#scheduler.isClosed) return; // a Sorter that closes gives it back itself
    await this.#scheduler.runExclusive(async () => this.#memory.unpin(buffer));
  }

  store(to: Column, view: ArrayBufferView, offset: number): Promise<void> {
    const store = this.#prepareStore(to, view, offset);
    return this.#scheduler.runExclusive(() => this.#transfer([to], store));
  }

  load(from: Column, view: ArrayBufferView, offset: number): Promise<void> {
    // A call that overwrites elements runs alone.
    const n = view.byteLength / from.info.bytes;
    const spans = [spanOf(view)];
    // A device must not hold memory that may shrink.
    const to = isResizable(view) ? newBytes(view.byteLength) : view;
    const load = (memory: ColumnMemory) =>
      runWhileAttached(spans, async () => {
        await memory.load(from, to, offset);
        if (to === view) return;
        assertNotDetached(spans);
        copyBytes(to, view);
      });
    return this.#scheduler.runConcurrently(n, () => this.#transfer([from], load));
  }

  /** As `store`, into elements that nobody knows of yet, whatever else is under way. */
  fill(to: Column, view: ArrayBufferView, offset: number): Promise<void> {
    const n = view.byteLength / to.info.bytes;
    const store = this.#prepareStore(to, view, offset);
    return this.#scheduler.runConcurrently(n, () => this.#transfer([to], store));
  }

  /** Stores what is in an array of the host, which is to stay there meanwhile. */
  #prepareStore(to: Column, view: ArrayBufferView, offset: number): (memory: ColumnMemory) => Promise<void> {
    const spans = [spanOf(view)];
    return (memory) => runWhileAttached(spans, () => memory.store(to, view, offset));
  }

  /** As `fill`, of a stretch of a file. */
  fillFrom(to: Column, file: FileRange, offset: number): Promise<FileTransferResult> {
    return this.#scheduler.runIndependently(() =>
      this.#transfer([to], (memory) => memory.storeFile(to, file, offset)),
    );
  }

  /** Lends what brings bytes into a column that nobody knows of yet, whatever else is under way. */
  feed(to: Column, use: (feed: StagedTransferTarget) => Promise<void>): Promise<void> {
    return this.#scheduler.runIndependently(() => this.#transfer([to], (memory) => memory.feed(to, use)));
  }

  /** The same for who brings them from memory of its own. */
  feedUnstaged(to: Column, use: (way: TransferTarget) => Promise<void>): Promise<void> {
    return this.#scheduler.runIndependently(() =>
      this.#transfer([to], (memory) => memory.feedUnstaged(to, use)),
    );
  }

  /** Lends what brings bytes away from a column that no call overwrites and that is complete. */
  drain(from: Column, use: (feed: StagedTransferTarget) => Promise<void>): Promise<void> {
    return this.#scheduler.runIndependently(() =>
      this.#transfer([from], (memory) => memory.drain(from, use)),
    );
  }

  /** As `load`, into a stretch of a file, of a column that no call overwrites and that is complete. */
  loadTo(from: Column, file: FileRange, offset: number): Promise<FileTransferResult> {
    return this.#scheduler.runIndependently(() =>
      this.#transfer([from], (memory) => memory.loadFile(from, file, offset)),
    );
  }

  /** Copies `count` elements from `offset` of one column on to `start` of another, which nobody knows of yet. */
  copy(from: Column, offset: number, to: Column, start: number, count: number): Promise<void> {
    return this.#scheduler.runConcurrently(count, () =>
      this.#transfer([from, to], (memory) => memory.copy(from, offset, to, start, count)),
    );
  }

  /**
   * Looks whether columns are still there: told before the keeper hears of it, who would give up the device that has taken the place
   * of theirs.
   *
   * @param what they are the memory of
   * @throws DeviceLostError where a column has gone with its device
   */
  assertLive(columns: readonly Column[], what: string): void {
    if (columns.every((one) => !isOnDevice(one.place) || this.#live.has(one))) return;
    throw new DeviceLostError(`${what} was lost with its device, which failed`);
  }

  /** @throws DeviceLostError where a column has gone with its device */
  #transfer<T>(columns: readonly Column[], transfer: (memory: ColumnMemory) => Promise<T>): Promise<T> {
    const run = (): MaybePromise<T> => {
      this.assertLive(columns, 'the memory of this transfer');
      return this.#session.run(({ memory }) => transfer(memory), { again: false });
    };
    return toPromise(() => chain(run(), (transferred) => this.#loopYield.yieldIfDue(transferred)));
  }

  /** Runs `use` with a maker of results; those on the device are disposed of when it fails. */
  withResults<T>(use: (allocator: ResultAllocator) => MaybePromise<T>): MaybePromise<T> {
    this.assertOpen(); // a call on nothing asks nobody else
    const results = new Results(this, this.#memory.results);
    return chainOrRecover(
      () => use(results),
      (result) => {
        results.copyStaged();
        return this.#loopYield.yieldIfDue(result);
      },
      (error) => {
        results.dispose();
        throw error;
      },
    );
  }
}

/** The results of one call. */
class Results implements ResultAllocator {
  readonly #store: ArrayStore;
  readonly #memory: MemorySource | undefined;
  /** On the device. */
  #arrays: DeviceArray[] | undefined;
  #staged: StagedResult[] | undefined;

  /** @param memory where new arrays of the host come from */
  constructor(store: ArrayStore, memory: MemorySource | undefined) {
    this.#store = store;
    this.#memory = memory;
  }

  allocateLike<K extends Keys>(array: K, dtype: Dtype, n: number, into?: K): ResultTarget<K> {
    if (into !== undefined) return this.#given(into, array, { dtype, n }) as ResultTarget<K>;
    // The kind of the array decides, which the compiler cannot follow.
    if (array instanceof DeviceArray) return this.#onDevice(dtype, n) as unknown as ResultTarget<K>;
    const length = (n * dtypeInfo(dtype).bytes) / array.BYTES_PER_ELEMENT;
    const result = emptyLike(array as KeyArray, length, this.#memory);
    return { place: result, result } as unknown as ResultTarget<K>;
  }

  allocateBeside(beside: Keys, dtype: Dtype, n: number, into?: Keys): ResultTarget<Keys> {
    if (into !== undefined) {
      const kind = beside instanceof DeviceArray ? beside : new Uint32Array(0);
      return this.#given(into, kind, { dtype, n });
    }
    if (beside instanceof DeviceArray) return this.#onDevice(dtype, n);
    const result = newArray(dtype, n, this.#memory);
    return { place: result, result };
  }

  /** Copies what stands aside to where it belongs. @throws InputError when that has gone meanwhile */
  copyStaged(): void {
    for (const { from, to } of this.#staged ?? []) {
      assertNotDetached([[to, from.byteLength]]);
      copyBytes(from, to);
    }
  }

  dispose(): void {
    for (const array of this.#arrays ?? []) array.dispose();
  }

  #onDevice(dtype: Dtype, n: number): ResultTarget<DeviceArray> {
    const array = this.#store.allocate(dtype, n);
    this.#arrays ??= [];
    this.#arrays.push(array);
    return { place: array.columnFor(this.#store).place, result: array };
  }

  /**
   * An array that the caller brings for a result. One that may shrink is written when the result is there.
   *
   * @throws InputError when it does not fit
   */
  #given(into: Keys, like: Keys, { dtype, n }: Pick<Column, 'dtype' | 'n'>): ResultTarget<Keys> {
    const given = into instanceof DeviceArray ? `a device array of ${into.dtype}` : dtypeOf(into);
    const expected = like instanceof DeviceArray ? `a device array of ${dtype}` : dtypeOf(like);
    if (given !== expected || into.byteLength !== byteLengthOf({ dtype, n })) {
      throw new InputError(
        `into is ${given} of ${into.byteLength} bytes: the result is ${expected} of ` +
          `${byteLengthOf({ dtype, n })} bytes`,
      );
    }
    if (into instanceof DeviceArray) return { place: into.columnFor(this.#store).place, result: into };
    if (!isResizable(into)) return { place: into, result: into };
    const from = newBytes(into.byteLength);
    this.#staged ??= [];
    this.#staged.push({ from, to: into });
    return { place: from, result: into };
  }
}
