import { InputError } from '../../util/errors.js';
import { formatValue } from '../../util/format-value.js';

/** @param what has `total` elements @throws InputError where there are none from `offset` on, or fewer than `length` */
export function assertElements(what: string, total: number, offset: number, length: number): void {
  const whole = Number.isSafeInteger(offset) && Number.isSafeInteger(length);
  if (whole && offset >= 0 && length >= 0 && offset + length <= total) return;
  const end = whole ? `${offset + length}` : `${formatValue(offset)} + ${formatValue(length)}`;
  throw new InputError(
    `elements ${formatValue(offset)} to ${end} of a ${what} that has ${total}: out of range`,
  );
}
