/** Host code of the programs that build on cl/radix_tile.clh: parameters, macros and local memory sizes. */

import type { Device, KnownDevice } from '../device/device.js';
import type { Capabilities, Vote } from '../device/platform/capabilities.js';
import type { Program } from '../device/programs/program.js';
import { ballotDefine } from '../device/programs/program-source.js';
import { UnsupportedError } from '../util/errors.js';
import { invalidArgument } from '../util/invalid-argument.js';
import { powerBelow } from '../util/powers.js';
import type { AlgorithmFactory, AlgorithmShape, SortRequest } from './algorithm.js';
import { choice, onOff, type Parameters, type Tuning, whole } from './parameters.js';
import { carriesValues } from './passes.js';

/** Ranking methods of a tile, see cl/digit_rank.clh. */
const RANKS = { masks: 0, ptx: 1, khr: 2, lanes: 3 } as const;
export type Rank = keyof typeof RANKS;
/** Methods that keep the order of equal digits for certain; any sort may be tuned to them. */
const CERTAIN: readonly Vote[] = ['masks', 'ptx', 'khr'];

/** Parameters of a tile; all have a value when an algorithm is compiled. */
export interface TileTuning {
  readonly rank: Rank;
  /** Whether the program uses the vendor's ballots; see `Capabilities`. */
  readonly hasBallot: boolean;
  readonly groupSize: number;
  readonly keysPerItem: number;
  readonly radixBits: number;
  /** 32 or 64: bits of a position. */
  readonly offsetBits: 32 | 64;
  /** Registers that the compiler may allocate per work-item; 0: no limit. NVIDIA only. */
  readonly maxRegisters: number;
  /** Work-items of a sub-group, for `rank: 'khr'`. */
  readonly subGroupSize: number;
  /** Values pass through the local memory of the keys after these: allows larger tiles, takes two more barriers. */
  readonly valuesAfter: boolean;
}

/** Tile parameters, except the bits of its digits. */
export const TILE_PARAMETERS: Parameters = {
  rank: choice(CERTAIN, { axis: CERTAIN }),
  groupSize: whole(1, 2 ** 16, { axis: [64, 128, 256, 384, 448, 512, 640, 768, 1024] }),
  keysPerItem: whole(1, 2 ** 12, {
    axis: [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 21, 22, 24, 25, 26, 28, 30, 32, 36],
  }),
  maxRegisters: whole(0, 255, { axis: [40, 48, 56, 64, 72, 80, 96, 128] }),
  subGroupSize: whole(1, 128),
};

/** Bits of positions and sums. */
export const OFFSET_BITS = choice([32, 64]);

/** Whether whole keys may be ranked by `lanes`; see `usesLanes`. */
export const CHECKED_LANES = choice([false, true, 'always'], { axis: [false, true], onlyWith: 'keys' });

export const VALUES_AFTER = onOff({ axis: [false, true], onlyWith: 'values' });

/** Iterations of a wait, before a work-item computes what it waits for, or the sort gives up. */
export const SPIN_LIMIT = whole(1, 2 ** 32 - 1);

/** Halves `wanted`, a power of two, until the columns of `bytesEach` bytes fit the budget; at least 1. */
export function fitColumns(capabilities: Capabilities, wanted: number, bytesEach: number): number {
  let columns = wanted;
  while (columns > 1 && columns * bytesEach > capabilities.localBudget) columns /= 2;
  return columns;
}

/** Returns a number of the tuning. @throws UsageError when the value is not a number */
export function numberOf(tuning: Tuning, name: string, fallback?: number): number {
  const value = tuning[name] ?? fallback;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw invalidArgument(`tuning.${name}`, 'a number', value);
}

/** Returns the work-items per row of a ranking method. */
export function rowItems({ rank, subGroupSize }: TileTuning): number {
  return { masks: 16, ptx: 32, khr: subGroupSize, lanes: 32 }[rank];
}

