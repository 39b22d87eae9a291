import type { Device } from '../device/device.js';
import { type FittedProgram, roundUpToGroups } from '../device/fitted-program.js';
import type { Buffer } from '../device/memory/buffer.js';
import { type DeferredLaunches, type KernelArgument, u32, u64, vector } from '../device/queue/queue.js';
import type { StatusSlot } from '../device/status-words.js';
import { invalidArgument } from '../util/invalid-argument.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { Memo } from '../util/memo.js';
import { buildForGroups } from './group.js';

/** Gathers per launch: the number of gather parameters of the kernel. */
const MAX_GATHERS = 8;
/** Most work-items per launch, and upper bound of the lengths that the kernel supports. */
const MAX_ITEMS = 2 ** 31;

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
 * width like their keys. Consecutive independent gathers share one launch: launching a short one takes the host longer
 * than the device needs to run it.
 *
 * Complexity: one launch; each index and element is read and written once, with scattered reads. An index beyond
 * `length` gives zero bytes.
 */
export class Gathers implements DeferredLaunches {
  readonly #device: Device;
  readonly #built: FittedProgram;
  /** Gathers that wait for a shared launch. */
  #works: GatherWork[] = [];
  #items = 0;

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
      const kernels = ['gather', 'gather_each'];
      return new Gathers(device, await buildForGroups(device, 'gather.cl', kernels, defines));
    });
  }

  enqueue(work: GatherWork): void {
    const { queue } = this.#device;
    const items = roundUpToGroups(work.n, this.#built.groupSize);
    if (!queue.canDefer || Math.max(items, work.length) >= MAX_ITEMS) {
      this.#run(work);
      return;
    }
    if (this.#items + items > MAX_ITEMS || this.#works.some((other) => !areApart(other, work)))
      queue.enqueueDeferred();
    this.#works.push(work);
    this.#items += items;
    queue.defer(this);
    if (this.#works.length >= Math.min(queue.maxDeferredLaunches, MAX_GATHERS)) queue.submitOrFlush();
  }

  emit(): void {
    const works = this.#works;
    this.#works = [];
    this.#items = 0;
    const [first, ...others] = works;
    if (others.length > 0) this.#runEach(works);
    else if (first) this.#run(first);
  }

  #run({ input, indices, output, n, length, slot }: GatherWork): void {
    const { program, groupSize } = this.#built;
    const args = [input, indices, output, u64(n), u64(length), slot.buffer, u32(slot.firstWord)];
    const launch = { global: roundUpToGroups(n, groupSize), local: groupSize };
    this.#device.queue.run(program.kernel('gather'), args, launch);
  }

  /** @pre at most `MAX_GATHERS` gathers, whose status slots are in one buffer */
  #runEach(works: readonly GatherWork[]): void {
    const { program, groupSize } = this.#built;
    const how = new Uint32Array(4 * MAX_GATHERS);
    const arrays: KernelArgument[] = [];
    let groups = 0;
    for (let i = 0; i < MAX_GATHERS; i++) {
      const work = works[Math.min(i, works.length - 1)] as GatherWork;
      if (i < works.length) groups += Math.ceil(work.n / groupSize);
      how.set([work.n, work.length, work.slot.firstWord, groups], 4 * i);
      arrays.push(work.input, work.indices, work.output);
    }
    const statusWords = (works[0] as GatherWork).slot.buffer;
    const args = [statusWords, vector(how.subarray(0, 16)), vector(how.subarray(16)), ...arrays];
    const launch = { global: groups * groupSize, local: groupSize, stage: 'gather' };
    this.#device.queue.run(program.kernel('gather_each'), args, launch);
  }
}

/** Returns whether neither gather accesses the output of the other, and both report errors to one buffer. */
function areApart(a: GatherWork, b: GatherWork): boolean {
  const writes = ({ output }: GatherWork, { input, indices }: GatherWork): boolean =>
    output === input || output === indices;
  return !writes(a, b) && !writes(b, a) && a.output !== b.output && a.slot.buffer === b.slot.buffer;
}
