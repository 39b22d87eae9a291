/** Parameters of walks over keys: those that were measured and stored for a device, and else what suits its kind. */
import { onOff, type Parameters, type Tuning, whole } from '../../algorithms/parameters.js';
import { tuningFor } from '../../algorithms/tuning.js';
import type { KnownDevice } from '../../device/device.js';
import { type Dtype, dtypeInfo } from '../../keys/dtype.js';
import { TILE_WALKS, type TileWalk, tileTuning, type WalkTuning, walkTuning } from '../../primitives/walk.js';

export const WALKS = [...TILE_WALKS, 'reduce', 'histogram'] as const;
/** What walks over keys, by the name that its parameters are stored by. */
export type Walk = (typeof WALKS)[number];

/** Does it make an array as long as what it reads, or shorter? */
export const isTileWalk = (walk: Walk): walk is TileWalk => (TILE_WALKS as readonly Walk[]).includes(walk);

export const isWalk = (name: string): name is Walk => (WALKS as readonly string[]).includes(name);

/** What `clsort tune` varies. */
export const WALK_PARAMETERS: Parameters = {
  groupSize: whole(1, 1024, { axis: [64, 128, 256, 512, 1024] }),
  rounds: whole(1, 16, { axis: [1, 2, 4, 6, 8] }),
  lookBack: whole(0, 256, { axis: [0, 8, 16, 32, 64, 128, 256] }),
  spinLimit: whole(1, 2 ** 30),
  groupsPerUnit: whole(1, 64, { axis: [1, 2, 4, 8, 16, 32] }),
  held: onOff({ axis: [false, true] }),
  maxRegisters: whole(0, 255, { axis: [0, 32, 40, 48, 64] }),
};

const DTYPES = { 8: 'u8', 16: 'u16', 32: 'u32', 64: 'u64' } as const satisfies Record<number, Dtype>;

/** Parameters that were asked for, by device and by what was asked: finding them takes as long as a small walk. */
const found = new WeakMap<KnownDevice, Map<string, WalkTuning>>();
const MAX_FOUND = 256;

/** Parameters for a walk over n keys. */
export function walkTuningFor(device: KnownDevice, walk: Walk, dtype: Dtype, n: number): WalkTuning {
  const all = found.get(device) ?? new Map<string, WalkTuning>();
  found.set(device, all);
  const name = `${walk} ${dtype} ${n}`;
  const known = all.get(name);
  if (known) return known;
  if (all.size >= MAX_FOUND) all.clear();
  const tuning = find(device, walk, dtype, n);
  all.set(name, tuning);
  return tuning;
}

function find(device: KnownDevice, walk: Walk, dtype: Dtype, n: number): WalkTuning {
  const algorithm = {
    name: walk,
    parameters: WALK_PARAMETERS,
    modelled: (known: KnownDevice, { keyBits }: { readonly keyBits: 8 | 16 | 32 | 64 }): Tuning => ({
      ...(isTileWalk(walk) ? tileTuning(known, walk, DTYPES[keyBits]) : walkTuning(known, DTYPES[keyBits])),
    }),
  };
  const keyBits = dtypeInfo(dtype).width;
  // What suits the kind of device has all parameters, of which rows that were measured name some.
  const shape = { keyBits, valueBytes: 0 };
  const suits = algorithm.modelled(device, shape);
  const tuning = { ...suits, ...tuningFor(algorithm, device, shape, n) } as unknown as WalkTuning;
  const { quirks } = device.capabilities;
  return Number.isFinite(quirks.maxLoopIterations) ? { ...tuning, lookBack: 0 } : tuning;
}
