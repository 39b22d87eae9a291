import { UsageError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { type ColumnNames, columnNames, parseTableKeys, type TableBy } from '../formats/tables/table-keys.js';
import { assertTextOptions, type TextReadOptions } from '../formats/text/text-options.js';
import { type ColumnTypes, columnTypes } from '../formats/text/text-type.js';

/** Options for sorting tables. */
export interface TableOptions {
  /**
   * The sort keys, most significant first: `'price:desc,time:nulls-first'`, or a list of keys.
   *
   * @defaultValue none: keys are sorted instead of table rows
   */
  readonly by: TableBy;
  /**
   * The columns to keep, in this order.
   *
   * @defaultValue all columns
   */
  readonly columns?: ColumnNames | undefined;
  /**
   * Number of rows to keep from the start of the sorted table. Only rows that may be among them are sorted.
   *
   * @defaultValue none: all rows
   */
  readonly head?: number | undefined;
  /**
   * Whether to keep only one of several rows that are equal bit for bit in all kept columns.
   *
   * @defaultValue `false`
   */
  readonly unique?: boolean | undefined;
  /**
   * Columns that define equal rows, of which only the first in order is kept.
   *
   * @defaultValue none
   */
  readonly uniqueBy?: ColumnNames | undefined;
  /**
   * Types of CSV, TSV and NDJSON columns by name: `{ price: 'f64', day: 'date:%d/%m/%Y' }` or `'price=f64,id=u64'`.
   *
   * @defaultValue for each column, the type that fits all values
   */
  readonly types?: ColumnTypes | undefined;
}

/** Options for keys and records that do not apply to tables. */
const NON_TABLE_OPTIONS = [
  'dtype',
  'descending',
  'bits',
  'bitRange',
  'argsort',
  'counts',
  'axis',
  'column',
  'record',
  'keys',
  'resume',
];

/**
 * Checks the options of a table sort.
 *
 * @throws UsageError when an option is invalid, or options contradict each other
 */
export function assertTableOptions(options: Partial<TableOptions> & TextReadOptions & object): void {
  const { by, head, unique, uniqueBy, columns } = options;
  const other = NON_TABLE_OPTIONS.find(
    (name) => ![undefined, false].includes((options as Record<string, undefined>)[name]),
  );
  if (other === 'resume') {
    throw new UsageError(
      'cannot resume the sort of a table: its temporary files are removed when it ends. Omit resume',
    );
  }
  if (other) {
    throw new UsageError(`cannot use ${other} for tables: by determines the order, as in 'price:desc'`);
  }
  parseTableKeys(by as TableBy);
  assertTextOptions(options);
  columnTypes(options.types);
  if (columns !== undefined) columnNames(columns);
  if (uniqueBy !== undefined) columnNames(uniqueBy, 'uniqueBy');
  if (head !== undefined && !(Number.isSafeInteger(head) && head >= 0)) {
    throw invalidArgument('head', 'a whole number of rows, 0 or more,', head);
  }
  if (unique !== undefined && typeof unique !== 'boolean') {
    throw invalidArgument('unique', 'true or false', unique);
  }
  if (unique && uniqueBy !== undefined) {
    throw new UsageError('cannot use unique with uniqueBy: one compares whole rows, the other columns');
  }
}
