import type { Device } from '../../device/device.js';
import {
  concatenateArrays,
  copyArrays,
  type FileRange,
  type FileTransferResult,
} from '../../device/memory/staging.js';
import { type ArrayOf, type MemorySource, newArray, withFixedLength } from '../../keys/array.js';
import type { Dtype } from '../../keys/dtype.js';
import { adjustExternalBytes, collectNow } from '../../opencl/external-bytes.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import { bufferOf, byteLengthOf, type Column, type Place } from '../model/column.js';
import { download, upload } from './bind-host-memory.js';

/**
 * Memory usage in bytes: of device arrays and of the temporary memory of calls. With the host engine: of
 * device arrays only.
 */
export interface MemoryUsage {
  /** Bytes in use by arrays that are not disposed of, and by pending calls. */
  readonly used: number;
  /** Bytes pooled for later calls; `trim` releases them. */
  readonly idle: number;
  /** Maximum of both together since the device was opened. */
  readonly peak: number;
}

/** The memory of device arrays, and of host arrays that the device writes. */
export interface ColumnMemory {
  /**
   * Source of new host arrays for results; undefined for V8. The memory may hold old data, so no caller may
   * see an array that is not completely written.
   */
  readonly results: MemorySource | undefined;
  /**
   * Allocates memory for n keys. Its size is reported to V8, since a DeviceArray holds it.
   *
   * @throws MemoryError when memory runs out
   */
  take(dtype: Dtype, n: number): Place;
  /**
   * Releases memory. Host memory need not be released: it is garbage-collected.
   *
   * @param collected whether V8 has collected the array that held it
   */
  give(place: Place, collected?: boolean): void;
  /**
   * Makes V8 collect arrays that hold such memory now. V8 knows of the memory, but starts and ends a
   * collection at its own pace.
   */
  collectGarbage(): void;
  /** Releases pooled memory. */
  trim(): void;
  readonly usage: MemoryUsage;
  /**
   * Allocates a host array that the device accesses directly.
   *
   * @throws MemoryError when memory runs out
   */
  pinned<D extends Dtype>(dtype: D, n: number): ArrayOf<D>;
  /** Releases the memory of a `pinned` array. */
  unpin(buffer: ArrayBufferLike): void;
  /**
   * Allocates host memory to stage small arrays in. It lives as long as the device.
   *
   * @throws MemoryError when memory runs out
   */
  allocateStaging(bytes: number): ArrayBuffer;
  /** Copies host arrays to others of the same lengths. */
  copyArrays(from: readonly Uint8Array[], to: readonly Uint8Array[]): MaybePromise<void>;
  /**
   * Copies host arrays, concatenated, into an array of their total length. Omitted where only this thread
   * could do it.
   */
  readonly concatenateArrays?: (from: readonly ArrayBufferView[], to: ArrayBufferView) => Promise<void>;
  /** Copies `view` into the column from element `offset` on, and waits for it. */
  store(column: Column, view: ArrayBufferView, offset: number): Promise<void>;
  /** Copies elements of the column from `offset` on into `view`, and waits for it. */
  load(column: Column, view: ArrayBufferView, offset: number): Promise<void>;
  /**
   * Allocates the staging memory of file transfers ahead of the first one.
   *
   * @throws MemoryError when memory runs out
   */
  prepareFiles(): Promise<void>;
  /**
   * Like `store`, from a range of a file.
   *
   * @throws UnsupportedError for the host engine
   */
  storeFile(column: Column, file: FileRange, offset: number): Promise<FileTransferResult>;
  /**
   * Like `load`, into a range of a file, from a column that is complete.
   *
   * @throws UnsupportedError for the host engine
   */
  loadFile(column: Column, file: FileRange, offset: number): Promise<FileTransferResult>;
}

/** Memory of a device: buffers of its pool. */
export class DeviceMemory implements ColumnMemory {
  readonly results: MemorySource;
  readonly #device: Device;
  /**
   * Released bytes that V8 still counts. New arrays are reported to V8 only beyond them; otherwise a program
   * that allocates and disposes of large arrays would trigger a collection for each one.
   */
  #slackBytes = 0;

  constructor(device: Device) {
    this.#device = device;
    this.results = (bytes) => device.hostMemory(bytes, { used: true });
  }

  take(dtype: Dtype, n: number): Place {
    const buffer = this.#device.pool.take(byteLengthOf({ dtype, n }));
    const known = Math.min(buffer.bytes, this.#slackBytes);
    this.#slackBytes -= known;
    if (known < buffer.bytes) adjustExternalBytes(buffer.bytes - known);
    return buffer;
  }

  give(place: Place, collected = false): void {
    const buffer = bufferOf({ place });
    this.#device.pool.give(buffer);
    if (collected) adjustExternalBytes(-buffer.bytes);
    else this.#slackBytes += buffer.bytes;
  }

  collectGarbage(): void {
    collectNow();
  }

  trim(): void {
    this.#device.pool.clear();
    adjustExternalBytes(-this.#slackBytes);
    this.#slackBytes = 0;
  }

  get usage(): MemoryUsage {
    return this.#device.pool.usage;
  }

  /** Allocates pinned memory for a device with dedicated memory, otherwise page-aligned memory. */
  pinned<D extends Dtype>(dtype: D, n: number): ArrayOf<D> {
    const device = this.#device;
    // Nothing else would free an empty array, so it is left to V8.
    const pin = device.hasDedicatedMemory && n > 0;
    return newArray(dtype, n, (bytes) => (pin ? device.staging.allocate(bytes) : device.hostMemory(bytes)));
  }

  unpin(buffer: ArrayBufferLike): void {
    this.#device.staging.free(buffer);
  }

  allocateStaging(bytes: number): ArrayBuffer {
    return this.#device.staging.allocateStaging(bytes);
  }

  copyArrays(from: readonly Uint8Array[], to: readonly Uint8Array[]): MaybePromise<void> {
    return copyArrays(from, to);
  }

  readonly concatenateArrays = concatenateArrays;

  async store({ place, info }: Column, view: ArrayBufferView, offset: number): Promise<void> {
    await upload(this.#device, bufferOf({ place }), withFixedLength(view), { offset: offset * info.bytes });
    await this.#device.queue.finish();
  }

  async load({ place, info }: Column, view: ArrayBufferView, offset: number): Promise<void> {
    await download(this.#device, bufferOf({ place }), view, { offset: offset * info.bytes });
    await this.#device.queue.finish();
  }

  prepareFiles(): Promise<void> {
    return this.#device.staging.prepareFileRings();
  }

  async storeFile({ place, info }: Column, file: FileRange, offset: number): Promise<FileTransferResult> {
    await this.#device.queue.settle(); // earlier users of the memory may still have commands in flight
    return this.#device.staging.writeFromFile(bufferOf({ place }), file, offset * info.bytes);
  }

  async loadFile({ place, info }: Column, file: FileRange, offset: number): Promise<FileTransferResult> {
    return this.#device.staging.readToFile(bufferOf({ place }), file, offset * info.bytes);
  }
}
