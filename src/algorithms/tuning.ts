import { architectureOf } from '../device/architecture.js';
import type { Device } from '../device/device.js';
import type { AlgorithmShape } from './algorithm.js';
import { storedTuning } from './tuning-store.js';

/** Parameters of an algorithm, as they stand in `AlgorithmShape.tuning`. */
export type Tuning = Readonly<Record<string, number | string | boolean>>;

/** Which devices a row is for; what is left out matches all. */
interface Where {
  readonly device?: RegExp;
  readonly architecture?: string;
  readonly family?: string;
  readonly type?: string;
}

/** Which sorts a row is for; what is left out matches all. */
export interface Which {
  readonly keyBits?: number;
  readonly valueBytes?: number;
  /** Most keys. */
  readonly n?: number;
  /** More keys than these. */
  readonly over?: number;
}

interface Row {
  readonly algorithm: string;
  readonly where?: Where;
  readonly which?: Which;
  readonly tuning: Tuning;
}

const hopper = { architecture: 'hopper' } as const;

/**
 * Measured parameters. All rows that match count: those for a device win over those for an architecture,
 * these over those for a family or type, these over defaults; among equals the later row wins.
 *
 * `hopper`: NVIDIA H200, driver 580.159.04, 2026-11-21. `cpu`: PoCL 3.1 on two cores of an Intel Xeon, 2026-11-21, before
 * that of an AMD EPYC. `clsort tune` found them or found nothing better: `scripts/results/*-tune.json` has its searches.
 */
