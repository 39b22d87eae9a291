/** Programs whose groups process keys tile by tile, in a fixed order or in contiguous parts. */
import type { Device, KnownDevice } from '../device/device.js';
import { buildFittedProgram } from '../device/fitted-program.js';
import type { Program } from '../device/programs/program.js';
import { ballotDefine } from '../device/programs/program-source.js';
import type { Dtype } from '../keys/dtype.js';
import { dtypeInfo } from '../keys/dtype.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { Memo, oncePer } from '../util/memo.js';
import { powerAtMost } from '../util/powers.js';

/** Tuning parameters of a primitive. */
export interface PrimitiveTuning {
  /** Work-items per group, a power of two; 1 suits processors that run work-items as loop iterations. */
  readonly groupSize: number;
  /** 16-byte loads per work-item and tile. */
  readonly rounds: number;
  /** Preceding tiles that a group reads at once; 0: no look-back, and keys are read twice. */
  readonly lookBack: number;
  /** Unsuccessful reads before a group does the work of the group that it waits for. */
  readonly spinLimit: number;
  /** Groups per compute unit, if each processes a part. */
  readonly groupsPerUnit: number;
  /** During look-back a group keeps its tile in local memory instead of registers; default false. */
  readonly held?: boolean;
  /** Registers per work-item on NVIDIA devices; undefined or 0: no limit. */
  readonly maxRegisters?: number;
  /** For tests: every so many tiles, one tile publishes nothing; 0: none. */
  readonly mute?: number;
}

/** Bytes of one load of a work-item. */
const VECTOR_BYTES = 16;

/** Returns the parameters for a device without measurements. */
export function defaultPrimitiveTuning({ capabilities }: KnownDevice, dtype: Dtype): PrimitiveTuning {
  const { bytes } = dtypeInfo(dtype);
  const { type, quirks, maxWorkGroup } = capabilities;
  if (type === 'cpu') {
    // Each core runs one group after the other, so look-back gains nothing.
    return { groupSize: 1, rounds: 4, lookBack: 0, spinLimit: 1000, groupsPerUnit: 4 };
  }
  const groupSize = Math.min(256, powerAtMost(maxWorkGroup));
  // A simulator runs groups one after the other, and a driver that limits loops cannot wait.
  const waits = Number.isFinite(quirks.maxLoopIterations) || quirks.simulated ? 0 : Math.min(32, groupSize);
  return {
    groupSize,
    rounds: bytes === 1 ? 1 : bytes === 2 ? 2 : 4,
    lookBack: waits,
    spinLimit: 2000,
    groupsPerUnit: 8,
  };
}

/** Primitives that write tiles as well as read them. */
export const TILE_PRIMITIVES = ['scan', 'compact', 'unique'] as const;
export type TilePrimitive = (typeof TILE_PRIMITIVES)[number];

/**
 * Returns the parameters of primitives that write tiles. More loads are in flight during look-back, and tiles are
 * kept in local memory, which leaves registers for other groups.
 *
 * H100, 2^24 keys, milliseconds without and with local memory: scan of u32 0.067 and 0.061, of u64 0.121 and 0.104;
 * filter (with limited registers) of u32 0.060 and 0.056, of u64 0.106 and 0.095. H200, scan of u32: 4 rounds
 * 0.059, 6 rounds 0.055, 8 rounds 0.054. Unique of u64 on the H100: 8 rounds 0.073, 6 rounds 0.079; few keys are
 * written, so larger tiles wait less.
 */
export function defaultTileTuning(
  device: KnownDevice,
  primitive: TilePrimitive,
  dtype: Dtype,
): PrimitiveTuning {
  const tuning = defaultPrimitiveTuning(device, dtype);
  if (!device.capabilities.limitsRegisters) return tuning;
  // Narrower keys were not measured: a search may find better parameters.
  if (tuning.rounds < 4) return { ...tuning, held: false, maxRegisters: 0 };
  const rounds = primitive === 'unique' && dtypeInfo(dtype).bytes === 8 ? 8 : 6;
  return { ...tuning, rounds, held: true, maxRegisters: primitive === 'scan' ? 0 : 40 };
}

/** A compiled program, and the tuning that its kernels support. */
export interface PrimitiveProgram {
  readonly program: Program;
  readonly tuning: PrimitiveTuning;
  readonly tileKeys: number;
}

