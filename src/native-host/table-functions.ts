/**
 * Functions of the addon that split, parse and copy the text of tables, without OpenCL, on several threads. They block
 * until they are done: a call takes about a millisecond for each megabyte. Memory that they do not understand is left to
 * JavaScript; none of them reads or writes outside its arguments.
 */
import { native } from '../opencl/binding.js';
import { hostThreads } from '../util/threads.js';
import { type Allocate, uncleared } from '../util/uncleared.js';

/** Ranges and forms of the values of a column, as of src/io/formats/text/values.ts. */
export interface ValueRanges {
  readonly bytes: Uint8Array;
  readonly begins: Int32Array;
  readonly ends: Int32Array;
  readonly forms: Uint8Array;
}

/** The arrays that a splitter fills: starts, ends and lines of records, first fields, and ends of fields. */
export interface RecordArrays {
  readonly begins: Int32Array;
  readonly ends: Int32Array;
  readonly lines: Float64Array;
  /** One element more than `begins`. */
  readonly firsts: Int32Array;
  readonly fieldEnds: Int32Array;
}

/** First byte of comments where there are none. */
const NO_COMMENT = 256;

/**
 * Splits complete CSV records with `width` fields, while the arrays have room. It stops before any other record, a
 * comment, and the end of the text.
 *
 * @param state four numbers, which are updated: offset in `bytes`, number of records, number of fields, line
 * @param comment first byte of comments
 * @throws OpenCLError INVALID_VALUE when the state is outside the arrays
 */
export function splitCsv(
  bytes: Uint8Array,
  delimiter: Uint8Array,
  comment: number | undefined,
  width: number,
  state: Float64Array,
  { begins, ends, lines, firsts, fieldEnds }: RecordArrays,
): void {
  const to = [begins, ends, lines, firsts, fieldEnds];
  native().hostCsvSplit(hostThreads(), bytes, delimiter, comment ?? NO_COMMENT, width, state, ...to);
}

/**
 * Finds the values of a column in split records.
 *
 * @param isOnly whether the records have a single field
 * @param to receives the ranges and forms, one for each element of `begins`
 * @throws OpenCLError INVALID_VALUE when a field is outside the text
 */
export function findColumn(
  { begins, fieldEnds, firsts }: Pick<RecordArrays, 'begins' | 'fieldEnds' | 'firsts'>,
  column: number,
  delimiterBytes: number,
  isOnly: boolean,
  to: ValueRanges,
): void {
  const records = [to.bytes, begins, fieldEnds, firsts];
  native().hostCsvColumn(
    hostThreads(),
    ...records,
    column,
    delimiterBytes,
    isOnly,
    to.begins,
    to.ends,
    to.forms,
  );
}

/** Names of members as they are written, with quotes, concatenated, with the end and the column of each. */
export interface KnownNames {
  readonly bytes: Uint8Array;
  readonly ends: Int32Array;
  readonly columns: Int32Array;
}

/** The arrays that a splitter of JSON lines fills. */
export interface JsonArrays extends Omit<RecordArrays, 'fieldEnds'> {
  readonly columns: Int32Array;
  readonly valueBegins: Int32Array;
  readonly valueEnds: Int32Array;
}

/**
 * Splits lines that are JSON, while the arrays have room. It stops before any other line, and a line with another name or
 * the same one twice.
 *
 * @param isOfObjects whether lines are objects; the others are values of column 0
 * @param state four numbers, which are updated: offset in `bytes`, number of rows, number of values, line
 * @throws OpenCLError INVALID_VALUE when the state is outside the arrays
 */
export function splitJson(
  bytes: Uint8Array,
  names: KnownNames,
  isOfObjects: boolean,
  state: Float64Array,
  { begins, ends, lines, firsts, columns, valueBegins, valueEnds }: JsonArrays,
): void {
  const to = [begins, ends, lines, firsts, columns, valueBegins, valueEnds];
  const known = [names.bytes, names.ends, names.columns];
  native().hostJsonSplit(hostThreads(), bytes, ...known, isOfObjects, state, ...to);
}

/**
 * Finds the values of a column in split lines.
 *
 * @param to receives the ranges and forms, one for each row
 * @throws OpenCLError INVALID_VALUE when a value is outside the text
 */
