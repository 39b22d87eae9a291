import type { Device } from '../../device/device.js';
import type { Buffer } from '../../device/memory/buffer.js';
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
import { bufferOf, byteLengthOf, type Column, isOnDevice, type Place, viewOf } from '../model/column.js';
import { MIN_ZERO_COPY_BYTES } from './policy.js';

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
   * Copies host arrays, concatenated, into an array of their total length. Omitted where only this thread could do it.
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

/** Memory that a sort can read or write on the device; call `release` after the wait. */
export interface BoundMemory {
  readonly buffer: Buffer;
  /** Host memory that the buffer is a copy of, or is copied to. */
  readonly copy?: ArrayBufferView;
  release(): void;
}

export interface BoundOutput extends BoundMemory {
  /**
   * Copies the contents to host memory; complete after the next wait. Does nothing if the memory was bound in place.
   *
   * @param deadlineMs as of `Queue.finish`
   */
  copyBack(deadlineMs?: number): Promise<void> | undefined;
}

/**
 * Whether the device can use host memory in place. Kernels access elements of `unit` bytes; on a CPU device
 * an unaligned element crashes the process.
 */
const canBindInPlace = (device: Device, view: ArrayBufferView, unit: number): boolean =>
  device.capabilities.quirks.zeroCopy &&
  view.byteLength >= MIN_ZERO_COPY_BYTES &&
  view.byteOffset % unit === 0;

function bindHostMemory(device: Device, view: ArrayBufferView): BoundMemory {
  const buffer = device.buffer(view.byteLength, { hostMemory: view });
  return { buffer, release: () => buffer.release() };
}

/**
 * Takes device memory from the pool.
 *
 * @param atRest whether no enqueued command may still use the buffer, as `requireIdle` of `BufferPool.take`
 * @throws MemoryError when memory runs out
 */
export function takeFromPool(device: Device, bytes: number, atRest = false): BoundMemory {
  const buffer = device.pool.take(bytes, atRest);
  return { buffer, release: () => device.pool.give(buffer) };
}

const noop = (): undefined => undefined;

/** Wraps a buffer that is not released here, since its owner does that. */
export const unownedBuffer = (buffer: Buffer): BoundMemory => ({ buffer, release: () => undefined });

/**
 * Copies host data into a buffer, in queue order. The data must not change before the next wait.
 *
 * @param options.offset in bytes; default: 0
 * @param options.atRest whether no enqueued command uses the buffer, so that large data need not wait for the
 *   queue; default: false
 */
export function upload(
  device: Device,
  buffer: Buffer,
  view: ArrayBufferView,
  { offset = 0, atRest = false } = {},
): Promise<void> | undefined {
  if (device.needsStaging(view)) return uploadStaged(device, buffer, view, { offset, atRest });
  device.queue.write(buffer, view, offset);
  return undefined;
}

async function uploadStaged(
  device: Device,
  buffer: Buffer,
  view: ArrayBufferView,
  { offset, atRest }: { offset: number; atRest: boolean },
): Promise<void> {
  if (!atRest) await device.queue.settle();
  const started = performance.now();
  await device.staging.write(buffer, view, offset);
  device.queue.addHostStage('upload', (performance.now() - started) / 1000);
}

/**
 * Copies a buffer to host memory, in queue order; complete after the next wait.
 *
 * @param options.offset in bytes; default: 0
 * @param options.deadlineMs as of `Queue.finish`
 */
export function download(
  device: Device,
  buffer: Buffer,
  view: ArrayBufferView,
  { offset = 0, deadlineMs }: { offset?: number; deadlineMs?: number | undefined } = {},
): Promise<void> | undefined {
  if (device.needsStaging(view)) return downloadStaged(device, buffer, view, offset, deadlineMs);
  device.queue.read(buffer, view, offset);
  return undefined;
}

async function downloadStaged(
  device: Device,
  buffer: Buffer,
  view: ArrayBufferView,
  offset: number,
  deadlineMs?: number,
): Promise<void> {
  // Large data use a separate queue, so that they overlap with other sorts.
  await device.queue.settle(deadlineMs);
  const started = performance.now();
  await device.staging.read(buffer, view, offset);
  device.queue.addHostStage('download', (performance.now() - started) / 1000);
}

/** Whether host memory is too large to be copied at once. */
export const needsStaging = (device: Device, place: Place): boolean =>
  !isOnDevice(place) && device.needsStaging(place);

/**
 * Makes elements of `unit` bytes readable on the device: in place on a CPU device, otherwise by an upload.
 *
 * @throws MemoryError when the copy does not fit in memory
 */
export async function bindInput(device: Device, place: Place, unit: number): Promise<BoundMemory> {
  if (!needsStaging(device, place)) return bindNow(device, place, unit);
  const view = withFixedLength(viewOf({ place }));
  if (canBindInPlace(device, view, unit)) return bindHostMemory(device, view);
  const pooled = takeFromPool(device, view.byteLength, true);
  try {
    await upload(device, pooled.buffer, view, { atRest: true });
    return { ...pooled, copy: view };
  } catch (error) {
    pooled.release();
    throw error;
  }
}

/** Like `bindInput`, for memory that needs no staging. */
export function bindNow(device: Device, place: Place, unit: number): BoundMemory {
  if (isOnDevice(place)) return unownedBuffer(place);
  const view = withFixedLength(place);
  if (canBindInPlace(device, view, unit)) return bindHostMemory(device, view);
  const slot = device.isStaging(view) ? undefined : device.queue.coalesceUpload(view);
  if (slot) return { buffer: slot.buffer, copy: view, release: () => slot.release() };
  const pooled = takeFromPool(device, view.byteLength, true);
  try {
    device.queue.write(pooled.buffer, view);
  } catch (error) {
    pooled.release();
    throw error;
  }
  return { ...pooled, copy: view };
}

/**
 * Allocates device memory for elements of `unit` bytes that belong at `place`. `copyBack` starts the transfer to there.
 *
 * @throws MemoryError when memory runs out
 */
export function bindOutput(device: Device, place: Place, unit: number): BoundOutput {
  if (isOnDevice(place)) return { ...unownedBuffer(place), copyBack: noop };
  if (canBindInPlace(device, place, unit)) return { ...bindHostMemory(device, place), copyBack: noop };
  const slot = device.isStaging(place) ? undefined : device.queue.readbackSlot(place.byteLength);
  if (slot) {
    const copyBack = (): undefined => {
      device.queue.readSlot(slot, place);
    };
    return { buffer: slot.buffer, copy: place, copyBack, release: () => slot.release() };
  }
  const pooled = takeFromPool(device, place.byteLength);
  return {
    ...pooled,
    copy: place,
    copyBack: (deadlineMs) => download(device, pooled.buffer, place, { deadlineMs }),
  };
}
