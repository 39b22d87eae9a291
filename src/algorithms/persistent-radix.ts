import { codecArgument } from '../device/codec-argument.js';
import type { KnownDevice } from '../device/device.js';
import { NO_LONG_WAITS } from '../device/platform/quirks.js';
import type { Program } from '../device/programs/program.js';
import { type Queue, u32 } from '../device/queue/queue.js';
import { powerAtLeast } from '../util/powers.js';
import type {
  AlgorithmFactory,
  AlgorithmShape,
  Enqueued,
  ScratchSizes,
  SortRequest,
  SortWork,
} from './algorithm.js';
import { CompiledSort } from './compiled-sort.js';
import { whole } from './parameters.js';
import { onlyPass, passBuffers, passOutputs, scratchOf } from './passes.js';
import {
  buildTile,
  CHECKED_LANES,
  fitTile,
  fittedTuning,
  numberOf,
  SPIN_LIMIT,
  TILE_PARAMETERS,
  type TileTuning,
  tileAvailable,
  tileFits,
  usesLanes,
  VALUES_AFTER,
  windowProblem,
} from './tile.js';
import { modelledTile } from './tile-model.js';
import { tuningFor } from './tuning.js';

const KERNEL = 'persistent_radix';
/** A tile needs two rows, which have at most 32 work-items. */
const MIN_GROUP = 64;
/** More keys than the groups of any device hold at once. */
const WIDE = 2 ** 31;
/** Bytes of `control` in cl/persistent_radix.cl, and the offset of its sticky word. */
const CONTROL_BYTES = 32;
const ANY_AT = 16;

interface PersistentTuning extends TileTuning {
  /** Groups that are resident on a compute unit at once; 0: only one group on the device can be relied on. */
  readonly groupsPerUnit: number;
}

function tuned(device: KnownDevice, shape: AlgorithmShape, n?: number): PersistentTuning {
  const tuning = tuningFor(persistentRadix, device, shape, n);
  const tile = fitTile(device, shape, { ...tuning, offsetBits: 32 }); // there are never so many keys
  return { ...tile, groupsPerUnit: numberOf(tuning, 'groupsPerUnit') };
}

/** Returns the number of keys that the groups of one launch hold. */
const capacity = (
  { capabilities }: KnownDevice,
  { groupSize, keysPerItem, groupsPerUnit }: PersistentTuning,
) => groupSize * keysPerItem * Math.max(1, Math.floor(groupsPerUnit * capabilities.computeUnits));

/**
 * Sorts a medium-sized array in one launch, by work-groups that are all resident at the same time.
 *
 * Idea: launches and the gaps between them cost a GPU more than the passes over a few hundred thousand keys. One launch
 * therefore runs all passes. Each group keeps one tile. Device-wide barriers synchronize the groups: once to add up the
 * counts of all tiles, once when all keys are at their new positions.
 *
 * Source: barriers between resident groups after Xiao and Feng, "Inter-Block GPU Communication via Fast Barrier
 * Synchronization" (2010); the passes are those of a least-significant-digit radix sort.
 *
 * Complexity: 1 launch, 2 × passes - 1 barriers, 2 × key (+ value) bytes of traffic per key and pass, mostly in the
 * device's cache; no second array. Limit: as many tiles as groups are resident, and groups must make progress
 * concurrently, which OpenCL does not guarantee. Waits are bounded; when one runs out, the status word reports it and
 * another algorithm sorts.
 *
 * The planner picks it on GPUs that passed its self-test, for sizes from the limit of `single-workgroup` up to its own.
 */
class PersistentRadix extends CompiledSort<{ readonly program: Program; readonly tuning: PersistentTuning }> {
  /** Each launch restores it, which saves a command that clears it. */
  readonly #control = this.device.allocatePersistent(CONTROL_BYTES);

  protected override accepts(request: SortRequest): true | string {
    const problem = windowProblem(this.shape, request);
    if (problem !== undefined) return problem;
    const maxKeys = capacity(this.device, this.built.tuning);
    return request.n <= maxKeys || `the groups that run at once hold at most ${maxKeys} keys`;
  }

