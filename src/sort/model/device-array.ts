import { type InspectOptions, inspect } from 'node:util';
import type { FileRange, FileTransferResult } from '../../device/memory/staging.js';
import { type ArrayOf, keyColumn, newArray } from '../../keys/array.js';
import type { Dtype, KeyArray } from '../../keys/dtype.js';
import { inspectLine } from '../../util/inspect-line.js';
import { byteLengthOf, type Column, isOnDevice, lostArrayError } from './column.js';
import { assertElements, disposedError, otherSorterError } from './element-range.js';

/** Owner of the memory of device arrays: a Sorter. */
export interface ArrayOwner {
  /** Copies `view` into the column, from its element `offset` on. */
  store(column: Column, view: ArrayBufferView, offset: number): Promise<void>;
  /** Copies as `store` does, into elements that no call uses yet, concurrently with all calls. */
  fill(column: Column, view: ArrayBufferView, offset: number): Promise<void>;
  /** Copies elements of the column, from `offset` on, into `view`. */
  load(column: Column, view: ArrayBufferView, offset: number): Promise<void>;
  /** Copies as `fill` does, from a range of a file. */
  fillFrom(column: Column, file: FileRange, offset: number): Promise<FileTransferResult>;
  /** Copies complete elements that no call overwrites into a range of a file, concurrently with all calls. */
  loadTo(column: Column, file: FileRange, offset: number): Promise<FileTransferResult>;
  /** Discards the column when the array is garbage collected without having been disposed of. */
  watch(array: DeviceArray, column: Column): void;
  /** Reverts `watch`. */
  unwatch(array: DeviceArray): void;
  discard(column: Column): void;
  /** @throws UsageError when the owner is closed */
  assertOpen(): void;
}

/**
 * Array of one dtype that stays where it is sorted: on the device, or in the memory of the host engine.
 *
 * `Sorter.upload`, `Sorter.createArray` and operations on other device arrays create it, and it belongs to that Sorter. A
 * device array may hold more elements than one JavaScript array can; it is then filled and read in pieces.
 *
 * @example
 * ```ts
 * const keys = await sorter.upload(Float32Array.of(5, 1, 4));
 * const sorted = await sorter.sort(keys);
 * const smallest = await sorted.read(0, 1); // 1
 * ```
 */
export class DeviceArray<D extends Dtype = Dtype> implements Disposable {
  readonly dtype: D;
  /** Number of elements. */
  readonly length: number;
  readonly #owner: ArrayOwner;
  #column: Column | undefined;

  /** @internal Created by Sorters only. */
  constructor(owner: ArrayOwner, dtype: D, column: Column) {
    this.#owner = owner;
    this.#column = column;
    this.dtype = dtype;
    this.length = column.n;
    owner.watch(this, column);
  }

  /** Size of the elements in bytes. */
  get byteLength(): number {
    return byteLengthOf(this.#live());
  }

  /**
   * Copies the elements of `view` into the array.
   *
   * @param view array of the same dtype, of bits of its width, or of bytes; it must not change before the promise
   *   resolves
   * @param offset first element to overwrite; default 0
   * @throws InputError when the elements do not fit
   * @throws UsageError after `dispose()`
   * @throws DeviceLostError when the device failed and the array was lost
   * @example
   * ```ts
   * await keys.write(Float32Array.of(5, 1, 4), 100); // elements 100 to 102
   * ```
   */
  async write(view: KeyArray, offset = 0): Promise<void> {
    const column = this.#live();
    const bits = keyColumn(view, this.dtype);
    assertElements('device array', this.length, offset, bits.n);
    await this.#owner.store(column, bits.view, offset);
  }

  /**
   * Copies elements into a new array.
   *
   * @param offset first element; default 0
   * @param length number of elements; default: all from `offset` on
   * @returns a typed array of the dtype; for f16 a Float16Array if Node has one, otherwise a Uint16Array of bits
   * @throws InputError when the range exceeds the array, or is longer than one typed array can be: read in pieces
   * @throws UsageError after `dispose()`
   * @throws DeviceLostError when the device failed and the array was lost
   * @example
   * ```ts
   * const firstTen = await sorted.read(0, 10);
   * ```
   */
  async read(offset = 0, length?: number): Promise<ArrayOf<D>> {
    const column = this.#live();
    assertElements('device array', this.length, offset, length ?? 0);
    const array = newArray(this.dtype, length ?? this.length - offset);
    await this.#owner.load(column, array, offset);
    return array;
  }

  /**
   * Copies elements into an existing array. Reusing an array, such as one of `Sorter.allocPinned`, costs less than new arrays
   * do.
   *
   * @param view array of the same dtype, of bits of its width, or of bytes; receives as many elements as it has
   * @param offset first element to copy; default 0
   * @throws InputError when the range exceeds the array
   * @throws UsageError after `dispose()`
   * @throws DeviceLostError when the device failed and the array was lost
   * @example
   * ```ts
   * await sorted.readInto(result);
   * ```
   */
  async readInto(view: KeyArray, offset = 0): Promise<void> {
    const column = this.#live();
    const { n } = keyColumn(view, this.dtype);
    assertElements('device array', this.length, offset, n);
    await this.#owner.load(column, view, offset); // `view` itself: a column of it may be a copy
  }

  /** @internal Copies as `write` does, concurrently with all calls, into elements that no call has used yet. */
  async fill(view: KeyArray, offset: number): Promise<void> {
    const column = this.#live();
    const bits = keyColumn(view, this.dtype);
    assertElements('device array', this.length, offset, bits.n);
    await this.#owner.fill(column, bits.view, offset);
  }

  /** @internal Copies as `fill` does, from a range of a file that holds elements. */
  async fillFrom(file: FileRange, offset: number): Promise<FileTransferResult> {
    const column = this.#live();
    assertElements('device array', this.length, offset, file.bytes / column.info.bytes);
    return this.#owner.fillFrom(column, file, offset);
  }

  /** @internal Copies elements of a complete result into a range of a file, concurrently with all calls. */
  async readTo(file: FileRange, offset: number): Promise<FileTransferResult> {
    const column = this.#live();
    assertElements('device array', this.length, offset, file.bytes / column.info.bytes);
    return this.#owner.loadTo(column, file, offset);
  }

  /**
   * Releases the memory. May be called twice. Using the array afterwards is an error.
   *
   * The garbage collector also releases the memory of an array that was not disposed of.
   * @example
   * ```ts
   * keys.dispose();
   * ```
   */
  dispose(): void {
    const column = this.#column;
    if (!column) return;
    this.#column = undefined;
    this.#owner.unwatch(this);
    this.#owner.discard(column);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Prints dtype, length and state in one line: `live`, `disposed`, or `lost` with its device or Sorter. */
  [inspect.custom](_depth: number, options: InspectOptions): string {
    const { dtype, length } = this;
    const place = this.#column?.place;
    const state = place === undefined ? 'disposed' : isOnDevice(place) && place.released ? 'lost' : 'live';
    return inspectLine('DeviceArray', { dtype, length, state }, options);
  }

  /**
   * @internal Returns the elements to their owner.
   *
   * @throws UsageError for another owner, and after `dispose()`
   * @throws DeviceLostError when the device failed
   */
  columnFor(owner: ArrayOwner): Column {
    const column = this.#live();
    if (owner !== this.#owner) throw otherSorterError('device array');
    return column;
  }

  #live(): Column {
    if (!this.#column) throw disposedError('device array');
    const { place } = this.#column;
    if (isOnDevice(place) && place.released) {
      this.#owner.assertOpen();
      throw lostArrayError('this device array');
    }
    return this.#column;
  }
}