/** Returns the bytes of local memory of a tile: TILE_WORDS of cl/radix_tile.clh. */
export function tileBytes({ keyBits, valueBytes }: AlgorithmShape, tuning: TileTuning): number {
  const { groupSize, keysPerItem, radixBits, offsetBits, hasBallot, valuesAfter, rank } = tuning;
  const bins = 2 ** radixBits;
  const up = (bytes: number, to: number) => Math.ceil(bytes / to) * to;
  const scanWords = hasBallot ? 32 : groupSize;
  const flagWords = rank === 'lanes' ? 4 : 2;
  const codesAt = up(
    (groupSize / rowItems(tuning)) * bins * 4 + (bins * offsetBits) / 8 + (scanWords + flagWords) * 4,
    16,
  );
  const tile = groupSize * keysPerItem;
  const codesEnd = codesAt + (tile + (rank === 'lanes' ? 1 : 0)) * (keyBits === 64 ? 8 : 4);
  const valuesBytes = tile * (valueBytes === 8 ? 8 : valueBytes === 0 ? 0 : 4);
  return valuesAfter ? Math.max(codesEnd, codesAt + valuesBytes) : up(codesEnd, 8) + valuesBytes;
}

/** Returns true, or the reason why tiles cannot carry such values on the device. */
export function tileAvailable({ capabilities }: KnownDevice, shape: AlgorithmShape): true | string {
  const carries = carriesValues(shape, 8);
  if (carries !== true) return carries;
  return capabilities.maxWorkGroup >= 16 || 'needs work-groups of at least 16 work-items';
}

/** Returns true, or the reason why even the tile from `fitTile` exceeds the device. */
export function tileFits(
  { capabilities }: KnownDevice,
  shape: AlgorithmShape,
  tile: TileTuning,
): true | string {
  const [bytes, budget] = [tileBytes(shape, tile), capabilities.localBudget];
  return bytes <= budget || `the smallest tile takes ${bytes} bytes of local memory, a group has ${budget}`;
}

/** Returns the parameters with the tile's fitted values. */
export const fittedTuning = (
  tuning: Tuning,
  { groupSize, keysPerItem, rank }: TileTuning,
  others: Tuning = {},
): Tuning => ({ ...tuning, groupSize, keysPerItem, rank, ...others });

/** Reads the parameters of a tile and shrinks it until it fits the device. */
export function fitTile({ capabilities }: KnownDevice, shape: AlgorithmShape, tuning: Tuning): TileTuning {
  const rank = CERTAIN.find((one) => one === tuning.rank);
  if (rank === undefined) throw invalidArgument('tuning.rank', `one of ${CERTAIN.join(', ')}`, tuning.rank);
  const { votes, hasBallot, limitsRegisters } = capabilities;
  let tile: TileTuning = {
    // Sub-group ballots are compiled for wave32 and wave64, but no tuning row selects them yet.
    rank: votes.has(rank) ? rank : 'masks',
    hasBallot: rank === 'ptx' && hasBallot,
    groupSize: numberOf(tuning, 'groupSize'),
    keysPerItem: numberOf(tuning, 'keysPerItem'),
    radixBits: numberOf(tuning, 'radixBits', 8),
    offsetBits: numberOf(tuning, 'offsetBits', 32) === 64 ? 64 : 32,
    maxRegisters: limitsRegisters ? numberOf(tuning, 'maxRegisters', 0) : 0,
    subGroupSize: numberOf(tuning, 'subGroupSize', 32),
    valuesAfter: tuning.valuesAfter === true && shape.valueBytes > 0,
  };
  while (tile.groupSize > capabilities.maxWorkGroup)
    tile = { ...tile, groupSize: powerBelow(tile.groupSize) };
  const budget = capabilities.localBudget;
  // Positions in a tile are stored in 16 bits.
  const large = () => tileBytes(shape, tile) > budget || tile.groupSize * tile.keysPerItem > 2 ** 16;
  while (large() && tile.keysPerItem > 1) tile = { ...tile, keysPerItem: tile.keysPerItem - 1 };
  while (large() && tile.groupSize > 16) tile = { ...tile, groupSize: powerBelow(tile.groupSize) };
  return tile;
}

/**
 * Returns whether a sort ranks by `lanes`, which may exchange equal digits: only whole keys without values, which are
 * indistinguishable then. Tuning `checkedLanes` selects it: `true` if crowded tiles can be ranked by votes instead,
 * `'always'` even if keys of few values serialize on their counters.
 */
