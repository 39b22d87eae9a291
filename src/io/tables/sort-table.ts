/** Sorts tables in memory by columns. */
import { bytesOf, dtypeOf } from '../../keys/array.js';
import type { KeyArray } from '../../keys/dtype.js';
import { withSorter } from '../../sort/api/default-sorter.js';
import type { Sorter } from '../../sort/api/sorter.js';
import { runSync } from '../../sort/host/steps.js';
import type { SortOptions } from '../../sort/model/options.js';
import { ByteStrings } from '../../sort/operations/strings/byte-strings.js';
import { InputError, UsageError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { codeColumn } from '../formats/tables/key-codes.js';
import type { Cells } from '../formats/tables/row-layout.js';
import {
  columnIndexer,
  columnNames,
  type FoundKey,
  findKeys,
  parseTableKeys,
  type TableBy,
} from '../formats/tables/table-keys.js';
import { keyKind, type TableType } from '../formats/tables/table-type.js';
import { gatherRecords } from '../records/gather-records.js';
import { assertTableOptions, type TableOptions } from './table-options.js';
import { tablePositions, verifyOrder } from './table-order.js';
import { cellsOf, type TableColumn } from './value-cells.js';

/** Options of {@link sortTable}. */
export type SortTableOptions = Omit<TableOptions, 'by' | 'columns' | 'types'> &
  Omit<SortOptions, 'dtype' | 'descending' | 'bitRange'>;

const ANY_ORDER = { descending: false, nulls: 'last', nan: 'last' } as const;

/**
 * Sorts the rows of a table, given as columns, by one or more of them.
 *
 * The sort is stable. Strings are ordered by their UTF-8 bytes, numbers as in `sort`, `false` before `true`. Missing
 * values come last, unless the key says `nulls-first`. The first key is the most significant one.
 *
 * @param columns  the columns by name, all of the same length
 * @param by  sort keys: a string as for `--by`, or a list of keys: `[{ column: 'price', descending: true }, 'name']`
 * @param options  row selection, and the options of the sorter
 * @returns new columns of the same kinds
 * @throws UsageError when a column does not exist or an option is invalid
 * @throws InputError when columns differ in length, or a column mixes kinds of values
 * @throws DtypeError when a key column has no order
 * @throws the errors of `sort`
 * @example
 * const { name, price } = await sortTable({ name: ['b', 'a', 'c'], price: Float64Array.of(2, 1, 2) }, 'price:desc,name');
 */
export async function sortTable<T extends Readonly<Record<string, TableColumn>>>(
  columns: T,
  by: TableBy,
  options: SortTableOptions = {},
): Promise<{ [Name in keyof T]: T[Name] }> {
  const { head, unique = false, uniqueBy, nan, verify = false, ...rest } = options;
  const other = ['dtype', 'columns', 'by'].find((name) => name in rest);
  if (other) {
    throw new UsageError(
      `cannot use option ${other} with sortTable: its arguments define the columns and the order`,
    );
  }
  assertTableOptions({ by, head, unique, uniqueBy, ...rest });
  const names = Object.keys(columns);
  const rows = rowsOf(columns);
  const known = new Map<number, Cells | undefined>();
  const cells = (index: number): Cells | undefined => {
    if (!known.has(index))
      known.set(index, cellsOf(columns[names[index] as string] as TableColumn, names[index] as string));
    return known.get(index);
  };
  const keyNames = parseTableKeys(by).map(({ column }) => column);
  const named = names.map((name) => ({ name }));
  for (const column of keyNames) cells(columnIndexer(named, column, 'the table'));
  const fields = names.map((name, i): { name: string; type?: TableType } => {
    const type = known.get(i)?.type;
    return { name, ...(type && { type }) };
  });
  const keys = findKeys(parseTableKeys(by), fields, { name: 'the table', nan });
  const codes = stringsOf(keys, cells, rows);
  const distinctCodes = unique ? names : uniqueBy === undefined ? undefined : columnNames(uniqueBy);
  const distinct =
    distinctCodes &&
    stringsOf(
      distinctCodes.map((one) => anyKey(columnIndexer(named, one, 'the table'), cells, names)),
      cells,
      rows,
    );
  const positions = await withSorter({ ...rest, verify }, (sorter: Sorter, how) =>
    tablePositions(sorter, codes, { head, distinct }, how),
  );
  if (verify) verifyOrder(codes, positions);
  const moved = names.map((name) => [name, gathered(columns[name] as TableColumn, positions)]);
  return Object.fromEntries(moved) as { [Name in keyof T]: T[Name] };
}

/**
 * Returns the number of rows.
 *
 * @throws InputError when a column is not an array, or columns differ in length
 */
function rowsOf(columns: Readonly<Record<string, TableColumn>>): number {
  const lengths = Object.entries(columns).map(([name, column]) => {
    if (!Array.isArray(column) && !ArrayBuffer.isView(column)) {
      throw invalidArgument(`column ${name}`, 'an array', column, {
        type: InputError,
        details: { column: name },
      });
    }
    return [name, column.length] as const;
  });
  const [first] = lengths;
  const other = lengths.find(([, length]) => length !== first?.[1]);
  if (!other || !first) return first?.[1] ?? 0;
  throw new InputError(
    `cannot sort the table: its columns differ in length (${first[0]} has ${first[1]} values, and ${other[0]} has ${other[1]})`,
    { details: { columns: [first[0], other[0]], lengths: [first[1], other[1]] } },
  );
}

/**
 * Returns a key for comparing rows by equality.
 *
 * @throws InputError when the values of the column cannot be compared
 */
function anyKey(
  index: number,
  cells: (index: number) => Cells | undefined,
  names: readonly string[],
): FoundKey {
  const type = cells(index)?.type;
  const kind = type && keyKind(type);
  if (kind) return { index, kind, ...ANY_ORDER };
  throw new InputError(`cannot compare rows by column ${names[index]}: its values have no order`);
}

/** Returns the codes of the keys. */
function stringsOf(
  keys: readonly FoundKey[],
  cells: (index: number) => Cells | undefined,
  rows: number,
): ByteStrings {
  const columns = keys.map((key) => codeColumn(cells(key.index) as Cells, key.kind, key, rows));
  const strings = new ByteStrings();
  const sizes = Uint32Array.from({ length: rows }, (_, i) =>
    columns.reduce((sum, one) => sum + one.size(i), 0),
  );
  const bytes = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0));
  let at = 0;
  for (let i = 0; i < rows; i++) for (const one of columns) at = one.put(i, bytes, at);
  strings.add(new Uint8Array(sizes.buffer), bytes);
  return strings;
}

function gathered(column: TableColumn, positions: Uint32Array): TableColumn {
  if (Array.isArray(column)) return Array.from(positions, (i) => column[i]);
  const from = column as KeyArray;
  dtypeOf(from); // throws for arrays that are not key arrays
  const to = from.slice(0, positions.length) as KeyArray;
  // Copied as bytes: copying as numbers may change NaN payloads.
  runSync(gatherRecords(bytesOf(from), from.BYTES_PER_ELEMENT, positions, bytesOf(to)));
  return to;
}
