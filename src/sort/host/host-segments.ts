/** Sorts and verifies the segments of an array in host memory. */
import { byteRange, type HostColumn } from '../../keys/array.js';
import { InputError } from '../../util/errors.js';
import { formatValue } from '../../util/format-value.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { type HostOrder, type HostResult, sortSteps } from './host-sort.js';
import { verifySteps } from './host-verify.js';
import { MIN_STEP_KEYS } from './policy.js';
import { inSlices, type Steps } from './steps.js';

/** A segmented sort. */
export interface SegmentJob extends HostResult {
  readonly keys: HostColumn;
  readonly settings: HostOrder;
}

/** Segments, given by the start of each and the end of the last one. */
export interface HostSegments {
  /** u32 */
  readonly offsets: { readonly n: number; readonly place: unknown };
  readonly fromSegment?: boolean;
}

/**
 * Returns the index of the first wrong offset, or -1 if all are right: they start with 0, never fall, and end with n.
 */
function firstWrongOffset(offsets: ArrayLike<number>, n: number): number {
  const { length } = offsets;
  if (length === 0 || offsets[0] !== 0) return 0;
  for (let i = 1; i < length; i++) {
    const [begin, end] = [offsets[i - 1] as number, offsets[i] as number];
    // Includes values that are not numbers, and those beyond the keys.
    if (!Number.isInteger(end) || !(end >= begin && end <= n)) return i;
  }
  return offsets[length - 1] === n ? -1 : length - 1;
}

/** @throws InputError when there is a wrong offset */
export function assertOffsets(offsets: ArrayLike<number>, n: number): void {
  const at = firstWrongOffset(offsets, n);
  if (at < 0) return;
  const { length } = offsets;
  throw offsetsError(n, length === 0 ? 'none' : `${formatValue(offsets[at])} at ${at} of ${length}`, at);
}

/** Returns the error of invalid offsets of n keys. @param at index of the first invalid offset */
export const offsetsError = (n: number, text: string, at: number): InputError =>
  invalidArgument('offsets', ascendingOffsets(n), { text }, { type: InputError, details: { offset: at } });

/** Describes valid offsets of n keys. */
export const ascendingOffsets = (n: number): string =>
  `ascending offsets from 0 to the number of keys (${n})`;

/** Returns the offsets as numbers. */
export const offsetsOf = ({ offsets }: HostSegments): Uint32Array => {
  const view = offsets.place as ArrayBufferView;
  return new Uint32Array(view.buffer, view.byteOffset, offsets.n);
};

/**
 * Sorts each segment.
 *
 * @throws InputError for wrong offsets
 */
export function* segmentSteps(job: SegmentJob, segments: HostSegments): Steps {
  const { keys, moved } = job;
  const offsets = offsetsOf(segments);
  assertOffsets(offsets, keys.n);
  const positions =
    moved && !job.values ? new Uint32Array(moved.buffer, moved.byteOffset, keys.n) : undefined;
  for (let s = 0, keysSinceYield = 0; s + 1 < offsets.length; s++) {
    const [first, last] = [offsets[s] as number, offsets[s + 1] as number];
    if (first === last) continue;
    yield* sortSteps(...partOf(job, first, last));
    if (positions && !segments.fromSegment && first > 0) {
      yield* inSlices(last - first, (start, end) => {
        for (let i = first + start; i < first + end; i++) positions[i] = (positions[i] as number) + first;
      });
    }
    keysSinceYield += last - first;
    if (keysSinceYield >= MIN_STEP_KEYS) {
      keysSinceYield = 0;
      yield;
    }
  }
}

/** Verifies each segment. Positions from the start of the array are converted to those from the start of a segment. */
export function* verifySegmentSteps(
  job: SegmentJob,
  segments: HostSegments,
): Steps<{ order: boolean; permutation: boolean }> {
  const offsets = offsetsOf(segments);
  const made = job.moved && !job.values;
  for (let s = 0; s + 1 < offsets.length; s++) {
    const [first, last] = [offsets[s] as number, offsets[s + 1] as number];
    if (first === last) continue;
    const [keys, settings, result] = partOf(job, first, last);
    const moved =
      made && result.moved && !segments.fromSegment
        ? new Uint32Array(result.moved.buffer, result.moved.byteOffset, last - first).map((at) => at - first)
        : result.moved;
    const verified = yield* verifySteps(keys, settings, { ...result, moved });
    if (!verified.order || !verified.permutation) return verified;
  }
  return { order: true, permutation: true };
}

/** Returns the arguments of `sortSteps` and `verifySteps` for one segment. */
function partOf(
  { keys, settings, sorted, values, moved }: SegmentJob,
  first: number,
  last: number,
): [HostColumn, HostOrder, HostResult] {
  const unit = keys.info.bytes;
  const width = values?.bytes ?? 4;
  return [
    { ...keys, n: last - first, view: keys.view.subarray(first, last) },
    settings,
    {
      sorted: sorted && byteRange(sorted, first * unit, last * unit),
      values: values && { ...values, place: byteRange(values.place, first * width, last * width) },
      moved: moved && byteRange(moved, first * width, last * width),
    },
  ];
}
