import { InputError, UsageError } from '../../util/errors.js';
import { formatValue } from '../../util/format-value.js';
import { invalidArgument } from '../../util/invalid-argument.js';

/**
 * Asserts that an array has the elements from `offset` to `offset + length`.
 *
 * @param what kind of the array, for the message
 * @param total number of its elements
 * @throws InputError when the range exceeds the array, or is not given in whole numbers
 */
export function assertElements(what: string, total: number, offset: number, length: number): void {
  const whole = Number.isSafeInteger(offset) && Number.isSafeInteger(length);
  if (whole && offset >= 0 && length >= 0 && offset + length <= total) return;
  const end = whole ? `${offset + length}` : `${formatValue(offset)} + ${formatValue(length)}`;
  const text = `${formatValue(offset)} to ${end}`;
  throw invalidArgument(
    'offset and length',
    `a range within the ${total} elements of the ${what}`,
    { text },
    { type: InputError },
  );
}

/** Returns the error for an array that another Sorter made. */
export const otherSorterError = (what: string): UsageError =>
  new UsageError(`cannot use this ${what}: it belongs to another Sorter. Read it and upload it here`);

/** Returns the error for an array after `dispose()`. */
export const disposedError = (what: string): UsageError =>
  new UsageError(`cannot use this ${what}: it was disposed of`);
