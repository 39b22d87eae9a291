import type { Buffer } from '../device/buffer.js';
import type { Device } from '../device/device.js';
import { u32, u64, vector } from '../device/queue.js';
import { codecVector, type KeyCodec } from '../keys/key-codec.js';
import { buildForGroups } from './group.js';

/** A search for the places of n keys among `length` keys that are in the codec's order. */
export interface SearchSortedWork {
  readonly sorted: Buffer;
  /** Fewer than 2^32. */
  readonly length: number;
  readonly keys: Buffer;
  readonly n: number;
  readonly codec: KeyCodec;
  /** Behind keys that are equal, not before them. */
  readonly right: boolean;
  /** u32 */
  readonly places: Buffer;
}

/**
 * Enqueues a binary search for each key.
 *
 * Complexity: one launch; log2(length) scattered reads a key, most of which caches serve where the keys are in order.
 */
export async function enqueueSearchSorted(device: Device, work: SearchSortedWork): Promise<void> {
  const { sorted, length, keys, n, codec, right, places } = work;
  const shape = { KEY_BITS: codec.dtype.width, VALUE_BYTES: 0 };
  const { program, groupSize } = await buildForGroups(device, 'search_sorted.cl', ['search_sorted'], shape);
  const args = [sorted, keys, places, u64(length), u64(n), u32(right ? 1 : 0), vector(codecVector(codec))];
  const global = Math.ceil(n / groupSize) * groupSize;
  device.queue.run(program.kernel('search_sorted'), args, { global, local: groupSize });
}
