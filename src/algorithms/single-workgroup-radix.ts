import { codecArgument } from '../device/codec-argument.js';
import type { KnownDevice } from '../device/device.js';
import type { Program } from '../device/programs/program.js';
import { type Queue, u32 } from '../device/queue/queue.js';
import type { AlgorithmFactory, AlgorithmShape, Enqueued, SortRequest, SortWork } from './algorithm.js';
import { CompiledSort } from './compiled-sort.js';
import { whole } from './parameters.js';
import { onlyPass, passBuffers, passOutputs } from './passes.js';
import {
  buildTile,
  fitTile,
  fittedTuning,
  TILE_PARAMETERS,
  type TileTuning,
  tileAvailable,
  tileFits,
} from './tile.js';
import { modelledTile } from './tile-model.js';
import { tuningFor } from './tuning.js';

const KERNEL = 'single_workgroup_radix';

const tileOf = (device: KnownDevice, shape: AlgorithmShape): TileTuning => ({
  ...fitTile(device, shape, tuningFor(singleWorkgroupRadix, device, shape)),
  valuesAfter: false, // keys and values stay in the group for all passes
});

/** Keys that the model's tile should hold, and those of a small tile. */
const [MANY, FEW] = [4096, 1024] as const;

const keysOf = ({ groupSize, keysPerItem }: TileTuning): number => groupSize * keysPerItem;

/**
 * Sorts a small array with one work-group in a single launch.
 *
 * Idea: the whole array is one tile of the radix sort. Its keys stay in private and local memory for all passes, so
 * only one launch is needed; launches cost more than the work itself.
 *
 * Source: the local sorts of Stehle and Jacobsen, "A Memory Bandwidth-Efficient Hybrid Radix Sort on GPUs" (2017).
 *
 * Complexity: 1 launch, every key and value read and written once, no scratch. Limit: one tile, which is 1024 to
 * 4096 keys, depending on the device's group size and local memory.
 *
 * The planner picks it first wherever the array fits.
 */
class SingleWorkgroupRadix extends CompiledSort<{ readonly program: Program; readonly tile: TileTuning }> {
  protected override accepts({ n }: SortRequest): true | string {
    return n <= keysOf(this.built.tile) || `one work-group sorts at most ${keysOf(this.built.tile)} keys`;
  }

  enqueue(queue: Queue, work: SortWork): Enqueued {
    const { n, codec, bits, onStage } = work;
    if (n === 0) return {};
    const pass = onlyPass(this.shape, work);
    queue.run(
      this.built.program.kernel(KERNEL),
      [...passBuffers(pass), u32(n), u32(bits[0]), u32(bits[1]), codecArgument(codec), u32(pass.flags)],
      { global: this.built.tile.groupSize, local: this.built.tile.groupSize },
    );
    onStage?.({ kernel: KERNEL, buffers: passOutputs(pass) });
    return {};
  }
}

export const singleWorkgroupRadix: AlgorithmFactory = {
  name: 'single-workgroup',
  stable: true,
  plannedOn: ['cpu', 'gpu'],
  parameters: { ...TILE_PARAMETERS, radixBits: whole(1, 8, { axis: [4, 5, 6, 8] }) },
  search: {
    on: ['cpu', 'gpu'],
    sizes: [
      { n: 2 ** 12, over: 2 ** 10 },
      { n: 2 ** 10, over: 2 ** 8, max: 2 ** 10 },
    ],
  },

  available: tileAvailable,

  modelled(device, shape, n) {
    const wanted = n <= FEW ? FEW : MANY;
    const { valuesAfter: _, ...tile } = modelledTile(device, shape, {
      name: `group of ${wanted}`,
      keysPerItem: [1, 2, 3, 4, 6, 8, 12, 16],
      alone: true,
      // Prefers as many keys as wanted; among equal tiles, the group sizes that are fastest on an H200.
      score: (tile) => {
        const keys = keysOf(tile);
        const best = tile.rank === 'ptx' && wanted === MANY ? 1024 : 256;
        return keys > wanted ? -keys : keys - Math.abs(Math.log2(tile.groupSize / best));
      },
    });
    return tile;
  },

  fit: (device, shape, tuning) =>
    fittedTuning(tuning, fitTile(device, shape, { ...tuning, valuesAfter: false })),

  tune(device, shape, n) {
    const tile = tileOf(device, shape);
    const fits = tileFits(device, shape, tile);
    if (fits !== true) return fits;
    const maxKeys = keysOf(tile);
    if (n > maxKeys) return `one work-group sorts at most ${maxKeys} keys`;
    return { ...shape, tuning: tuningFor(singleWorkgroupRadix, device, shape, n) };
  },

  async create(device, shape) {
    const { program, tile } = await buildTile(
      device,
      'single_workgroup_radix.cl',
      shape,
      tileOf(device, shape),
      [KERNEL],
    );
    return new SingleWorkgroupRadix('single-workgroup', device, shape, { program, tile });
  },
};
