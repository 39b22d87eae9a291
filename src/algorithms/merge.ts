import { codecArgument } from '../device/codec-argument.js';
import {
  buildFittedProgram,
  type FittedProgram,
  localElements,
  roundUpToGroups,
} from '../device/fitted-program.js';
import type { Buffer } from '../device/memory/buffer.js';
import { type KernelArgument, type Queue, u32, u64 } from '../device/queue/queue.js';
import type { AlgorithmFactory, Enqueued, ScratchOptions, ScratchSizes, SortWork } from './algorithm.js';
import { windowMask } from './comparison.js';
import { CompiledSort } from './compiled-sort.js';
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
const TILE = 1024;
/** Single work-items merge runs up to this length, unless the `short` parameter says otherwise. */
const SHORT = 16;
const KERNELS = ['merge_pairs', 'merge_local', 'merge_split', 'merge_tiles'];

/** Number of passes that double runs of one key until one run is left; an empty window is one pass that copies. */
export const mergePasses = (n: number, [begin, end]: readonly [number, number]): number =>
  begin === end ? 1 : Math.max(1, Math.ceil(Math.log2(n)));

/**
 * Merge sort: runs of one key are merged pairwise until one is left. Single work-items merge short runs, one group
 * merges middle runs in local memory. Many groups merge long runs, cut into tiles along the merge path.
 *
 * Source: J. von Neumann (1945); ranks by binary search N. Satish, M. Harris, M. Garland, "Designing Efficient
 * Sorting Algorithms for Manycore GPUs" (2009); merge path O. Green, R. McColl, D. A. Bader (2012).
 *
 * Complexity: log2 n passes of one launch (two for long runs), each with 8 bytes of traffic per 32-bit key; scratch
 * as large as the input and 8 bytes per tile. Positions are 64-bit: any n.
 *
 * The planner picks it where no radix sort can be used; it is the stable comparison sort.
 */
class Merge extends CompiledSort<FittedProgram & { readonly tile: number; readonly short: number }> {
  override scratch(n: number, { inPlace, bits }: ScratchOptions): ScratchSizes {
    return {
      ...alternateBytes(this.shape, n, mergePasses(n, bits), inPlace),
      ...(n > this.built.tile && { splits: Math.ceil(n / this.built.tile) * 8 }),
    };
  }

  enqueue(queue: Queue, work: SortWork): Enqueued {
    const { n, bits, codec } = work;
    if (n === 0) return {};
    const { program, groupSize } = this.built;
    const passes = mergePasses(n, bits);
    const order = [u64(n), u64(windowMask(bits))];
    const codecWords = codecArgument(codec);
    const tiles = Math.ceil(n / this.built.tile);
    for (const [pass, buffers] of alternatingPasses(queue, this.shape, passes, work).entries()) {
      const width = 2 ** pass;
      const elements = passBuffers(buffers);
      const last = [codecWords, u32(buffers.flags)];
      const run = (kernel: string, args: KernelArgument[], items: number, wrote: Record<string, Buffer>) => {
        queue.run(program.kernel(kernel), args, { global: items, local: groupSize, pass });
        work.onStage?.({ kernel, pass, buffers: wrote });
      };
      if (width <= this.built.short) {
        const pairs = roundUpToGroups(Math.ceil(n / (2 * width)), groupSize);
        run('merge_pairs', [...elements, ...order, u32(width), ...last], pairs, passOutputs(buffers));
      } else if (2 * width <= this.built.tile) {
        const args = [...elements, ...order, u32(width), ...last];
        run('merge_local', args, tiles * groupSize, passOutputs(buffers));
      } else {
        const splits = scratchOf(work, 'splits');
        const cut = [buffers.from, splits, ...order, u64(width), u64(tiles)];
        run('merge_split', cut, roundUpToGroups(tiles, groupSize), { splits });
        const args = [...elements, splits, ...order, u64(width), ...last];
        run('merge_tiles', args, tiles * groupSize, passOutputs(buffers));
      }
    }
    return {};
  }
}

export const merge: AlgorithmFactory = {
  name: 'merge',
  stable: true,
  plannedOn: ['cpu', 'gpu'],
  parameters: { tile: whole(1, 2 ** 16), short: whole(0, 2 ** 16) },
  available: (_device, shape) => carriesValues(shape),

  async create(device, shape) {
    const wanted = Number(shape.tuning?.tile ?? TILE);
    const tile = localElements(device, shape.keyBits / 8, wanted);
    const fitted = await buildFittedProgram(
      device,
      'merge.cl',
      KERNELS,
      Math.min(GROUP_SIZE, tile),
      (groupSize) => ({
        KEY_BITS: shape.keyBits,
        VALUE_BYTES: shape.valueBytes,
        GROUP_SIZE: groupSize,
        TILE: tile,
      }),
    );
    return new Merge('merge', device, shape, {
      ...fitted,
      tile,
      short: Number(shape.tuning?.short ?? SHORT),
    });
  },
};
