import type { Slot } from '../device/board.js';
import type { Buffer } from '../device/buffer.js';
import type { Device } from '../device/device.js';
import { wholeGroups } from '../device/fitted.js';
import { u32, u64 } from '../device/queue.js';
import { UsageError } from '../util/errors.js';
import { Kept } from '../util/kept.js';
import type { Soon } from '../util/soon.js';
import { buildForGroups } from './group.js';

/** One gather. */
export interface GatherWork {
  /** `length` elements. */
  readonly input: Buffer;
  /** n indices, u32 or u64. */
  readonly indices: Buffer;
  /** Room for n elements; not `input`. */
  readonly output: Buffer;
  readonly n: number;
  readonly length: number;
  /** Gets by how much more than `length` - 1 the largest index is, should one not be inside: where that is checked. */
  readonly slot?: Slot;
}

/** Bytes of an element that memory moves at once. @throws UsageError for elements of no or more than 16 bytes */
export function unitOf(elementBytes: number): number {
  if (!Number.isInteger(elementBytes) || elementBytes < 1 || elementBytes > 16) {
    throw new UsageError(`elements of ${elementBytes} bytes: expected 1 to 16`);
  }
  return [16, 8, 4, 2, 1].find((bytes) => elementBytes % bytes === 0) ?? 1;
}

/** Enqueues one gather. */
type Gather = (work: GatherWork) => void;

/** What is compiled for a gather. */
interface GatherShape {
  readonly elementBytes: number;
  readonly indexBits?: 32 | 64;
  readonly checked?: boolean;
}

const created = new Kept<Gather>();

/**
 * Compiles `output[i] = input[indices[i]]` for elements of 1 to 16 bytes: what brings values of any width
 * behind their keys after an argsort.
 *
 * Complexity: one launch; each index and element read and written once, the reads scattered. An index
 * beyond `length` gives zero bytes.
 *
 * @returns a function that enqueues one gather
 */
export function createGather(device: Device, shape: GatherShape): Soon<Gather> {
  const { elementBytes, indexBits = 32, checked = false } = shape;
  const name = `${elementBytes} ${indexBits} ${checked}`;
  return created.of(device, name, () => create(device, { elementBytes, indexBits, checked }));
}

async function create(
  device: Device,
  { elementBytes, indexBits, checked }: Required<GatherShape>,
): Promise<Gather> {
  const unit = unitOf(elementBytes);
  const { program, groupSize } = await buildForGroups(device, 'gather.cl', ['gather'], {
    UNIT_BYTES: unit,
    UNITS: elementBytes / unit,
    INDEX_BITS: indexBits,
    CHECKED: checked ? 1 : 0,
  });
  const kernel = program.kernel('gather');
  return ({ input, indices, output, n, length, slot }) => {
    const global = wholeGroups(n, groupSize);
    if (checked !== (slot !== undefined)) throw new UsageError('a slot is for gathers that are checked');
    const told = slot ? [slot.board, u32(slot.at)] : [];
    const args = [input, indices, output, u64(n), u64(length), ...told];
    device.queue.run(kernel, args, { global, local: groupSize });
  };
}