const ROWS: readonly Row[] = [
  {
    algorithm: 'onesweep',
    tuning: {
      rank: 'masks',
      groupSize: 256,
      keysPerItem: 16,
      histogramSize: 256,
      histogramColumns: 4,
      lookBack: 4,
      spinLimit: 2_000_000,
    },
  },
  {
    algorithm: 'onesweep',
    where: { type: 'cpu' },
    // A group that was sent to sleep may keep others waiting for long.
    tuning: {
      groupSize: 64,
      keysPerItem: 4,
      histogramSize: 64,
      histogramColumns: 1,
      lookBack: 1,
      spinLimit: 2_000_000_000,
    },
  },
  {
    algorithm: 'onesweep',
    where: { family: 'nvidia' },
    tuning: { rank: 'ptx', histogramSize: 1024, histogramColumns: 32 },
  },
  {
    algorithm: 'onesweep',
    where: { family: 'nvidia' },
    which: { keyBits: 64 },
    tuning: { histogramColumns: 16 },
  },
  {
    algorithm: 'onesweep',
    where: hopper,
    tuning: { groupSize: 384, keysPerItem: 28, maxRegisters: 56, checkedLanes: true },
  },
  // 32 are faster by 1 % where keys are uniform; where they are evenly spaced each digit has 48 keys of a tile then,
  // which begin in two banks of local memory: 45 begin in all.
  {
    algorithm: 'onesweep',
    where: hopper,
    which: { keyBits: 32, valueBytes: 0, over: 2 ** 24 },
    tuning: { keysPerItem: 30 },
  },
  {
    algorithm: 'onesweep',
    where: hopper,
    which: { valueBytes: 4 },
    tuning: { groupSize: 448, keysPerItem: 28, maxRegisters: 72, lookBack: 2, valuesAfter: true },
  },
  {
    algorithm: 'onesweep',
    where: hopper,
    which: { valueBytes: 8 },
    tuning: { groupSize: 384, keysPerItem: 20, maxRegisters: 80, lookBack: 2, valuesAfter: true },
  },
  {
    algorithm: 'onesweep',
    where: hopper,
    which: { keyBits: 64 },
    tuning: { groupSize: 384, keysPerItem: 26, maxRegisters: 80 },
  },
  {
    algorithm: 'onesweep',
    where: hopper,
    which: { keyBits: 64, valueBytes: 4 },
    tuning: { groupSize: 512, keysPerItem: 16, maxRegisters: 64, lookBack: 2 },
  },
  {
    algorithm: 'onesweep',
    where: hopper,
    which: { keyBits: 64, valueBytes: 8 },
    tuning: { groupSize: 384, keysPerItem: 20, maxRegisters: 80, lookBack: 2 },
  },
  {
    algorithm: 'onesweep',
    where: hopper,
    which: { keyBits: 64, valueBytes: 0, n: 2 ** 22 },
    tuning: { groupSize: 512, keysPerItem: 16, maxRegisters: 64 },
  },
  {
    algorithm: 'onesweep',
    where: hopper,
    which: { n: 2 ** 18 },
    tuning: {
      groupSize: 256,
      keysPerItem: 8,
      maxRegisters: 64,
      histogramSize: 256,
      histogramColumns: 4,
      lookBack: 8,
      checkedLanes: false,
      valuesAfter: false,
    },
  },

  {
    algorithm: 'tiled',
    tuning: {
      rank: 'masks',
      radixBits: 8,
      groupSize: 256,
      keysPerItem: 20,
      countColumns: 8,
      groupsPerUnit: 4,
    },
  },
  { algorithm: 'tiled', where: { type: 'cpu' }, tuning: { groupSize: 64, keysPerItem: 4, countColumns: 1 } },
  {
    algorithm: 'tiled',
    where: { family: 'nvidia' },
    tuning: {
      rank: 'ptx',
      groupSize: 512,
      keysPerItem: 20,
      maxRegisters: 64,
      countColumns: 32,
      groupsPerUnit: 4,
    },
  },
  { algorithm: 'tiled', where: { family: 'nvidia' }, which: { keyBits: 64 }, tuning: { keysPerItem: 12 } },
  {
    algorithm: 'tiled',
    where: { family: 'nvidia' },
    which: { valueBytes: 4 },
    tuning: { groupSize: 384, keysPerItem: 20, maxRegisters: 80 },
  },
  {
    algorithm: 'tiled',
    where: { family: 'nvidia' },
    which: { valueBytes: 8 },
    tuning: { groupSize: 384, keysPerItem: 12, maxRegisters: 80 },
  },
  { algorithm: 'tiled', where: hopper, which: { keyBits: 32, valueBytes: 0 }, tuning: { keysPerItem: 22 } },
  {
    algorithm: 'tiled',
    where: hopper,
    which: { keyBits: 32, valueBytes: 4 },
    tuning: { groupSize: 640, keysPerItem: 26 },
  },
  {
    algorithm: 'tiled',
    where: hopper,
    which: { keyBits: 32, valueBytes: 8 },
    tuning: { groupSize: 512, keysPerItem: 22, maxRegisters: 80 },
  },
  {
    algorithm: 'tiled',
    where: hopper,
    which: { keyBits: 64, valueBytes: 0 },
    tuning: { groupSize: 384, keysPerItem: 21, maxRegisters: 80 },
  },
  {
    algorithm: 'tiled',
    where: hopper,
    which: { keyBits: 64, valueBytes: 4 },
    tuning: { groupSize: 768, keysPerItem: 21 },
  },

  { algorithm: 'group', tuning: { rank: 'masks', radixBits: 8, groupSize: 256, keysPerItem: 16 } },
  { algorithm: 'group', which: { n: 1024 }, tuning: { keysPerItem: 4 } },
  { algorithm: 'group', where: { type: 'cpu' }, tuning: { groupSize: 64, keysPerItem: 16 } },
  { algorithm: 'group', where: { type: 'cpu' }, which: { n: 256 }, tuning: { keysPerItem: 4 } },
  {
    algorithm: 'group',
    where: { family: 'nvidia' },
    tuning: { rank: 'ptx', groupSize: 1024, keysPerItem: 4, maxRegisters: 64 },
  },
  {
    algorithm: 'group',
    where: { family: 'nvidia' },
    which: { n: 1024 },
    tuning: { groupSize: 256, keysPerItem: 4 },
  },

  {
    algorithm: 'persistent',
    tuning: {
      rank: 'masks',
      radixBits: 8,
      groupSize: 256,
      keysPerItem: 16,
      // What a compute unit is, and how many groups one holds, is a matter of the vendor: nothing is taken
      // for granted where it has not been tried.
      groupsPerUnit: 0,
      spinLimit: 2_000_000,
    },
  },
  { algorithm: 'persistent', where: { type: 'cpu' }, tuning: { groupSize: 64, keysPerItem: 16 } },
  {
    algorithm: 'persistent',
    where: { family: 'nvidia' },
    tuning: { rank: 'ptx', groupSize: 512, keysPerItem: 16, maxRegisters: 128, groupsPerUnit: 1 },
  },
  // The later a row, the smaller the tile: as many units as can be have one. Tiles for 2^21 keys are the largest, but
  // for narrow keys: above, onesweep is slower by 9 % (u32) or 15 % (u64) where keys are uniform, and faster by up to 28 %
  // or 60 % where they are skewed.
  {
    algorithm: 'persistent',
    where: hopper,
    tuning: { groupSize: 512, keysPerItem: 32, maxRegisters: 128, checkedLanes: true },
  },
  ...([8, 16] as const).map((keyBits) => ({
    algorithm: 'persistent',
    where: hopper,
    which: { keyBits, over: 2 ** 21 },
    tuning: { groupSize: 640, keysPerItem: 50, maxRegisters: 96 },
  })),
  // 512 x 32 are faster by 4 % where keys are uniform and slower by a third where they are evenly spaced: each digit has
  // 64 keys of a tile then, which all begin in one bank of local memory.
  {
    algorithm: 'persistent',
    where: hopper,
    which: { keyBits: 32 },
    tuning: { groupSize: 640, keysPerItem: 25, maxRegisters: 96 },
  },
  {
    algorithm: 'persistent',
    where: hopper,
    which: { keyBits: 32, valueBytes: 4 },
    tuning: { valuesAfter: true },
  },
  {
    algorithm: 'persistent',
    where: hopper,
    which: { keyBits: 32, valueBytes: 8, n: 1.5 * 2 ** 20 },
    tuning: { groupSize: 512, keysPerItem: 24, maxRegisters: 128, valuesAfter: true },
  },
  {
    algorithm: 'persistent',
    where: hopper,
    which: { n: 2 ** 20 },
    tuning: { groupSize: 512, keysPerItem: 16, maxRegisters: 128 },
  },
  {
    algorithm: 'persistent',
    where: hopper,
    which: { n: 2 ** 19 },
    tuning: { groupSize: 512, keysPerItem: 8, maxRegisters: 128 },
  },
  {
    algorithm: 'persistent',
    where: hopper,
    which: { n: 2 ** 18 },
    tuning: { groupSize: 512, keysPerItem: 4, maxRegisters: 128 },
  },
  ...([16, 32] as const).map((keyBits) => ({
    algorithm: 'persistent',
    where: hopper,
    which: { keyBits, valueBytes: 0, n: 2 ** 18 },
    tuning: { keysPerItem: 8 },
  })),
  {
    algorithm: 'persistent',
    where: hopper,
    which: { n: 2 ** 17 },
    tuning: { groupSize: 512, keysPerItem: 2, maxRegisters: 128 },
  },

  { algorithm: 'serial', tuning: { radixBits: 8, runsPerUnit: 2, lines: true } },
  { algorithm: 'serial', which: { keyBits: 32 }, tuning: { radixBits: 11 } },
  { algorithm: 'serial', which: { keyBits: 64 }, tuning: { radixBits: 11 } },
  { algorithm: 'serial', which: { n: 2 ** 18 }, tuning: { runsPerUnit: 1 } },
  // A core's cache holds the array: lines would be flushed half full.
  { algorithm: 'serial', which: { n: 2 ** 16 }, tuning: { radixBits: 8, lines: false } },
  {
    algorithm: 'serial',
    which: { keyBits: 64, valueBytes: 0, over: 2 ** 14, n: 2 ** 16 },
    tuning: { radixBits: 11 },
  },
];

