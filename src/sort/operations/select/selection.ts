import { InputError } from '../../../util/errors.js';
import { invalidArgument } from '../../../util/invalid-argument.js';
import { columnKernel } from '../../backend/column-kernel.js';
import type { ColumnSelection } from '../../backend/column-kernels.js';
import { selectionArguments } from '../../backend/native-column-kernels.js';
import type { ArrayStore, Keys } from '../../calls/array-store.js';
import type { Call } from '../../calls/call.js';
import { hostCompact } from '../../host/host-select.js';
import { assertOnePerKey, assertSamePlace } from '../../model/array-assertions.js';
import { type Column, hostColumn, wordsOf } from '../../model/column.js';
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

/**
 * Copies the selected keys in input order, followed with `rest` by the others. `to` is a column of as many keys as
 * `keys`, and not the same.
 *
 * @returns a function that returns the number of selected keys after the wait
 */
export const COMPACT = columnKernel({
  *host(keys: Column, selection: ColumnSelection, to: Column, rest: boolean) {
    const by = 'mask' in selection ? { mask: wordsOf(selection.mask) as Uint8Array } : selection;
    const selected = yield* hostCompact(hostColumn(keys), by, wordsOf(to), rest);
    return () => selected;
  },
  native: {
    extent: (keys, selection, to) => [keys.n, keys, to, ...('mask' in selection ? [selection.mask] : [])],
    run: async (onThreads, keys, selection, to, rest) => {
      const count = new BigUint64Array(1);
      const by = selectionArguments(keys, selection);
      await onThreads('hostCompactAsync', keys.n, ...by, rest, wordsOf(to), count);
      return () => Number(count[0]);
    },
  },
  load: async () => (await import('./device.js')).compactOnDevice,
});
