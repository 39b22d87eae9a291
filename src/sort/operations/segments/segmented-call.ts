import { invalidArgument } from '../../../util/invalid-argument.js';
import type { MaybePromise } from '../../../util/maybe-promise.js';
import type { ArrayStore, Keys, ResultAllocator } from '../../calls/array-store.js';
import type { Dependency } from '../../calls/call-scheduler.js';
import { offsetsError } from '../../host/host-segments.js';
import { assertIndexable } from '../../model/array-assertions.js';
import { DeviceArray } from '../../model/device-array.js';
import { areOffsetsOnDevice } from '../../model/job.js';
import type { SortSettings } from '../../model/options.js';
import { type Awaitable, readKeys, taskOf } from '../arguments.js';
import type { OperationContext } from '../operation.js';
import { type Offsets, type SegmentColumn, segmentColumn } from './segment-column.js';
import { enqueueSegmentedSort, type SegmentedJob } from './sort-segments.js';

/**
 * Start of each segment, then the end of the last one: a host array or a device array. Or a number, the length of every
 * segment, as for the rows of a matrix; the device then needs no offsets.
 */
export type SegmentOffsets = Offsets | DeviceArray<'u32'>;

/** Options of a segmented sort that its caller has parsed. */
interface SegmentedCallOptions {
  readonly settings: SortSettings;
  readonly dependency: Dependency;
  readonly into?: unknown;
  /** Whether no other code knows the offsets and the memory of option `into`. */
  readonly isOwn?: boolean;
}

/**
 * Executes a segmented sort.
 *
 * @param prepare allocates the results
 */
export function callSegmented<R>(
  { calls, arrays }: OperationContext,
  array: Keys,
  offsets: Awaitable<SegmentOffsets>,
  { settings, dependency, into, isOwn = false }: SegmentedCallOptions,
  prepare: (
    make: ResultAllocator,
    input: SegmentedJob['keys'],
  ) => { result: R; to: Omit<SegmentedJob, 'keys' | keyof SegmentColumn> },
): MaybePromise<R> {
  const input = readKeys(arrays, array, settings);
  assertIndexable(input.n);
  const segments = readOffsets(arrays, dependency.resolveInput(offsets), input.n, isOwn);
  return arrays.withResults((make) => {
    const { result, to } = prepare(make, input);
    const task = taskOf('segmentedSort', input, settings, array, dependency, isOwn ? undefined : into);
    const onHost = task.onHost && !areOffsetsOnDevice(segments);
    return calls.execute({ ...task, onHost, again: onHost }, async (call) => {
      await enqueueSegmentedSort(call, { keys: input, ...segments, ...to });
      return () => result;
    });
  });
}

/** Validates the offsets of segments of n keys. */
export function readOffsets(
  arrays: ArrayStore,
  offsets: SegmentOffsets,
  n: number,
  isOwn = false,
): SegmentColumn {
  if (!(offsets instanceof DeviceArray)) return segmentColumn(offsets, n, isOwn);
  if (offsets.dtype !== 'u32') {
    throw invalidArgument('offsets', 'a device array of u32', { text: offsets.dtype });
  }
  const column = offsets.columnFor(arrays);
  if (column.n < (n > 0 ? 2 : 1)) throw offsetsError(n, `${column.n} offsets`, column.n);
  return { offsets: column };
}
