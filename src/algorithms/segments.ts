/** Host code that both forms of the segmented sort share, see cl/segments.clh. */
import type { Buffer } from '../device/memory/buffer.js';
import type { Queue } from '../device/queue/queue.js';
import { type KernelArgument, u32, u64 } from '../device/queue/queue.js';
import { UnsupportedError } from '../util/errors.js';
import type { AlgorithmShape, ScratchOptions, ScratchSizes, Segments, SortWork } from './algorithm.js';
import { digitsOf } from './digits.js';
import { alternateBytes, passInPlace, pingPong, scratchOf, valuesOf } from './passes.js';

/** Kernel argument `flags`, in addition to those of passes. */
export const FLAG_FROM_SEGMENT = 16;

/** Words of `state`; the last one receives offset errors if the caller passes no slot. */
const STATE_WORDS = 8;

/** Which segments a sort cuts into runs, and an upper bound of their number. */
export interface Cut {
  readonly runKeys: number;
  /** Most keys of a segment that is not cut. */
  readonly whole: number;
  /** Upper bound of the runs for valid offsets; 0 if no segment is long enough. */
  readonly runs: number;
}

/** Known properties of the segments that are cut. */
interface Known {
  readonly count?: number | undefined;
  /** Most keys of a segment. */
  readonly longest?: number | undefined;
  /** Most keys of a segment that is not cut; default: one run. */
  readonly whole?: number;
}

export function cutOf(n: number, runKeys: number, { count, longest = n, whole = runKeys }: Known = {}): Cut {
  if (Math.min(longest, n) <= whole) return { runKeys, whole, runs: 0 };
  // Each segment that is cut has at most one short run.
  const cut = Math.min(Math.floor(n / (whole + 1)), count ?? n);
  return { runKeys, whole, runs: Math.floor(n / runKeys) + cut + 1 };
}

/**
 * Returns the scratch of a segmented sort. @param alternates whether some segment is sorted by passes in global memory
 */
export function segmentScratch(
  shape: AlgorithmShape,
  n: number,
  { bits, inPlace, segments }: ScratchOptions,
  { radixBits, cut, alternates }: { radixBits: number; cut: Cut; alternates: boolean },
): ScratchSizes {
  const passes = digitsOf(bits, radixBits).length;
  return {
    state: STATE_WORDS * 4,
    ...(!segments && { whole: 8 }),
    ...(alternates && alternateBytes(shape, n, passes, inPlace)),
    owners: Math.max(cut.runs, 1) * 8,
    ...(cut.runs > 0 && { counts: cut.runs * 2 ** radixBits * 4 }),
  };
}

/** The buffers of a segmented sort whose commands are being enqueued. */
export interface SegmentBuffers {
  readonly segments: Segments;
  readonly state: Buffer;
  /** Where the kernel that checks the offsets reports an error: the buffer and the word index. */
  readonly status: readonly KernelArgument[];
}

/** Returns the offsets, for kernels that need them. @throws UnsupportedError when there are none */
export function offsetsOf({ offsets }: Segments): Buffer {
  if (!offsets)
    throw new UnsupportedError(
      'cannot sort segments: offsets are missing, and only rows of one length work without them',
    );
  return offsets;
}

/**
 * Enqueues the commands that precede the kernels. Without segments the whole array is one segment. Rows without
 * offsets need no state.
 *
 * @param also memory that also has to be zeroed; the state is then at its start
 */
export function beginSegments(
  queue: Queue,
  work: SortWork,
  also?: { readonly buffer: Buffer; readonly bytes: number },
): SegmentBuffers {
  const state = also?.buffer ?? scratchOf(work, 'state');
  if (also) queue.fill(state, 0, { bytes: also.bytes });
  else if (!work.segments || work.segments.offsets) queue.fill(state, 0, { bytes: STATE_WORDS * 4 });
  const { slot } = work.segments ?? {};
  const status = slot ? [slot.buffer, u32(slot.firstWord)] : [state, u32(STATE_WORDS - 1)];
  if (work.segments) return { segments: work.segments, state, status };
  const whole = scratchOf(work, 'whole');
  queue.fill(whole, 0, { bytes: 4 });
  queue.fill(whole, work.n, { offset: 4, bytes: 4 });
  return { segments: { offsets: whole, count: 1 }, state, status };
}

/**
 * Returns the buffers of passes over the elements of segments. If an in-place sort's last pass would write its own
 * input, the elements are copied first and all kernels read the copy.
 */
export function segmentArrays(queue: Queue, shape: AlgorithmShape, passes: number, work: SortWork) {
  const { input, output, n, scratch, indices } = work;
  const own = valuesOf(shape, work);
  const alternate = scratch.alternateKeys ?? output;
  const alternateValues = scratch.alternateValues ?? own?.output;
  const keys = pingPong(passes, { input, output, alternate });
  const values = own && alternateValues && pingPong(passes, { ...own, alternate: alternateValues });
  const copies = scratch.alternateKeys !== undefined && keys.copyFirst;
  if (copies) queue.copy(input, alternate, { bytes: (n * shape.keyBits) / 8 });
  const copiesValues = scratch.alternateValues !== undefined && values?.copyFirst && !indices;
  if (copiesValues && own && alternateValues) {
    queue.copy(own.input, alternateValues, { bytes: n * shape.valueBytes });
  }
  const only = passInPlace(shape, work, { first: true, last: true });
  return {
    /** Source and destination of segments that one kernel sorts. */
    only: {
      ...only,
      ...(copies && { from: alternate }),
      ...(copiesValues && alternateValues && { fromValues: alternateValues }),
    },
    alternates: [alternate, ...(alternateValues ? [alternateValues] : [])],
    passes: keys.steps.map((step, pass) => {
      const beside = values?.steps[pass];
      return { ...step, ...(beside && { fromValues: beside.from, toValues: beside.to }) };
    }),
  };
}

/** Returns the mask of a window for a code that was shifted down. */
export function windowMask(
  { keyBits }: AlgorithmShape,
  [begin, end]: readonly [number, number],
): KernelArgument {
  const mask = (1n << BigInt(Math.max(0, end - begin))) - 1n;
  return keyBits === 64 ? u64(mask) : u32(Number(mask));
}