  override scratch(n: number): ScratchSizes {
    return { counts: this.#tiles(n) * 2 ** this.built.tuning.radixBits * 4 };
  }

  enqueue(queue: Queue, work: SortWork): Enqueued {
    const { n, codec, bits, onStage } = work;
    if (n === 0) return {};
    const { groupSize } = this.built.tuning;
    const pass = onlyPass(this.shape, work);
    queue.run(
      this.built.program.kernel(KERNEL),
      [
        ...passBuffers(pass),
        scratchOf(work, 'counts'),
        this.#control,
        u32(n),
        u32(bits[0]),
        u32(bits[1]),
        codecArgument(codec),
        u32(pass.flags),
      ],
      { global: this.#tiles(n) * groupSize, local: groupSize },
    );
    onStage?.({ kernel: KERNEL, buffers: passOutputs(pass) });
    return { status: this.#control, anyAt: ANY_AT };
  }

  #tiles(n: number): number {
    return Math.ceil(n / (this.built.tuning.groupSize * this.built.tuning.keysPerItem));
  }
}

export const persistentRadix: AlgorithmFactory = {
  name: 'persistent',
  stable: true,
  waits: true,
  plannedOn: ['gpu'],
  parameters: {
    ...TILE_PARAMETERS,
    keysPerItem: whole(1, 2 ** 12, {
      axis: [1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 21, 22, 24, 25, 26, 28, 30, 32, 40, 50],
    }),
    groupsPerUnit: whole(0, 64, { axis: [1, 2] }),
    checkedLanes: CHECKED_LANES,
    valuesAfter: VALUES_AFTER,
    radixBits: whole(1, 8),
    spinLimit: SPIN_LIMIT,
  },
  search: {
    on: ['gpu'],
    sizes: [
      { n: 2 ** 21, over: 2 ** 20, max: 2 ** 21 },
      { n: 2 ** 20, over: 2 ** 19, max: 2 ** 20 },
      { n: 2 ** 18, over: 2 ** 17, max: 2 ** 18 },
    ],
  },

  available(device, shape) {
    const { quirks, deviceScopeAtomics, version, maxWorkGroup } = device.capabilities;
    if (maxWorkGroup < MIN_GROUP) return `needs groups of ${MIN_GROUP} work-items`;
    if (!deviceScopeAtomics || version < 2) return 'needs the device-scope atomics of OpenCL C 2.0';
    if (Number.isFinite(quirks.maxLoopIterations)) return NO_LONG_WAITS;
    if (quirks.simulated) return 'a simulator runs one work-group after the other';
    return tileAvailable(device, shape);
  },

  modelled(device, shape, n) {
    const { hasBallot, computeUnits } = device.capabilities;
    // Whether groups are resident together depends on the vendor: see the rows for any device.
    if (!hasBallot) return {};
    // The smallest tile that lets each compute unit have one, if these tiles hold all keys.
    const share = powerAtLeast(Math.max(1, Math.min(n, WIDE) / computeUnits));
    const tile = modelledTile(device, shape, {
      name: `persistent of ${share} a unit`,
      groupSizes: [512, 384, 256],
      keysPerItem: [2, 4, 8, 16, 20, 24, 28, 32],
      valuesAfter: true,
      alone: true,
      score: ({ groupSize, keysPerItem }) => {
        const keys = groupSize * keysPerItem;
        return keys >= share ? 2 ** 20 / keys + 2 ** 20 : keys;
      },
    });
    return { ...tile, groupsPerUnit: 1 };
  },

  fit: (device, shape, tuning) => fittedTuning(tuning, fitTile(device, shape, { ...tuning, offsetBits: 32 })),

  tune(device, shape, n) {
    const tile = tuned(device, shape, n);
    const fits = tileFits(device, shape, tile);
    if (fits !== true) return fits;
    const maxKeys = capacity(device, tile);
    if (n > maxKeys) return `the groups that run at once hold at most ${maxKeys} keys`;
    return { ...shape, tuning: tuningFor(persistentRadix, device, shape, n) };
  },

  async create(device, shape) {
    const { groupsPerUnit, ...fitted } = tuned(device, shape);
    const tuning = tuningFor(persistentRadix, device, shape);
    const { program, tile } = await buildTile(
      device,
      'persistent_radix.cl',
      shape,
      usesLanes(shape, fitted, tuning) ? { ...fitted, rank: 'lanes' } : fitted,
      [KERNEL],
      { SPIN_LIMIT: numberOf(tuning, 'spinLimit') },
      [device.capabilities.version >= 3 ? '-cl-std=CL3.0' : '-cl-std=CL2.0'],
    );
    return new PersistentRadix('persistent', device, shape, { program, tuning: { ...tile, groupsPerUnit } });
  },
};
