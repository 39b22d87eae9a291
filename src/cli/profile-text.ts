/** Texts of properties of keys. */
import type { FileProfile } from '../io/checks/file-profile.js';
import { numberText } from './number-text.js';

/** Returns the text of a number; null if there is none. */
export const textOf = (number: number | bigint | undefined): string | null =>
  number === undefined ? null : numberText(number);

/** Returns the order of the keys. Equal keys are in both orders and count as ascending. */
export function orderOf({
  ascending,
  descending,
}: Pick<FileProfile, 'ascending' | 'descending'>): 'ascending' | 'descending' | null {
  if (ascending) return 'ascending';
  return descending ? 'descending' : null;
}
