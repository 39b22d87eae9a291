import type { FileRange, FileTransferResult } from '../../device/staging.js';
import { type ArrayOf, keyColumn, newArray } from '../../keys/array.js';
import type { Dtype, KeyArray } from '../../keys/dtype.js';
import { DeviceLostError, UsageError } from '../../util/errors.js';
import { byteLengthOf, type Column, isOnDevice } from '../backend/column.js';
import { assertElements } from './element-range.js';

/** What keeps the memory of device arrays; a Sorter. */
export interface ArrayOwner {
  /** Copies `view` into the column from its element `offset` on. */
  store(column: Column, view: ArrayBufferView, offset: number): Promise<void>;
  /** The same into elements that no call knows of yet, whatever else is under way. */
  fill(column: Column, view: ArrayBufferView, offset: number): Promise<void>;
  /** Copies elements of the column from `offset` on into `view`. */
  load(column: Column, view: ArrayBufferView, offset: number): Promise<void>;
  /** As `fill`, of a stretch of a file. */
  fillFrom(column: Column, file: FileRange, offset: number): Promise<FileTransferResult>;
  /** Copies elements that are there, and that no call overwrites, into a stretch of a file, whatever else is under way. */
  loadTo(column: Column, file: FileRange, offset: number): Promise<FileTransferResult>;
  /** Discards the column when the array, which is not disposed of, is collected. */
  watch(array: DeviceArray, column: Column): void;
  /** Ends `watch`. */
  unwatch(array: DeviceArray): void;
  discard(column: Column): void;
  /** @throws UsageError when it is closed */
  assertOpen(): void;
}

/**
 * Elements of one dtype that stay where they are sorted: on the device, or in the memory of the host
 * engine. Comes from `Sorter.upload`, `Sorter.allocate` and operations on other device arrays; belongs to
 * that Sorter. May hold more elements than one JavaScript array can: fill and read it in pieces then.
 */
export class DeviceArray<D extends Dtype = Dtype> implements Disposable {
  readonly dtype: D;
  /** Number of elements. */
  readonly length: number;
  readonly #owner: ArrayOwner;
  #column: Column | undefined;

  /** @internal Sorters make them. */
  constructor(owner: ArrayOwner, dtype: D, column: Column) {
    this.#owner = owner;
    this.#column = column;
    this.dtype = dtype;
    this.length = column.n;
    owner.watch(this, column);
  }

  /** Bytes that the elements take. */
  get byteLength(): number {
    return byteLengthOf(this.#live());
  }

  /**
   * Fills elements from `offset` on with those of `view`, an array of the same dtype (or of bits of its
   * width, or bytes). `view` must not change before the promise resolves.
   *
   * @throws InputError when the elements do not fit; UsageError after `dispose()`
   */
  async write(view: KeyArray, offset = 0): Promise<void> {
    const column = this.#live();
    const bits = keyColumn(view, this.dtype);
    assertElements('device array', this.length, offset, bits.n);
    await this.#owner.store(column, bits.view, offset);
  }

  /**
   * Copies `length` elements from `offset` on into a new array: a Float16Array for f16 where Node has it,
   * else a Uint16Array of bits.
   *
   * @throws InputError when there are no such elements, or more than one array can hold: read in pieces;
   *   UsageError after `dispose()`
   */
  async read(offset = 0, length?: number): Promise<ArrayOf<D>> {
    const column = this.#live();
    assertElements('device array', this.length, offset, length ?? 0);
    const array = newArray(this.dtype, length ?? this.length - offset);
    await this.#owner.load(column, array, offset);
    return array;
  }

  /**
   * Copies as many elements as `view` has, from `offset` on, into `view`: an array of the same dtype (or of bits of its
   * width, or bytes). What is used again, such as an array of `Sorter.alloc`, costs less than new ones do.
   *
   * @throws InputError when there are no such elements; UsageError after `dispose()`
   */
  async readInto(view: KeyArray, offset = 0): Promise<void> {
    const column = this.#live();
    const { n } = keyColumn(view, this.dtype);
    assertElements('device array', this.length, offset, n);
    await this.#owner.load(column, view, offset); // which may stand anywhere
  }

  /** @internal As `write`, beside whatever is under way: for elements that no call was given yet. */
  async fill(view: KeyArray, offset: number): Promise<void> {
    const column = this.#live();
    const bits = keyColumn(view, this.dtype);
    assertElements('device array', this.length, offset, bits.n);
    await this.#owner.fill(column, bits.view, offset);
  }

  /** @internal As `fill`, of a stretch of a file that holds elements. */
  async fillFrom(file: FileRange, offset: number): Promise<FileTransferResult> {
    const column = this.#live();
    assertElements('device array', this.length, offset, file.bytes / column.info.bytes);
    return this.#owner.fillFrom(column, file, offset);
  }

  /** @internal Copies elements into a stretch of a file, whatever else is under way: of an array that a call has made. */
  async readTo(file: FileRange, offset: number): Promise<FileTransferResult> {
    const column = this.#live();
    assertElements('device array', this.length, offset, file.bytes / column.info.bytes);
    return this.#owner.loadTo(column, file, offset);
  }

  /**
   * Gives the memory back. May be called twice; using the array afterwards is an error. Arrays that are dropped
   * without it give their memory back too, when they are collected.
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

  /** @internal The elements, for their owner only. */
  columnFor(owner: ArrayOwner): Column {
    const column = this.#live();
    if (owner !== this.#owner) {
      throw new UsageError('this device array belongs to another Sorter: read() it and upload it here');
    }
    return column;
  }

  #live(): Column {
    if (!this.#column) throw new UsageError('this device array was disposed of');
    const { place } = this.#column;
    if (isOnDevice(place) && place.released) {
      this.#owner.assertOpen();
      throw new DeviceLostError('this device array was lost with its device, which failed: upload it again');
    }
    return this.#column;
  }
}
