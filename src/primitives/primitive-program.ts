/** How the groups of a launch walk over keys: in tiles of their own order, or each over its part. */
import type { Device, KnownDevice } from '../device/device.js';
import { buildFittedProgram } from '../device/fitted-program.js';
import type { Program } from '../device/program.js';
import type { Dtype } from '../keys/dtype.js';
import { dtypeInfo } from '../keys/dtype.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { Memo } from '../util/memo.js';
import { powerAtMost } from '../util/powers.js';

/** What can be chosen of a walk. */
export interface PrimitiveTuning {
  /** Work-items of a group, a power of two; 1 suits processors whose work-items are turns of a loop. */
  readonly groupSize: number;
  /** Loads of 16 bytes that a work-item has of a tile. */
  readonly rounds: number;
  /** Tiles before its own that a group reads at once; 0: groups tell each other nothing, and keys are read twice. */
  readonly lookBack: number;
  /** Futile reads before a group does the work of the one that it waits for. */
  readonly spinLimit: number;
  /** Groups for each compute unit, where each walks over a part. */
  readonly groupsPerUnit: number;
  /** What a group has of its tile waits in local memory, and not in registers, while it looks back; default false. */
  readonly held?: boolean;
  /** Registers of a work-item, on NVIDIA's devices; none or 0: as many as the compiler takes. */
  readonly maxRegisters?: number;
  /** For tests: every so many tiles a tile tells the others nothing; 0 for none. */
  readonly mute?: number;
}

/** Bytes that a work-item loads at once. */
const VECTOR_BYTES = 16;

/** What suits a device on which nothing was measured. */
export function defaultPrimitiveTuning({ capabilities }: KnownDevice, dtype: Dtype): PrimitiveTuning {
  const { bytes } = dtypeInfo(dtype);
  const { type, quirks, maxWorkGroup } = capabilities;
  if (type === 'cpu') {
    // One group after the other on each core: nobody to wait for, and nothing to gain by telling.
    return { groupSize: 1, rounds: 4, lookBack: 0, spinLimit: 1000, groupsPerUnit: 4 };
  }
  const groupSize = Math.min(256, powerAtMost(maxWorkGroup));
  // Groups take turns in a simulator, and a loop that ends early cannot wait.
  const waits = Number.isFinite(quirks.maxLoopIterations) || quirks.simulated ? 0 : Math.min(32, groupSize);
  return {
    groupSize,
    rounds: bytes === 1 ? 1 : bytes === 2 ? 2 : 4,
    lookBack: waits,
    spinLimit: 2000,
    groupsPerUnit: 8,
  };
}

/** Walks that write tiles, and do not only read them: scans, compactions, and those to the distinct of sorted keys. */
export const TILE_PRIMITIVES = ['scan', 'compact', 'unique'] as const;
export type TilePrimitive = (typeof TILE_PRIMITIVES)[number];

/**
 * The same for walks that write tiles as well: more loads are under way while groups tell each other what they hold, and what a group
 * holds waits in local memory, so that registers are left for other groups. On an H100, 2^24 keys, milliseconds without and with
 * the second: a scan of u32 0.067 and 0.061, of u64 0.121 and 0.104; a filter, whose registers are limited as well, 0.060 and 0.056, of
 * u64 0.106 and 0.095. On an H200 6 rounds took 0.055 for a scan of u32 where 4 took 0.059 and 8 took 0.054. Of distinct keys, of
 * which there are few, tiles of 8 rounds have less to wait for: u64 0.073 on the H100, and 0.079 by 6.
 */
export function defaultTileTuning(
  device: KnownDevice,
  primitive: TilePrimitive,
  dtype: Dtype,
): PrimitiveTuning {
  const tuning = defaultPrimitiveTuning(device, dtype);
  if (!device.capabilities.quirks.inlinePtx) return tuning;
  // Smaller keys were not measured: a search may find what suits them.
  if (tuning.rounds < 4) return { ...tuning, held: false, maxRegisters: 0 };
  const rounds = primitive === 'unique' && dtypeInfo(dtype).bytes === 8 ? 8 : 6;
  return { ...tuning, rounds, held: true, maxRegisters: primitive === 'scan' ? 0 : 40 };
}

