import type { Dtype } from '../../../keys/dtype.js';
import { DtypeError, UsageError } from '../../../util/errors.js';
import { suggestion } from '../../../util/suggest.js';
import type { FileColumn, WantedColumn } from './protocol.js';

/** Maximum number of columns listed in a message. */
const MAX_LISTED_COLUMNS = 20;

const TEXT_ADVICE = '; if these are numbers, say of which dtype';

/** Parameters of a column selection. */
export interface ColumnSelection {
  /** Display name for messages: the path or `stdin`. */
  readonly name: string;
  readonly columns: readonly FileColumn[];
  /** Column name or 0-based index; default: the only numeric column. */
  readonly column?: string | number | undefined;
  readonly dtype?: Dtype | undefined;
  /** Whether values are untyped text, so that a column may have any dtype. */
  readonly isText: boolean;
}

function listColumns(columns: readonly FileColumn[]): string {
  if (columns.length === 0) return 'it has no columns';
  const named = columns
    .slice(0, MAX_LISTED_COLUMNS)
    .map(({ name, type, dtype }) => `${name} (${dtype ?? type})`);
  const rest = columns.length - named.length;
  return `its columns are ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/**
 * Returns the key column and its dtype.
 *
 * @throws UsageError when the column does not exist or the choice is ambiguous
 * @throws DtypeError when the column is not numeric or has another dtype than requested
 */
export function selectColumn(selection: ColumnSelection): WantedColumn {
  const { name, columns, dtype, isText } = selection;
  const index =
    selection.column === undefined ? onlyNumberColumn(selection) : indexOf(selection, selection.column);
  const found = columns[index] as FileColumn;
  const path = { path: name, column: found.name, type: found.type };
  const kind = isText ? (dtype ?? found.dtype) : found.dtype;
  if (!kind) {
    const advice = isText ? TEXT_ADVICE : '';
    throw new DtypeError(
      `the column ${found.name} of ${name} holds ${found.type}, and keys are numbers of 8 to 64 bits${advice}`,
      { details: path },
    );
  }
  if (dtype && kind !== dtype) {
    throw new DtypeError(
      `the column ${found.name} of ${name} holds ${kind}, not ${dtype}: leave the dtype out, or convert the file`,
      { details: path },
    );
  }
  return { index, dtype: kind };
}

function indexOf({ name, columns }: ColumnSelection, wanted: string | number): number {
  const named = columns.findIndex((column) => column.name === wanted);
  if (named >= 0) return named;
  const number = typeof wanted === 'number' || /^\d+$/.test(wanted) ? Number(wanted) : undefined;
  if (number !== undefined && Number.isInteger(number) && columns[number]) return number;
  const names = columns.map((column) => column.name);
  throw new UsageError(
    `${name} has no column ${wanted}: ${listColumns(columns)}${suggestion(String(wanted), names)}`,
    { details: { path: name, columns: names.slice(0, MAX_LISTED_COLUMNS) } },
  );
}

function onlyNumberColumn({ name, columns, dtype, isText }: ColumnSelection): number {
  const numbers = columns.flatMap((column, i) => (column.dtype ? [i] : []));
  const [only] = numbers;
  if (numbers.length === 1 && only !== undefined) return only;
  if (numbers.length === 0 && isText && dtype && columns.length === 1) return 0;
  const details = { path: name, columns: columns.slice(0, MAX_LISTED_COLUMNS).map((column) => column.name) };
  if (numbers.length === 0) {
    const advice = isText ? TEXT_ADVICE : '';
    throw new DtypeError(`${name} has no column of numbers: ${listColumns(columns)}${advice}`, { details });
  }
  throw new UsageError(
    `${name} has ${numbers.length} columns of numbers: say which one has the keys, by name or by number; ${listColumns(columns)}`,
    { details },
  );
}
