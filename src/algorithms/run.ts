import type { Buffer } from '../device/memory/buffer.js';
import type { Queue } from '../device/queue/queue.js';
import type { Algorithm, Enqueued, SortWork } from './algorithm.js';

/**
 * Runs an algorithm with scratch from the device's pool.
 *
 * The scratch stays allocated until `release`, to be called after the wait, because the host may still have to read a
 * status word in it.
 *
 * @throws MemoryError when the scratch cannot be allocated
 */
export function enqueueWithScratch(
  algorithm: Algorithm,
  queue: Queue,
  work: Omit<SortWork, 'scratch'>,
): Enqueued & { release(): void } {
  const { pool } = algorithm.device;
  const taken: Buffer[] = [];
  const release = () => {
    for (const buffer of taken.splice(0)) pool.give(buffer);
  };
  try {
    const { n, bits, segments } = work;
    const options = { inPlace: work.input === work.output, bits, ...(segments && { segments }) };
    const scratch: Record<string, Buffer> = {};
    for (const [name, bytes] of Object.entries(algorithm.scratch(n, options))) {
      const buffer = pool.take(bytes);
      taken.push(buffer);
      scratch[name] = buffer;
    }
    return { ...algorithm.enqueue(queue, { ...work, scratch }), release };
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * Times a sort, as `Queue.measure` does, and releases its scratch.
 *
 * @param sort enqueues one sort by `enqueueWithScratch`
 */
export async function measureWithScratch(
  queue: Queue,
  sort: () => { release(): void },
  before?: () => void,
): Promise<number | null> {
  let enqueued: { release(): void } | undefined;
  try {
    return await queue.measure(() => {
      enqueued = sort();
    }, before);
  } finally {
    enqueued?.release();
  }
}
