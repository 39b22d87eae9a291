/**
 * Decodes single rows of Parquet files, in the process that needs them. Only the pages of these rows are decompressed, and
 * pages of plain values about as far as the last of the rows. As in `parquet-numbers.ts`, an error means that the package that reads all files has to decode them.
 */
import { isUtf8 } from 'node:buffer';
import type { TableFunctions } from '../../../../sort/host/native-tables.js';
import { FormatError } from '../../../../util/errors.js';
import type { Allocate } from '../../../../util/uncleared.js';
import { wordAt } from '../../../../util/word-at.js';
import type { Cells } from '../../tables/row-layout.js';
import { fixedBytes, type TableType } from '../../tables/table-type.js';
import type { ByteSource } from '../byte-source.js';
import type { ColumnChunk } from './parquet-footer.js';
import {
  ENCODING,
  LENGTH_BYTES,
  levelsOf,
  MAX_INDEX_BITS,
  PAGE,
  type Page,
  pagesOf,
  runsOf,
  unpackedPages,
  unusual,
} from './parquet-numbers.js';

/** A column chunk, the type of its values, and whether they may be null. */
export interface TypedChunk {
  readonly chunk: ColumnChunk;
  readonly type: TableType;
  readonly isOptional: boolean;
}

/** Rows of a data page, by their numbers in it. */
interface RowsOfPage {
  readonly page: Page;
  readonly rows: readonly number[];
}

/**
 * Returns the cells of some rows of a row group, which `isDecodable` has accepted.
 *
 * @param rows numbers of the rows in the group, ascending
 * @param allocate returns the memory of what is read and decompressed, which the cells refer to
 * @returns for each chunk, a cell for each row
 * @throws FormatError when a page is damaged or has an unusual encoding, or a text is not UTF-8
 */
export function readCells(
  native: Pick<TableFunctions, 'decompressSnappy'>,
  source: ByteSource,
  chunks: readonly TypedChunk[],
  rows: readonly number[],
  allocate: Allocate,
): Cells[] {
  const needed = chunks.map(({ chunk }) => {
    const pages = pagesOf(source.bytes(chunk.begin, chunk.bytes, allocate), chunk);
    return {
      dictionary: pages.find(({ kind }) => kind === PAGE.dictionary),
      pages: pagesOfRows(pages, rows),
    };
  });
  const prefixes = new Map<Page, number>();
  for (const { dictionary, pages } of needed) {
    if (dictionary) prefixes.set(dictionary, dictionary.bytes);
    for (const some of pages) prefixes.set(some.page, prefixOf(some));
  }
  const wanted = (page: Page): number => prefixes.get(page) as number;
  const contentOf = unpackedPages(native, [...prefixes.keys()], { allocate, wanted });
  const valuesIn = (some: RowsOfPage, how: HowStored): (Uint8Array | undefined)[] => {
    const content = contentOf(some.page);
    try {
      return valuesOf(some, content, how);
    } catch (error) {
      if (!(error instanceof FormatError) || content.length === some.page.bytes) throw error;
    }
    return valuesOf(some, unpackedPages(native, [some.page])(some.page), how); // the rows are beyond the prefix
  };
  return chunks.map(({ type, isOptional }, i) => {
    const width = fixedBytes(type);
    const { dictionary, pages } = needed[i] as (typeof needed)[number];
    const how = { width, isOptional, dictionary: dictionary && contentOf(dictionary) };
    return cellsOf(
      type,
      pages.flatMap((some) => valuesIn(some, how)),
    );
  });
}

/** Returns the data pages that have some of the rows. */
function pagesOfRows(pages: readonly Page[], rows: readonly number[]): RowsOfPage[] {
  const found: RowsOfPage[] = [];
  let [firstRow, at] = [0, 0];
  for (const page of pages) {
    if (page.kind === PAGE.dictionary) continue;
    const begin = at;
    while (at < rows.length && (rows[at] as number) < firstRow + page.values) at++;
    if (at > begin) found.push({ page, rows: rows.slice(begin, at).map((row) => row - firstRow) });
    firstRow += page.values;
  }
  if (at < rows.length) throw unusual();
  return found;
}

/** Encoders of Snappy compress blocks of this size. */
const BLOCK_BYTES = 2 ** 16;

/** Returns the size of the begin of a page that probably has some of its rows. */
function prefixOf({ page: { encoding, isPacked, bytes, values }, rows }: RowsOfPage): number {
  if (!isPacked || encoding !== ENCODING.plain) return bytes;
  const share = ((rows.at(-1) ?? 0) + 1) / values;
  return Math.min(bytes, Math.ceil(bytes * share) + BLOCK_BYTES);
}

/** Plain values. They are read in the order of their numbers. */
class PlainValues {
  readonly #bytes: Uint8Array;
  readonly #width: number | undefined;
  #next = 0;
  #at: number;

