import { codecArgument } from '../device/codec-argument.js';
import type { Program } from '../device/programs/program.js';
import { type Queue, u32, u64 } from '../device/queue/queue.js';
import type {
  AlgorithmFactory,
  Enqueued,
  ScratchOptions,
  ScratchSizes,
  SortRequest,
  SortWork,
} from './algorithm.js';
import { CompiledSort } from './compiled-sort.js';
import { digitsOf } from './digits.js';
import { whole } from './parameters.js';
import {
  alternateBytes,
  alternatingPasses,
  FLAG_ENCODE,
  passBuffers,
  passOutputs,
  scratchOf,
} from './passes.js';
import {
  buildTile,
  fitColumns,
  fitTile,
  fittedTuning,
  numberOf,
  OFFSET_BITS,
  TILE_PARAMETERS,
  type TileTuning,
  tileAvailable,
  tileFits,
  VALUES_AFTER,
} from './tile.js';
import { modelledTile } from './tile-model.js';
import { tuningFor } from './tuning.js';

/** Positions need 64 bits from this number of keys on: differences of positions are signed. */
const WIDE = 2 ** 31;
/** Most tiles per group: keeps every loop of a work-item short, which some drivers require. */
const TILES_PER_GROUP = 256;
const KERNELS = ['tiled_upsweep', 'tiled_spine', 'tiled_downsweep'] as const;

interface TiledTuning extends TileTuning {
  readonly groupsPerUnit: number;
}

/**
 * Radix sort by upsweep, spine and downsweep, with large tiles.
 *
 * Idea: every group owns one contiguous piece of the array and counts its digits. A scan of all counts gives the
 * output positions of its keys per digit. The group then ranks and scatters its piece tile by tile.
 *
 * Source: the reduce-then-scan radix sort of Merrill and Grimshaw, "High Performance and Scalable Radix Sorting"
 * (2011).
 *
 * Complexity: 3 launches per pass, 3 × key (+ 2 × value) bytes of traffic per key and pass. No group waits for
 * another, so it runs on every device. No limit: from 2^31 keys on positions take 64 bits.
 *
 * The planner picks it on GPUs where `onesweep` is not available or gave up, on CPUs after `serial`.
 */
class TiledRadix extends CompiledSort<{ readonly program: Program; readonly tuning: TiledTuning }> {
  protected override accepts({ n }: SortRequest): true | string {
    if (this.built.tuning.offsetBits === 32 && n >= WIDE)
      return 'compiled for fewer than 2^31 keys; offsetBits: 64 supports more';
    return true;
  }

  override scratch(n: number, { inPlace, bits }: ScratchOptions): ScratchSizes {
    const { radixBits, offsetBits } = this.built.tuning;
    const bins = 2 ** radixBits;
    return {
      ...alternateBytes(this.shape, n, digitsOf(bits, radixBits).length, inPlace),
      counts: (bins * this.#groups(n).groups * offsetBits) / 8,
      totals: (bins * offsetBits) / 8,
    };
  }

  enqueue(queue: Queue, work: SortWork): Enqueued {
    const { n, bits, codec, onStage } = work;
    if (n === 0) return {};
    const { groupSize, radixBits } = this.built.tuning;
    const { groups, tilesPerGroup } = this.#groups(n);
    const digits = digitsOf(bits, radixBits);
    const counts = scratchOf(work, 'counts');
    const totals = scratchOf(work, 'totals');
    const codecWords = codecArgument(codec);
    const launch = (workGroups: number, pass: number) => ({
      global: workGroups * groupSize,
      local: groupSize,
      pass,
    });

    for (const [pass, step] of alternatingPasses(queue, this.shape, digits.length, work).entries()) {
      const { shift = 0, bits: width = 0 } = digits[pass] ?? {};
      const piece = [u64(n), u32(tilesPerGroup), u32(shift), u32(width), codecWords];
      queue.run(
        this.built.program.kernel('tiled_upsweep'),
        [step.from, counts, ...piece, u32(step.flags & FLAG_ENCODE)],
        launch(groups, pass),
      );
      onStage?.({ kernel: 'tiled_upsweep', pass, buffers: { counts } });
      queue.run(
        this.built.program.kernel('tiled_spine'),
        [counts, totals, u32(groups)],
        launch(2 ** radixBits, pass),
      );
      onStage?.({ kernel: 'tiled_spine', pass, buffers: { counts, totals } });
      queue.run(
        this.built.program.kernel('tiled_downsweep'),
        [...passBuffers(step), counts, totals, ...piece, u32(step.flags)],
        launch(groups, pass),
      );
      onStage?.({ kernel: 'tiled_downsweep', pass, buffers: passOutputs(step) });
    }
    return {};
  }

  /** Returns the number of groups, and the tiles that each of them owns. */
  #groups(n: number): { groups: number; tilesPerGroup: number } {
    const { groupSize, keysPerItem, groupsPerUnit } = this.built.tuning;
    const tiles = Math.max(1, Math.ceil(n / (groupSize * keysPerItem)));
    const wanted = Math.max(
      this.device.capabilities.computeUnits * groupsPerUnit,
      Math.ceil(tiles / TILES_PER_GROUP),
    );
    const tilesPerGroup = Math.ceil(tiles / wanted);
    return { groups: Math.ceil(tiles / tilesPerGroup), tilesPerGroup };
  }
}

export const tiledRadix: AlgorithmFactory = {
  name: 'tiled',
  stable: true,
  plannedOn: ['cpu', 'gpu'],
  parameters: {
    ...TILE_PARAMETERS,
    radixBits: whole(1, 8, { axis: [4, 5, 6, 7, 8], option: true }),
    countColumns: whole(1, 64, { axis: [1, 4, 8, 16, 32] }),
    valuesAfter: VALUES_AFTER,
    groupsPerUnit: whole(1, 64, { axis: [1, 2, 4, 8] }),
    offsetBits: OFFSET_BITS,
  },
  search: { on: ['gpu'], sizes: [{ n: 2 ** 24 }] },

  available: tileAvailable,

  modelled(device, shape) {
    const { hasBallot } = device.capabilities;
    return {
      ...modelledTile(device, shape, { name: 'tiled', valuesAfter: true }),
      ...(hasBallot && { countColumns: 32 }),
    };
  },

  fit(device, shape, tuning) {
    const tile = fitTile(device, shape, tuning);
    const columns = fitColumns(
      device.capabilities,
      numberOf(tuning, 'countColumns'),
      2 ** tile.radixBits * 4,
    );
    return fittedTuning(tuning, tile, { countColumns: columns });
  },

  tune(device, shape, n) {
    const tuning = { ...(n >= WIDE && { offsetBits: 64 }), ...tuningFor(tiledRadix, device, shape, n) };
    const fitted = tiledRadix.fit?.(device, shape, tuning) ?? tuning;
    const fits = tileFits(device, shape, fitTile(device, shape, fitted));
    return fits === true ? { ...shape, tuning: fitted } : fits;
  },

  async create(device, shape) {
    const tuning = tuningFor(tiledRadix, device, shape);
    const fitted = fitTile(device, shape, tuning);
    const countColumns = numberOf(tuning, 'countColumns');
    const { program, tile } = await buildTile(device, 'tiled_radix.cl', shape, fitted, KERNELS, {
      COUNT_COLUMNS: countColumns,
    });
    return new TiledRadix('tiled', device, shape, {
      program,
      tuning: { ...tile, groupsPerUnit: numberOf(tuning, 'groupsPerUnit') },
    });
  },
};
