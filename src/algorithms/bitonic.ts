import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import {
  buildFittedProgram,
  type FittedProgram,
  localElements,
  roundUpToGroups,
} from '../device/fitted-program.js';
import { type KernelArgument, type Queue, u32, u64 } from '../device/queue/queue.js';
import { powerAtLeast } from '../util/powers.js';
import type {
  AlgorithmFactory,
  AlgorithmShape,
  Enqueued,
  ScratchOptions,
  ScratchSizes,
  SortRequest,
  SortWork,
} from './algorithm.js';
import { windowMask } from './comparison.js';
import { CompiledSort } from './compiled-sort.js';
import { onOff, whole } from './parameters.js';
import { carriesValues, passBuffers, passInPlace, passOutputs, scratchOf } from './passes.js';

const GROUP_SIZE = 256;
const BLOCK = 1024;

interface Variant extends FittedProgram {
  readonly block: number;
}

/**
 * Bitonic sort: a network of comparators that merges sorted halves. Each merge is a mirror step followed by steps
 * of halving distance. All comparators point up, so any n is sorted without padding.
 *
 * Source: K. E. Batcher, "Sorting Networks and Their Applications" (1968).
 *
 * Complexity: log n (log n + 1) / 2 steps of n / 2 comparators; steps within a block of 1024 keys share a launch in
 * local memory. In place; no scratch for whole keys without values. The network is not stable: with values or a
 * window of bits, each element carries its original position, one word, to break ties. `tuning` `stable: false`
 * disables that. The tie-breaking words limit n to 2^32.
 *
 * The planner picks it last: it needs only barriers. `tuning` `network: true` launches every step separately, for
 * `clsort explain`.
 */
class Bitonic extends CompiledSort<{
  readonly ties: Variant | undefined;
  readonly plain: Variant | undefined;
}> {
  protected override accepts({ n }: SortRequest): true | string {
    return n <= 2 ** 32 || 'positions that break ties are 32-bit: at most 2^32 keys';
  }

  /** Returns the program variant for a window. Equal whole keys are identical, so ties need not be broken. */
  #variant([begin, end]: readonly [number, number]): { variant: Variant; ties: boolean } {
    const whole = begin === 0 && end === this.shape.keyBits;
    const ties = this.built.plain === undefined || (this.built.ties !== undefined && !whole);
    const variant = ties ? this.built.ties : this.built.plain;
    if (!variant) throw new Error('cannot run bitonic: it has no program');
    return { variant, ties };
  }

  override scratch(n: number, { bits }: ScratchOptions): ScratchSizes {
    return this.#variant(bits).ties ? { order: n * 4 } : {};
  }

  enqueue(queue: Queue, work: SortWork): Enqueued {
    const { n, output, outputValues, codec } = work;
    if (n === 0) return {};
    const { variant, ties } = this.#variant(work.bits);
    const { program, groupSize } = variant;
    const network = this.shape.tuning?.network === true;
    const block = network ? 1 : variant.block;
    const order = ties ? [scratchOf(work, 'order')] : [];
    const range = [u64(n), u64(windowMask(work.bits))];
    const codecWords = codecArgument(codec);
    const size = powerAtLeast(n);
    let pass = 0;

    const within = (sizes: readonly [number, number], tail: boolean, last: boolean) => {
      const moved = passInPlace(this.shape, work, { first: pass === 0, last });
      const steps = [u32(sizes[0]), u32(sizes[1]), u32(tail ? 1 : 0), codecWords, u32(moved.flags)];
      const args = [...passBuffers(moved), ...order, ...range, ...steps];
      const global = Math.ceil(n / variant.block) * groupSize;
      queue.run(program.kernel('bitonic_block'), args, { global, local: groupSize, pass });
      work.onStage?.({ kernel: 'bitonic_block', pass, buffers: passOutputs(moved) });
      pass++;
    };
    const across = (blockSize: number, stride: number) => {
      const values: KernelArgument[] = outputValues ? [outputValues] : [];
      const args = [output, ...values, ...order, ...range, u64(blockSize), u64(stride)];
      const global = roundUpToGroups(Math.ceil(size / 2), groupSize);
      queue.run(program.kernel('bitonic_step'), args, { global, local: groupSize, pass });
      const buffers = { keys: output, ...(outputValues && { values: outputValues }) };
      work.onStage?.({ kernel: 'bitonic_step', pass, buffers });
      pass++;
    };

    const alone = size <= block && !network;
    within([2, block], false, alone);
    for (let merged = 2 * block; merged <= size; merged *= 2) {
      across(merged, 0);
      for (let stride = merged / 4; stride >= block; stride /= 2) across(merged, stride);
      if (!network) within([block, block], true, merged === size);
    }
    if (network) within([2, 1], false, true);
    return {};
  }
}

async function build(device: Device, shape: AlgorithmShape, ties: boolean): Promise<Variant> {
  const bytesEach = shape.keyBits / 8 + shape.valueBytes + (ties ? 4 : 0);
  const block = localElements(device, bytesEach, Number(shape.tuning?.block ?? BLOCK));
  const fitted = await buildFittedProgram(
    device,
    'bitonic.cl',
    ['bitonic_step', 'bitonic_block'],
    Math.min(GROUP_SIZE, block),
    (groupSize) => ({
      KEY_BITS: shape.keyBits,
      VALUE_BYTES: shape.valueBytes,
      GROUP_SIZE: groupSize,
      BLOCK: block,
      TIES: ties ? 1 : 0,
    }),
  );
  return { ...fitted, block };
}

export const bitonic: AlgorithmFactory = {
  name: 'bitonic',
  stable: true,
  plannedOn: ['cpu', 'gpu'],
  parameters: { block: whole(1, 2 ** 16), stable: onOff(), network: onOff() },
  available: (_device, shape) => carriesValues(shape),

  async create(device, shape) {
    const stable = shape.tuning?.stable !== false;
    const [ties, plain] = await Promise.all([
      stable ? build(device, shape, true) : undefined,
      stable && shape.valueBytes > 0 ? undefined : build(device, shape, false),
    ]);
    return new Bitonic('bitonic', device, shape, { ties, plain });
  },
};
