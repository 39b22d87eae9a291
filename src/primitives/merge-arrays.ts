import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import type { Buffer } from '../device/memory/buffer.js';
import { u64 } from '../device/queue/queue.js';
import type { KeyCodec } from '../keys/key-codec.js';
import { buildForGroups } from './group.js';

/** Result keys per work-item of a group that merges in local memory. */
const ITEMS = 8;
/** Result keys per work-item that merges alone, on processors whose caches hold its input. */
const ITEMS_ALONE = 4096;

/** A merge of two arrays that are sorted in the codec's order. */
export interface MergeWork {
  readonly a: Buffer;
  readonly aLength: number;
  readonly b: Buffer;
  readonly bLength: number;
  readonly output: Buffer;
  readonly codec: KeyCodec;
  /** Each work-item merges alone; default: on CPU devices. */
  readonly alone?: boolean;
}

/**
 * Enqueues a stable merge: among equal keys those of `a` come first.
 *
 * Source: O. Green, R. McColl, D. Bader, "GPU Merge Path" (2012).
 *
 * Complexity: one launch; every key is read and written once, plus a binary search per tile of some thousand keys.
 */
export async function enqueueMerge(device: Device, work: MergeWork): Promise<void> {
  const { a, aLength, b, bLength, output, codec } = work;
  const alone = work.alone ?? device.capabilities.type === 'cpu';
  const items = alone ? ITEMS_ALONE : ITEMS;
  const shape = { KEY_BITS: codec.dtype.width, VALUE_BYTES: 0, ITEMS: items };
  const build = () => buildForGroups(device, 'merge_arrays.cl', ['merge_arrays', 'merge_tiles'], shape);
  const { program, groupSize } = alone
    ? { program: await device.program('merge_arrays.cl', { ...shape, GROUP_SIZE: 1 }), groupSize: 1 }
    : await build();
  const args = [a, b, output, u64(aLength), u64(bLength), codecArgument(codec)];
  const groups = Math.ceil((aLength + bLength) / (items * groupSize));
  const kernel = groupSize > 1 ? 'merge_tiles' : 'merge_arrays';
  device.queue.run(program.kernel(kernel), args, { global: groups * groupSize, local: groupSize });
}
