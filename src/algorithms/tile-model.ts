/**
 * Parameters of a tile for devices on which nobody has measured any: a model of how well a compute unit is used, by the
 * local memory, the registers and the work-items that its groups take. What is constant in it was fitted to the rows
 * for sm_90 in tunings/hopper.ts, which were measured, and to tiles that were measured there with less local memory for a
 * group (test/algorithms/tile-model.test.ts has them); registers to what ptxas gives such tiles.
 */
import type { Capabilities } from '../device/capabilities.js';
import type { KnownDevice } from '../device/device.js';
import type { AlgorithmShape } from './algorithm.js';
import type { Tuning, Value } from './parameters.js';
import { rowItems, TILE_PARAMETERS, type TileTuning, tileBytes } from './tile.js';

/** Share of its time that a group waits for memory, barriers and other groups. */
const WAITING = 0.3;
/**
 * What a tile costs besides its keys, in keys: for each bin, look-back and short runs of equal digits, which are two with values;
 * groups of a unit beyond which no more of that waiting is hidden; and the most keys of an item that were measured.
 */
const COSTS = {
  keys: { perBin: 10, busyGroups: Number.POSITIVE_INFINITY, mostKeys: 32 },
  pairs: { perBin: 15, busyGroups: 2, mostKeys: 36 },
} as const;
const costsOf = ({ valueBytes }: AlgorithmShape) => COSTS[valueBytes > 0 ? 'pairs' : 'keys'];
/** The same for each counter of a row. */
const KEYS_PER_COUNTER = 0.3;
/** Work-items of a unit below which its lanes idle. */
const BUSY_ITEMS = 512;
/** Banks of local memory, and what it costs each time that half of them are left out. */
const BANKS = 32;
const HALF_THE_BANKS = 0.01;
/** Registers of a work-item besides those of its keys and values, and for the place of each key that has a value. */
const OWN_REGISTERS = 26;
const PLACE_REGISTERS = 0.64;
/** Registers are handed out by so many. */
const REGISTER_STEP = 8;
/**
 * What it makes of a score that values pass through the memory of the keys: two barriers more, and twice as much is left to
 * the cache. On the H200 the same tile of u32 and 4 bytes takes 7.17 ms with both side by side, and 6.84 without.
 */
const VALUES_AFTER = 1.05;
/** Ranking by masks unrolls three barriers for each key: compilers take long for many of them. */
const MAX_MASKED = 20;

/** What a group of a tile takes, and how well it uses its unit. */
export interface Occupancy {
  /** Groups that run on a unit at the same time; 0: not even one. */
  readonly groups: number;
  /** Registers of a work-item, as far as the model knows. */
  readonly registers: number;
  /** From 0 to 1, for comparing tiles of one device and shape. */
  readonly score: number;
}

/** Registers that a work-item holds at once: codes with their ranks, or the values and the places of their keys. */
function registersOf({ keyBits, valueBytes }: AlgorithmShape, { keysPerItem, rank }: TileTuning): number {
  const perCode = (keyBits === 64 ? 2 : 1) + (rank === 'masks' ? 0.5 : 0);
  const perValue = valueBytes === 0 ? 0 : (valueBytes === 8 ? 2 : 1) + PLACE_REGISTERS;
  const all = OWN_REGISTERS + keysPerItem * Math.max(perCode, perValue);
  return Math.ceil(all / REGISTER_STEP) * REGISTER_STEP;
}

/** The largest power of two that divides both. */
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
  // Evenly spaced keys are equally many in each bin, whose first ones then lie in few banks.
  const halvings = keys % bins === 0 ? Math.log2(commonPower(keys / bins, BANKS)) : 0;
  const score = each * busy * (1 - HALF_THE_BANKS * halvings) * (tile.valuesAfter ? VALUES_AFTER : 1);
  return { groups, registers, score };
}

const numbers = (values: readonly Value[] = []): number[] => values.map(Number);

/** Which tiles the model chooses from. */
export interface TileChoice {
  /** What it is for: the tile that was chosen for a shape once is chosen for that name again. */
  readonly name: string;
  /** May values pass through the memory of the keys? */
  readonly valuesAfter?: boolean;
  readonly keysPerItem?: readonly number[];
  readonly groupSizes?: readonly number[];
  /** There is never more than one group on a unit. */
  readonly alone?: boolean;
  /** The score of a tile; default: that of its occupancy. */
  readonly score?: (tile: TileTuning, occupancy: Occupancy) => number;
}

/** How the model's tiles are ranked on a device. */
const modelledRank = ({ quirks }: Capabilities): 'ptx' | 'masks' => (quirks.inlinePtx ? 'ptx' : 'masks');

/** Choices that were made: plans ask for the same ones again and again. */
const chosen = new WeakMap<Capabilities, Map<string, Tuning>>();

/**
 * The best tile for a device by the model, as parameters; those of the tile are left out where none fits, so that others
 * are made smaller.
 */
export function modelledTile(
  { capabilities }: KnownDevice,
  shape: AlgorithmShape,
  choice: TileChoice,
): Tuning {
  const known = chosen.get(capabilities) ?? new Map<string, Tuning>();
  chosen.set(capabilities, known);
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
        .filter((count) => count <= (rank === 'ptx' ? costsOf(shape).mostKeys : MAX_MASKED))
        .flatMap((count) =>
          (valuesAfter && shape.valueBytes > 0 ? [false, true] : [false]).map(
            (after): TileTuning => ({
              rank,
              inlinePtx: rank === 'ptx',
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

/** As many registers as leave the groups resident that the model counts on. */
function registerLimit({ unit }: Capabilities, { groupSize }: TileTuning, groups: number): number {
  const share = unit.registers / (groups * groupSize);
  return Math.min(255, Math.floor(share / REGISTER_STEP) * REGISTER_STEP);
}
