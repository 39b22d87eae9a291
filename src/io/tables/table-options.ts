import { UsageError } from '../../util/errors.js';
import { assertTextOptions, type TextReadOptions } from '../text/text-options.js';
import { type ColumnTypes, columnTypes } from '../text/text-type.js';
import { type ColumnNames, columnNames, parseTableKeys, type TableBy } from './table-keys.js';

/** How rows of tables are sorted. */
export interface TableOptions {
  /**
   * The columns to sort by, the first of which decides: `'price:desc,time:nulls-first'`, or a list of keys.
   *
   * @defaultValue none: keys are sorted, not rows of a table
   */
  readonly by: TableBy;
  /**
   * The columns to keep, in this order.
   *
   * @defaultValue all
   */
  readonly columns?: ColumnNames | undefined;
  /**
   * Keep the first so many rows only. They are selected, and only what may be among them is sorted.
   *
   * @defaultValue none: all rows
   */
  readonly head?: number | undefined;
  /**
   * Of rows that are equal, bit for bit in all columns that are kept, keep one.
   *
   * @defaultValue `false`
   */
  readonly unique?: boolean | undefined;
  /**
   * Of rows that are equal in these columns keep the first one in order.
   *
   * @defaultValue none
   */
  readonly uniqueBy?: ColumnNames | undefined;
  /**
   * Types of columns of CSV, TSV and NDJSON by their names: `{ price: 'f64', day: 'date:%d/%m/%Y' }`, or `'price=f64,id=u64'`.
   *
   * @defaultValue as all values of a column can be read
   */
  readonly types?: ColumnTypes | undefined;
}

/** Options of keys and records, which would say something else of a table. */
const NON_TABLE_OPTIONS = [
  'dtype',
  'descending',
  'bits',
  'argsort',
  'counts',
  'axis',
  'column',
  'record',
  'keys',
  'resume',
];

/** @throws UsageError for what contradicts itself */
export function assertTableOptions(options: Partial<TableOptions> & TextReadOptions & object): void {
  const { by, head, unique, uniqueBy, columns } = options;
  const other = NON_TABLE_OPTIONS.find(
    (name) => ![undefined, false].includes((options as Record<string, undefined>)[name]),
  );
  if (other === 'resume') {
    throw new UsageError(
      "a sort of a table cannot be gone on with, since its temporary files go when it ends: leave 'resume' out",
    );
  }
  if (other) {
    throw new UsageError(`${other} is not for tables: 'by' says what rows are sorted by, as in 'price:desc'`);
  }
  parseTableKeys(by as TableBy);
  assertTextOptions(options);
  columnTypes(options.types);
  if (columns !== undefined) columnNames(columns);
  if (uniqueBy !== undefined) columnNames(uniqueBy);
  if (head !== undefined && !(Number.isSafeInteger(head) && head >= 0)) {
    throw new UsageError(`head is ${head}: expected a whole number of rows from 0 on`);
  }
  if (unique !== undefined && typeof unique !== 'boolean') {
    throw new UsageError(`unique is ${JSON.stringify(unique)}: expected true or false`);
  }
  if (unique && uniqueBy !== undefined) {
    throw new UsageError('unique is by whole rows, and uniqueBy by columns: say one of them');
  }
}