/** A program of kernels that walk, with the tuning that its kernels could take. */
export interface PrimitiveProgram {
  readonly program: Program;
  readonly tuning: PrimitiveTuning;
  /** Keys of a tile. */
  readonly tileKeys: number;
}

/** Does a work-item alone have vectors? Drivers that end its loops make lanes of work-items instead. */
const hasVectorUnit = ({ capabilities: { type, quirks } }: KnownDevice): boolean =>
  type === 'cpu' && quirks.maxLoopIterations === Number.POSITIVE_INFINITY;

/** Programs that were asked for: small walks take little longer than finding out what they are compiled with. */
const built = new Memo<PrimitiveProgram>();

const names = new WeakMap<PrimitiveTuning, string>();

/** What is told of a tuning in the names of what is kept. */
export function nameOfTuning(tuning: PrimitiveTuning): string {
  const known = names.get(tuning);
  if (known !== undefined) return known;
  const { groupSize, rounds, lookBack, spinLimit, groupsPerUnit, held, maxRegisters, mute } = tuning;
  const name = [groupSize, rounds, lookBack, spinLimit, groupsPerUnit, held, maxRegisters, mute].join();
  names.set(tuning, name);
  return name;
}

/** Compiles a program for groups as large as the tuning says, or as all its kernels may have. */
export function buildPrimitive(
  device: Device,
  file: string,
  kernels: readonly string[],
  dtype: Dtype,
  defines: Readonly<Record<string, number>>,
  tuning: PrimitiveTuning,
): MaybePromise<PrimitiveProgram> {
  const name = `${file} ${kernels} ${dtype} ${Object.keys(defines)} ${Object.values(defines)} ${nameOfTuning(tuning)}`;
  return built.get(device, name, () => build(device, file, kernels, dtype, defines, tuning));
}

async function build(
  device: Device,
  file: string,
  kernels: readonly string[],
  dtype: Dtype,
  defines: Readonly<Record<string, number>>,
  tuning: PrimitiveTuning,
): Promise<PrimitiveProgram> {
  const { bytes, width, kind } = dtypeInfo(dtype);
  const { quirks, type, unifiedMemory } = device.capabilities;
  const maxRegisters = quirks.inlinePtx ? (tuning.maxRegisters ?? 0) : 0;
  const lookBackOf = (groupSize: number): number => Math.min(tuning.lookBack, groupSize);
  const definesFor = (groupSize: number) => ({
    ...defines,
    KEY_BITS: width,
    // Walks are of the ascending order, in which unsigned keys are their own codes.
    CODEC_IDENTITY: kind === 'unsigned' ? 1 : 0,
    VALUE_BYTES: 0,
    GROUP_SIZE: groupSize,
    FIXED_GROUP: maxRegisters > 0 ? 0 : 1,
    ROUNDS: tuning.rounds,
    // Only memory that the device has made begins where it should.
    WIDE_LOADS: type === 'gpu' && !unifiedMemory ? 1 : 0,
    INLINE_PTX: quirks.inlinePtx ? 1 : 0,
    IN_LANES: groupSize === 1 && hasVectorUnit(device) ? 1 : 0,
    LOOK_BACK: Math.max(1, lookBackOf(groupSize)),
    SPIN_LIMIT: tuning.spinLimit,
    ...(tuning.held && groupSize > 1 && { HELD: 1 }),
    ...(tuning.mute && { MUTE: tuning.mute }),
  });
  const options = maxRegisters > 0 ? [`-cl-nv-maxrregcount=${maxRegisters}`] : [];
  // NVIDIA's driver tells 256 for every kernel of open group size.
  const isTold = !quirks.inlinePtx;
  const { program, groupSize } = await buildFittedProgram(
    device,
    file,
    kernels,
    tuning.groupSize,
    definesFor,
    options,
    isTold,
  );
  return {
    program,
    tuning: { ...tuning, groupSize, lookBack: lookBackOf(groupSize) },
    tileKeys: tuning.rounds * groupSize * (VECTOR_BYTES / bytes),
  };
}

/**
 * Groups of a walk whose work-items take vectors by turns: so many that each has `vectors` of them at least, and no more than
 * fill the device.
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

/** Parts of whole tiles, so many that they fill the device, and no work-item loops too long. */
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
