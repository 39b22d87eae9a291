/** Sorts of matrices by row or column. Many short rows or columns become one segmented sort. */
import { keyWords, newArray } from '../../keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../../keys/dtype.js';
import type { Sorter } from '../../sort/api/sorter.js';
import type { SortOptions } from '../../sort/model/options.js';
import type { Lines } from '../formats/axis.js';
import { keyGroups, readKeys, writeKeys } from '../formats/key-array.js';
import type { KeyReader, KeyWriter } from '../formats/key-file.js';
import { readAhead } from '../streams/read-ahead.js';
import { GROUP_KEYS } from './policy.js';

/** How each row or column is sorted. */
export interface MatrixSort {
  readonly sorter: Sorter;
  readonly dtype: Dtype;
  /** Write positions within the row or column instead of keys. */
  readonly argsort: boolean;
  readonly options: SortOptions;
  /** Receives the number of keys of each finished group. */
  readonly onDone: (keys: number) => void;
}

/** Sorts a matrix from a reader to a writer. Rows are streamed; columns need the whole matrix in memory. */
export function sortMatrix(
  reader: KeyReader,
  lines: Lines,
  sort: MatrixSort,
  writer: KeyWriter,
): Promise<void> {
  return lines.along === 'rows'
    ? sortRows(reader, lines, sort, writer)
    : sortColumns(reader, lines, sort, writer);
}

async function sortRows(
  reader: KeyReader,
  { columns }: Lines,
  sort: MatrixSort,
  writer: KeyWriter,
): Promise<void> {
  if (columns === 0) return; // no keys, whatever the number of rows
  const rows = Math.max(1, Math.floor(GROUP_KEYS / columns));
  let writing: Promise<void> = Promise.resolve();
  try {
    // Reading the next group and writing the last one overlap with the sort.
    for await (const keys of readAhead(keyGroups(reader, rows * columns))) {
      const sorted = await sortLines(keys, columns, sort);
      await writing;
      writing = writeKeys(writer, sorted);
      writing.catch(() => undefined); // awaited later, possibly after another failure
      sort.onDone(keys.length);
    }
    await writing;
  } finally {
    await Promise.allSettled([writing]);
  }
}

async function sortColumns(
  reader: KeyReader,
  { rows, columns }: Lines,
  sort: MatrixSort,
  writer: KeyWriter,
): Promise<void> {
  const all = await readKeys(reader);
  if (all.length === 0) return;
  const info = dtypeInfo(sort.dtype);
  const from = keyWords(all, info) as Uint32Array; // stands for all four types, which are indexed alike
  // Positions differ in size from the keys, so they get an array of their own.
  const result = sort.argsort ? new Uint32Array(all.length) : from;
  const inBand = Math.max(1, Math.floor(GROUP_KEYS / rows));
  for (let first = 0; first < columns; first += inBand) {
    const count = Math.min(inBand, columns - first);
    const band = newArray(sort.dtype, count * rows);
    const words = keyWords(band, info) as Uint32Array;
    for (let row = 0; row < rows; row++) {
      for (let i = 0; i < count; i++) words[i * rows + row] = from[row * columns + first + i] as number;
    }
    const sorted = await sortLines(band, rows, sort);
    const moved = (sort.argsort ? sorted : keyWords(sorted, info)) as Uint32Array;
    for (let row = 0; row < rows; row++) {
      for (let i = 0; i < count; i++) result[row * columns + first + i] = moved[i * rows + row] as number;
    }
    sort.onDone(band.length);
  }
  await writeKeys(writer, result);
}

/**
 * Sorts consecutive lines of `length` keys each.
 *
 * @returns the sorted keys, or their positions within their lines
 */
async function sortLines(
  keys: KeyArray,
  length: number,
  { sorter, dtype, argsort, options }: MatrixSort,
): Promise<KeyArray> {
  const given = { ...options, dtype };
  const lines = keys.length / length;
  if (lines === 1) return argsort ? sorter.argsort(keys, given) : sorter.sort(keys, given);
  if (!argsort) {
    const offsets = Uint32Array.from({ length: lines + 1 }, (_, i) => i * length);
    return sorter.segmentedSort(keys, offsets, given);
  }
  // An argsort of all keys, followed by a stable sort by line.
  const order = await sorter.argsort(keys, given);
  const lineOf = order.map((position) => Math.floor(position / length));
  const { descending: _, nan: __, bitRange: ___, dtype: ____, ...how } = given;
  const { values } = await sorter.sortPairs(lineOf, order, how);
  return values.map((position) => position % length);
}
