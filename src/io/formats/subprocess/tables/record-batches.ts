/** Batches of the rows of a table, or of its first rows in order. Runs in the subprocess. */
import { FormatError } from '../../../../util/errors.js';
import { type FirstRow, FirstRows, type RankedRows } from '../../tables/first-rows.js';
import { keyNumbers } from '../../tables/key-numbers.js';
import type { Cells } from '../../tables/row-layout.js';
import { fixedBytes } from '../../tables/table-type.js';
import type {
  Batch,
  ColumnsMessage,
  FirstKeysMessage,
  RowsMessage,
  WantedBatches,
  WantedKey,
} from '../protocol.js';
import type { TableRecord } from './arrow-records.js';
import { codesOfKeys, rowBatches } from './row-batches.js';

/** A record with the number of its first row in the file. */
export interface NumberedRecord extends TableRecord {
  readonly firstRow: number;
  /** Whether the rows of a record of `chosen` are only the chosen ones; default false. */
  readonly isSelection?: boolean;
}

type Records = Iterable<NumberedRecord> | AsyncIterable<NumberedRecord>;

export interface Search extends Pick<RowsMessage, 'keys' | 'trustsStatistics'> {
  readonly first: FirstRows;
  /** Whether rows with nulls have to be found as well. */
  readonly countsNulls: boolean;
}

/** Values of fixed length of a column, for each of the chosen rows. None is null. */
export interface KnownColumn {
  readonly index: number;
  readonly values: readonly Uint8Array[];
}

/** The records of a file. Columns are indices in the file; a record has at least those that are named. */
export interface RecordSource {
  readonly rows: number;
  /** Yields all records in order. */
  all(columns: readonly number[]): Records;
  /** Yields records in any order, with the columns of the keys. May leave out records that the search excludes. */
  search(search: Search): Records;
  /**
   * Yields the records that have these rows, whose numbers ascend, in order. May yield others. Each is valid until the next.
   *
   * @param known a column that need not be read again
   */
  chosen(columns: readonly number[], rows: readonly number[], known?: KnownColumn): Records;
}

/** Assigns numbers to records that follow one another. */
export function* numbered(records: Iterable<TableRecord>, firstRow = 0): Generator<NumberedRecord> {
  for (const { rows, columns } of records) {
    yield { rows, columns, firstRow };
    firstRow += rows;
  }
}

/** Yields the batches of a request. */
export async function* recordBatches(
  source: RecordSource,
  wanted: Exclude<WantedBatches, ColumnsMessage>,
): AsyncGenerator<Batch> {
  if (wanted.is === 'first keys') return yield* firstKeyBatches(source, wanted);
  if (wanted.head !== undefined) return yield* firstRowBatches(source, wanted, wanted.head);
  for await (const record of source.all(columnsOf(wanted))) yield* batchesOf(record, wanted);
}

/** Returns the indices of all columns of a request. */
const columnsOf = ({ columns, keys, distinct }: RowsMessage): readonly number[] => [
  ...keys.map(({ index }) => index),
  ...columns,
  ...(distinct ?? []),
];

const batchesOf = (record: TableRecord, wanted: RowsMessage, chosen?: Uint32Array): Generator<Batch> => {
  const keys = record.columns(wanted.keys.map(({ index }) => index));
  const read = {
    keys,
    columns: record.columns(wanted.columns),
    distinct: record.columns(wanted.distinct ?? []),
  };
  return rowBatches(record.rows, read, wanted, chosen);
};

/** Finds the first rows by their keys alone, then reads these rows. */
export async function* firstRowBatches(
  source: Omit<RecordSource, 'all'>,
  wanted: RowsMessage,
  head: number,
): AsyncGenerator<Batch> {
  const first = new FirstRows(head, wanted.keys[0]);
  yield* searchRows(source, { ...wanted, first, countsNulls: false });
  const found = first.rows();
  const rows = found.map(({ row }) => row);
  let at = 0;
  for await (const record of source.chosen(columnsOf(wanted), rows, knownColumn(wanted, found))) {
    const begin = at;
    if (record.isSelection) at += record.rows;
    while (at < rows.length && (rows[at] as number) < record.firstRow + record.rows) at++;
    const chosen = Uint32Array.from(rows.slice(begin, at), (row, i) =>
      record.isSelection ? i : row - record.firstRow,
    );
    // They have been counted by the search.
    if (at > begin) for (const batch of batchesOf(record, wanted, chosen)) yield { ...batch, rows: 0 };
  }
  if (at < rows.length) throw new FormatError('it was changed while it was read');
}

/** Returns the column of the only key if the search has kept all its values. */
function knownColumn({ keys }: RowsMessage, found: readonly FirstRow[]): KnownColumn | undefined {
  const [key, ...others] = keys;
  const values = found.flatMap(({ value }) => value ?? []);
  return key && others.length === 0 && values.length === found.length
    ? { index: key.index, values }
    : undefined;
}

export async function* firstKeyBatches(
  source: Pick<RecordSource, 'rows' | 'search'>,
  { key, head, ...how }: FirstKeysMessage,
): AsyncGenerator<Batch> {
  const first = new FirstRows(head, key);
  let [nulls, firstNull] = [0, 0];
  yield* searchRows(
    source,
    { ...how, keys: [key], first, countsNulls: true },
    ({ rows, firstRow }, cells) => {
      if (cells.hasNulls === false) return;
      for (let i = 0; i < rows; i++) {
        if (cells.isNull(i) && (nulls++ === 0 || firstRow + i < firstNull)) firstNull = firstRow + i;
      }
    },
  );
  const found = first.rows();
  const rows = Float64Array.from(found, ({ row }) => row);
  const facts = Float64Array.of(nulls, firstNull);
  const values = Buffer.concat(found.map(({ value }) => value as Uint8Array));
  yield { rows: 0, buffers: [values, new Uint8Array(rows.buffer), new Uint8Array(facts.buffer)] };
}

/** Adds all rows to the search. The batches have no rows; they report the progress. */
async function* searchRows(
  source: Pick<RecordSource, 'rows' | 'search'>,
  search: Search,
  onRecord?: (record: NumberedRecord, cells: Cells) => void,
): AsyncGenerator<Batch> {
  const { keys, first } = search;
  const [key] = keys as [WantedKey];
  let left = source.rows;
  for await (const record of source.search(search)) {
    const { rows, firstRow } = record;
    const cells = record.columns(keys.map(({ index }) => index));
    const [ofFirst] = cells as [Cells];
    onRecord?.(record, ofFirst);
    const codes = codesOfKeys(cells, keys, rows);
    const value = onRecord || ofFirst.hasNulls === false ? valueCopier(ofFirst) : undefined;
    first.add({ rows, codes, firstRow, numbers: keyNumbers(ofFirst, key, rows), value });
    left -= rows;
    yield { rows, buffers: [] };
  }
  if (left > 0) yield { rows: left, buffers: [] };
}

/** Returns a function that copies values of fixed length; undefined for others. */
function valueCopier({ type, memory, offset }: Cells): RankedRows['value'] {
  const width = fixedBytes(type);
  if (width === undefined || !memory) return undefined;
  return (i) => {
    const at = offset?.(i) ?? i * width;
    return memory.slice(at, at + width);
  };
}
