/**
 * What the programs that build on cl/radix_tile.clh have in common on the host: their parameters, macros
 * and the local memory that they take.
 */
import type { Buffer } from '../device/buffer.js';
import type { Capabilities } from '../device/capabilities.js';
import type { Device } from '../device/device.js';
import type { Program } from '../device/program.js';
import type { Queue } from '../device/queue.js';
import { UnsupportedError, UsageError } from '../util/errors.js';
import { type AlgorithmShape, pingPong, type SortWork } from './algorithm.js';
import type { Tuning } from './tuning.js';

/** Kernel argument `flags`, see cl/radix_tile.clh. */
export const FLAG_ENCODE = 1;
export const FLAG_DECODE = 2;
export const FLAG_POSITIONS = 4;
export const FLAG_FIRST = 8;

/** How a tile is ranked, see cl/digit_rank.clh. */
const RANKS = { masks: 0, ptx: 1, khr: 2, lanes: 3 } as const;
export type Rank = keyof typeof RANKS;
/** Those that keep the order of equal digits for certain, which any sort may be tuned to. */
const CERTAIN: readonly string[] = ['masks', 'ptx', 'khr'];

/** Parameters of a tile; they all have a value when an algorithm is compiled. */
export interface TileTuning {
  readonly rank: Rank;
  /** The program may contain inline PTX. */
  readonly inlinePtx: boolean;
  readonly groupSize: number;
  readonly keysPerItem: number;
  readonly radixBits: number;
  /** 32 or 64: bits of a position. */
  readonly offsetBits: 32 | 64;
  /** Registers that the compiler may give a work-item, 0 for as many as it likes. NVIDIA only. */
  readonly maxRegisters: number;
  /** Work-items of a sub-group, for `rank: 'khr'`. */
  readonly subGroupSize: number;
  /** Values pass through the local memory that the keys have left: larger tiles, two barriers more. */
  readonly valuesAfter: boolean;
}

/**
 * Local memory of a Hopper or Ampere unit that one group may declare, more than the driver admits: 227 KiB,
 * of which the compiler takes some for itself.
 */
const PTX_LOCAL_BYTES = 226 * 1024;

export const localBudget = ({ localBytes, quirks }: Capabilities): number =>
  quirks.inlinePtx ? PTX_LOCAL_BYTES : localBytes;

/** A number of the tuning. @throws UsageError when it is none */
export function numberOf(tuning: Tuning, name: string, fallback?: number): number {
  const value = tuning[name] ?? fallback;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new UsageError(`tuning '${name}' must be a number, not ${String(value)}`);
}

/** Work-items of a row, by how it is ranked. */
function rowItems({ rank, subGroupSize }: TileTuning): number {
  return { masks: 16, ptx: 32, khr: subGroupSize, lanes: 32 }[rank];
}