export const usesLanes = (
  { valueBytes, window }: AlgorithmShape,
  tile: TileTuning,
  { checkedLanes }: Tuning,
): boolean =>
  valueBytes === 0 && !window && (checkedLanes === 'always' || (checkedLanes === true && tile.hasBallot));

/** Returns the shape of an algorithm for sorts on some bits of the keys. */
export const shapeForBits = (
  { parameters }: Pick<AlgorithmFactory, 'parameters'>,
  shape: AlgorithmShape,
  [begin, end]: readonly [number, number],
): AlgorithmShape =>
  'checkedLanes' in parameters && shape.valueBytes === 0 && (begin > 0 || end < shape.keyBits)
    ? { ...shape, window: true }
    : shape;

/** Returns the reason why a sort that may rank by lanes does not support the window of a request, or undefined. */
export function windowProblem(
  { keyBits, valueBytes, window }: AlgorithmShape,
  { bits: [begin, end] }: SortRequest,
): string | undefined {
  const isWhole = begin === 0 && end === keyBits;
  return isWhole || window || valueBytes > 0 ? undefined : 'compiled for whole keys';
}

/** Returns the macros of a tile's program. */
export function tileDefines(
  { keyBits, valueBytes }: AlgorithmShape,
  tile: TileTuning,
): Record<string, number> {
  return {
    KEY_BITS: keyBits,
    VALUE_BYTES: valueBytes,
    GROUP_SIZE: tile.groupSize,
    KEYS_PER_ITEM: tile.keysPerItem,
    RADIX_BITS: tile.radixBits,
    RANK: RANKS[tile.rank],
    OFFSET_BITS: tile.offsetBits,
    ...ballotDefine(tile.hasBallot),
    VALUES_AFTER: tile.valuesAfter ? 1 : 0,
    FIXED_GROUP: tile.maxRegisters > 0 ? 0 : 1,
    ...(tile.rank === 'khr' && { SUB_GROUP_SIZE: tile.subGroupSize }),
  };
}

/** Returns the compiler options of a tile's program. */
function tileOptions(tile: TileTuning, { version }: Capabilities): string[] {
  return [
    ...(tile.maxRegisters > 0 ? [`-cl-nv-maxrregcount=${tile.maxRegisters}`] : []),
    // A device of OpenCL 3.0 may support only the languages 3.0 and 1.2.
    ...(tile.rank === 'khr' ? [`-cl-std=CL${version >= 3 ? '3.0' : '2.0'}`] : []),
  ];
}

/**
 * Builds a program. Uses smaller groups if the compiler's limit for one of its kernels is below the device's limit.
 *
 * @throws BuildError, UnsupportedError
 */
export async function buildTile(
  device: Device,
  file: string,
  shape: AlgorithmShape,
  fitted: TileTuning,
  kernels: readonly string[],
  defines: Readonly<Record<string, number>> = {},
  options: readonly string[] = [],
): Promise<{ program: Program; tile: TileTuning }> {
  for (let tile = fitted; ; tile = { ...tile, groupSize: powerBelow(tile.groupSize) }) {
    const program = await device.program(file, { ...tileDefines(shape, tile), ...defines }, [
      ...options,
      ...tileOptions(tile, device.capabilities),
    ]);
    const limit =
      tile.maxRegisters > 0 // reports nothing about groups of variable size
        ? tile.groupSize
        : Math.min(...kernels.map((name) => program.kernel(name).workGroupLimit));
    if (limit >= tile.groupSize) {
      for (const name of tile.rank === 'khr' ? kernels : []) {
        const size = program.kernel(name).subGroupSize(tile.groupSize);
        if (size !== tile.subGroupSize) {
          throw new UnsupportedError(
            `cannot use kernel ${name}: it runs in sub-groups of ${size} work-items, not ${tile.subGroupSize}`,
          );
        }
      }
      return { program, tile };
    }
    if (tile.groupSize <= 16) {
      throw new UnsupportedError(
        `cannot use cl/${file}: it needs groups of 16 work-items; the compiler allows ${limit}`,
      );
    }
  }
}
