import { InputError, UnsupportedError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { DeviceArray } from './device-array.js';

/** Number of positions that 32 bits can represent. */
const MAX_INDICES = 2 ** 32;

/** @throws InputError when one array is on the host and the other on the device */
export function assertSamePlace(names: string, a: unknown, b: unknown): void {
  if (a instanceof DeviceArray === b instanceof DeviceArray) return;
  throw invalidArgument(
    names,
    'two host arrays or two device arrays',
    { text: 'one of each' },
    {
      advice: 'Upload both or neither',
      type: InputError,
    },
  );
}

/** @throws InputError when keys and values are the same array on a device */
export function assertDistinct(keys: unknown, values: unknown): void {
  if (keys !== values) return;
  throw invalidArgument('values', 'another array than keys', { text: 'the same' }, { type: InputError });
}

/** @throws InputError when an array does not have one element for each of n keys */
export function assertOnePerKey(name: string, count: number, n: number): void {
  if (count === n) return;
  const text = `${count} elements`;
  throw invalidArgument(name, `one element for each of ${n} keys`, { text }, { type: InputError });
}

/** @throws InputError when the columns differ in length */
export function assertSameLengths(counts: readonly number[]): void {
  const other = counts.find((count) => count !== counts[0]);
  if (other === undefined) return;
  const text = `columns of ${counts[0]} and ${other} elements`;
  throw invalidArgument('columns', 'columns of the same length', { text }, { type: InputError });
}

/** @throws UnsupportedError when 32 bits cannot represent all positions */
export function assertIndexable(n: number): void {
  if (n >= MAX_INDICES) {
    throw new UnsupportedError(`cannot process ${n} keys: positions and counts have 32 bits`);
  }
}
