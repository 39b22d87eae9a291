/** Parameters of primitives: measured and stored for a device, otherwise defaults for its kind. */
import { onOff, type Parameters, type Tuning, whole } from '../../algorithms/parameters.js';
import { tuningFor } from '../../algorithms/tuning.js';
import type { KnownDevice } from '../../device/device.js';
import { type Dtype, dtypeInfo } from '../../keys/dtype.js';
import {
  defaultPrimitiveTuning,
  defaultTileTuning,
  type PrimitiveTuning,
  TILE_PRIMITIVES,
  type TilePrimitive,
} from '../../primitives/primitive-program.js';
import { oncePer } from '../../util/memo.js';

export const PRIMITIVES = [...TILE_PRIMITIVES, 'reduce', 'histogram'] as const;
/** A primitive, by the name under which its parameters are stored. */
export type Primitive = (typeof PRIMITIVES)[number];

/** Whether the primitive writes an array that is as long as its input, or shorter. */
export const isTilePrimitive = (primitive: Primitive): primitive is TilePrimitive =>
  (TILE_PRIMITIVES as readonly Primitive[]).includes(primitive);

export const isPrimitive = (name: string): name is Primitive =>
  (PRIMITIVES as readonly string[]).includes(name);

/** Parameters that `clsort tune` varies. */
export const PRIMITIVE_PARAMETERS: Parameters = {
  groupSize: whole(1, 1024, { axis: [64, 128, 256, 512, 1024] }),
  rounds: whole(1, 16, { axis: [1, 2, 4, 6, 8] }),
  lookBack: whole(0, 256, { axis: [0, 8, 16, 32, 64, 128, 256] }),
  spinLimit: whole(1, 2 ** 30),
  groupsPerUnit: whole(1, 64, { axis: [1, 2, 4, 8, 16, 32] }),
  held: onOff({ axis: [false, true] }),
  maxRegisters: whole(0, 255, { axis: [0, 32, 40, 48, 64] }),
};

const DTYPES = { 8: 'u8', 16: 'u16', 32: 'u32', 64: 'u64' } as const satisfies Record<number, Dtype>;

/** Parameters by device and request, cached because the lookup takes as long as a primitive on few keys. */
const tuningsOf = oncePer((_device: KnownDevice) => new Map<string, PrimitiveTuning>());
/** Cached requests per device; one more clears them, so that programs with many sizes need little memory. */
const MAX_CACHED = 256;

/** Returns the parameters of a primitive on n keys. */
export function primitiveTuningFor(
  device: KnownDevice,
  primitive: Primitive,
  dtype: Dtype,
  n: number,
): PrimitiveTuning {
  const all = tuningsOf(device);
  const name = `${primitive} ${dtype} ${n}`;
  const known = all.get(name);
  if (known) return known;
  if (all.size >= MAX_CACHED) all.clear();
  const tuning = findTuning(device, primitive, dtype, n);
  all.set(name, tuning);
  return tuning;
}

function findTuning(device: KnownDevice, primitive: Primitive, dtype: Dtype, n: number): PrimitiveTuning {
  const algorithm = {
    name: primitive,
    parameters: PRIMITIVE_PARAMETERS,
    modelled: (known: KnownDevice, { keyBits }: { readonly keyBits: 8 | 16 | 32 | 64 }): Tuning => ({
      ...(isTilePrimitive(primitive)
        ? defaultTileTuning(known, primitive, DTYPES[keyBits])
        : defaultPrimitiveTuning(known, DTYPES[keyBits])),
    }),
  };
  const keyBits = dtypeInfo(dtype).width;
  // The defaults contain all parameters; measured rows contain some of them.
  const shape = { keyBits, valueBytes: 0 };
  const defaults = algorithm.modelled(device, shape);
  const tuning = { ...defaults, ...tuningFor(algorithm, device, shape, n) } as unknown as PrimitiveTuning;
  const { quirks } = device.capabilities;
  return Number.isFinite(quirks.maxLoopIterations) ? { ...tuning, lookBack: 0 } : tuning;
}
