/**
 * Tile parameters for devices without measured ones: a model of compute unit utilization, by the local memory,
 * registers and work-items that a unit's groups take. Its constants were fitted to the measured rows for sm_90 in
 * tunings/hopper.ts, and to tiles measured there with less local memory per group (in
 * test/algorithms/tile-model.test.ts). The register counts were fitted to the output of ptxas for such tiles.
 */

import type { KnownDevice } from '../device/device.js';
import type { Capabilities, Vote } from '../device/platform/capabilities.js';
import { oncePer } from '../util/memo.js';
import type { AlgorithmShape } from './algorithm.js';
import type { Tuning, Value } from './parameters.js';
import { rowItems, TILE_PARAMETERS, type TileTuning, tileBytes } from './tile.js';

/** Share of its time that a group waits for memory, barriers and other groups. */
const WAITING = 0.3;
/**
 * Overhead of a tile in keys per bin (look-back, short runs of equal digits; two of these with values), the groups
 * per unit beyond which no more latency is hidden, and the most keys per work-item that were measured.
 */
const COSTS = {
  keys: { perBin: 10, busyGroups: Number.POSITIVE_INFINITY, mostKeys: 32 },
  pairs: { perBin: 15, busyGroups: 2, mostKeys: 36 },
} as const;
const costsOf = ({ valueBytes }: AlgorithmShape) => COSTS[valueBytes > 0 ? 'pairs' : 'keys'];
/** The overhead per counter of a row, in keys. */
const KEYS_PER_COUNTER = 0.3;
/** Work-items per unit below which its lanes idle. */
const BUSY_ITEMS = 512;
/** Banks of local memory, and the relative cost of each halving of the banks in use. */
const BANKS = 32;
const HALF_THE_BANKS = 0.01;
/** Registers of a work-item besides its keys and values, and for the position of each key with a value. */
const OWN_REGISTERS = 26;
const PLACE_REGISTERS = 0.64;
/** Registers are allocated in multiples of this number. */
const REGISTER_STEP = 8;
/**
 * Score factor if values pass through the keys' memory: two more barriers, but twice as much is left to the cache.
 * On the H200 the same tile of u32 and 4 bytes takes 7.17 ms with keys and values side by side, 6.84 ms otherwise.
 */
const VALUES_AFTER = 1.05;
/** Ranking by masks unrolls three barriers per key, and compilers take long for many of them. */
const MAX_MASKED = 20;

/** Resources of a tile's group, and how well it uses a compute unit. */
export interface Occupancy {
  /** Groups that run on a unit at the same time; 0: not even one. */
  readonly groups: number;
  /** Estimated registers per work-item. */
  readonly registers: number;
  /** From 0 to 1, to compare tiles of one device and shape. */
  readonly score: number;
}

/** Returns the registers that a work-item holds at once: codes and ranks, or values and the positions of their keys. */
function registersOf({ keyBits, valueBytes }: AlgorithmShape, { keysPerItem, rank }: TileTuning): number {
  const perCode = (keyBits === 64 ? 2 : 1) + (rank === 'masks' ? 0.5 : 0);
  const perValue = valueBytes === 0 ? 0 : (valueBytes === 8 ? 2 : 1) + PLACE_REGISTERS;
  const all = OWN_REGISTERS + keysPerItem * Math.max(perCode, perValue);
  return Math.ceil(all / REGISTER_STEP) * REGISTER_STEP;
}

/** Returns the largest power of two that divides both. */
const commonPower = (a: number, b: number): number => (a % b === 0 ? b : commonPower(a, b / 2));

export function occupancyOf(capabilities: Capabilities, shape: AlgorithmShape, tile: TileTuning): Occupancy {
  const { unit } = capabilities;
  const { groupSize, keysPerItem, radixBits } = tile;
  const bytes = tileBytes(shape, tile);
  const registers = registersOf(shape, tile);
  const groups =
    bytes > capabilities.localBudget
      ? 0
      : Math.floor(
          Math.min(
            unit.localBytes / (bytes + unit.groupBytes),
            unit.registers / (registers * groupSize),
            unit.items / groupSize,
          ),
        );
  const [keys, bins] = [groupSize * keysPerItem, 2 ** radixBits];
  const { perBin, busyGroups } = costsOf(shape);
  const each = keys / (keys + (perBin + KEYS_PER_COUNTER * (groupSize / rowItems(tile))) * bins);
  const busy =
    (1 - WAITING ** Math.min(groups, busyGroups)) * Math.min(1, Math.sqrt((groups * groupSize) / BUSY_ITEMS));
  // Evenly spaced keys fill all bins equally, so the first keys of the bins share few banks.
  const halvings = keys % bins === 0 ? Math.log2(commonPower(keys / bins, BANKS)) : 0;
  const score = each * busy * (1 - HALF_THE_BANKS * halvings) * (tile.valuesAfter ? VALUES_AFTER : 1);
  return { groups, registers, score };
}

