import { InputError } from '../../util/errors.js';
import { formatValue } from '../../util/format-value.js';

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
  throw new InputError(
    `elements ${formatValue(offset)} to ${end} of a ${what} that has ${total}: out of range`,
  );
}
