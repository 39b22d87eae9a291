import type { KnownDevice } from '../device/device.js';
import type { DeviceInfo } from '../device/platform/platform.js';
import { addToCache, cacheFolder, readCache } from '../util/cache.js';
import { isObject } from '../util/json.js';
import { oncePer } from '../util/memo.js';
import { canonicalAlgorithm } from './algorithm-names.js';
import type { Tuning } from './parameters.js';
import {
  BREAK_EVEN_OPERATIONS,
  type BreakEven,
  type Crossovers,
  type TuningRow,
  type Which,
} from './tuning-rows.js';

const FILE = 'tuning.sealed';
const SCHEMA = 'clsort.tuning/2';

/** Parameters that `clsort tune` found to be faster on one device than the shipped ones. */
export interface TunedRow extends TuningRow {
  readonly which: Which;
}

/** Measurements of one device with one driver. */
export interface StoredTuning {
  readonly rows: readonly TunedRow[];
  readonly crossovers?: Partial<Crossovers>;
}

const keyOf = ({ platform, name, driver }: DeviceInfo): string => [platform, name, driver].join(' | ');

/** Returns the file with measured parameters, which is next to the self-test records. */
export const tuningFile = (): string => `${cacheFolder()}/${FILE}`;

const isTuning = (value: unknown): value is Tuning =>
  isObject(value) &&
  Object.values(value).every((one) => ['number', 'string', 'boolean'].includes(typeof one));

const isRow = (value: unknown): value is TunedRow =>
  isObject(value) &&
  typeof value.algorithm === 'string' &&
  isTuning(value.tuning) &&
  isObject(value.which) &&
  Object.values(value.which).every(Number.isFinite);

/** A break-even size in JSON, which has no infinity: `keys` is null for a device that is never faster. */
interface StoredBreakEven extends Omit<BreakEven, 'keys'> {
  readonly keys: number | null;
}

const isStoredBreakEven = (value: unknown): value is StoredBreakEven =>
  isObject(value) &&
  (value.keys === null || Number.isFinite(value.keys)) &&
  (value.keyBits === undefined || Number.isFinite(value.keyBits)) &&
  (value.operation === undefined || BREAK_EVEN_OPERATIONS.some((name) => name === value.operation));

/** Parses break-even sizes; earlier versions stored one number for all operations. */
function parsedBreakEvens(host: unknown): BreakEven[] | undefined {
  if (Number.isFinite(host)) return [{ keys: Number(host) }];
  if (!Array.isArray(host)) return undefined;
  return host
    .filter(isStoredBreakEven)
    .map((row) => ({ ...row, keys: row.keys ?? Number.POSITIVE_INFINITY }));
}

/** Parses the stored tuning of a device; returns no rows if the format is not that of `storeTuning`. */
function parsed(value: unknown): StoredTuning {
  if (!isObject(value) || value.schema !== SCHEMA || !Array.isArray(value.rows)) return { rows: [] };
  const { host: stored, singleWorkgroup, select } = isObject(value.crossovers) ? value.crossovers : {};
  const host = parsedBreakEvens(stored);
  return {
    rows: value.rows.filter(isRow).map((row) => ({ ...row, algorithm: canonicalAlgorithm(row.algorithm) })),
    crossovers: {
      ...(host && { host }),
      ...(Number.isFinite(singleWorkgroup) && { singleWorkgroup: Number(singleWorkgroup) }),
      ...(Number.isFinite(select) && { select: Number(select) }),
    },
  };
}

/**
 * Returns the stored tuning of an open device; empty with `CLSORT_TUNING=off`. It is read once, because every sort needs
 * the parameters.
 */
export const storedTuning = oncePer(
  ({ info }: KnownDevice): StoredTuning =>
    process.env.CLSORT_TUNING === 'off' ? { rows: [] } : parsed(readCache(FILE)[keyOf(info)]),
);

/** Returns the stored crossovers of all devices, open or not; none with `CLSORT_TUNING=off`. */
export const storedCrossovers = (): Partial<Crossovers>[] =>
  process.env.CLSORT_TUNING === 'off'
    ? []
    : Object.values(readCache(FILE)).flatMap((one) => parsed(one).crossovers ?? []);

/**
 * Replaces the stored tuning of a device. Each program that opens the device from now on uses it.
 *
 * @returns false if the cache cannot be used
 */
export function storeTuning(info: DeviceInfo, stored: StoredTuning): boolean {
  const date = new Date().toISOString().slice(0, 10);
  return addToCache(FILE, { [keyOf(info)]: { schema: SCHEMA, date, ...stored } });
}

/** Resets a device to the shipped parameters. @returns false if the cache cannot be used */
export const forgetTuning = (info: DeviceInfo): boolean => storeTuning(info, { rows: [] });
