import type { Device } from '../../device/device.js';
import type { Buffer } from '../../device/memory/buffer.js';
import { withFixedLength } from '../../keys/array.js';
import { chain, type MaybePromise, recover } from '../../util/maybe-promise.js';
import { isOnDevice, type Place } from '../model/column.js';

/**
 * Smallest array in bytes that is bound in place. Below this size a copy is cheaper, and the 4-byte minimum
 * of a buffer would overrun the array.
 */
const MIN_ZERO_COPY_BYTES = 4096;

/** Memory that a sort can read or write on the device; call `release` after the wait. */
export interface BoundMemory {
  readonly buffer: Buffer;
  /** Host memory that the buffer is a copy of, or is copied to. */
  readonly copy?: ArrayBufferView;
  release(): void;
}

export interface BoundOutput extends BoundMemory {
  /**
   * Copies the contents to host memory; complete after the next wait. Does nothing if the memory was bound in
   * place.
   *
   * @param deadlineMs as of `Queue.finish`
   */
  copyBack(deadlineMs?: number): MaybePromise<void>;
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
  const buffer = device.pool.take(bytes, undefined, atRest);
  return { buffer, release: () => device.pool.give(buffer) };
}

const noop = (): void => undefined;

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
): MaybePromise<void> {
  if (device.needsStaging(view)) return uploadStaged(device, buffer, view, { offset, atRest });
  device.queue.write(buffer, view, offset);
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
): MaybePromise<void> {
  if (device.needsStaging(view)) return downloadStaged(device, buffer, view, offset, deadlineMs);
  device.queue.read(buffer, view, offset);
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

/**
 * Makes elements of `unit` bytes readable on the device: in place on a CPU device, otherwise by an upload.
 *
 * @throws MemoryError when the copy does not fit in memory
 */
export function bindInput(device: Device, place: Place, unit: number): MaybePromise<BoundMemory> {
  if (isOnDevice(place)) return unownedBuffer(place);
  const view = withFixedLength(place);
  if (canBindInPlace(device, view, unit)) return bindHostMemory(device, view);
  const slot = device.isStaging(view) ? undefined : device.queue.coalesceUpload(view);
  if (slot) return { buffer: slot.buffer, copy: view, release: () => slot.release() };
  const pooled = takeFromPool(device, view.byteLength, true);
  return recover(
    () => chain(upload(device, pooled.buffer, view, { atRest: true }), () => ({ ...pooled, copy: view })),
    (error) => {
      pooled.release();
      throw error;
    },
  );
}

/**
 * Allocates device memory for elements of `unit` bytes that belong at `place`. `copyBack` starts the transfer
 * to there.
 *
 * @throws MemoryError when memory runs out
 */
export function bindOutput(device: Device, place: Place, unit: number): BoundOutput {
  if (isOnDevice(place)) return { ...unownedBuffer(place), copyBack: noop };
  if (canBindInPlace(device, place, unit)) return { ...bindHostMemory(device, place), copyBack: noop };
  const slot = device.isStaging(place) ? undefined : device.queue.readbackSlot(place.byteLength);
  if (slot) {
    const copyBack = () => device.queue.readSlot(slot, place);
    return { buffer: slot.buffer, copy: place, copyBack, release: () => slot.release() };
  }
  const pooled = takeFromPool(device, place.byteLength);
  return {
    ...pooled,
    copy: place,
    copyBack: (deadlineMs) => download(device, pooled.buffer, place, { deadlineMs }),
  };
}