  /** @param width bytes of a value; undefined if each begins with its length */
  constructor(bytes: Uint8Array, width: number | undefined, at = 0) {
    this.#bytes = bytes;
    this.#width = width;
    this.#at = at;
  }

  get(index: number): Uint8Array {
    const bytes = this.#bytes;
    if (this.#width !== undefined) {
      const begin = this.#at + index * this.#width;
      return checked(bytes.subarray(begin, begin + this.#width), this.#width);
    }
    for (; this.#next < index && this.#at < bytes.length; this.#next++)
      this.#at += LENGTH_BYTES + wordAt(bytes, this.#at);
    const begin = this.#at + LENGTH_BYTES;
    if (begin > bytes.length) throw unusual();
    const length = wordAt(bytes, this.#at);
    return checked(bytes.subarray(begin, begin + length), length);
  }
}

function checked(value: Uint8Array, length: number): Uint8Array {
  if (value.length === length) return value;
  throw unusual();
}

/** The bytes of a value if that is fixed, whether values may be null, and the plain values of a dictionary. */
interface HowStored {
  readonly width: number | undefined;
  readonly isOptional: boolean;
  readonly dictionary: Uint8Array | undefined;
}

/**
 * Returns the values of some rows of a page; undefined for nulls.
 *
 * @throws FormatError when the page is damaged, or its content ends before a value
 */
function valuesOf(
  { page, rows }: RowsOfPage,
  content: Uint8Array,
  { width, isOptional, dictionary }: HowStored,
): (Uint8Array | undefined)[] {
  const { levels, at } = levelsOf(page, content, isOptional);
  const ranks = levels ? ranksOf(levels, page.values, rows) : rows;
  const present = ranks.filter((rank) => rank !== undefined);
  const isPlain = page.encoding === ENCODING.plain;
  if (!isPlain && !dictionary) throw unusual();
  const places = isPlain ? present : numbersAt(content.subarray(at + 1), content[at], present);
  const values = isPlain
    ? new PlainValues(content, width, at)
    : new PlainValues(dictionary as Uint8Array, width);
  const found = new Map<number, Uint8Array>();
  for (const place of places.toSorted((a, b) => a - b))
    if (!found.has(place)) found.set(place, values.get(place));
  let next = 0;
  return ranks.map((rank) => (rank === undefined ? undefined : found.get(places[next++] as number)));
}

const bitAt = (bytes: Uint8Array, at: number, i: number): number =>
  ((bytes[at + (i >> 3)] as number) >> (i & 7)) & 1;

/** Returns how many values of a page of `n` rows precede those of some rows; undefined for nulls. */
function ranksOf(levels: Uint8Array, n: number, rows: readonly number[]): (number | undefined)[] {
  const ranks: (number | undefined)[] = [];
  let [firstRow, before] = [0, 0];
  for (const run of runsOf(levels, 1, n)) {
    const end = firstRow + run.n;
    if ('number' in run) {
      for (let row = rows[ranks.length]; row !== undefined && row < end; row = rows[ranks.length])
        ranks.push(run.number ? before + row - firstRow : undefined);
      before += run.number ? run.n : 0;
    } else {
      for (let i = 0; i < run.n; i++) {
        const bit = bitAt(levels, run.at, i);
        if (rows[ranks.length] === firstRow + i) ranks.push(bit ? before : undefined);
        before += bit;
      }
    }
    if (ranks.length === rows.length) break;
    firstRow = end;
  }
  return ranks;
}

/** Returns the numbers of `bits` bits at some places, which ascend. */
function numbersAt(bytes: Uint8Array, bits = MAX_INDEX_BITS + 1, places: readonly number[]): number[] {
  const numbers: number[] = [];
  const mask = 2 ** bits - 1;
  let first = 0;
  for (const run of runsOf(bytes, bits, (places.at(-1) ?? -1) + 1)) {
    const end = first + run.n;
    for (
      let place = places[numbers.length];
      place !== undefined && place < end;
      place = places[numbers.length]
    ) {
      const bit = (place - first) * bits;
      numbers.push('number' in run ? run.number : (wordAt(bytes, run.at + (bit >> 3)) >>> (bit & 7)) & mask);
    }
    first = end;
  }
  return numbers;
}

/** @throws FormatError when a text is not UTF-8 */
function cellsOf(type: TableType, values: readonly (Uint8Array | undefined)[]): Cells {
  const isNull = (i: number): boolean => values[i] === undefined;
  const width = fixedBytes(type);
  if (width !== undefined) {
    const empty = new Uint8Array(width);
    return { type, isNull, memory: Buffer.concat(values.map((value) => value ?? empty)) };
  }
  if (type.is === 'text' && !values.every((value) => value === undefined || isUtf8(value))) throw unusual();
  return { type, isNull, bytes: (i) => values[i] as Uint8Array };
}
