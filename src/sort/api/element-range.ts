import { InputError } from '../../util/errors.js';

/** @param what has `total` elements @throws InputError where there are none from `offset` on, or fewer than `length` */
export function assertElements(what: string, total: number, offset: number, length: number): void {
  const whole = Number.isSafeInteger(offset) && Number.isSafeInteger(length);
  if (whole && offset >= 0 && length >= 0 && offset + length <= total) return;
  throw new InputError(
    `elements ${offset} to ${offset + length} of a ${what} that has ${total}: out of range`,
  );
}