export function findJsonColumn(
  { firsts, columns, valueBegins, valueEnds }: Omit<JsonArrays, 'begins' | 'ends' | 'lines'>,
  column: number,
  to: ValueRanges,
): void {
  const values = [to.bytes, firsts, columns, valueBegins, valueEnds];
  native().hostJsonColumn(hostThreads(), ...values, column, to.begins, to.ends, to.forms);
}

/** Words of a number profile. */
const PROFILE_WORDS = 5;

/** Facts about the first values of a column, all of them numbers or missing. */
export interface FoundNumbers {
  readonly rows: number;
  /** Values that are not missing, and quoted empty ones and numbers among them. */
  readonly values: number;
  readonly empty: number;
  readonly numbers: number;
  /** `NUMBER_FLAG`s that hold for all numbers. */
  readonly flags: number;
}

/** Properties of numbers, with the bits of `NumberProfile` in src/native/host/number_text.h. */
export const NUMBER_FLAG = {
  whole: 1,
  plain: 2,
  json: 4,
  i64: 8,
  u64: 16,
  i128: 32,
  safeDouble: 64,
  exactAsDouble: 128,
} as const;

/**
 * Profiles values from index `first` on, up to the first one that JavaScript has to read.
 *
 * @param flags `NUMBER_FLAG`s that hold so far
 * @throws OpenCLError INVALID_VALUE
 */
export function profileNumbers(
  { bytes, begins, ends, forms }: ValueRanges,
  first: number,
  quotesAreTexts: boolean,
  flags: number,
): FoundNumbers {
  const found = new Uint32Array(PROFILE_WORDS);
  const n = forms.length - first;
  const ranges = [bytes, begins.subarray(first), ends.subarray(first), forms.subarray(first)];
  native().hostNumberProfile(hostThreads(), ...ranges, n, quotesAreTexts, flags, found);
  const [rows, values, empty, numbers, left] = found as unknown as [number, number, number, number, number];
  return { rows, values, empty, numbers, flags: left };
}

/** Kinds of keys, with the numbers of `KeyKind` in src/native/host/key_bytes.h. */
export const KEY_KIND = { unsigned: 0, signed: 1, float: 2, number: 3, text: 4 } as const;

/** A type of numbers, and their bytes each. */
interface NumberType {
  readonly kind: 'unsigned' | 'signed' | 'float';
  readonly bytes: number;
}

/**
 * Reads the numbers of a column. Missing and empty values are 0.
 *
 * @returns their bytes; undefined if JavaScript has to read a value
 * @throws OpenCLError INVALID_VALUE
 */
export function readNumbers(
  { bytes, begins, ends, forms }: ValueRanges,
  { kind, bytes: width }: NumberType,
): Uint8Array | undefined {
  const n = forms.length;
  const to = uncleared(n * width);
  const isRead = native().hostReadNumbers(
    ...[hostThreads(), bytes, begins, ends, forms, n, KEY_KIND[kind], width, to],
  );
  return isRead ? to : undefined;
}

/**
 * Returns the text of integers or doubles, one a line, as src/io/formats/text/number-csv.ts writes them.
 *
 * @throws OpenCLError INVALID_VALUE
 */
export function writeNumbers(numbers: Uint8Array, { kind, bytes }: NumberType): Uint8Array {
  const to = uncleared((numbers.length / bytes) * 26); // `kMostNumberBytes` of src/native/host/number_output.h
  return to.subarray(0, native().hostWriteNumbers(hostThreads(), numbers, KEY_KIND[kind], bytes, to));
}

export interface KeyColumn {
  readonly ranges: Omit<ValueRanges, 'bytes'>;
  readonly kind: (typeof KEY_KIND)[keyof typeof KEY_KIND];
  /** Bytes of a number. */
  readonly width: number;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
  /** Position of NaNs of numbers of any length, before descending keys are inverted. */
  readonly nanLast: boolean;
  /** Codec of numbers, as for `placeAsync`. */
  readonly codec: BigUint64Array;
}

/** Byte strings, concatenated, and the size of each. */
export interface PackedBytes {
  readonly sizes: Uint32Array;
  readonly bytes: Uint8Array;
}

/**
 * Returns the codes of rows: those of their keys, one after the other.
 *
 * @returns undefined if JavaScript has to read a value
 * @throws OpenCLError INVALID_VALUE
 */
