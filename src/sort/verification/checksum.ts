import type { Device } from '../../device/device.js';
import type { Buffer } from '../../device/memory/buffer.js';
import { COPY_THREADS } from '../../device/memory/staging.js';
import { typedError } from '../../device/platform/status.js';
import { u64 } from '../../device/queue/queue.js';
import { checksumAsync } from '../../native-host/host-functions.js';
import { GroupSums, total } from './group-sums.js';

/** A buffer, and the host memory that it was copied from or is copied to. */
export interface CopiedBuffer {
  readonly buffer: Buffer;
  readonly copy: ArrayBufferView;
}

/**
 * Detects transfers that changed data. The sum over a buffer on the device has to equal the sum over its copy in host
 * memory. See cl/checksum.cl.
 */
export class Checksums {
  readonly #groupSums: GroupSums;

  private constructor(sums: GroupSums) {
    this.#groupSums = sums;
  }

  /** @throws BuildError */
  static async create(device: Device): Promise<Checksums> {
    return new Checksums(await GroupSums.create(device, 'checksum'));
  }

  /**
   * Enqueues sums over buffers, with their contents at this point of the queue.
   *
   * @returns a function that compares them with their copies, to be called after the queue has finished
   * @throws MemoryError
   */
  enqueueComparison(copies: readonly CopiedBuffer[]): () => Promise<boolean> {
    const sums = copies.map(({ buffer, copy }) => this.enqueue(buffer, copy.byteLength));
    return async () => {
      for (const [i, { copy }] of copies.entries()) {
        if (sums[i]?.() !== (await hostChecksum(copy))) return false;
      }
      return true;
    };
  }

  /**
   * Enqueues the sum over the first bytes of a buffer.
   *
   * @returns a function that returns the sum after the queue has finished
   * @throws MemoryError
   */
  enqueue(buffer: Buffer, bytes: number): () => bigint {
    const sums = this.#groupSums.enqueue(
      Math.floor(bytes / 4),
      (partials, perGroup) => [buffer, partials, u64(bytes), perGroup],
      { sumsPerGroup: 1, stage: 'checksum' },
    );
    return () => total(sums);
  }
}

/** Computes the same sum over host memory on several threads; the memory must not change meanwhile. */
export async function hostChecksum(view: ArrayBufferView): Promise<bigint> {
  const sum = new BigUint64Array(1);
  try {
    await checksumAsync(view, sum, COPY_THREADS);
  } catch (error) {
    throw typedError(error, 'verify a transfer');
  }
  return sum[0] ?? 0n;
}
