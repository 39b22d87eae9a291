import { InputError } from '../../util/errors.js';
import { shown } from '../../util/shown.js';

/** @param what has `total` elements @throws InputError where there are none from `offset` on, or fewer than `length` */
export function assertElements(what: string, total: number, offset: number, length: number): void {
  const whole = Number.isSafeInteger(offset) && Number.isSafeInteger(length);
  if (whole && offset >= 0 && length >= 0 && offset + length <= total) return;
  const end = whole ? `${offset + length}` : `${shown(offset)} + ${shown(length)}`;
  throw new InputError(`elements ${shown(offset)} to ${end} of a ${what} that has ${total}: out of range`);
}
