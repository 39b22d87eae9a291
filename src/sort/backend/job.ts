import { byteRange, type HostColumn, type KeyWords, keyWords } from '../../keys/array.js';

import { powerAtLeast } from '../../util/powers.js';
import { bitWindow, chosenParameters, type SortSettings } from '../api/options.js';
import type { HostValues } from '../host/host-sort.js';
import { byteLengthOf, type Column, column, isOnDevice, type Place, type Values } from './column.js';
import type { PlanRequest } from './plan.js';

/** Segments of the keys, each of which is sorted by itself. */
export interface JobSegments {
  /** u32: where each segment begins, and at last where they end. */
  readonly offsets: Column;
  /** No segment has more keys; left out where nobody knows. */
  readonly longest?: number;
  /** They are sorted by what sorts segments of any length, and nothing is compiled for these alone. */
  readonly forAnyLength?: boolean;
  /** Every segment has as many: nobody has to be told where one begins. */
  readonly isRows?: boolean;
  /** The positions that are made are counted from the beginning of each segment. */
  readonly fromSegment?: boolean;
}

/** Are their offsets on the device? Those of rows are made when somebody reads them. */
export const areOffsetsOnDevice = ({ offsets, isRows }: JobSegments): boolean =>
  !isRows && isOnDevice(offsets.place);

/** What segments of about the same length are planned by: the same for all of them. */
const lengthBoundOf = ({ longest, forAnyLength }: JobSegments): Pick<PlanRequest, 'longest'> =>
  longest && !forAnyLength ? { longest: powerAtLeast(longest) } : {};

/** How many segments there are. */
const segmentCountOf = ({ offsets }: JobSegments): number => offsets.n - 1;

/** One sort. Nothing in it may share memory. */
export interface SortJob {
  readonly keys: Column;
  readonly settings: SortSettings;
  /** Where sorted keys go; left out when only the values are wanted. */
  readonly sorted?: Place;
  /** What travels along; without it, positions of 32 bits do. */
  readonly values?: Values;
  /** Where values or positions go; left out for keys alone. */
  readonly moved?: Place;
  readonly segments?: JobSegments;
}

/** A sort whose arrays are all in host memory. */
export interface HostJob {
  readonly keys: HostColumn;
  readonly settings: SortSettings;
  readonly sorted?: ArrayBufferView;
  /** Without values, but with `moved`, positions travel. */
  readonly values?: HostValues;
  readonly moved?: ArrayBufferView;
  /** Their offsets are in host memory, too. */
  readonly segments?: JobSegments;
}

/** The job as the host engine takes it; undefined when something of it is on the device. */
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

/** The keys of a column, in host memory. */
function wordsOf(keys: Column, place: ArrayBufferView): KeyWords {
  const bytes = byteLengthOf(keys);
  return keyWords(place.byteLength === bytes ? place : byteRange(place, 0, bytes), keys.info);
}

/** The same job as any backend takes it. */
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

/** Bytes of the values of a job, or of the positions that it makes. */
export const valueBytesOf = ({ keys, values }: SortJob): number => keys.n * (values?.bytes ?? 4);
