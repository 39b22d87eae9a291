import { codecArgument } from '../device/codec-argument.js';
import { buildFittedProgram, type FittedProgram, roundUpToGroups } from '../device/fitted-program.js';
import type { Buffer } from '../device/memory/buffer.js';
import { type KernelArgument, type Queue, u32, u64 } from '../device/queue/queue.js';
import type {
  AlgorithmFactory,
  Enqueued,
  ScratchOptions,
  ScratchSizes,
  SortRequest,
  SortWork,
} from './algorithm.js';
import { CompiledSort } from './compiled-sort.js';
import { type Digit, digitsOf } from './digits.js';
import { whole } from './parameters.js';
import {
  alternateBytes,
  alternatingPasses,
  carriesValues,
  passBuffers,
  passOutputs,
  scratchOf,
} from './passes.js';

const GROUP_SIZE = 256;
/** Positions are 32-bit words. */
const MAX_KEYS = 2 ** 32 - 1;
const KERNELS = ['split_count', 'split_scan', 'split_offset', 'split_move'];

/**
 * Split radix sort: from the lowest bit to the highest, all keys with a zero move stably in front of all keys with
 * a one. A scan computes their positions. Digits of up to four bits are split in the same way.
 *
 * Source: G. E. Blelloch, "Prefix Sums and Their Applications" (1990); on GPUs M. Harris, S. Sengupta, J. D. Owens,
 * "Parallel Prefix Sum (Scan) with CUDA" (GPU Gems 3, 2007).
 *
 * Complexity: 4 launches and about 36 bytes of traffic per 32-bit key and digit, 32 digits by default; one word of
 * scratch per key. Limit: fewer than 2^32 keys.
 *
 * The planner never picks it: it is the worked example of `clsort explain`, and a reference that needs no atomics.
 */
class SplitRadix extends CompiledSort<FittedProgram & { readonly radixBits: number }> {
  protected override accepts({ n }: SortRequest): true | string {
    return n <= MAX_KEYS || 'places are 32-bit: fewer than 2^32 keys';
  }

  override scratch(n: number, { inPlace, bits }: ScratchOptions): ScratchSizes {
    const bins = 2 ** this.built.radixBits;
    return {
      ...alternateBytes(this.shape, n, this.#digits(bits).length, inPlace),
      offsets: n * 4,
      counts: bins * Math.ceil(n / this.built.groupSize) * 4,
      histogram: bins * 4,
      prefix: bins * 4,
    };
  }

  enqueue(queue: Queue, work: SortWork): Enqueued {
    const { n, bits, codec } = work;
    if (n === 0) return {};
    const { program, groupSize } = this.built;
    const [offsets, counts, histogram, prefix] = ['offsets', 'counts', 'histogram', 'prefix'].map((name) =>
      scratchOf(work, name),
    ) as [Buffer, Buffer, Buffer, Buffer];
    const digits = this.#digits(bits);
    const codecWords = codecArgument(codec);
    for (const [pass, buffers] of alternatingPasses(queue, this.shape, digits.length, work).entries()) {
      const { shift = 0, bits: width = 0 } = digits[pass] ?? {};
      // An empty window is one pass on a digit of no bits; shift 0 keeps the shift valid.
      const digit = [u64(n), codecWords, u32(buffers.flags), u32(width > 0 ? shift : 0), u32(width)];
      const run = (kernel: string, args: KernelArgument[], wrote: Record<string, Buffer>, single = false) => {
        const global = single ? groupSize : roundUpToGroups(n, groupSize);
        queue.run(program.kernel(kernel), args, { global, local: groupSize, pass });
        work.onStage?.({ kernel, pass, buffers: wrote });
      };
      const { from } = buffers;
      const tiles = Math.ceil(n / groupSize);
      run('split_count', [from, offsets, counts, ...digit], { offsets, counts });
      const scanned = { counts, histogram, prefix };
      run('split_scan', [counts, histogram, prefix, u32(tiles), u32(n)], scanned, true);
      run('split_offset', [from, offsets, counts, prefix, ...digit], { offsets });
      run('split_move', [...passBuffers(buffers), offsets, prefix, ...digit], {
        places: offsets,
        ...passOutputs(buffers),
      });
    }
    return {};
  }

  #digits(bits: readonly [number, number]): Digit[] {
    return digitsOf(bits, this.built.radixBits, 64);
  }
}

export const splitRadix: AlgorithmFactory = {
  name: 'split',
  stable: true,
  parameters: { radixBits: whole(1, 4, { option: true }) },
  available: (_device, shape) => carriesValues(shape),

  async create(device, shape) {
    const radixBits = Number(shape.tuning?.radixBits ?? 1);
    const fitted = await buildFittedProgram(device, 'split_radix.cl', KERNELS, GROUP_SIZE, (groupSize) => ({
      KEY_BITS: shape.keyBits,
      VALUE_BYTES: shape.valueBytes,
      GROUP_SIZE: groupSize,
      RADIX_BITS: radixBits,
    }));
    return new SplitRadix('split', device, shape, { ...fitted, radixBits });
  },
};
