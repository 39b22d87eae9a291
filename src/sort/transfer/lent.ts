import type { Buffer } from '../../device/buffer.js';
import type { Device } from '../../device/device.js';
import { fixed } from '../../keys/array.js';
import { after, rescued, type Soon } from '../../util/soon.js';
import { isOnDevice, type Place } from '../backend/column.js';

/** Below this a copy is cheaper than a buffer over host memory, and the 4-byte minimum would overrun. */
const ZERO_COPY_BYTES = 4096;

/** Memory that a sort can read or write on the device; `release` after the wait. */
export interface Lent {
  readonly buffer: Buffer;
  /** Host memory that it is a copy of, or is copied to. */
  readonly copy?: ArrayBufferView;
  release(): void;
}

export interface LentOutput extends Lent {
  /**
   * Brings the contents to where they belong: in place by the wait that follows.
   *
   * @param deadlineSeconds as of `Queue.finish`
   */
  collect(deadlineSeconds?: number): Soon<void>;
}

/** Kernels take elements of `unit` bytes, which end the process of a CPU device where they do not stand on a multiple of that. */
const inPlace = (device: Device, view: ArrayBufferView, unit: number): boolean =>
  device.capabilities.quirks.zeroCopy && view.byteLength >= ZERO_COPY_BYTES && view.byteOffset % unit === 0;

function lend(device: Device, view: ArrayBufferView): Lent {
  const buffer = device.buffer(view.byteLength, { hostMemory: view });
  return { buffer, release: () => buffer.release() };
}

/** Device memory from the pool. @param atRest as of `BufferPool.take` @throws MemoryError */
export function borrow(device: Device, bytes: number, atRest = false): Lent {
  const buffer = device.pool.take(bytes, undefined, atRest);
  return { buffer, release: () => device.pool.give(buffer) };
}

const nothing = (): void => undefined;

/** Arrays that lie on the device already are not released here: their owner does that. */
export const there = (buffer: Buffer): Lent => ({ buffer, release: () => undefined });

/**
 * Copies host data into a buffer, in the order of the queue; the data must not change before the next wait.
 *
 * @param atRest whether nothing that is enqueued uses the buffer, so that large data need not wait for their turn
 */
export function upload(
  device: Device,
  buffer: Buffer,
  view: ArrayBufferView,
  { offset = 0, atRest = false } = {},
): Soon<void> {
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

/** Copies from a buffer to host memory, in the order of the queue; complete after the next wait. */
export function download(
  device: Device,
  buffer: Buffer,
  view: ArrayBufferView,
  { offset = 0, deadlineSeconds }: { offset?: number; deadlineSeconds?: number | undefined } = {},
): Soon<void> {
  if (device.needsStaging(view)) return downloadStaged(device, buffer, view, offset, deadlineSeconds);
  device.queue.read(buffer, view, offset);
}

async function downloadStaged(
  device: Device,
  buffer: Buffer,
  view: ArrayBufferView,
  offset: number,
  deadlineSeconds?: number,
): Promise<void> {
  // Large data pass in a queue of their own, beside what others sort.
  await device.queue.settle(deadlineSeconds);
  const started = performance.now();
  await device.staging.read(buffer, view, offset);
  device.queue.addHostStage('download', (performance.now() - started) / 1000);
}

/** Makes data, elements of `unit` bytes, readable on the device: in place on a CPU device, else by an upload. */
export function lendInput(device: Device, place: Place, unit: number): Soon<Lent> {
  if (isOnDevice(place)) return there(place);
  const view = fixed(place);
  if (inPlace(device, view, unit)) return lend(device, view);
  const berth = device.isStaging(view) ? undefined : device.queue.coalesceUpload(view);
  if (berth) return { buffer: berth.buffer, copy: view, release: () => berth.release() };
  const lent = borrow(device, view.byteLength, true);
  return rescued(
    () => after(upload(device, lent.buffer, view, { atRest: true }), () => ({ ...lent, copy: view })),
    (error) => {
      lent.release();
      throw error;
    },
  );
}

/** Room on the device for the elements of `unit` bytes that will be at `place`; `collect` starts the way back. */
export function lendOutput(device: Device, place: Place, unit: number): LentOutput {
  if (isOnDevice(place)) return { ...there(place), collect: nothing };
  if (inPlace(device, place, unit)) return { ...lend(device, place), collect: nothing };
  const berth = device.isStaging(place) ? undefined : device.queue.readbackSlot(place.byteLength);
  if (berth) {
    const collect = () => device.queue.readSlot(berth, place);
    return { buffer: berth.buffer, copy: place, collect, release: () => berth.release() };
  }
  const lent = borrow(device, place.byteLength);
  return {
    ...lent,
    copy: place,
    collect: (deadlineSeconds) => download(device, lent.buffer, place, { deadlineSeconds }),
  };
}
