import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import { type FittedProgram, roundUpToGroups } from '../device/fitted-program.js';
import type { Buffer } from '../device/memory/buffer.js';
import { u32, u64 } from '../device/queue/queue.js';
import type { KeyCodec } from '../keys/key-codec.js';
import { chain, type MaybePromise } from '../util/maybe-promise.js';
import { Memo } from '../util/memo.js';
import { buildForGroups } from './group.js';

/** A search for n keys among `length` keys in the codec's order. */
interface SearchWork {
  readonly sorted: Buffer;
  /** Fewer than 2^32. */
  readonly length: number;
  readonly keys: Buffer;
  readonly n: number;
  readonly codec: KeyCodec;
}

/** A search for insertion positions. */
export interface SearchSortedWork extends SearchWork {
  /** Insert after equal keys instead of before them. */
  readonly right: boolean;
  /** u32 */
  readonly places: Buffer;
}

/** A search for the keys that the sorted keys contain. */
export interface ContainsWork extends SearchWork {
  /** Mark the keys that are missing instead. */
  readonly inverted: boolean;
  /** u8 */
  readonly mask: Buffer;
}

const built = new Memo<FittedProgram>();

/**
 * Enqueues a binary search for each key.
 *
 * Complexity: one launch; log2(length) scattered reads per key, mostly served by caches if the keys are sorted.
 */
export const enqueueSearchSorted = (device: Device, work: SearchSortedWork): MaybePromise<void> =>
  enqueueSearch(device, 'search_sorted', work, work.places, work.right);

/** Enqueues a binary search for each key, which writes 1 for a key that it finds and 0 for another. */
export const enqueueContains = (device: Device, work: ContainsWork): MaybePromise<void> =>
  enqueueSearch(device, 'contains', work, work.mask, work.inverted);

function enqueueSearch(
  device: Device,
  kernel: 'search_sorted' | 'contains',
  { sorted, length, keys, n, codec }: SearchWork,
  to: Buffer,
  how: boolean,
): MaybePromise<void> {
  const { width } = codec.dtype;
  const program = built.get(device, `${width}`, async () =>
    buildForGroups(device, 'search_sorted.cl', ['search_sorted', 'contains'], {
      KEY_BITS: width,
      VALUE_BYTES: 0,
    }),
  );
  return chain(program, ({ program, groupSize }) => {
    const args = [sorted, keys, to, u64(length), u64(n), u32(how ? 1 : 0), codecArgument(codec)];
    const global = roundUpToGroups(n, groupSize);
    device.queue.run(program.kernel(kernel), args, { global, local: groupSize });
  });
}
