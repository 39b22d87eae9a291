import type { FileRange, FileTransferResult } from '../../device/memory/staging.js';
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
import { InputError } from '../../util/errors.js';
import { EventLoopYield } from '../../util/event-loop-yield.js';
import { GcPressure } from '../../util/gc-pressure.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import type { Session } from '../backend/backend.js';
import { assertNotDetached, runWhileAttached, spanOf } from '../model/array-assertions.js';
import {
  byteLengthOf,
  type Column,
  column,
  isOnDevice,
  lostArrayError,
  type Place,
} from '../model/column.js';
import { type ArrayOwner, DeviceArray } from '../model/device-array.js';
import type { ColumnMemory } from '../transfer/column-memory.js';
import type { CallScheduler } from './call-scheduler.js';
import { MAX_BYTES_PER_TURN, MAX_GROWTH_BYTES } from './policy.js';

/** Keys that operations accept: a host array, or a {@link DeviceArray}, which stays on the device. */
export type Keys = KeyArray | DeviceArray;

/** A result to be written: the memory to write to, and the array that the caller receives. */
export interface ResultTarget<R> {
  readonly place: Place;
  readonly result: R;
}

/** Allocates results: on the device for device arrays, otherwise in new host arrays. */
export interface ResultAllocator {
  /**
   * Allocates n keys in an array of the type of `array`, or uses `into`, an array that the caller passed for results.
   */
  allocateLike<K extends Keys>(array: K, dtype: Dtype, n: number, into?: K): ResultTarget<K>;
  /** Allocates n elements of `dtype` where `beside` is, or uses `into`. */
  allocateBeside(beside: Keys, dtype: Dtype, n: number, into?: Keys): ResultTarget<Keys>;
}

/** Results in temporary memory until the call has succeeded, and where to copy them. */
interface StagedResult {
  readonly from: ArrayBufferView;
  readonly to: ArrayBufferView;
}

/** The memory of a Sorter's device arrays. */
export class ArrayStore implements ArrayOwner {
  readonly #session: Session;
  readonly #scheduler: CallScheduler;
  /** Columns on the device that are not released. */
  readonly #live = new Set<Column>();
  /** Columns that their borrower discards in any case. */
  readonly #callerOwned = new Set<Column>();
  readonly #gcPressure = new GcPressure(MAX_GROWTH_BYTES, () => this.#memory.collectGarbage());
  readonly #loopYield = new EventLoopYield(MAX_BYTES_PER_TURN, () => this.#gcPressure.check());
  readonly #collected = new FinalizationRegistry<Column>((dropped) => this.discard(dropped, true));

  constructor(session: Session, scheduler: CallScheduler) {
    this.#session = session;
    this.#scheduler = scheduler;
    session.onGiveUp(() => this.clear());
  }

