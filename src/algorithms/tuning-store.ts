import type { KnownDevice } from '../device/device.js';
import type { DeviceInfo } from '../device/platform.js';
import { addToCache, cacheFolder, readCache } from '../util/cache.js';
import { canonicalAlgorithm } from './algorithm-names.js';
import type { Tuning } from './parameters.js';
import type { Crossovers, TuningRow, Which } from './tuning-rows.js';

const FILE = 'tuning.sealed';
const SCHEMA = 'clsort.tuning/1';

/** Parameters that `clsort tune` found to be faster on one device than those that clsort comes with. */
export interface TunedRow extends TuningRow {
  readonly which: Which;
}

/** What was measured on one device with one driver. */
export interface StoredTuning {
  readonly rows: readonly TunedRow[];
  readonly crossovers?: Partial<Crossovers>;
}

const keyOf = ({ platform, name, driver }: DeviceInfo): string => [platform, name, driver].join(' | ');

/** Where measured parameters are kept: with the certificates. */
export const tuningFile = (): string => `${cacheFolder()}/${FILE}`;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isTuning = (value: unknown): value is Tuning =>
  isRecord(value) &&
  Object.values(value).every((one) => ['number', 'string', 'boolean'].includes(typeof one));

const isRow = (value: unknown): value is TunedRow =>
  isRecord(value) &&
  typeof value.algorithm === 'string' &&
  isTuning(value.tuning) &&
  isRecord(value.which) &&
  Object.values(value.which).every(Number.isFinite);

/** What stands in the file, or nothing where that is not what `storeTuning` writes. */
function parsed(value: unknown): StoredTuning {
  if (!isRecord(value) || value.schema !== SCHEMA || !Array.isArray(value.rows)) return { rows: [] };
  const { host, group, select } = isRecord(value.crossovers) ? value.crossovers : {};
  return {
    rows: value.rows.filter(isRow).map((row) => ({ ...row, algorithm: canonicalAlgorithm(row.algorithm) })),
    crossovers: {
      ...(Number.isFinite(host) && { host: Number(host) }),
      ...(Number.isFinite(group) && { group: Number(group) }),
      ...(Number.isFinite(select) && { select: Number(select) }),
    },
  };
}

/** Of open devices: read once, since parameters are asked for at every sort. */
const known = new WeakMap<KnownDevice, StoredTuning>();

/** What was stored for a device; nothing with `CLSORT_TUNING=off`. */
export function storedTuning(device: KnownDevice): StoredTuning {
  let stored = known.get(device);
  if (!stored) {
    const off = process.env.CLSORT_TUNING === 'off';
    stored = off ? { rows: [] } : parsed(readCache(FILE)[keyOf(device.info)]);
    known.set(device, stored);
  }
  return stored;
}

/** The crossovers that were stored for devices, open or not; none with `CLSORT_TUNING=off`. */
export const storedCrossovers = (): Partial<Crossovers>[] =>
  process.env.CLSORT_TUNING === 'off'
    ? []
    : Object.values(readCache(FILE)).flatMap((one) => parsed(one).crossovers ?? []);

/**
 * Keeps what was measured, instead of what was kept for the device before; each program that opens it from now on uses it.
 *
 * @returns false where the cache cannot be used
 */
export function storeTuning(info: DeviceInfo, stored: StoredTuning): boolean {
  const date = new Date().toISOString().slice(0, 10);
  return addToCache(FILE, { [keyOf(info)]: { schema: SCHEMA, date, ...stored } });
}

/** Goes back to the parameters that clsort comes with. @returns false where the cache cannot be used */
export const forgetTuning = (info: DeviceInfo): boolean => storeTuning(info, { rows: [] });
