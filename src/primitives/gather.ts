import type { Device } from '../device/device.js';
import { type FittedProgram, roundUpToGroups } from '../device/fitted-program.js';
import type { Buffer } from '../device/memory/buffer.js';
import { u32, u64 } from '../device/queue/queue.js';
import type { StatusSlot } from '../device/status-words.js';
import { invalidArgument } from '../util/invalid-argument.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { Memo } from '../util/memo.js';
import { buildForGroups } from './group.js';

export interface GatherWork {
  /** `length` elements. */
  readonly input: Buffer;
  /** n indices, u32 or u64. */
  readonly indices: Buffer;
  /** Holds n elements; not `input`. */
  readonly output: Buffer;
  readonly n: number;
  readonly length: number;
  /** Receives by how much the largest index exceeds `length` - 1, if one is out of range. */
  readonly slot: StatusSlot;
}

/**
 * Returns the bytes of an element that are moved at once. @throws UsageError for elements of no or more than 16 bytes
 */
export function accessBytesOf(elementBytes: number): number {
  if (!Number.isInteger(elementBytes) || elementBytes < 1 || elementBytes > 16) {
    throw invalidArgument('elementBytes', 'a whole number from 1 to 16', elementBytes);
  }
  return [16, 8, 4, 2, 1].find((bytes) => elementBytes % bytes === 0) ?? 1;
}

const created = new Memo<Gathers>();

/**
 * Gathers `output[i] = input[indices[i]]` for elements of 1 to 16 bytes. After an argsort it orders values of any
 * width like their keys.
 *
 * Complexity: one launch; each index and element is read and written once, with scattered reads. An index beyond
 * `length` gives zero bytes.
 */
export class Gathers {
  readonly #device: Device;
  readonly #built: FittedProgram;

  private constructor(device: Device, built: FittedProgram) {
    this.#device = device;
    this.#built = built;
  }

  /**
   * Compiles gathers of elements of 1 to 16 bytes.
   *
   * @param indexBits bits of an index
   * @throws UsageError, BuildError
   */
  static of(device: Device, elementBytes: number, indexBits: 32 | 64 = 32): MaybePromise<Gathers> {
    return created.get(device, `${elementBytes} ${indexBits}`, async () => {
      const unit = accessBytesOf(elementBytes);
      const defines = { UNIT_BYTES: unit, UNITS: elementBytes / unit, INDEX_BITS: indexBits };
      return new Gathers(device, await buildForGroups(device, 'gather.cl', ['gather'], defines));
    });
  }

  enqueue({ input, indices, output, n, length, slot }: GatherWork): void {
    const { program, groupSize } = this.#built;
    const args = [input, indices, output, u64(n), u64(length), slot.buffer, u32(slot.firstWord)];
    const launch = { global: roundUpToGroups(n, groupSize), local: groupSize };
    this.#device.queue.run(program.kernel('gather'), args, launch);
  }
}
