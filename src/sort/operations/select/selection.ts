import { InputError } from '../../../util/errors.js';
import { invalidArgument } from '../../../util/invalid-argument.js';
import type { ColumnSelection } from '../../backend/column-kernels.js';
import type { ArrayStore, Keys } from '../../calls/array-store.js';
import type { Call } from '../../calls/call.js';
import { assertOnePerKey, assertSamePlace } from '../../model/array-assertions.js';
import type { Column } from '../../model/column.js';
import { DeviceArray } from '../../model/device-array.js';
import { readKeys } from '../arguments.js';
import { type Predicate, rangeOf } from './predicate.js';

/** Mask with one byte for each key. It selects the keys whose byte is not 0. */
export type Mask<K extends Keys> = K extends DeviceArray ? DeviceArray<'u8'> : Uint8Array;

/** Validates a mask or predicate that a caller passed for keys. */
export function readSelection(
  arrays: ArrayStore,
  input: Column,
  array: Keys,
  by: Keys | Predicate,
): ColumnSelection {
  if (!(ArrayBuffer.isView(by) || by instanceof DeviceArray)) return rangeOf(by as Predicate, input);
  assertSamePlace('keys and mask', array, by);
  const mask = readKeys(arrays, by, {});
  if (mask.dtype !== 'u8') throw invalidArgument('mask', 'u8', { text: mask.dtype }, { type: InputError });
  assertOnePerKey('mask', mask.n, input.n);
  return { mask };
}

/** Binds the mask of a selection as an input of kernels. */
export async function bindSelection(call: Call, selection: ColumnSelection): Promise<ColumnSelection> {
  return 'mask' in selection ? { mask: await call.bindInput(selection.mask) } : selection;
}
