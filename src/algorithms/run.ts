import type { Buffer } from '../device/buffer.js';
import type { Queue } from '../device/queue.js';
import type { Algorithm, Enqueued, ScratchSizes, SortWork } from './algorithm.js';

/** Bytes of all buffers of `sizes` together. */
export function scratchBytes(sizes: ScratchSizes): number {
  return Object.values(sizes).reduce((sum, bytes) => sum + bytes, 0);
}

/**
 * Runs an algorithm with scratch from the device's pool.
 *
 * The scratch stays taken until `release`, to be called after the wait, since the host may still have to
 * read a status word in it.
 *
 * @throws MemoryError when the scratch cannot be had
 */
export function enqueueWithScratch(
  algorithm: Algorithm,
  queue: Queue,
  work: Omit<SortWork, 'scratch'>,
): Enqueued & { release(): void } {
  const { pool } = algorithm.device;
  const sizes = algorithm.scratch(work.n, { inPlace: work.input === work.output, bits: work.bits });
  const taken: [string, Buffer][] = [];
  const release = () => {
    for (const [, buffer] of taken.splice(0)) pool.give(buffer);
  };
  try {
    for (const [name, bytes] of Object.entries(sizes)) taken.push([name, pool.take(bytes)]);
    const enqueued = algorithm.enqueue(queue, { ...work, scratch: Object.fromEntries(taken) });
    return { ...enqueued, release };
  } catch (error) {
    release();
    throw error;
  }
}
