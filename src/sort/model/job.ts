import { powerAtLeast } from '../../util/powers.js';
import { type Column, isOnDevice, type Place, type Values } from './column.js';
import { bitWindow, chosenParameters, type SortSettings } from './options.js';
import type { PlanRequest } from './plan.js';

/** Segments of the keys, each of which is sorted separately. */
export interface JobSegments {
  /** u32 column: the start of each segment, followed by the end of the last one. */
  readonly offsets: Column;
  /** Most keys of any segment; omitted if unknown. */
  readonly longest?: number;
  /** Whether to use an algorithm for segments of any length, so that nothing is compiled for these alone. */
  readonly forAnyLength?: boolean;
  /** Whether all segments have the same length, so that no offsets are needed. */
  readonly isRows?: boolean;
  /** Whether generated positions are relative to the start of each segment. */
  readonly fromSegment?: boolean;
}

/** Whether the offsets are on the device. Offsets of rows are generated on demand. */
export const areOffsetsOnDevice = ({ offsets, isRows }: JobSegments): boolean =>
  !isRows && isOnDevice(offsets.place);

/** Returns the lengths to plan by: the same for segments of similar length. Verification reads offsets. */
const lengthsOf = (
  { longest, forAnyLength, isRows }: JobSegments,
  { verify }: SortSettings,
): Pick<PlanRequest, 'longest' | 'areRows'> =>
  longest && !forAnyLength
    ? { longest: powerAtLeast(longest), ...(isRows && !verify && { areRows: true }) }
    : {};

/** Returns the number of segments. */
const segmentCountOf = ({ offsets }: JobSegments): number => offsets.n - 1;

/** One sort, of host arrays, device memory or both. Its arrays must not overlap. */
export interface SortJob<P extends Place = Place> {
  readonly keys: Column<P>;
  readonly settings: SortSettings;
  /** Destination of the sorted keys; omitted if only the values are wanted. */
  readonly sorted?: P;
  /** Values that travel with the keys; by default, positions do. */
  readonly values?: Values<P>;
  /** Whether positions have 8 bytes instead of 4. They are in host memory then: devices write 4 bytes. */
  readonly widePositions?: boolean;
  /** Destination of the values or positions; omitted to sort keys alone. */
  readonly moved?: P;
  readonly segments?: JobSegments;
}

/** A sort whose arrays, including the offsets of its segments, are all in host memory. */
export type HostJob = SortJob<ArrayBufferView>;

export const isHostJob = (job: SortJob): job is HostJob =>
  !isOnDevice(job.keys.place) &&
  !(job.values && isOnDevice(job.values.place)) &&
  !(job.sorted && isOnDevice(job.sorted)) &&
  !(job.moved && isOnDevice(job.moved)) &&
  !(job.segments && areOffsetsOnDevice(job.segments));

export const requestOf = (job: SortJob): PlanRequest => {
  const { keys, settings, segments } = job;
  return {
    n: keys.n,
    dtype: keys.dtype,
    bits: bitWindow(settings.bits, keys.info),
    valueBytes: movedBytesOf(job),
    algorithm: settings.algorithm,
    ...(segments && { segments: segmentCountOf(segments), ...lengthsOf(segments, settings) }),
    parameters: chosenParameters(settings),
  };
};

/** Returns the bytes that move with each key: those of its value or position; 0 without. */
export const movedBytesOf = ({ values, moved, widePositions }: SortJob): number =>
  values?.bytes ?? (moved ? (widePositions ? 8 : 4) : 0);

/** Returns the bytes of the values of a job, or of the positions that it generates. */
export const valueBytesOf = (job: SortJob): number => job.keys.n * movedBytesOf(job);
