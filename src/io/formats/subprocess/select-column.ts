import type { Dtype } from '../../../keys/dtype.js';
import { DtypeError, UsageError } from '../../../util/errors.js';
import { shortenValue } from '../../../util/format-value.js';
import { withAdvice } from '../../../util/invalid-argument.js';
import { didYouMean } from '../../../util/suggest.js';

/** Maximum number of columns listed in a message, so that it fits on a screen. */
const MAX_LISTED_COLUMNS = 20;

const TEXT_ADVICE = 'Pass the dtype if they are numbers';

export interface FileColumn {
  readonly name: string;
  /** Type name in the format: 'DECIMAL(18,3)', 'Utf8', … */
  readonly type: string;
  /** Dtype of the values as keys; null if they cannot be keys. */
  readonly dtype: Dtype | null;
}

/** The selected column: its 0-based index, and the dtype of its keys. */
export interface SelectedColumn {
  readonly index: number;
  readonly dtype: Dtype;
}

/** Parameters of a column selection. */
export interface ColumnSelection {
  /** Display name for messages: the path or `stdin`. */
  readonly name: string;
  readonly columns: readonly FileColumn[];
  /** Column name or 0-based index; default: the only column. */
  readonly column?: string | number | undefined;
  readonly dtype?: Dtype | undefined;
  /** Whether values are untyped text, so that a column may have any dtype. */
  readonly isText: boolean;
}

type NamedColumn = Pick<FileColumn, 'name'> & Partial<FileColumn>;

/** Returns the first column names, for details of errors. */
export const listedNames = (columns: readonly NamedColumn[]): readonly string[] =>
  columns.slice(0, MAX_LISTED_COLUMNS).map(({ name }) => name);

/** Creates the error of a column that does not exist, with a list of those that do. */
export const missingColumn = (
  name: string,
  wanted: string | number,
  columns: readonly NamedColumn[],
): UsageError => {
  const names = columns.map((column) => column.name);
  return new UsageError(
    withAdvice(
      `cannot find column ${wanted} in ${name}: ${listColumns(columns)}`,
      didYouMean(String(wanted), names),
    ),
    { details: { path: name, column: wanted, columns: listedNames(columns) } },
  );
};

function listColumns(columns: readonly NamedColumn[]): string {
  if (columns.length === 0) return 'it has no columns';
  const named = columns
    .slice(0, MAX_LISTED_COLUMNS)
    .map(({ name, type, dtype }) => shortenValue(name) + (type === undefined ? '' : ` (${dtype ?? type})`));
  const rest = columns.length - named.length;
  return `its columns are ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/**
 * Returns the key column and its dtype.
 *
 * @throws UsageError when the column does not exist, or none is named in a table of several columns
 * @throws DtypeError when the column is not numeric or has another dtype than requested
 */
export function selectColumn(selection: ColumnSelection): SelectedColumn {
  const { name, columns, dtype, isText } = selection;
  const index = selection.column === undefined ? onlyColumn(selection) : indexOf(selection, selection.column);
  const found = columns[index] as FileColumn;
  const path = { path: name, column: found.name, type: found.type };
  const kind = isText ? (dtype ?? found.dtype) : found.dtype;
  if (!kind) {
    const message = `cannot read column ${shortenValue(found.name)} of ${name} as keys: it holds ${found.type}, and keys are numbers of 8 to 64 bits`;
    throw new DtypeError(withAdvice(message, isText ? TEXT_ADVICE : undefined), { details: path });
  }
  if (dtype && kind !== dtype) {
    throw new DtypeError(
      `cannot read column ${shortenValue(found.name)} of ${name} as ${dtype} keys: it holds ${kind}. Omit the dtype, or convert the file`,
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
  throw missingColumn(name, wanted, columns);
}

/** Returns the index of the only column. A table of several is refused, so that no column is dropped unnoticed. */
function onlyColumn({ name, columns, isText }: ColumnSelection): number {
  if (columns.length === 1) return 0;
  const listed = listColumns(columns.map((column) => ({ name: column.name })));
  const details = { path: name, columns: listedNames(columns) };
  if (columns.length === 0) {
    const message = `cannot read keys from ${name}: ${listed}`;
    throw new DtypeError(withAdvice(message, isText ? TEXT_ADVICE : undefined), { details });
  }
  throw new UsageError(
    `cannot read ${name} as keys: it is a table, and ${listed}. Pass --column NAME to read the keys of one column, ` +
      'by name or number; `clsort sort --by COLUMN` sorts whole rows',
    { details },
  );
}
