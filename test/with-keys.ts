import type { Device } from '../src/device/device.js';

/** Calls `use` with a device buffer that holds the keys, and releases it afterwards. */
export async function withKeys<T>(
  device: Device,
  keys: ArrayBufferView,
  use: (buffer: ReturnType<Device['buffer']>) => Promise<T>,
): Promise<T> {
  const buffer = device.buffer(Math.max(4, keys.byteLength));
  try {
    device.queue.write(buffer, keys);
    return await use(buffer);
  } finally {
    buffer.release();
  }
}
