import { dtypeInfo } from '../../../keys/dtype.js';
import { InputError } from '../../../util/errors.js';
import { invalidArgument } from '../../../util/invalid-argument.js';
import { ascendingOffsets, assertOffsets } from '../../host/host-segments.js';
import { type Column, column } from '../../model/column.js';
import type { JobSegments } from '../../model/job.js';
import { LONG_SEGMENT_LIMITS } from '../policy.js';

/** Start of each segment, then the end of the last one; or the number of keys of every segment. */
export type Offsets = Uint32Array | readonly number[] | number;

/** Segment offsets as a column, and known facts about the segment lengths. */
export type SegmentColumn = Pick<JobSegments, 'offsets' | 'longest' | 'isRows'>;

/** Maximum number of offsets that are checked here; the sort checks longer lists. */
const MAX_CHECKED_OFFSETS = 2 ** 16;

/**
 * Returns the offsets of segments of n elements as a column, with their current contents.
 *
 * @param isOwn whether no other code changes the offsets, so that words need no copy; default false
 * @throws InputError when the checked offsets do not start with 0, ascend and end with n
 */
export function segmentColumn(offsets: Offsets, n: number, isOwn = false): SegmentColumn {
  if (typeof offsets === 'number') return rowsOf(offsets, n);
  if (!Array.isArray(offsets) && !(ArrayBuffer.isView(offsets) && 'length' in offsets)) {
    const expected = `${ascendingOffsets(n)}, in a Uint32Array or a list, or the number of keys of each segment`;
    throw invalidArgument('offsets', expected, offsets, { type: InputError });
  }
  const isTyped = offsets instanceof Uint32Array;
  const { maxOffsets, minKeysEach } = LONG_SEGMENT_LIMITS;
  const maxChecked = n >= minKeysEach * offsets.length ? maxOffsets : MAX_CHECKED_OFFSETS;
  if (isTyped && offsets.length > maxChecked) {
    return { offsets: column('u32', offsets.length, isOwn ? offsets : offsets.slice()) };
  }
  if (!isTyped) assertOffsets(offsets, n); // conversion to words would change wrong values
  const words = isTyped && isOwn ? offsets : Uint32Array.from(offsets);
  let longest = 0;
  let isValid = words[0] === 0 && words[words.length - 1] === n;
  for (let i = 1; i < words.length; i++) {
    const length = (words[i] as number) - (words[i - 1] as number);
    if (length > longest) longest = length;
    else if (length < 0) isValid = false;
  }
  if (!isValid) assertOffsets(words, n);
  // All segments are as long as the longest one: these are rows, and the device needs no offsets.
  if (n > 0 && longest * (words.length - 1) === n) return rowsOf(longest, n, words);
  return { offsets: column('u32', words.length, words), longest };
}

/**
 * Returns the offsets of rows of equal length.
 *
 * @throws InputError when `rowLength` is not a whole number that divides n
 */
function rowsOf(rowLength: number, n: number, words?: Uint32Array): SegmentColumn {
  if (!Number.isSafeInteger(rowLength) || rowLength < 1 || n % rowLength !== 0) {
    const expected = `a positive whole number that divides the number of keys (${n})`;
    throw invalidArgument('offsets', expected, rowLength, { type: InputError });
  }
  return { offsets: new RowOffsets(n / rowLength, rowLength, words), longest: rowLength, isRows: true };
}

/**
 * Offsets of rows of equal length: the start of each row, then the end of the last one. They are computed on first
 * access.
 */
class RowOffsets implements Column {
  readonly dtype = 'u32';
  readonly info = dtypeInfo('u32');
  readonly n: number;
  readonly #rowLength: number;
  #words: Uint32Array | undefined;

  /**
   * @param rows number of rows
   * @param rowLength keys of a row
   * @param words the offsets, if they exist already
   */
  constructor(rows: number, rowLength: number, words?: Uint32Array) {
    this.n = rows + 1;
    this.#rowLength = rowLength;
    this.#words = words;
  }

  get place(): Uint32Array {
    if (this.#words) return this.#words;
    const words = new Uint32Array(this.n);
    for (let i = 0; i < words.length; i++) words[i] = i * this.#rowLength;
    this.#words = words;
    return words;
  }
}
