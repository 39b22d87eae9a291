import type { Buffer } from '../device/buffer.js';
import type { Device } from '../device/device.js';

/** Below this a copy is cheaper than a buffer over host memory, and the 4-byte minimum would overrun. */
const ZERO_COPY_BYTES = 4096;

/** Host memory that a sort can read or write on the device; `release` after the wait. */
export interface Lent {
  readonly buffer: Buffer;
  release(): void;
}

const inPlace = (device: Device, view: ArrayBufferView): boolean =>
  device.capabilities.quirks.zeroCopy && view.byteLength >= ZERO_COPY_BYTES;

function lend(device: Device, view: ArrayBufferView): Lent {
  const buffer = device.buffer(view.byteLength, { over: view });
  return { buffer, release: () => buffer.release() };
}

function borrow(device: Device, bytes: number): Lent {
  const buffer = device.pool.take(bytes);
  return { buffer, release: () => device.pool.give(buffer) };
}

/** Makes host data readable on the device: in place on a CPU device, else through an enqueued upload. */
export function lendInput(device: Device, view: ArrayBufferView): Lent {
  if (inPlace(device, view)) return lend(device, view);
  const lent = borrow(device, view.byteLength);
  device.queue.write(lent.buffer, view);
  return lent;
}

/** Room on the device for what will become `view`; `collect` enqueues the way back. */
export function lendOutput(device: Device, view: ArrayBufferView): Lent & { collect(): void } {
  if (inPlace(device, view)) return { ...lend(device, view), collect: () => undefined };
  const lent = borrow(device, view.byteLength);
  return { ...lent, collect: () => device.queue.read(lent.buffer, view) };
}
