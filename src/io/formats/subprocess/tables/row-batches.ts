/** Builds batches of rows and their key codes. Runs in the subprocess. */
import { copyBytes } from '../../../../util/copy-bytes.js';
import { type CodeColumn, codeColumn, type KeyOrder } from '../../tables/key-codes.js';
import { type Cells, cellSize, putCell } from '../../tables/row-layout.js';
import { keyKind } from '../../tables/table-type.js';
import type { Batch, RowsMessage } from '../protocol.js';

/** Bytes at which a batch is sent: enough to make the cost of a message small. */
const BATCH_BYTES = 2 ** 22;

/** Cells of the requested columns, in their order, and of the keys. */
export interface ReadCells {
  readonly columns: readonly Cells[];
  readonly keys: readonly Cells[];
  readonly distinct: readonly Cells[];
}

/** One byte string per row. */
export interface SizedStrings {
  size(i: number): number;
  put(i: number, to: Uint8Array, at: number): number;
}

/** Concatenated byte strings. */
interface PackedStrings extends SizedStrings {
  readonly bytes: Uint8Array;
  /** Start of each string, and the end of the last one. */
  readonly offsets: Uint32Array;
  readonly sizes: Uint32Array;
}

export function packedStrings({ sizes, bytes }: Pick<PackedStrings, 'sizes' | 'bytes'>): PackedStrings {
  const offsets = new Uint32Array(sizes.length + 1);
  for (let i = 0; i < sizes.length; i++) offsets[i + 1] = (offsets[i] as number) + (sizes[i] as number);
  return {
    ...{ sizes, bytes, offsets },
    size: (i) => sizes[i] as number,
    put: (i, to, at) => copyBytes(bytes, offsets[i] as number, offsets[i + 1] as number, to, at),
  };
}

const isPacked = (strings: SizedStrings): strings is PackedStrings => 'offsets' in strings;

export const joinStrings = (columns: readonly SizedStrings[]): SizedStrings => ({
  size(i) {
    let size = 0;
    for (const column of columns) size += column.size(i);
    return size;
  },
  put(i, to, at) {
    for (const column of columns) at = column.put(i, to, at);
    return at;
  },
});

export const rowStrings = (columns: readonly Cells[]): SizedStrings =>
  joinStrings(
    columns.map((cells) => ({
      size: (i) => cellSize(cells, i),
      put: (i, to, at) => putCell(cells, i, to, at),
    })),
  );

/** Returns the codes of keys, whose columns are in the same order. */
export const codesOfKeys = (cells: readonly Cells[], keys: readonly KeyOrder[], rows: number): SizedStrings =>
  joinStrings(keys.map((key, k) => codesOf(cells[k] as Cells, key, rows)));

function codesOf(cells: Cells, order: KeyOrder, rows: number): CodeColumn {
  const kind = keyKind(cells.type);
  if (!kind) throw new Error('a key that has no order');
  return codeColumn(cells, kind, order, rows);
}

/**
 * Yields rows as batches that hardly exceed BATCH_BYTES.
 *
 * @param chosen  the rows to include; default: all
 */
export function rowBatches(
  rows: number,
  read: ReadCells,
  { keys, distinct }: RowsMessage,
  chosen?: Uint32Array,
): Generator<Batch> {
  const codes = codesOfKeys(read.keys, keys, rows);
  const strings = [codes, rowStrings(read.columns), ...(distinct ? [rowStrings(read.distinct)] : [])];
  return stringBatches(rows, strings, chosen);
}

/**
 * Yields strings as batches that hardly exceed BATCH_BYTES: for each kind of string, lengths and bytes.
 *
 * @param chosen  the rows to include; default: all
 */
export function* stringBatches(
  rows: number,
  strings: readonly SizedStrings[],
  chosen?: Uint32Array,
): Generator<Batch> {
  if (!chosen && strings.every(isPacked)) return yield* packedBatches(rows, strings);
  const n = chosen?.length ?? rows;
  const rowAt = (i: number): number => (chosen ? (chosen[i] as number) : i);
  for (let begin = 0; begin < n; ) {
    let end = begin;
    const lengths: number[][] = strings.map(() => []);
    for (let bytes = 0; end < n && bytes < BATCH_BYTES; end++) {
      for (let k = 0; k < strings.length; k++) {
        const size = (strings[k] as SizedStrings).size(rowAt(end));
        (lengths[k] as number[]).push(size);
        bytes += size;
      }
    }
    const buffers = strings.flatMap((one, k) => {
      const sizes = Uint32Array.from(lengths[k] ?? []);
      const all = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0));
      let at = 0;
      for (let i = begin; i < end; i++) at = one.put(rowAt(i), all, at);
      return [new Uint8Array(sizes.buffer), all];
    });
    yield { rows: end - begin, buffers };
    begin = end;
  }
  if (n < rows) yield { rows: rows - n, buffers: strings.flatMap(() => [NO_BYTES, NO_BYTES]) };
}

const NO_BYTES = new Uint8Array(0);

/** Like `stringBatches`, for concatenated strings, which are not copied. */
function* packedBatches(rows: number, strings: readonly PackedStrings[]): Generator<Batch> {
  for (let begin = 0; begin < rows; ) {
    let end = begin;
    for (let bytes = 0; end < rows && bytes < BATCH_BYTES; end++) {
      for (const { sizes } of strings) bytes += sizes[end] as number;
    }
    const buffers = strings.flatMap(({ sizes, bytes, offsets }) => {
      const lengths = sizes.subarray(begin, end);
      return [
        new Uint8Array(lengths.buffer, lengths.byteOffset, lengths.byteLength),
        bytes.subarray(offsets[begin], offsets[end]),
      ];
    });
    yield { rows: end - begin, buffers };
    begin = end;
  }
}
