import type { Device } from '../device/device.js';
import { roundUpToGroups } from '../device/fitted-program.js';
import type { Buffer } from '../device/memory/buffer.js';
import { u64 } from '../device/queue/queue.js';
import { invalidArgument } from '../util/invalid-argument.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { Memo } from '../util/memo.js';
import { buildForGroups } from './group.js';

/** One gather. */
export interface GatherWork {
  /** `length` elements. */
  readonly input: Buffer;
  /** n indices, u32 or u64. */
  readonly indices: Buffer;
  /** Holds n elements; not `input`. */
  readonly output: Buffer;
  readonly n: number;
  readonly length: number;
}

/**
 * Returns the bytes of an element that are moved at once. @throws UsageError for elements of no or more than 16
 * bytes
 */
export function accessBytesOf(elementBytes: number): number {
  if (!Number.isInteger(elementBytes) || elementBytes < 1 || elementBytes > 16) {
    throw invalidArgument('elementBytes', 'a whole number from 1 to 16', elementBytes);
  }
  return [16, 8, 4, 2, 1].find((bytes) => elementBytes % bytes === 0) ?? 1;
}

/** Enqueues one gather. */
type Gather = (work: GatherWork) => void;

/** Parameters that a gather is compiled for. */
interface GatherShape {
  readonly elementBytes: number;
  readonly indexBits?: 32 | 64;
}

const created = new Memo<Gather>();

/**
 * Compiles `output[i] = input[indices[i]]` for elements of 1 to 16 bytes. After an argsort it orders values of any
 * width like their keys.
 *
 * Complexity: one launch; each index and element is read and written once, with scattered reads. An index beyond
 * `length` gives zero bytes.
 *
 * @returns a function that enqueues one gather
 */
export function createGather(device: Device, shape: GatherShape): MaybePromise<Gather> {
  const { elementBytes, indexBits = 32 } = shape;
  return created.get(device, `${elementBytes} ${indexBits}`, () =>
    create(device, { elementBytes, indexBits }),
  );
}

async function create(device: Device, { elementBytes, indexBits }: Required<GatherShape>): Promise<Gather> {
  const defines = gatherDefines(elementBytes, indexBits, false);
  const { program, groupSize } = await buildForGroups(device, 'gather.cl', ['gather'], defines);
  const kernel = program.kernel('gather');
  return ({ input, indices, output, n, length }) => {
    const global = roundUpToGroups(n, groupSize);
    device.queue.run(kernel, [input, indices, output, u64(n), u64(length)], { global, local: groupSize });
  };
}

/** Returns the macros of cl/gather.cl. @throws UsageError for elements of no or more than 16 bytes */
export function gatherDefines(
  elementBytes: number,
  indexBits: 32 | 64,
  checked: boolean,
): Readonly<Record<string, number>> {
  const unit = accessBytesOf(elementBytes);
  return {
    UNIT_BYTES: unit,
    UNITS: elementBytes / unit,
    INDEX_BITS: indexBits,
    CHECKED: checked ? 1 : 0,
  };
}