  get #memory(): ColumnMemory {
    return this.#session.backend.memory;
  }

  /**
   * Allocates a device array of n elements.
   *
   * @throws MemoryError when memory runs out
   */
  allocate<D extends Dtype>(dtype: D, n: number): DeviceArray<D> {
    return new DeviceArray(this, dtype, this.take(dtype, n));
  }

  /**
   * Allocates memory for a device array.
   *
   * @throws MemoryError when memory runs out
   */
  take(dtype: Dtype, n: number): Column {
    const taken = this.#take(dtype, n);
    const bytes = byteLengthOf(taken);
    this.#loopYield.grow(bytes);
    if (isOnDevice(taken.place)) this.#gcPressure.grow(bytes);
    return taken;
  }

  /**
   * Allocates memory that the caller always discards. It does not count towards garbage collection, since V8
   * has nothing to collect.
   *
   * @throws MemoryError when memory runs out
   */
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
    // V8 collects host memory together with its array, unless something else references it.
    if (isOnDevice(column.place)) this.#collected.register(array, column, array);
  }

  unwatch(array: DeviceArray): void {
    this.#collected.unregister(array);
  }

  /**
   * Releases memory once all earlier calls are done: one of them may have to be repeated.
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

  /** Releases the memory of all arrays. */
  clear(): void {
    for (const live of [...this.#live]) this.#give(live, false);
    this.#memory.trim();
  }

  /**
   * Allocates a host array that the device accesses directly, so that transfers need no copies: pinned memory
   * for a device with dedicated memory, otherwise page-aligned memory.
   *
   * @throws MemoryError when memory runs out
   */
  pinned<D extends Dtype>(dtype: D, n: number): ArrayOf<D> {
    return this.#memory.pinned(dtype, n);
  }

  /** Releases the memory of a `pinned` array once all earlier calls are done. */
  async unpin({ buffer }: ArrayBufferView): Promise<void> {
    if (this.#scheduler.isClosed) return; // closing a Sorter releases it
    await this.#scheduler.runExclusive(async () => this.#memory.unpin(buffer));
  }

  store(to: Column, view: ArrayBufferView, offset: number): Promise<void> {
    const store = this.#prepareStore(to, view, offset);
    return this.#scheduler.runExclusive(() => this.#transfer([to], store));
  }

  load(from: Column, view: ArrayBufferView, offset: number): Promise<void> {
    // Calls that overwrite elements run exclusively, so a load can run concurrently.
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

  /** Like `store`, into elements that no call knows of yet; runs concurrently with other calls. */
  fill(to: Column, view: ArrayBufferView, offset: number): Promise<void> {
    const n = view.byteLength / to.info.bytes;
    const store = this.#prepareStore(to, view, offset);
    return this.#scheduler.runConcurrently(n, () => this.#transfer([to], store));
  }

  /** Prepares to store a host array, which must stay attached until the transfer is done. */
  #prepareStore(to: Column, view: ArrayBufferView, offset: number): (memory: ColumnMemory) => Promise<void> {
    const spans = [spanOf(view)];
    return (memory) => runWhileAttached(spans, () => memory.store(to, view, offset));
  }

  /** Like `fill`, from a range of a file. */
  fillFrom(to: Column, file: FileRange, offset: number): Promise<FileTransferResult> {
    return this.#scheduler.runIndependently(() =>
      this.#transfer([to], (memory) => memory.storeFile(to, file, offset)),
    );
  }

  /** Like `load`, into a range of a file, from a column that is complete and that no call overwrites. */
  loadTo(from: Column, file: FileRange, offset: number): Promise<FileTransferResult> {
    return this.#scheduler.runIndependently(() =>
      this.#transfer([from], (memory) => memory.loadFile(from, file, offset)),
    );
  }

  /**
   * Checks that columns still exist. Call it before the session learns of the error: otherwise the session
   * would abandon the device that replaced the lost one.
   *
   * @param what name of the memory, for the error message
   * @throws DeviceLostError when a column was lost with its device
   */
  assertLive(columns: readonly Column[], what: string): void {
    if (columns.every((one) => !isOnDevice(one.place) || this.#live.has(one))) return;
    throw lostArrayError(what);
  }

  /** @throws DeviceLostError when a column was lost with its device */
  async #transfer<T>(columns: readonly Column[], transfer: (memory: ColumnMemory) => Promise<T>): Promise<T> {
    this.assertLive(columns, 'the memory of this transfer');
    const transferred = await this.#session.run(({ memory }) => transfer(memory), { again: false });
    if (this.#loopYield.turnDue) await this.#loopYield.turnDue;
    return transferred;
  }

  /** Runs `use` with an allocator of results; device results are disposed of when it fails. */
  async withResults<T>(use: (allocator: ResultAllocator) => MaybePromise<T>): Promise<T> {
    this.assertOpen(); // a call without keys does not reach the scheduler
    const results = new Results(this, this.#memory.results);
    try {
      const result = await use(results);
      results.copyStaged();
      if (this.#loopYield.turnDue) await this.#loopYield.turnDue;
      return result;
    } catch (error) {
      results.dispose();
      throw error;
    }
  }
}

/** The results of one call. */
class Results implements ResultAllocator {
  readonly #store: ArrayStore;
  readonly #memory: MemorySource | undefined;
  /** Results on the device. */
  #arrays: DeviceArray[] | undefined;
  #staged: StagedResult[] | undefined;

  /** @param memory source of new host arrays; default: V8 */
  constructor(store: ArrayStore, memory: MemorySource | undefined) {
    this.#store = store;
    this.#memory = memory;
  }

  allocateLike<K extends Keys>(array: K, dtype: Dtype, n: number, into?: K): ResultTarget<K> {
    if (into !== undefined) return this.#given(into, array, { dtype, n }) as ResultTarget<K>;
    // The kind of the array decides, which the compiler cannot infer.
    if (array instanceof DeviceArray) return this.#onDevice(dtype, n) as unknown as ResultTarget<K>;
    const length = (n * dtypeInfo(dtype).bytes) / array.BYTES_PER_ELEMENT;
    const result = emptyLike(array as KeyArray, length, this.#memory);
    return { place: result, result } as unknown as ResultTarget<K>;
  }

  allocateBeside(beside: Keys, dtype: Dtype, n: number, into?: Keys): ResultTarget<Keys> {
    if (into !== undefined) {
      const kind = beside instanceof DeviceArray ? beside : newArray(dtype, 0);
      return this.#given(into, kind, { dtype, n });
    }
    if (beside instanceof DeviceArray) return this.#onDevice(dtype, n);
    const result = newArray(dtype, n, this.#memory);
    return { place: result, result };
  }

  /**
   * Copies results from temporary memory to their destinations.
   *
   * @throws InputError when a destination was detached or shrunk meanwhile
   */
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
   * Returns the target for an array that the caller passed for a result. A resizable array is written when
   * the result is complete, since it may shrink.
   *
   * @throws InputError when its type or length does not match the result
   */
  #given(into: Keys, like: Keys, { dtype, n }: Pick<Column, 'dtype' | 'n'>): ResultTarget<Keys> {
    const given = into instanceof DeviceArray ? `a device array of ${into.dtype}` : dtypeOf(into);
    const expected = like instanceof DeviceArray ? `a device array of ${dtype}` : dtypeOf(like);
    if (given !== expected || into.byteLength !== byteLengthOf({ dtype, n })) {
      const text = `${given} of ${into.byteLength} bytes`;
      const result = `${expected} of ${byteLengthOf({ dtype, n })} bytes`;
      throw invalidArgument('into', result, { text }, { type: InputError });
    }
    if (into instanceof DeviceArray) return { place: into.columnFor(this.#store).place, result: into };
    if (!isResizable(into)) return { place: into, result: into };
    const from = newBytes(into.byteLength);
    this.#staged ??= [];
    this.#staged.push({ from, to: into });
    return { place: from, result: into };
  }
}
