/** Programs of the segmented sort of GPUs. */
import type { Device, KnownDevice } from '../device/device.js';
import { buildFittedProgram, type FittedProgram } from '../device/fitted-program.js';
import type { Buffer } from '../device/memory/buffer.js';
import type { Program } from '../device/programs/program.js';
import { ballotDefine } from '../device/programs/program-source.js';
import type { AlgorithmShape } from './algorithm.js';
import { digitsOf } from './digits.js';
import type { Tuning } from './parameters.js';
import { buildTile, fitColumns, fitTile, numberOf, type TileTuning } from './tile.js';

/** Small tiles have few keys, for the many segments that would leave a large tile mostly empty. */
const SMALL = { groupSize: 64, keysPerItem: 8, radixBits: 7 };
/** Tiles for segments with a known length bound. So few keys take less time with more digits of fewer bits. */
const BOUNDED = [
  { groupSize: 32, keysPerItem: 4, radixBits: 6 },
  { groupSize: 32, keysPerItem: 8, radixBits: 6 },
  SMALL,
  { groupSize: 128, keysPerItem: 8, radixBits: 8 },
  { groupSize: 256, keysPerItem: 8, radixBits: 8 },
];
/** Length bounds of these tiles, in keys. */
export const BOUNDS: readonly number[] = BOUNDED.map(({ groupSize, keysPerItem }) => groupSize * keysPerItem);
/** Copies of the counters of a sweep, if they fit. */
const COUNT_COLUMNS = 8;
/** Bytes of `control` in cl/tile_look_back.clh. */
const CONTROL_BYTES = 80;
/** Work-items per group of rows. */
const ROWS_GROUP = 128;
export const CLASSES = 'segment_classes';

const SHORT_KERNELS = ['segment_tiles'];
/** Kernels for segments of more than a tile. */
const LONG_KERNELS = ['segment_passes', 'segment_counts', 'segment_places', 'segment_move'];

const SWEEP_KERNELS = ['segment_sweep_counts', 'segment_sweep'];

/** Programs for tiles of one size. */
export interface Tiles {
  readonly program: Program;
  readonly tile: TileTuning;
}

/** The program that moves each key once per digit, and its look-back state. */
export interface Sweep extends Tiles {
  readonly lookBack: number;
  /** Persistent, so that its sticky word covers many sorts. */
  readonly control: Buffer;
}

/** The programs of one sort. */
export interface SegmentPrograms {
  /** Missing if every segment has as many keys, and more than a row of work-items sorts. */
  readonly rows: FittedProgram | undefined;
  /** Equal to `tiles` if the segment length is bounded. */
  readonly small: Tiles;
  readonly tiles: Tiles;
  readonly sweep?: Sweep | undefined;
  /** Upper bound of the keys of a segment; undefined if unknown. */
  readonly longest?: number;
}

export const keysOf = ({ tile }: Tiles): number => tile.groupSize * tile.keysPerItem;

/** @throws BuildError, UnsupportedError */
export async function buildSegmentPrograms(
  device: Device,
  shape: AlgorithmShape,
  tuning: Tuning,
): Promise<SegmentPrograms> {
  const { hasBallot } = device.capabilities;
  const buildRows = () =>
    tuning.rows !== 'none' &&
    buildFittedProgram(device, 'segment_rows.cl', [CLASSES], ROWS_GROUP, (groupSize) => ({
      KEY_BITS: shape.keyBits,
      VALUE_BYTES: shape.valueBytes,
      GROUP_SIZE: groupSize,
      ...ballotDefine(hasBallot),
      ROW_NETWORK: (tuning.rows ?? (hasBallot ? 'network' : 'counts')) === 'network' ? 1 : 0,
    }));
  const build = (tile: TileTuning, areLong = false) =>
    buildTile(
      device,
      'segment_tiles.cl',
      shape,
      { ...tile, valuesAfter: false },
      areLong ? [...SHORT_KERNELS, ...LONG_KERNELS] : SHORT_KERNELS,
      { LONG_SEGMENTS: areLong ? 1 : 0 },
    );
  const bound = boundFor(device, shape, tuning, Number(shape.tuning?.longest));
  if (bound) {
    const [rows, tiles] = await Promise.all([buildRows(), build(bound.tile)]);
    if (keysOf(tiles) >= bound.longest) {
      return { rows: rows || undefined, small: tiles, tiles, longest: bound.longest };
    }
  }
  const buildSmall = (tile: TileTuning) =>
    build({
      ...tile,
      groupSize: Math.min(SMALL.groupSize, tile.groupSize),
      keysPerItem: Math.min(SMALL.keysPerItem, tile.keysPerItem),
      radixBits: Math.min(SMALL.radixBits, tile.radixBits),
    });
  const wanted = fitTile(device, shape, tuning);
  const [rows, tiles, sweep] = await Promise.all([
    buildRows(),
    build(wanted, true),
    sweepOf(device, shape, tuning),
    buildSmall(wanted),
  ]);
  // The compiler may have allowed less than `wanted`; otherwise this program is compiled.
  const small = await buildSmall(tiles.tile);
  return { rows: rows || undefined, small, tiles, sweep };
}

/**
 * Returns the smallest tile for segments of at most `longest` keys.
 *
 * @returns undefined if no bounded tile is that large, or the device cannot hold it
 */
export function boundFor(
  device: KnownDevice,
  shape: AlgorithmShape,
  tuning: Tuning,
  longest: number,
): { readonly longest: number; readonly tile: TileTuning } | undefined {
  for (const bounded of BOUNDED) {
    const maxKeys = bounded.groupSize * bounded.keysPerItem;
    if (!(longest <= maxKeys)) continue;
    const tile = fitTile(device, shape, { ...tuning, ...bounded });
    return tile.groupSize * tile.keysPerItem === maxKeys ? { longest: maxKeys, tile } : undefined;
  }
  return undefined;
}

/** Builds the program of a sweep, if the parameters include one. @throws BuildError, UnsupportedError */
async function sweepOf(device: Device, shape: AlgorithmShape, tuning: Tuning): Promise<Sweep | undefined> {
  const keysPerItem = numberOf(tuning, 'sweepKeysPerItem', 0);
  const { capabilities } = device;
  if (keysPerItem === 0 || Number.isFinite(capabilities.quirks.maxLoopIterations)) return undefined;
  const own = {
    ...tuning,
    keysPerItem,
    groupSize: numberOf(tuning, 'sweepGroupSize', numberOf(tuning, 'groupSize')),
  };
  const fitted = { ...fitTile(device, shape, own), valuesAfter: false };
  const lookBack = numberOf(tuning, 'lookBack', 4);
  const counterBytes = digitsOf([0, shape.keyBits], fitted.radixBits).length * 2 ** fitted.radixBits * 4;
  const { program, tile } = await buildTile(device, 'segment_sweep.cl', shape, fitted, SWEEP_KERNELS, {
    COUNT_COLUMNS: fitColumns(capabilities, COUNT_COLUMNS, counterBytes),
    LOOK_BACK: lookBack,
    SPIN_LIMIT: numberOf(tuning, 'spinLimit', 2 ** 21),
  });
  return { program, tile, lookBack, control: device.allocatePersistent(CONTROL_BYTES) };
}