export function keyBytes(
  bytes: Uint8Array,
  rows: number,
  keys: readonly KeyColumn[],
): PackedBytes | undefined {
  const sizes = new Uint32Array(rows);
  const facts = Uint32Array.from(
    keys.flatMap(({ kind, width, descending, nullsFirst, nanLast }) => [
      kind,
      width,
      (descending ? 1 : 0) | (nullsFirst ? 2 : 0) | (nanLast ? 4 : 0),
    ]),
  );
  const codecs = BigUint64Array.from(keys.flatMap(({ codec }) => [...codec]));
  const ranges = [
    keys.map((key) => key.ranges.begins),
    keys.map((key) => key.ranges.ends),
    keys.map((key) => key.ranges.forms),
  ];
  const write = (to?: Uint8Array): number =>
    native().hostKeyBytes(hostThreads(), bytes, rows, ...ranges, facts, codecs, sizes, to) as number;
  const size = write();
  if (size < 0) return undefined;
  const codes = new Uint8Array(size);
  return write(codes) < 0 ? undefined : { sizes, bytes: codes };
}

/**
 * Copies ranges of a text, each followed by `suffix`.
 *
 * @throws OpenCLError INVALID_VALUE
 */
export function copyRanges(
  bytes: Uint8Array,
  begins: Int32Array,
  ends: Int32Array,
  suffix: Uint8Array,
): PackedBytes {
  const sizes = new Uint32Array(begins.length);
  let size = 0;
  for (let i = 0; i < begins.length; i++) size += (ends[i] as number) - (begins[i] as number) + suffix.length;
  const to = new Uint8Array(size);
  native().hostCopyRanges(hostThreads(), bytes, begins, ends, suffix, sizes, to);
  return { sizes, bytes: to };
}

/** Byte strings of a batch: string i is at `offsets[i]` to `offsets[i + 1]` of `bytes`. */
export interface StringBatch {
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
}

/** Returns the arrays of the bytes and of the offsets of batches. */
const arraysOf = (batches: readonly StringBatch[]): [Uint8Array[], Uint32Array[]] => [
  batches.map(({ bytes }) => bytes),
  batches.map(({ offsets }) => offsets),
];

/**
 * Writes the bytes at `places`, at most 8, of the strings at `positions` among the strings of all batches as big-endian
 * numbers. Missing bytes are zeros.
 *
 * @throws OpenCLError INVALID_VALUE
 */
export function stringWords(
  batches: readonly StringBatch[],
  positions: Uint32Array,
  places: Uint32Array,
  words: BigUint64Array,
): void {
  native().hostStringWords(hostThreads(), ...arraysOf(batches), positions, places, words);
}

/**
 * Copies strings at `positions` among the strings of all batches, until `to` holds `full` bytes or its end is reached.
 *
 * @param from first position to copy
 * @param maxStrings maximum number of strings
 * @returns number of strings and of their bytes
 * @throws OpenCLError INVALID_VALUE
 */
export function gatherStrings(
  batches: readonly StringBatch[],
  positions: Uint32Array,
  { from, maxStrings, full }: { readonly from: number; readonly maxStrings: number; readonly full: number },
  to: Uint8Array,
): { readonly strings: number; readonly bytes: number } {
  const used = new Float64Array(1);
  const strings = native().hostGatherStrings(
    hostThreads(),
    ...arraysOf(batches),
    positions,
    from,
    maxStrings,
    to,
    full,
    used,
  ) as number;
  return { strings, bytes: used[0] as number };
}

/** A Snappy block, the number of bytes that it contains, and how many of them are wanted; default all. */
export type SnappyBlock = readonly [block: Uint8Array, bytes: number, wanted?: number];

/**
 * Decompresses the first bytes of Snappy blocks.
 *
 * @param allocate  returns memory of a number of bytes, whose contents are replaced
 * @returns undefined when a block contains another number of bytes, or is damaged before the end of the wanted ones
 * @throws OpenCLError INVALID_VALUE
 */
export function decompressSnappy(
  blocks: readonly SnappyBlock[],
  allocate: Allocate = uncleared,
): Uint8Array[] | undefined {
  const contents = blocks.map(([, bytes, wanted = bytes]) => allocate(wanted));
  const isValid = native().hostSnappy(
    hostThreads(),
    blocks.map(([block]) => block),
    contents,
    Uint32Array.from(blocks, ([, bytes]) => bytes),
  ) as boolean;
  return isValid ? contents : undefined;
}
