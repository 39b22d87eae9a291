/**
 * Decodes numeric columns of Parquet files without nulls, in the process that needs them. Other columns and damaged files
 * are left to the package that reads all files; an error of this module means no more than that.
 *
 * Source of the format: the Apache Parquet specification, "Data Pages" and "Encodings".
 */
import type { TableFunctions } from '../../../../sort/host/native-tables.js';
import { FormatError } from '../../../../util/errors.js';
import type { Allocate } from '../../../../util/uncleared.js';
import { wordAt } from '../../../../util/word-at.js';
import type { ByteSource } from '../byte-source.js';
import { type ColumnChunk, numberAt, structAt } from './parquet-footer.js';
import { decodePrefix, type Struct, THRIFT } from './thrift.js';

/** Numbers of codecs, kinds of pages and encodings. */
const CODEC = { none: 0, snappy: 1 } as const;
export const PAGE = { data: 0, dictionary: 2, data2: 3 } as const;
export const ENCODING = { plain: 0, plainDictionary: 2, dictionary: 8 } as const;

/** Thrift field numbers. */
const HEADER = { kind: 1, bytes: 2, packed: 3, data: 5, dictionary: 7, data2: 8 } as const;
const DATA = { values: 1, encoding: 2 } as const;
const DATA2 = { values: 1, encoding: 4, definitions: 5, repetitions: 6, isPacked: 7 } as const;

/** More than the largest ratio of Snappy, whose copies take three bytes for 64. */
const MAX_RATIO = 32;
/** Size of a length. */
export const LENGTH_BYTES = 4;
/** Bits of an index that 32 bits contain at any offset in a byte. */
export const MAX_INDEX_BITS = 25;

export const unusual = (): FormatError => new FormatError('a page is damaged or has an unusual encoding');

/** A page, as stored. */
export interface Page {
  readonly kind: number;
  readonly values: number;
  readonly encoding: number;
  /** Bytes before the values that are never compressed. */
  readonly plain: Uint8Array;
  readonly packed: Uint8Array;
  readonly isPacked: boolean;
  /** Size of the values when decompressed. */
  readonly bytes: number;
}

/** Whether a column chunk can be decoded. */
export const isDecodable = ({ codec, encodings, depth }: ColumnChunk): boolean =>
  depth === 1 &&
  (codec === CODEC.none || codec === CODEC.snappy) &&
  encodings.every((one) => KNOWN.includes(one));

/** RLE (3) is the encoding of levels. */
const KNOWN: readonly number[] = [...Object.values(ENCODING), 3];

/**
 * Returns the little-endian values of column chunks. Pages of all chunks are decompressed together, on several threads.
 *
 * @param width bytes of a value: 4 or 8
 * @param isOptional whether values may be null
 * @param allocate returns the memory of what is read and decompressed
 * @throws FormatError when a page is damaged, has nulls or an unusual encoding
 */
export function decodeChunks(
  native: Pick<TableFunctions, 'decompressSnappy'>,
  source: ByteSource,
  chunks: readonly ColumnChunk[],
  {
    width,
    isOptional,
    allocate,
  }: { readonly width: number; readonly isOptional: boolean; readonly allocate: Allocate },
): Uint8Array[] {
  const pages = chunks.map((chunk) => pagesOf(source.bytes(chunk.begin, chunk.bytes, allocate), chunk));
  const contentOf = unpackedPages(native, pages.flat(), { allocate });
  return pages.map((some, i) => {
    let dictionary: Uint8Array | undefined;
    const rows = chunks[i]?.values as number;
    const parts: Uint8Array[] = [];
    for (const page of some) {
      const content = contentOf(page);
      if (page.kind === PAGE.dictionary) dictionary = valuesAt(content, 0, page.values, width);
      else parts.push(valuesOf(page, content, { width, isOptional, dictionary }));
    }
    const [only] = parts;
    const values = parts.length === 1 && only ? only : Buffer.concat(parts);
    if (values.length !== rows * width) throw unusual();
    return values;
  });
}

/**
 * Decompresses pages together, on several threads, and returns a function that returns their contents.
 *
 * @param how.allocate returns the memory of what is decompressed
 * @param how.wanted returns how many bytes of a page to decompress; default all
 * @throws FormatError when a page is damaged
 */
export function unpackedPages(
  { decompressSnappy }: Pick<TableFunctions, 'decompressSnappy'>,
  pages: readonly Page[],
  { allocate, wanted }: { readonly allocate?: Allocate; readonly wanted?: (page: Page) => number } = {},
): (page: Page) => Uint8Array {
  const packed = pages.filter(({ isPacked }) => isPacked);
  const contents = decompressSnappy(
    packed.map((page) => [page.packed, page.bytes, wanted?.(page) ?? page.bytes]),
    allocate,
  );
  if (!contents) throw unusual();
  const unpacked = new Map(packed.map((page, i) => [page, contents[i] as Uint8Array]));
  return (page) => unpacked.get(page) ?? page.packed;
}

/**
 * Returns the pages of a chunk.
 *
 * @throws FormatError when a page is damaged or of an unusual kind
 */
