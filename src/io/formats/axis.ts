/** The dimension of a matrix along which keys are sorted. */

import { invalidArgument } from '../../util/invalid-argument.js';
import type { KeyFacts } from './key-file.js';

/** A matrix whose rows (contiguous keys) or columns are sorted independently. */
export interface Lines {
  readonly rows: number;
  readonly columns: number;
  readonly along: 'rows' | 'columns';
}

/**
 * Returns the rows or columns that are sorted independently; undefined when all keys form one array.
 *
 * @param facts `shape` of the keys
 * @param axis dimension whose index runs along each sorted line, as in NumPy; default −1, the last one
 * @throws UsageError when the shape has no such dimension
 */
export function linesOf({ shape }: KeyFacts, axis = -1): Lines | undefined {
  const dimensions = shape?.length ?? 1;
  if (!Number.isInteger(axis) || axis < -dimensions || axis >= dimensions) {
    const expected = dimensions === 1 ? '0 or -1 (one dimension)' : '0, 1, -1 or -2';
    throw invalidArgument('axis', expected, axis);
  }
  if (!shape || dimensions === 1) return undefined;
  const [rows = 0, columns = 0] = shape;
  return { rows, columns, along: axis === 1 || axis === -1 ? 'rows' : 'columns' };
}
