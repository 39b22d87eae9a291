/** Validation of the arguments and options that callers pass. */

import type { ArrayOf } from '../../keys/array.js';
import { assertDisjoint, dtypeOf, keyColumn, type ValueArray, valueColumn } from '../../keys/array.js';
import type { Dtype, KeyArray } from '../../keys/dtype.js';
import { widen } from '../../keys/widen.js';
import { InputError, UnsupportedError, UsageError } from '../../util/errors.js';
import { formatValue } from '../../util/format-value.js';
import { type Column, column, type Place } from '../backend/column.js';
import type { ArrayStore, Keys } from '../calls/array-store.js';
import type { Task } from '../calls/calls.js';
import type { Dependency } from '../calls/dependency.js';
import { DeviceArray } from './device-array.js';
import {
  type CheckedOptions,
  type PrimitiveOptions,
  parseCheckedOptions,
  parsePrimitiveOptions,
  parseSortOptions,
  type SortOptions,
  type SortSettings,
  throwIfAborted,
} from './options.js';
import { ShardedArray } from './sharded-array.js';

/** Keys of an operation that also supports sharded arrays: a typed array, device array or sharded array. */
export type Shardable = Keys | ShardedArray;

/** Positions as u32 (0-based), stored where the keys are: a Uint32Array, a device array or a sharded array. */
export type Positions<K extends Shardable> = K extends DeviceArray
  ? DeviceArray<'u32'>
  : K extends ShardedArray
    ? ShardedArray<'u32'>
    : Uint32Array;

/** Result of `topK`: an array like the input, or a host array for a sharded array. */
export type TopOf<K extends Shardable> = K extends ShardedArray<infer D> ? ArrayOf<D> : K;

/** An array, or a promise of one. A promise that another call returned need not be awaited. */
export type Awaitable<K> = K | PromiseLike<K>;

/** Value sizes in bytes that kernels move with the keys; others are gathered on the host after an argsort. */
export const CARRIED_VALUE_BYTES = new Set([0, 1, 2, 4, 8, 16]);

/** Number of positions that 32 bits can represent. */
export const MAX_INDICES = 2 ** 32;

/** Validates keys that a caller passed, and returns them as a column. */
export function readKeys(arrays: ArrayStore, keys: Keys, { dtype }: Pick<SortSettings, 'dtype'>): Column {
  if ((keys as unknown) instanceof ShardedArray) throw shardedUnsupportedError();
  if (keys instanceof DeviceArray) {
    if (dtype !== undefined && dtype !== keys.dtype) {
      throw new UsageError(`option 'dtype' is ${dtype}: this device array holds ${keys.dtype} keys`);
    }
    return keys.columnFor(arrays);
  }
  const { dtype: own, n, view } = keyColumn(keys, dtype);
  return column(own, n, view);
}

/**
 * Widens host keys to another dtype.
 *
 * @throws UsageError for device arrays, and when the dtype cannot represent every key
 */
export function widenKeys(keys: Keys, dtype: Dtype | undefined, to: Dtype): KeyArray {
  if (!(keys instanceof DeviceArray)) return widen(keyColumn(keys, dtype), to);
  throw new UsageError(
    `option 'resultDtype' is ${to}: expected keys of the host but got a device array of ${keys.dtype}. Upload the keys as ${to}`,
  );
}

const shardedUnsupportedError = () =>
  new UnsupportedError(
    'sharded arrays are for sort, argsort, sortPairs, topK and reduce: read() it, or upload without spread, for others',
  );

/**
 * Validates the settings of a call on a sharded array.
 *
 * @throws UsageError for option `into`, and for another `dtype` than that of the array
 */
export function shardedSettings(
  settings: SortSettings,
  { dtype }: ShardedArray,
  into?: unknown,
): SortSettings {
  if (into !== undefined) throw new UsageError("option 'into' has no meaning for sharded arrays");
  if (settings.dtype !== undefined && settings.dtype !== dtype) {
    throw new UsageError(`option 'dtype' is ${settings.dtype}: this sharded array holds ${dtype} keys`);
  }
  return settings;
}