export function pagesOf(bytes: Uint8Array, { codec }: ColumnChunk): Page[] {
  const pages: Page[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { fields, length } = decodePrefix(bytes.subarray(at));
    at += length;
    const [kind, size, packedSize] = [HEADER.kind, HEADER.bytes, HEADER.packed].map((id) =>
      count(fields, id),
    ) as [number, number, number];
    const body = bytes.subarray(at, at + packedSize);
    at += packedSize;
    if (body.length !== packedSize) throw unusual();
    if (kind === PAGE.data2) {
      const head = structAt(fields, HEADER.data2) ?? new Map();
      const levels = count(head, DATA2.definitions) + count(head, DATA2.repetitions);
      const isPacked = codec === CODEC.snappy && head.get(DATA2.isPacked)?.type !== THRIFT.false;
      const [plain, packed] = [body.subarray(0, levels), body.subarray(levels)];
      const sizes = { plain, packed, isPacked, bytes: size - levels };
      pages.push(
        assertSize({
          kind,
          values: count(head, DATA2.values),
          encoding: count(head, DATA2.encoding),
          ...sizes,
        }),
      );
      continue;
    }
    if (kind !== PAGE.data && kind !== PAGE.dictionary) throw unusual();
    const head = structAt(fields, kind === PAGE.data ? HEADER.data : HEADER.dictionary) ?? new Map();
    const sizes = { plain: body.subarray(0, 0), packed: body, isPacked: codec === CODEC.snappy, bytes: size };
    pages.push(
      assertSize({ kind, values: count(head, DATA.values), encoding: count(head, DATA.encoding), ...sizes }),
    );
  }
  return pages;
}

/** @throws FormatError when a page claims more than its bytes can hold */
function assertSize(page: Page): Page {
  const { packed, isPacked, bytes } = page;
  if (bytes >= 0 && (isPacked ? bytes <= packed.length * MAX_RATIO : bytes === packed.length)) return page;
  throw unusual();
}

/** Returns a number that is 0 or more. */
function count(fields: Struct, id: number): number {
  const number = numberAt(fields, id) ?? -1;
  if (number < 0) throw unusual();
  return number;
}

function valuesAt(bytes: Uint8Array, at: number, n: number, width: number): Uint8Array {
  const values = bytes.subarray(at, at + n * width);
  if (values.length !== n * width) throw unusual();
  return values;
}

/** Returns the values of a data page. */
function valuesOf(
  page: Page,
  content: Uint8Array,
  {
    width,
    isOptional,
    dictionary,
  }: { readonly width: number; readonly isOptional: boolean; readonly dictionary: Uint8Array | undefined },
): Uint8Array {
  const { values: n, encoding } = page;
  const { levels, at } = levelsOf(page, content, isOptional);
  if (levels) for (const run of runsOf(levels, 1, n)) if (!hasOnlyOnes(levels, run)) throw unusual(); // has nulls
  if (encoding === ENCODING.plain) return valuesAt(content, at, n, width);
  if (!dictionary) throw unusual();
  const indices = decodeRuns(content.subarray(at + 1), content[at] ?? MAX_INDEX_BITS + 1, n);
  return lookUp(dictionary, indices, width);
}

/** Returns the levels that define which rows of a data page have a value, and the begin of the values. */
export function levelsOf(
  { kind, plain }: Page,
  content: Uint8Array,
  isOptional: boolean,
): { readonly levels: Uint8Array | undefined; readonly at: number } {
  if (!isOptional) return { levels: undefined, at: 0 };
  if (kind === PAGE.data2) return { levels: plain, at: 0 };
  const at = LENGTH_BYTES + wordAt(content, 0);
  return { levels: content.subarray(LENGTH_BYTES, at), at };
}

/** Returns the values of a dictionary at indices. */
function lookUp(dictionary: Uint8Array, indices: Uint32Array, width: number): Uint8Array {
  const words = width / Uint32Array.BYTES_PER_ELEMENT;
  const from = new Uint32Array(dictionary.slice().buffer);
  const size = from.length / words;
  const to = new Uint32Array(indices.length * words);
  for (let i = 0; i < indices.length; i++) {
    const index = indices[i] as number;
    if (index >= size) throw unusual();
    for (let k = 0; k < words; k++) to[i * words + k] = from[index * words + k] as number;
  }
  return new Uint8Array(to.buffer);
}

/** Some numbers of a sequence: the same one, or bit-packed ones from a byte on. */
export type Run = { readonly n: number } & ({ readonly number: number } | { readonly at: number });

/**
 * Yields the runs of `n` numbers ("RLE / bit-packing hybrid").
 *
 * @throws FormatError when a run is damaged
 */
export function* runsOf(bytes: Uint8Array, bits: number, n: number): Generator<Run> {
  if (bits > MAX_INDEX_BITS) throw unusual();
  const mask = 2 ** bits - 1;
  let at = 0;
  for (let left = n; left > 0; ) {
    let head = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      if (byte === undefined || shift > 28) throw unusual();
      head += (byte & 127) * 2 ** shift;
      if (byte < 128) break;
    }
    const count = Math.floor(head / 2);
    const isPacked = head % 2 === 1;
    const size = isPacked ? count * bits : Math.ceil(bits / 8);
    const some = Math.min(left, isPacked ? count * 8 : count);
    if (some === 0 || size > bytes.length - at) throw unusual();
    yield isPacked ? { n: some, at } : { n: some, number: wordAt(bytes, at) & mask };
    at += size;
    left -= some;
  }
}

/** Whether all numbers of one bit are 1. */
function hasOnlyOnes(bytes: Uint8Array, run: Run): boolean {
  if ('number' in run) return run.number === 1;
  for (let i = 0; i < run.n; i++) if (!(((bytes[run.at + (i >> 3)] as number) >> (i & 7)) & 1)) return false;
  return true;
}

function decodeRuns(bytes: Uint8Array, bits: number, n: number): Uint32Array {
  const numbers = new Uint32Array(n);
  const mask = 2 ** bits - 1;
  let i = 0;
  for (const run of runsOf(bytes, bits, n)) {
    const end = i + run.n;
    if ('number' in run) {
      numbers.fill(run.number, i, end);
      i = end;
    } else {
      for (let bit = run.at * 8; i < end; bit += bits)
        numbers[i++] = (wordAt(bytes, bit >> 3) >>> (bit & 7)) & mask;
    }
  }
  return numbers;
}
