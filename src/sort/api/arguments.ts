/** Arguments and options as callers pass them, checked. */

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

/** Keys as operations take them that work on sharded arrays, too. */
export type Shardable = Keys | ShardedArray;

/** Positions come as what the keys were: on the host, on the device, or on all devices. */
export type Positions<K extends Shardable> = K extends DeviceArray
  ? DeviceArray<'u32'>
  : K extends ShardedArray
    ? ShardedArray<'u32'>
    : Uint32Array;

/** Where results of `topK` come: of sharded arrays to the host. */
export type TopOf<K extends Shardable> = K extends ShardedArray<infer D> ? ArrayOf<D> : K;

/** An array, or the promise of one: such as another call has returned, which need not be awaited then. */
export type Awaitable<K> = K | PromiseLike<K>;

/** Widths of values that kernels carry along; others are gathered on the host after an argsort. */
export const CARRIED_VALUE_BYTES = new Set([0, 1, 2, 4, 8, 16]);

/** Largest position that a 32-bit index can hold, plus one. */
export const MAX_INDICES = 2 ** 32;

/** Keys as a caller passes them, checked. */
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

/** Keys of the host as another dtype. @throws UsageError for device arrays, and where the dtype does not hold every key */
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

/** The settings of a call on a sharded array. @throws UsageError for what has no meaning for one */
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

/** Values as a caller passes them beside keys, checked. */
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

/** Options, checked, without those that the operation has no use for. */
export function parse(options: SortOptions = {}, without: readonly (keyof SortOptions)[] = []): SortSettings {
  const settings = parseSortOptions(options);
  for (const name of without) {
    if (options[name] !== undefined) throw new UsageError(`option '${name}' has no meaning here`);
  }
  if (options.device !== undefined || options.devices !== undefined) throw deviceOptionError();
  throwIfAborted(settings.signal);
  return settings;
}

/** Options of operations that sort nothing, checked. */
export function parsePrimitive(options?: PrimitiveOptions): SortSettings {
  return withoutDeviceOptions(options, parsePrimitiveOptions(options));
}

/** The same of operations whose results can be checked. */
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

/** @throws InputError when a result would be written over what is still read, or into what is no array */
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

/** @throws UsageError for what is no number of keys, or does not say which */
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
