/** Buffers of a small run. */

import type { Buffer } from '../device/buffer.js';
import type { Device } from '../device/device.js';
import { powerAtLeast } from '../util/powers.js';

/** Runs `use` with buffers of so many bytes, which are released whatever comes of it. */
export async function withBuffers<T>(
  device: Device,
  sizes: readonly number[],
  work: (buffers: readonly Buffer[]) => Promise<T>,
): Promise<T> {
  const buffers: Buffer[] = [];
  try {
    for (const bytes of sizes) buffers.push(device.buffer(Math.max(4, bytes)));
    return await work(buffers);
  } finally {
    for (const buffer of buffers) buffer.release();
  }
}

/** Seconds of the launches that are enqueued, in order, after waiting for them. */
export async function timesOf(device: Device, enqueue: () => void): Promise<(number | null)[]> {
  const { queue } = device;
  await queue.finish();
  queue.startProfile();
  enqueue();
  await queue.finish();
  return queue.endProfile().map(({ seconds }) => seconds);
}

/** A power of two from `least` to `most` that n work-items fit into, if they do. */
export const groupFor = (n: number, min: number, max: number): number =>
  Math.min(max, Math.max(min, powerAtLeast(Math.max(1, n))));