/** Validates the values that a caller passed with keys. */
export function readValues(
  arrays: ArrayStore,
  keys: Keys,
  values: ValueArray | DeviceArray,
  { n }: Column,
): { place: Place; bytes: number } {
  if (values instanceof DeviceArray !== keys instanceof DeviceArray) {
    throw new InputError('keys and values are in different places: upload both or none');
  }
  if (values instanceof DeviceArray) {
    if (values === keys) throw new InputError('keys and values are the same device array');
    const { place, info, n: count } = values.columnFor(arrays);
    if (count !== n) throw new InputError(`${count} values do not fit ${n} keys: expected one for each key`);
    return { place, bytes: info.bytes };
  }
  const { bytes } = valueColumn(values, { n });
  if (!(keys instanceof DeviceArray)) assertDisjoint(keys, values, 'keys and values');
  return { place: values, bytes };
}

export const taskOf = (
  { n }: Column,
  settings: SortSettings,
  keys: Keys,
  dependency: Dependency,
  into?: unknown,
): Task => {
  const onHost = !(keys instanceof DeviceArray);
  return { n, settings, dependency: dependency, onHost, again: onHost, overwrites: into !== undefined };
};

/** Validates options, and rejects those in `without`, which the operation does not support. */
export function parse(options: SortOptions = {}, without: readonly (keyof SortOptions)[] = []): SortSettings {
  const settings = parseSortOptions(options);
  for (const name of without) {
    if (options[name] !== undefined) throw new UsageError(`option '${name}' has no meaning here`);
  }
  if (options.device !== undefined || options.devices !== undefined) throw deviceOptionError();
  throwIfAborted(settings.signal);
  return settings;
}

/** Validates the options of an operation that does not sort. */
export function parsePrimitive(options?: PrimitiveOptions): SortSettings {
  return withoutDeviceOptions(options, parsePrimitiveOptions(options));
}

/** Validates the options of an operation that does not sort and whose result can be verified. */
export function parseChecked(options?: CheckedOptions): SortSettings {
  return withoutDeviceOptions(options, parseCheckedOptions(options));
}

function withoutDeviceOptions(options: PrimitiveOptions = {}, settings: SortSettings): SortSettings {
  if (options.device !== undefined || options.devices !== undefined) throw deviceOptionError();
  throwIfAborted(settings.signal);
  return settings;
}

const deviceOptionError = () =>
  new UsageError("options 'device' and 'devices' belong to Sorter.open: this Sorter has its device already");

/**
 * Asserts that a result does not overwrite an input.
 *
 * @throws InputError when `into` overlaps `array`, or is not an array
 */
export function assertSeparateOutput(array: Keys | undefined, into: Keys | undefined): void {
  if (into === undefined) return;
  if (!isArray(into)) throw new InputError(`into is ${formatValue(into)}: expected an array for the result`);
  if (array === undefined || !isArray(array)) return;
  if (array === into) {
    throw new InputError('into is another array of the call, too: pass one of its own, or use sortInPlace');
  }
  if (array instanceof DeviceArray || into instanceof DeviceArray) return;
  assertDisjoint(array, into, 'into and another array');
}

const isArray = (one: unknown): boolean => ArrayBuffer.isView(one) || one instanceof DeviceArray;

/** @throws UsageError when `k` is not a whole number from 0 on, or `largest` is not a boolean */
export function assertTop(k: number, largest: boolean): void {
  if (typeof largest !== 'boolean') throw new UsageError("option 'largest': expected true or false");
  if (!Number.isSafeInteger(k) || k < 0)
    throw new UsageError(`k is ${formatValue(k)}: expected a whole number from 0 on`);
}

export function assertIndexable(n: number): void {
  if (n >= MAX_INDICES) {
    throw new UnsupportedError(`positions have 32 bits: at most 2^32 - 1 keys, not ${n}`);
  }
}

export const dtypeOfValues = (values: ValueArray | DeviceArray): Dtype =>
  values instanceof DeviceArray ? values.dtype : dtypeOf(values);
