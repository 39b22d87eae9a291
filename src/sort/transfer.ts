import type { Buffer } from '../device/buffer.js';
import type { Device } from '../device/device.js';
import { isOnDevice, type Place } from './column.js';

/** Below this a copy is cheaper than a buffer over host memory, and the 4-byte minimum would overrun. */
const ZERO_COPY_BYTES = 4096;

/** Memory that a sort can read or write on the device; `release` after the wait. */
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

/** Device memory from the pool. @throws MemoryError */
export function borrow(device: Device, bytes: number): Lent {
  const buffer = device.pool.take(bytes);
  return { buffer, release: () => device.pool.give(buffer) };
}

/** What is on the device already is nobody's to release here. */
const there = (buffer: Buffer): Lent => ({ buffer, release: () => undefined });

/** Makes data readable on the device: in place on a CPU device, else through an enqueued upload. */
export function lendInput(device: Device, place: Place): Lent {
  if (isOnDevice(place)) return there(place);
  if (inPlace(device, place)) return lend(device, place);
  const lent = borrow(device, place.byteLength);
  device.queue.write(lent.buffer, place);
  return lent;
}

/** Room on the device for what will be at `place`; `collect` enqueues the way back. */
export function lendOutput(device: Device, place: Place): Lent & { collect(): void } {
  if (isOnDevice(place)) return { ...there(place), collect: () => undefined };
  if (inPlace(device, place)) return { ...lend(device, place), collect: () => undefined };
  const lent = borrow(device, place.byteLength);
  return { ...lent, collect: () => device.queue.read(lent.buffer, place) };
}
