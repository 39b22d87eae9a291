import type { Buffer } from '../device/buffer.js';
import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import { u64 } from '../device/queue.js';
import type { KeyCodec } from '../keys/key-codec.js';
import { buildForGroups } from './group.js';

/** Keys of the result for each work-item of a group that merges in local memory. */
const ITEMS = 8;
/** Likewise where each work-item merges by itself, on processors whose caches hold what it reads. */
const ITEMS_ALONE = 4096;

/** A merge of two arrays that are in the codec's order. */
export interface MergeWork {
  readonly a: Buffer;
  readonly aLength: number;
  readonly b: Buffer;
  readonly bLength: number;
  readonly output: Buffer;
  readonly codec: KeyCodec;
  /** By work-items alone; by default on CPU devices. */
  readonly alone?: boolean;
}

/**
 * Enqueues a merge: of equal keys those of `a` come first.
 *
 * Source: O. Green, R. McColl, D. Bader, "GPU Merge Path" (2012).
 *
 * Complexity: one launch; every key read and written once, and a binary search for each tile of some thousand keys.
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