const numbers = (values: readonly Value[] = []): number[] => values.map(Number);

/** Tiles that the model chooses from. */
export interface TileChoice {
  /** Cache key of the choice: the same name and shape return the same tile. */
  readonly name: string;
  /** Whether values may pass through the keys' memory. */
  readonly valuesAfter?: boolean;
  readonly keysPerItem?: readonly number[];
  readonly groupSizes?: readonly number[];
  /** At most one group runs on a unit. */
  readonly alone?: boolean;
  /** The score of a tile; default: that of its occupancy. */
  readonly score?: (tile: TileTuning, occupancy: Occupancy) => number;
}

/** Returns the ranking method of the model's tiles on a device. */
const modelledRank = ({ hasBallot }: Capabilities): Vote => (hasBallot ? 'ptx' : 'masks');

/** Cached choices: plans repeat them often. */
const choicesOf = oncePer((_capabilities: Capabilities) => new Map<string, Tuning>());

/**
 * Returns the parameters of the model's best tile for a device. If no tile fits, the tile parameters are left out,
 * and the defaults are reduced instead.
 */
export function modelledTile(
  { capabilities }: KnownDevice,
  shape: AlgorithmShape,
  choice: TileChoice,
): Tuning {
  const known = choicesOf(capabilities);
  const key = `${choice.name} ${shape.keyBits} ${shape.valueBytes} ${shape.tuning?.offsetBits}`;
  const tuning = known.get(key) ?? bestTile(capabilities, shape, choice);
  known.set(key, tuning);
  return tuning;
}

function bestTile(
  capabilities: Capabilities,
  shape: AlgorithmShape,
  { valuesAfter, keysPerItem, groupSizes, alone, score = (_, { score }) => score }: TileChoice,
): Tuning {
  const rank = modelledRank(capabilities);
  if (capabilities.quirks.simulated) return { rank }; // idle lanes and banks cost a simulator nothing
  const tiles = (groupSizes ?? numbers(TILE_PARAMETERS.groupSize?.axis))
    .filter((groupSize) => groupSize <= capabilities.maxWorkGroup)
    .flatMap((groupSize) =>
      (keysPerItem ?? numbers(TILE_PARAMETERS.keysPerItem?.axis))
        .filter((count) => count <= (capabilities.hasBallot ? costsOf(shape).mostKeys : MAX_MASKED))
        .flatMap((count) =>
          (valuesAfter && shape.valueBytes > 0 ? [false, true] : [false]).map(
            (after): TileTuning => ({
              rank,
              hasBallot: capabilities.hasBallot,
              groupSize,
              keysPerItem: count,
              radixBits: 8,
              offsetBits: shape.tuning?.offsetBits === 64 ? 64 : 32,
              maxRegisters: 0,
              subGroupSize: 32,
              valuesAfter: after,
            }),
          ),
        ),
    );
  let best: { tile: TileTuning; occupancy: Occupancy; score: number } | undefined;
  for (const tile of tiles) {
    const occupancy = occupancyOf(capabilities, shape, tile);
    if (occupancy.groups === 0) continue;
    const its = score(tile, occupancy);
    if (!best || its > best.score) best = { tile, occupancy, score: its };
  }
  if (!best) return { rank };
  const { tile, occupancy } = best;
  return {
    rank,
    groupSize: tile.groupSize,
    keysPerItem: tile.keysPerItem,
    maxRegisters: rank === 'ptx' ? registerLimit(capabilities, tile, alone ? 1 : occupancy.groups) : 0,
    valuesAfter: tile.valuesAfter,
  };
}

/** Returns the register limit that keeps as many groups resident as the model assumes. */
function registerLimit({ unit }: Capabilities, { groupSize }: TileTuning, groups: number): number {
  const share = unit.registers / (groups * groupSize);
  return Math.min(255, Math.floor(share / REGISTER_STEP) * REGISTER_STEP);
}
