/** Sorts of matrices: every row, or every column, by itself. Many short ones are one segmented sort. */
import { keyWords, newArray } from '../keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../keys/dtype.js';
import type { SortOptions } from '../sort/api/options.js';
import type { Sorter } from '../sort/api/sorter.js';
import type { Lines } from './axis.js';
import type { KeyReader, KeyWriter } from './formats/key-file.js';
import { keyGroups, readKeys, writeKeys } from './key-array.js';
import { readAhead } from './read-ahead.js';

/** Keys that are sorted at a time, unless one row has more: what a matrix takes beside itself. */
const GROUP_KEYS = 2 ** 24;

/** How the keys of each row or column are sorted. */
export interface MatrixSort {
  readonly sorter: Sorter;
  readonly dtype: Dtype;
  /** Write positions within the row or column instead of keys. */
  readonly argsort: boolean;
  readonly options: SortOptions;
  /** Hears how many keys are done. */
  readonly onDone: (keys: number) => void;
}

/** Sorts from a reader to a writer. Rows are read, sorted and written by and by; columns need the whole matrix. */
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
  if (columns === 0) return; // no keys, in any number of rows
  const rows = Math.max(1, Math.floor(GROUP_KEYS / columns));
  let writing: Promise<void> = Promise.resolve();
  try {
    // The next group is read, and the last one written, while one is sorted.
    for await (const keys of readAhead(keyGroups(reader, rows * columns))) {
      const sorted = await sortLines(keys, columns, sort);
      await writing;
      writing = writeKeys(writer, sorted);
      writing.catch(() => undefined); // it is awaited, perhaps after another failure
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
  const from = keyWords(all, info) as Uint32Array; // stands for all four: each is indexed alike
  // Positions do not fit over narrower keys, and fewer of them would not fill wider ones.
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

/** Sorts keys, each `length` of them by themselves. @returns them, or their positions among those */
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
  // All keys in order, then, stably, by their line.
  const order = await sorter.argsort(keys, given);
  const lineOf = order.map((position) => Math.floor(position / length));
  const { descending: _, nan: __, bits: ___, dtype: ____, ...how } = given;
  const { values } = await sorter.sortPairs(lineOf, order, how);
  return values.map((position) => position % length);
}
