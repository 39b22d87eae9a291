import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import { type FittedProgram, roundUpToGroups } from '../device/fitted-program.js';
import type { Buffer } from '../device/memory/buffer.js';
import { u32, u64 } from '../device/queue/queue.js';
import type { KeyCodec } from '../keys/key-codec.js';
import { chain, type MaybePromise } from '../util/maybe-promise.js';
import { Memo } from '../util/memo.js';
import { buildForGroups } from './group.js';

/** A search for the insertion positions of n keys among `length` keys in the codec's order. */
export interface SearchSortedWork {
  readonly sorted: Buffer;
  /** Fewer than 2^32. */
  readonly length: number;
  readonly keys: Buffer;
  readonly n: number;
  readonly codec: KeyCodec;
  /** Insert after equal keys instead of before them. */
  readonly right: boolean;
  /** u32 */
  readonly places: Buffer;
}

const built = new Memo<FittedProgram>();

/**
 * Enqueues a binary search for each key.
 *
 * Complexity: one launch; log2(length) scattered reads per key, mostly served by caches if the keys are sorted.
 */
export function enqueueSearchSorted(device: Device, work: SearchSortedWork): MaybePromise<void> {
  const { sorted, length, keys, n, codec, right, places } = work;
  const { width } = codec.dtype;
  const program = built.get(device, `${width}`, async () =>
    buildForGroups(device, 'search_sorted.cl', ['search_sorted'], { KEY_BITS: width, VALUE_BYTES: 0 }),
  );
  return chain(program, ({ program, groupSize }) => {
    const args = [sorted, keys, places, u64(length), u64(n), u32(right ? 1 : 0), codecArgument(codec)];
    const global = roundUpToGroups(n, groupSize);
    device.queue.run(program.kernel('search_sorted'), args, { global, local: groupSize });
  });
}