/** Returns whether a single work-item can use vectors. If the driver limits loops, work-items are the lanes instead. */
const hasVectorUnit = ({ capabilities: { type, quirks } }: KnownDevice): boolean =>
  type === 'cpu' && quirks.maxLoopIterations === Number.POSITIVE_INFINITY;

/** Compiled programs: small primitives take little longer than computing their macros. */
const built = new Memo<PrimitiveProgram>();

/** Returns a cache key for a tuning. */
export const nameOfTuning = oncePer((tuning: PrimitiveTuning): string => {
  const { groupSize, rounds, lookBack, spinLimit, groupsPerUnit, held, maxRegisters, mute } = tuning;
  return [groupSize, rounds, lookBack, spinLimit, groupsPerUnit, held, maxRegisters, mute].join();
});

/** Compiles a program for groups of the tuned size, or of the largest size that all its kernels support. */
export function buildPrimitive(
  device: Device,
  file: string,
  kernels: readonly string[],
  dtype: Dtype,
  defines: Readonly<Record<string, number>>,
  tuning: PrimitiveTuning,
): MaybePromise<PrimitiveProgram> {
  const name = `${file} ${kernels} ${dtype} ${Object.keys(defines)} ${Object.values(defines)} ${nameOfTuning(tuning)}`;
  return built.get(device, name, async () => {
    const { bytes, width, kind } = dtypeInfo(dtype);
    const { hasBallot, limitsRegisters, reportsGroupLimit, type, unifiedMemory } = device.capabilities;
    const maxRegisters = limitsRegisters ? (tuning.maxRegisters ?? 0) : 0;
    const lookBackOf = (groupSize: number): number => Math.min(tuning.lookBack, groupSize);
    const definesFor = (groupSize: number) => ({
      ...defines,
      KEY_BITS: width,
      // Primitives use the ascending order, in which unsigned keys are their own codes.
      CODEC_IDENTITY: kind === 'unsigned' ? 1 : 0,
      VALUE_BYTES: 0,
      GROUP_SIZE: groupSize,
      FIXED_GROUP: maxRegisters > 0 ? 0 : 1,
      ROUNDS: tuning.rounds,
      // Only memory that the device allocated is guaranteed to be aligned.
      WIDE_LOADS: type === 'gpu' && !unifiedMemory ? 1 : 0,
      ...ballotDefine(hasBallot),
      IN_LANES: groupSize === 1 && hasVectorUnit(device) ? 1 : 0,
      LOOK_BACK: Math.max(1, lookBackOf(groupSize)),
      SPIN_LIMIT: tuning.spinLimit,
      ...(tuning.held && groupSize > 1 && { HELD: 1 }),
      ...(tuning.mute && { MUTE: tuning.mute }),
    });
    const options = maxRegisters > 0 ? [`-cl-nv-maxrregcount=${maxRegisters}`] : [];
    const { program, groupSize } = await buildFittedProgram(
      device,
      file,
      kernels,
      tuning.groupSize,
      definesFor,
      options,
      reportsGroupLimit,
    );
    return {
      program,
      tuning: { ...tuning, groupSize, lookBack: lookBackOf(groupSize) },
      tileKeys: tuning.rounds * groupSize * (VECTOR_BYTES / bytes),
    };
  });
}

/**
 * Returns the groups of a grid-stride loop over vectors: each work-item has at least `vectors` vectors, and the
 * groups do not exceed what fills the device.
 */
export function gridStrideVectorGroups(
  { capabilities }: Device,
  { n, dtype }: { readonly n: number; readonly dtype: Dtype },
  { groupSize, groupsPerUnit }: PrimitiveTuning,
  vectors: number,
): number {
  const share = groupSize * vectors * (VECTOR_BYTES / dtypeInfo(dtype).bytes);
  return Math.max(1, Math.min(Math.ceil(n / share), capabilities.computeUnits * groupsPerUnit));
}

/** Splits n keys into parts of whole tiles: enough parts to fill the device and to bound each work-item's loop. */
export function partsOf(
  { capabilities }: Device,
  n: number,
  { tileKeys, tuning }: PrimitiveProgram,
): { readonly parts: number; readonly tiles: number } {
  const { computeUnits, quirks } = capabilities;
  const all = Math.max(1, Math.ceil(n / tileKeys));
  const filling = Math.min(all, computeUnits * tuning.groupsPerUnit);
  const loops = Math.min(quirks.maxLoopIterations, 2 ** 20) / 2;
  const tiles = Math.min(Math.ceil(all / filling), Math.max(1, Math.floor(loops)));
  return { parts: Math.ceil(all / tiles), tiles };
}
