/** Validation of the arguments and options that callers pass. */

import type { BreakEvenOperation } from '../../algorithms/tuning-rows.js';
import {
  type ArrayOf,
  assertDisjoint,
  type DtypeOf,
  dtypeOf,
  keyColumn,
  type ValueArray,
  valueColumn,
} from '../../keys/array.js';
import type { Dtype, KeyArray } from '../../keys/dtype.js';
import type { Order } from '../../keys/key-codec.js';
import type { ReduceOp } from '../../primitives/possible.js';
import { InputError, UnsupportedError, UsageError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import type { ArrayStore, Keys } from '../calls/array-store.js';
import type { Dependency } from '../calls/call-scheduler.js';
import type { Task } from '../calls/calls.js';
import { assertDistinct, assertOnePerKey, assertSamePlace } from '../model/array-assertions.js';
import type { ArrowVector } from '../model/arrow-vector.js';
import { type Column, column, type Place } from '../model/column.js';
import { DeviceArray } from '../model/device-array.js';
import {
  type CheckedOptions,
  type PrimitiveOptions,
  type SortOptions,
  type SortSettings,
  throwIfAborted,
} from '../model/options.js';
import { parseCheckedOptions, parsePrimitiveOptions, parseSortOptions } from '../model/parse-options.js';
import { ShardedArray } from '../model/sharded-array.js';

/** Keys of an operation that also supports sharded arrays: a typed array, device array or sharded array. */
export type Shardable = Keys | ShardedArray;

/** Dtypes of positions. */
export type PositionDtype = 'u32' | 'u64';

/**
 * Positions (0-based), stored where the keys are: a Uint32Array or BigUint64Array, also for a vector, a device array or
 * a sharded array.
 */
export type Positions<
  K extends Shardable | ArrowVector,
  P extends PositionDtype = 'u32',
> = K extends DeviceArray ? DeviceArray<P> : K extends ShardedArray ? ShardedArray<P> : ArrayOf<P>;

/** Result of `topK`: an array like the input, or a host array for a sharded array. */
export type TopOf<K extends Shardable> = K extends ShardedArray<infer D> ? ArrayOf<D> : K;

/** Dtype of an array; any dtype for an array of an unknown type. */
type DtypeIn<K extends Shardable> =
  K extends DeviceArray<infer D>
    ? D
    : K extends ShardedArray<infer D>
      ? D
      : K extends KeyArray
        ? DtypeOf<K>
        : never;

/** Dtype of reduced values: sums of integers have 64 bits, other results the dtype of the values. Sums of f16 and bf16 throw. */
type ReducedDtype<D extends Dtype, O extends ReduceOp> = O extends 'sum'
  ? D extends 'u8' | 'u16' | 'u32'
    ? 'u64'
    : D extends 'i8' | 'i16' | 'i32'
      ? 'i64'
      : D extends 'f16' | 'bf16'
        ? never
        : D
  : D;

type NumberOf<D extends Dtype> = D extends 'u64' | 'i64' ? bigint : number;

/**
 * Result of `reduce` for keys of a dtype: a BigInt for sums of integers and for 64-bit integers, a number for all
 * others.
 */
export type Reduced<D extends Dtype, O extends ReduceOp> = NumberOf<ReducedDtype<D, O>>;

/** Result of `reduce` for an array. */
export type ReducedKeys<K extends Shardable, O extends ReduceOp> = Reduced<DtypeIn<K>, O>;

/**
 * Values that `reduceByKey` returns: an array of the type of the values, except that sums of integers have 64 bits (u64
 * or i64).
 */
export type ReducedValues<V extends Keys, O extends ReduceOp> =
  V extends DeviceArray<infer D>
    ? DeviceArray<ReducedDtype<D, O>>
    : ReducedDtype<DtypeIn<V>, O> extends DtypeIn<V>
      ? V
      : ArrayOf<ReducedDtype<DtypeIn<V>, O>>;

/** An array, or a promise of one. A promise that another call returned need not be awaited. */
export type Awaitable<K> = K | PromiseLike<K>;

/** Value sizes in bytes that kernels move with the keys; others are gathered on the host after an argsort. */
export const CARRIED_VALUE_BYTES = new Set([0, 1, 2, 4, 8, 16]);

/** Validates keys that a caller passed, and returns them as a column. */
export function readKeys(arrays: ArrayStore, keys: Keys, { dtype }: Pick<SortSettings, 'dtype'>): Column {
  if ((keys as unknown) instanceof ShardedArray) throw shardedUnsupportedError();
  if (keys instanceof DeviceArray) {
    if (dtype !== undefined && dtype !== keys.dtype) {
      throw invalidArgument('dtype', `${keys.dtype}, the dtype of the device array`, dtype);
    }
    return keys.columnFor(arrays);
  }
  const { dtype: own, n, view } = keyColumn(keys, dtype);
  return column(own, n, view);
}

const shardedUnsupportedError = () =>
  new UnsupportedError(
    'cannot use a sharded array: only sort, argsort, sortPairs, topK and reduce support it. Upload the keys without sharded',
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
  if (into !== undefined) throw unusableOption('into', 'sharded arrays do not support it');
  if (settings.dtype !== undefined && settings.dtype !== dtype) {
    throw invalidArgument('dtype', `${dtype}, the dtype of the sharded array`, settings.dtype);
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
  assertSamePlace('keys and values', keys, values);
  if (values instanceof DeviceArray) {
    assertDistinct(keys, values);
    const { place, info, n: count } = values.columnFor(arrays);
    assertOnePerKey('values', count, n);
    return { place, bytes: info.bytes };
  }
  const { bytes } = valueColumn(values, { n });
  if (!(keys instanceof DeviceArray)) assertDisjoint(keys, values, 'keys and values');
  return { place: values, bytes };
}

export const taskOf = (
  operation: BreakEvenOperation,
  { n, info }: Column,
  settings: SortSettings,
  keys: Keys,
  dependency: Dependency,
  into?: unknown,
): Task => {
  const onHost = !(keys instanceof DeviceArray);
  const by = { operation, keyBits: info.width };
  return { ...by, n, settings, dependency, onHost, again: onHost, overwrites: into !== undefined };
};

/** Validates options, and rejects those in `without`, which the operation does not support. */
export function parse(options: SortOptions = {}, without: readonly (keyof SortOptions)[] = []): SortSettings {
  const settings = parseSortOptions(options);
  for (const name of without) {
    if (options[name] !== undefined) throw unusableOption(name, 'this operation does not support it');
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
  unusableOption('device', 'this Sorter is already open. Pass it to Sorter.open');

/** Returns the error for an option that a call does not support. */
export const unusableOption = (name: string, cause: string): UsageError =>
  new UsageError(`cannot use option '${name}': ${cause}`, { details: { option: name } });

/** @throws UsageError when the value is not a boolean */
export function assertBoolean(name: string, value: unknown): void {
  if (typeof value !== 'boolean') throw invalidArgument(name, 'true or false', value);
}

/** @throws UsageError when the value is not one of `values` */
export function assertOneOf(name: string, values: readonly unknown[], value: unknown): void {
  if (!values.includes(value)) throw invalidArgument(name, `one of ${values.join(', ')}`, value);
}

/** @throws UsageError when the value is not a whole number, or is negative */
export function assertCount(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 0)
    throw invalidArgument(name, 'a non-negative whole number', value);
}

/**
 * Asserts that a result does not overwrite an input.
 *
 * @throws InputError when `into` overlaps `array`, or is not an array
 */
export function assertSeparateOutput(
  array: Keys | undefined,
  into: Shardable | undefined,
): asserts into is Keys | undefined {
  if (into === undefined) return;
  if (into instanceof ShardedArray || !isArray(into))
    throw invalidArgument('into', 'an array', into, { type: InputError });
  if (array === undefined || !isArray(array)) return;
  if (array === into) {
    throw invalidArgument(
      'into',
      'an array that the call does not use otherwise',
      { text: 'one of its arrays' },
      { advice: 'Pass another array, or use sortInPlace', type: InputError },
    );
  }
  if (array instanceof DeviceArray || into instanceof DeviceArray) return;
  assertDisjoint(array, into, 'into and another array');
}

const isArray = (one: unknown): boolean => ArrayBuffer.isView(one) || one instanceof DeviceArray;

/** @throws UsageError when `k` is not a whole number from 0 on, or `largest` is not a boolean */
export function assertTop(k: number, largest: boolean): void {
  assertBoolean('largest', largest);
  assertCount('k', k);
}

export const dtypeOfValues = (values: ValueArray | DeviceArray): Dtype =>
  values instanceof DeviceArray ? values.dtype : dtypeOf(values);

/**
 * Validates two arrays.
 *
 * @throws InputError when they differ in dtype or place
 */
export function readMatching(
  arrays: ArrayStore,
  a: Keys,
  b: Keys,
  settings: SortSettings,
  what: string,
): readonly [Column, Column] {
  assertSamePlace(what, a, b);
  const [one, other] = [readKeys(arrays, a, settings), readKeys(arrays, b, settings)];
  if (one.dtype === other.dtype) return [one, other];
  const text = `${one.dtype} and ${other.dtype}`;
  throw invalidArgument(what, 'arrays of the same dtype', { text }, { type: InputError });
}

/** @throws UsageError when `descending` or `nan` has an impossible value */
export function parseOrder({ descending, nan }: OptionalOrder): Required<Order> {
  const given = { ...(descending !== undefined && { descending }), ...(nan !== undefined && { nan }) };
  const settings = parse(given);
  return { descending: settings.descending, nan: settings.nan };
}

type OptionalOrder = { [Name in keyof Order]: Order[Name] | undefined };
