/** Policy of operations: their heuristics, with their units and measurements. */
import type { DtypeInfo } from '../../keys/dtype.js';
import { policy } from '../../util/policy.js';

/**
 * Maximum fraction of the keys that is selected before the sort; beyond it, sorting all keys is faster.
 * scripts/results/NOTES.md, "Other kernels".
 */
export const SELECT_SHARE = policy('select', 1 / 4, 0);

/** Average keys per segment below which a sort is faster than counting the digits of the keys. */
export const MIN_SELECTED = 512;

/** Longest segment for a selection: one work-group selects from a segment, and would be busy too long. */
export const MAX_SELECTED = 2 ** 18;

/**
 * Maximum number of offsets that are checked for segments of at least `minKeysEach` keys on average: the
 * device saves more by tiles that fit the longest segment than the check costs.
 */
export const LONG_SEGMENT_LIMITS = { maxOffsets: 2 ** 20, minKeysEach: 64 };

/** Bytes copied in one step, which takes about a millisecond. */
export const STEP_BYTES = 2 ** 21;

/** Arrays inspected in one step, which takes about a millisecond. */
export const STEP_ARRAYS = 2 ** 12;

/**
 * Below this average size, this thread copies the arrays: describing them to other threads takes as long.
 * scripts/results/NOTES.md, "sortMany".
 */
export const MIN_THREADED_BYTES = 2 ** 10;

/**
 * Bytes of a pooled buffer. One part is copied while the previous one is sorted. scripts/results/NOTES.md, "sortMany".
 */
export const POOLED_BUFFER_BYTES = 2 ** 24;

/** Approximate bytes of a part. */
export const PART_BYTES = (POOLED_BUFFER_BYTES / 8) * 7;

/** Smaller parts allocate their own memory, which costs less than keeping a pooled buffer. */
export const MIN_POOLED_BYTES = 2 ** 20;

/** Parts in flight at a time, each in its own memory. */
export const MAX_CONCURRENT_PARTS = 2;

/** Maximum number of keys among which `nth` finds ranks by a sort: a histogram and a copy would take as long. */
export const MAX_UNSELECTED = 2 ** 14;

/** Maximum number of ranks that `nth` selects: each may read all keys, and a sort reads them a few times. */
export const MAX_RANKS = 8;

/** Bits of a digit of `nth`. More bits leave fewer keys for the next digit, but their counters fit no cache. */
export const RANK_DIGIT_BITS = 11;

/** Maximum number of positions that `argpartition` separates the keys at; for more, it sorts them. */
export const MAX_PIVOTS = 64;

/**
 * Maximum bytes, for each key, of the table by which `isIn` and set operations find keys; a larger table
 * takes less time than sorts as well, but too much memory. scripts/results/NOTES.md, "Operations beside NumPy".
 */
export const MAX_TABLE_BYTES = policy('memberTable', 16, 0);

/** Maximum bytes of such a table on a device, which may have little memory. */
export const MAX_DEVICE_TABLE_BYTES = 2 ** 27;

/**
 * Minimum number of keys, of both arrays, for which a device reads the range of keys of 32 or 64 bits: the wait for it takes
 * longer than the sort of fewer keys. scripts/results/NOTES.md, "Tables of members on devices".
 */
export const MIN_KEYS_OF_RANGE = policy('keyRanges', { cpu: 2 ** 14, gpu: 2 ** 20 }, { cpu: 0, gpu: 0 });

/**
 * Maximum number of arrays that `mergeMany` merges in pairs, by the bits of a key; more are concatenated and sorted. Merges
 * read the keys once for each doubling of the arrays, a sort once for each digit. scripts/results/NOTES.md, "Merges".
 */
export const MAX_MERGED_ARRAYS: Readonly<Record<DtypeInfo['width'], number>> = policy(
  'pairedMerges',
  { 8: 1, 16: 1, 32: 2, 64: 4 },
  { 8: 1, 16: 1, 32: 1, 64: 1 },
);

/** Strings of a block, whose piece is found by the number of the block. */
export const BLOCK_STRINGS = 256;

/** Strings whose words are read in one step, which takes a few milliseconds. */
export const STEP_STRINGS = 2 ** 18;
