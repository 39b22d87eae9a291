/** Buffers for small runs. */

import type { Device } from '../device/device.js';
import type { Buffer } from '../device/memory/buffer.js';
import { powerAtLeast } from '../util/powers.js';

/** Calls `work` with buffers of the given sizes in bytes (at least 4), and releases them in any case. */
export async function withBuffers<T, const Sizes extends readonly number[]>(
  device: Device,
  sizes: Sizes,
  work: (buffers: { readonly [I in keyof Sizes]: Buffer }) => Promise<T>,
): Promise<T> {
  const buffers: Buffer[] = [];
  try {
    for (const bytes of sizes) buffers.push(device.buffer(Math.max(4, bytes)));
    return await work(buffers as unknown as { readonly [I in keyof Sizes]: Buffer });
  } finally {
    for (const buffer of buffers) buffer.release();
  }
}

/** Waits for the queue, runs the enqueued launches, and returns their seconds in order. */
export async function timesOf(device: Device, enqueue: () => void): Promise<(number | null)[]> {
  const { queue } = device;
  await queue.finish();
  queue.startProfile();
  enqueue();
  await queue.finish();
  return queue.endProfile().map(({ seconds }) => seconds);
}

/** Returns the smallest power of two that is at least n, limited to the range from `min` to `max`. */
export const groupFor = (n: number, min: number, max: number): number =>
  Math.min(max, Math.max(min, powerAtLeast(Math.max(1, n))));
