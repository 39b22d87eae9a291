/**
 * Functions of the addon for lines of text, without OpenCL, on several threads. As those of table-functions.ts, they block
 * until they are done, and read and write nothing outside their arguments.
 */
import { native } from '../opencl/binding.js';
import { hostThreads } from '../util/threads.js';

/** Comparisons of whole lines, with the numbers of `Comparison` in src/native/host/line_order.h. */
export const LINE_COMPARISON = { text: 0, n: 1, g: 2, whole: 3 } as const;

/** Lines, each with its terminator: line i is at `starts[i]` to `starts[i + 1]` of `bytes`. */
export interface TextLines {
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
}

/**
 * Returns the start of each line, and the end of the last one.
 *
 * @param bytes less than 2^31 bytes of complete lines
 * @param terminator the byte that ends each line
 * @throws OpenCLError INVALID_VALUE
 */
export function splitLines(bytes: Uint8Array, terminator: number): Uint32Array<ArrayBuffer> {
  const split = (to?: Uint32Array) => native().hostSplitLines(hostThreads(), bytes, terminator, to) as number;
  const starts = new Uint32Array(split() + 1);
  split(starts);
  return starts;
}

/**
 * Computes a number for each line, which is ordered as the lines are compared: the first 6 bytes of a text, or the number
 * that the line starts with; NaN or, for `n`, 0 without one.
 *
 * @param comparison `whole` if each line has to be a number
 * @param codes receives the numbers
 * @returns the lines that JavaScript has to read; undefined if a line is not a number and has to be one
 * @throws OpenCLError INVALID_VALUE
 */
export function lineCodes(
  { bytes, starts }: TextLines,
  comparison: keyof typeof LINE_COMPARISON,
  codes: Float64Array,
): number[] | undefined {
  const unread = new Uint8Array(codes.length);
  const kind = LINE_COMPARISON[comparison];
  const count = native().hostLineCodes(hostThreads(), bytes, starts, kind, codes, unread) as number;
  if (count < 0) return undefined;
  return count === 0 ? [] : [...codes.keys()].filter((i) => unread[i] === 1);
}

/**
 * Sorts the lines with equal codes.
 *
 * @param isStable whether lines with equal keys keep their order; otherwise all of their bytes are compared
 * @param isUnique whether only the first one of lines with equal keys is kept
 * @param codes sorted codes
 * @param positions the line of each code; it is sorted
 * @returns the positions that are kept, in the same memory
 * @throws OpenCLError INVALID_VALUE
 */
export function sortEqualLines(
  { bytes, starts }: TextLines,
  order: {
    readonly comparison: keyof typeof LINE_COMPARISON;
    readonly isReverse: boolean;
    readonly isStable: boolean;
    readonly isUnique: boolean;
  },
  codes: Float64Array,
  positions: Uint32Array,
): Uint32Array {
  const { comparison, isReverse, isStable, isUnique } = order;
  const facts = [LINE_COMPARISON[comparison], isReverse, isStable, isUnique];
  const kept = native().hostSortEqualLines(hostThreads(), bytes, starts, ...facts, codes, positions);
  return positions.subarray(0, kept as number);
}