const specificity = ({ where = {} }: Row): number =>
  where.device ? 3 : where.architecture ? 2 : where.family || where.type ? 1 : 0;

function matches(where: Where, { capabilities, info }: Device): boolean {
  const { family, type } = capabilities;
  return (
    (where.device?.test(info.name) ?? true) &&
    (where.architecture ?? architectureOf(info)) === architectureOf(info) &&
    (where.family ?? family) === family &&
    (where.type ?? type) === type
  );
}

const fits = (which: Which, { keyBits, valueBytes }: AlgorithmShape, n: number): boolean =>
  (which.keyBits ?? keyBits) === keyBits &&
  (which.valueBytes ?? valueBytes) === valueBytes &&
  n <= (which.n ?? Number.POSITIVE_INFINITY) &&
  n > (which.over ?? -1);

/**
 * Parameters for an algorithm on a device: those of the table, before them those that `clsort tune` stored for
 * the device, before them what the shape itself says.
 *
 * @param n number of keys, if known: small sorts want smaller tiles
 */
export function tuningFor(
  algorithm: string,
  device: Device,
  shape: AlgorithmShape,
  n: number = Number.POSITIVE_INFINITY,
): Tuning {
  const own = (row: { algorithm: string; which?: Which }) =>
    row.algorithm === algorithm && fits(row.which ?? {}, shape, n);
  const rows = ROWS.filter((row) => own(row) && matches(row.where ?? {}, device));
  const ordered = rows.toSorted((a, b) => specificity(a) - specificity(b));
  const stored = storedTuning(device).rows.filter(own);
  return Object.assign({}, ...[...ordered, ...stored].map((row) => row.tuning), shape.tuning);
}

/** What the table has for an algorithm on any device: sets of parameters that are worth a try on another. */
export const knownTunings = (algorithm: string): Tuning[] =>
  ROWS.filter((row) => row.algorithm === algorithm).map(({ tuning }) => tuning);

/** Numbers of keys at which another way becomes the faster one. */
export interface Crossovers {
  /** With fewer keys, in host memory, the host engine is done before the device. */
  readonly host: number;
  /** With more keys one work-group is not the fastest way, even if it can hold them. */
  readonly group: number;
}

/** `Crossovers.host` where it was measured; the first that matches counts. */
const HOST: readonly { readonly where: Where; readonly n: number }[] = [
  { where: { type: 'cpu' }, n: 2 ** 15 },
  { where: hopper, n: 2 ** 14 },
];
const HOST_ELSEWHERE = 2 ** 16;

/**
 * Measured like the rows above: `host` end to end, typed array to new typed array, `group` on the device.
 *
 * PoCL on two cores of an AMD EPYC: the host engine takes 0.4 of the device's time for 2^12 u32 keys, 0.9 for 2^15,
 * 1.2 for 2^16; of an Intel Xeon 0.5 for 2^14, 0.65 for 2^15, 0.95 for 2^16. H200: eight of nine runs of
 * `clsort tune` say 2^14, one 2^13; what one group of `persistent` holds, `group` sorts in less time.
 */
export function crossoversFor(device: Device): Crossovers {
  const host = HOST.find(({ where }) => matches(where, device))?.n ?? HOST_ELSEWHERE;
  const shipped = { host, group: Number.POSITIVE_INFINITY };
  return { ...shipped, ...storedTuning(device).crossovers };
}
