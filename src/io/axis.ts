/** Along which dimension of a matrix keys are ordered. */
import { UsageError } from '../util/errors.js';
import type { KeyFacts } from './formats/key-file.js';

/** A matrix, and whether each of its rows (keys that stand together) or each column is an array of its own. */
export interface Lines {
  readonly rows: number;
  readonly columns: number;
  readonly along: 'rows' | 'columns';
}

/**
 * What is ordered by itself; undefined where all keys are one array.
 *
 * @param axis the dimension whose index runs along what is ordered, as in NumPy: −1, the default, is the last one
 * @throws UsageError where there is no such dimension
 */
export function linesOf({ shape }: KeyFacts, axis = -1): Lines | undefined {
  const dimensions = shape?.length ?? 1;
  if (!Number.isInteger(axis) || axis < -dimensions || axis >= dimensions) {
    const expected = dimensions === 1 ? '0 (or -1), since there is one dimension' : '0, 1, -1 or -2';
    throw new UsageError(`axis is ${axis}: expected ${expected}`);
  }
  if (!shape || dimensions === 1) return undefined;
  const [rows = 0, columns = 0] = shape;
  return { rows, columns, along: axis === 1 || axis === -1 ? 'rows' : 'columns' };
}