/** Bytes of local memory that a tile takes: TILE_WORDS of cl/radix_tile.clh. */
export function tileBytes({ keyBits, valueBytes }: AlgorithmShape, tuning: TileTuning): number {
  const { groupSize, keysPerItem, radixBits, offsetBits, inlinePtx, valuesAfter, rank } = tuning;
  const bins = 2 ** radixBits;
  const up = (bytes: number, to: number) => Math.ceil(bytes / to) * to;
  const scanWords = inlinePtx ? 32 : groupSize;
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

/** The reason why a tile cannot carry such values, or true. */
export function tileAvailable({ capabilities }: Device, { valueBytes }: AlgorithmShape): true | string {
  if (![0, 1, 2, 4, 8].includes(valueBytes))
    return `values of ${valueBytes} bytes need an argsort and a gather`;
  return capabilities.maxWorkGroup >= 16 || 'needs work-groups of at least 16 work-items';
}

/** Reads the parameters of a tile and shrinks it until the device can hold it. */
export function fitTile({ capabilities }: Device, shape: AlgorithmShape, tuning: Tuning): TileTuning {
  const rank = String(tuning.rank);
  if (!CERTAIN.includes(rank)) {
    throw new UsageError(`tuning 'rank' must be one of ${CERTAIN.join(' ')}, not ${rank}`);
  }
  const { inlinePtx } = capabilities.quirks;
  let tile: TileTuning = {
    // Sub-group ballots are compiled for wave32 and wave64, but no row of the table asks for them yet.
    rank:
      (rank === 'ptx' && !inlinePtx) || (rank === 'khr' && !capabilities.subGroupBallot)
        ? 'masks'
        : (rank as Rank),
    inlinePtx: rank === 'ptx' && inlinePtx,
    groupSize: numberOf(tuning, 'groupSize'),
    keysPerItem: numberOf(tuning, 'keysPerItem'),
    radixBits: numberOf(tuning, 'radixBits', 8),
    offsetBits: numberOf(tuning, 'offsetBits', 32) === 64 ? 64 : 32,
    maxRegisters: inlinePtx ? numberOf(tuning, 'maxRegisters', 0) : 0,
    subGroupSize: numberOf(tuning, 'subGroupSize', 32),
    valuesAfter: tuning.valuesAfter === true && shape.valueBytes > 0,
  };
  const halve = (size: number) => 2 ** (Math.ceil(Math.log2(size)) - 1);
  while (tile.groupSize > capabilities.maxWorkGroup) tile = { ...tile, groupSize: halve(tile.groupSize) };
  const budget = localBudget(capabilities);
  // Places in a tile are kept in 16 bits.
  const large = () => tileBytes(shape, tile) > budget || tile.groupSize * tile.keysPerItem > 2 ** 16;
  while (large() && tile.keysPerItem > 1) {
    tile = { ...tile, keysPerItem: tile.keysPerItem - 1 };
  }
  while (large() && tile.groupSize > 16) {
    tile = { ...tile, groupSize: halve(tile.groupSize) };
  }
  return tile;
}

/**
 * Shall sorts of whole keys without values rank by `lanes`? Tuning `checkedLanes` says so: `true` where crowded tiles
 * can be ranked by votes instead, `'always'` even where keys of few values have to queue up for their counters.
 */
export const usesLanes = (
  { valueBytes }: AlgorithmShape,
  tile: TileTuning,
  { checkedLanes }: Tuning,
): boolean => valueBytes === 0 && (checkedLanes === 'always' || (checkedLanes === true && tile.inlinePtx));

/** The programs of a sort that may rank by lanes. */
export interface RankedPrograms {
  /** Keeps the order of equal digits for certain. */
  readonly certain: Program;
  /** For whole keys without values: an order among equal digits that is looked over afterwards. */
  readonly lanes?: Program;
}

/**
 * Builds them for the same tile; without the second one where the compiler allows it smaller groups only.
 *
 * @param build compiles for a tile or for what of it the device can run
 * @throws BuildError, UnsupportedError
 */
export async function buildRanked(
  shape: AlgorithmShape,
  fitted: TileTuning,
  tuning: Tuning,
  build: (tile: TileTuning) => ReturnType<typeof buildTile>,
): Promise<{ programs: RankedPrograms; tile: TileTuning }> {
  const { program: certain, tile } = await build(fitted);
  const lanes = usesLanes(shape, tile, tuning) ? await build({ ...tile, rank: 'lanes' }) : undefined;
  const same = lanes?.tile.groupSize === tile.groupSize;
  return { programs: { certain, ...(same && { lanes: lanes.program }) }, tile };
}

/** The one for a window of bits: nobody can tell equal keys apart when all bits are sorted on. */
export const rankedFor = (
  { certain, lanes }: RankedPrograms,
  { keyBits }: AlgorithmShape,
  [begin, end]: readonly [number, number],
): Program => (lanes && begin === 0 && end === keyBits ? lanes : certain);

/** Macros of a tile's program. */
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
    INLINE_PTX: tile.inlinePtx ? 1 : 0,
    VALUES_AFTER: tile.valuesAfter ? 1 : 0,
    FIXED_GROUP: tile.maxRegisters > 0 ? 0 : 1,
    ...(tile.rank === 'khr' && { SUB_GROUP_SIZE: tile.subGroupSize }),
  };
}

/** Compiler options of a tile's program. */
function tileOptions(tile: TileTuning, { version }: Capabilities): string[] {
  return [
    ...(tile.maxRegisters > 0 ? [`-cl-nv-maxrregcount=${tile.maxRegisters}`] : []),
    // A device of OpenCL 3.0 may know the language of 3.0 and of 1.2 only.
    ...(tile.rank === 'khr' ? [`-cl-std=CL${version >= 3 ? '3.0' : '2.0'}`] : []),
  ];
}

