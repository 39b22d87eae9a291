import { codecArgument } from '../device/codec-argument.js';
import { buildFittedProgram, type FittedProgram, roundUpToGroups } from '../device/fitted-program.js';
import { type Queue, u32, u64 } from '../device/queue/queue.js';
import type { AlgorithmFactory, Enqueued, SortRequest, SortWork } from './algorithm.js';
import { windowMask } from './comparison.js';
import { CompiledSort } from './compiled-sort.js';
import { carriesValues, passBuffers, passInPlace, passOutputs } from './passes.js';

/** The sort takes one launch per key: above this size the launches alone take longer than any other sort. */
export const ODD_EVEN_MAX = 8192;

/**
 * Odd-even transposition sort: n phases. Neighbours at even, then at odd positions are swapped if they are out of
 * order.
 *
 * Source: N. Haberman, "Parallel Neighbor-Sort" (1972).
 *
 * Complexity: n launches, n^2 / 2 comparisons, no scratch; stable. Limit: 8192 keys.
 *
 * The planner never picks it. It is the simplest sorting network, for study and as a reference for other sorts.
 */
class OddEven extends CompiledSort<FittedProgram> {
  protected override accepts({ n }: SortRequest): true | string {
    return n <= ODD_EVEN_MAX || `takes one launch per key: at most ${ODD_EVEN_MAX} keys`;
  }

  enqueue(queue: Queue, work: SortWork): Enqueued {
    const { n, codec } = work;
    const { program, groupSize } = this.built;
    const kernel = program.kernel('odd_even_phase');
    const window = u64(windowMask(work.bits));
    const codecWords = codecArgument(codec);
    for (let phase = 0; phase < n; phase++) {
      const pass = passInPlace(this.shape, work, { first: phase === 0, last: phase === n - 1 });
      const parity = phase % 2;
      const order = [u32(n), u32(parity), window, codecWords, u32(pass.flags)];
      const pairs = Math.ceil((n + parity) / 2);
      queue.run(kernel, [...passBuffers(pass), ...order], {
        global: roundUpToGroups(pairs, groupSize),
        local: groupSize,
        pass: phase,
      });
      work.onStage?.({ kernel: kernel.name, pass: phase, buffers: passOutputs(pass) });
    }
    return {};
  }
}

export const oddEven: AlgorithmFactory = {
  name: 'odd-even',
  stable: true,
  parameters: {},
  available: (_device, shape) => carriesValues(shape),

  async create(device, shape) {
    const fitted = await buildFittedProgram(device, 'odd_even.cl', ['odd_even_phase'], 256, (groupSize) => ({
      KEY_BITS: shape.keyBits,
      VALUE_BYTES: shape.valueBytes,
      GROUP_SIZE: groupSize,
    }));
    return new OddEven('odd-even', device, shape, fitted);
  },
};
