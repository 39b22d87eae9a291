import { byteRange, type HostColumn, type KeyWords, keyWords } from '../../keys/array.js';

import { powerAtLeast } from '../../util/powers.js';
import { byteLengthOf, type Column, column, isOnDevice, type Place, type Values } from './column.js';
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

/** Returns the length bound to plan by: the same for segments of similar length. */
const lengthBoundOf = ({ longest, forAnyLength }: JobSegments): Pick<PlanRequest, 'longest'> =>
  longest && !forAnyLength ? { longest: powerAtLeast(longest) } : {};

/** Returns the number of segments. */
const segmentCountOf = ({ offsets }: JobSegments): number => offsets.n - 1;

/** One sort. Its arrays must not overlap. */
export interface SortJob {
  readonly keys: Column;
  readonly settings: SortSettings;
  /** Destination of the sorted keys; omitted if only the values are wanted. */
  readonly sorted?: Place;
  /** Values that travel with the keys; by default, 32-bit positions do. */
  readonly values?: Values;
  /** Destination of the values or positions; omitted to sort keys alone. */
  readonly moved?: Place;
  readonly segments?: JobSegments;
}

/** Values of the keys, `bytes` bytes each. */
export interface HostValues {
  readonly view: ArrayBufferView;
  readonly bytes: number;
}

/** A sort whose arrays are all in host memory. */
export interface HostJob {
  readonly keys: HostColumn;
  readonly settings: SortSettings;
  readonly sorted?: ArrayBufferView;
  /** Without values but with `moved`, positions travel with the keys. */
  readonly values?: HostValues;
  readonly moved?: ArrayBufferView;
  /** Their offsets are also in host memory. */
  readonly segments?: JobSegments;
}

/** Returns the job for the host engine; undefined if any of its memory is on the device. */
export function hostJob({ keys, settings, sorted, values, moved, segments }: SortJob): HostJob | undefined {
  if (isOnDevice(keys.place)) return undefined;
  if (values && isOnDevice(values.place)) return undefined;
  if (sorted && isOnDevice(sorted)) return undefined;
  if (moved && isOnDevice(moved)) return undefined;
  if (segments && areOffsetsOnDevice(segments)) return undefined;
  return {
    keys: { ...keys, view: wordsOf(keys, keys.place) },
    settings,
    ...(sorted && { sorted }),
    ...(values && { values: { view: values.place as ArrayBufferView, bytes: values.bytes } }),
    ...(moved && { moved }),
    ...(segments && { segments }),
  };
}

/** Returns the keys of a column in host memory. */
function wordsOf(keys: Column, place: ArrayBufferView): KeyWords {
  const bytes = byteLengthOf(keys);
  return keyWords(place.byteLength === bytes ? place : byteRange(place, 0, bytes), keys.info);
}

/** Returns the same job in the form for any backend. */
export const sortJob = ({ keys, values, ...rest }: HostJob): SortJob => ({
  ...rest,
  keys: column(keys.dtype, keys.n, keys.view),
  ...(values && { values: { place: values.view, bytes: values.bytes } }),
});

export const requestOf = ({ keys, settings, values, moved, segments }: SortJob): PlanRequest => ({
  n: keys.n,
  dtype: keys.dtype,
  bits: bitWindow(settings.bits, keys.info),
  valueBytes: values?.bytes ?? (moved ? 4 : 0),
  algorithm: settings.algorithm,
  ...(segments && { segments: segmentCountOf(segments), ...lengthBoundOf(segments) }),
  parameters: chosenParameters(settings),
});

/** Returns the bytes of the values of a job, or of the positions that it generates. */
export const valueBytesOf = ({ keys, values }: SortJob): number => keys.n * (values?.bytes ?? 4);