/**
 * Builds a program, with smaller groups where the compiler allows one of its kernels less than the device
 * allows in general.
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
  for (let tile = fitted; ; tile = { ...tile, groupSize: 2 ** (Math.ceil(Math.log2(tile.groupSize)) - 1) }) {
    const program = await device.program(file, { ...tileDefines(shape, tile), ...defines }, [
      ...options,
      ...tileOptions(tile, device.capabilities),
    ]);
    const limit =
      tile.maxRegisters > 0 // tells nothing about groups of open size
        ? tile.groupSize
        : Math.min(...kernels.map((name) => program.kernel(name).workGroupLimit));
    if (limit >= tile.groupSize) {
      for (const name of tile.rank === 'khr' ? kernels : []) {
        const size = program.kernel(name).subGroupSize(tile.groupSize);
        if (size !== tile.subGroupSize) {
          throw new UnsupportedError(
            `${name} runs in sub-groups of ${size} work-items, not ${tile.subGroupSize}`,
          );
        }
      }
      return { program, tile };
    }
    if (tile.groupSize <= 16) {
      throw new UnsupportedError(`cl/${file} needs groups of 16 work-items; the compiler allows ${limit}`);
    }
  }
}

/** The buffers of one pass. */
export interface Step {
  readonly from: Buffer;
  readonly to: Buffer;
  readonly fromValues?: Buffer;
  readonly toValues?: Buffer;
  /** Of the kernel argument `flags`. */
  readonly flags: number;
}

/** Bytes of the alternate buffers that `passSteps` needs. */
export function alternateBytes(
  { keyBits, valueBytes }: AlgorithmShape,
  n: number,
  passes: number,
  inPlace: boolean,
): Record<string, number> {
  if (passes === 1 && !inPlace) return {};
  return {
    alternateKeys: (n * keyBits) / 8,
    ...(valueBytes > 0 && { alternateValues: n * valueBytes }),
  };
}

/** Which buffers each pass reads and writes, and what it does besides; copies first where that is needed. */
export function passSteps(
  queue: Queue,
  { keyBits, valueBytes }: AlgorithmShape,
  passes: number,
  work: SortWork,
): Step[] {
  const { n, input, output, inputValues, outputValues, indices, codec, scratch } = work;
  const keys = pingPong(passes, { input, output, alternate: scratch.alternateKeys ?? output });
  if (keys.copyFirst && scratch.alternateKeys) {
    queue.copy(input, scratch.alternateKeys, { bytes: (n * keyBits) / 8 });
  }
  if (valueBytes > 0 && !outputValues)
    throw new UsageError('values are to be sorted: outputValues is missing');
  const values =
    valueBytes > 0 && outputValues
      ? pingPong(passes, {
          input: inputValues ?? outputValues,
          output: outputValues,
          alternate: scratch.alternateValues ?? outputValues,
        })
      : undefined;
  if (values?.copyFirst && !indices && inputValues && scratch.alternateValues) {
    queue.copy(inputValues, scratch.alternateValues, { bytes: n * valueBytes });
  }
  return keys.steps.map(({ from, to }, pass) => {
    const step = values?.steps[pass];
    const first = pass === 0;
    const last = pass === passes - 1;
    return {
      from,
      to,
      ...(step && { fromValues: step.from, toValues: step.to }),
      flags:
        (first && !codec.identity ? FLAG_ENCODE : 0) |
        (last && !codec.identity ? FLAG_DECODE : 0) |
        (first && indices ? FLAG_POSITIONS : 0) |
        (first ? FLAG_FIRST : 0),
    };
  });
}

/** The arguments of a pass: keys in and out, and values where there are any. */
export function stepBuffers({ from, to, fromValues, toValues }: Step): Buffer[] {
  return [from, to, ...(fromValues && toValues ? [fromValues, toValues] : [])];
}

/** What a pass wrote, for `onStage`. */
export function stepOutputs({ to, toValues }: Step): Record<string, Buffer> {
  return { keys: to, ...(toValues && { values: toValues }) };
}

/** A scratch buffer. @throws UsageError when it is missing */
export function scratchOf({ scratch }: SortWork, name: string): Buffer {
  const buffer = scratch[name];
  if (!buffer)
    throw new UsageError(`scratch buffer '${name}' is missing: pass one for each entry of scratch()`);
  return buffer;
}
