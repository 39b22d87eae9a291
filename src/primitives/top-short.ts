import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import type { Buffer } from '../device/memory/buffer.js';
import { ballotDefine } from '../device/programs/program-source.js';
import { u32, u64 } from '../device/queue/queue.js';
import type { KeyCodec } from '../keys/key-codec.js';
import { chain, type MaybePromise } from '../util/maybe-promise.js';
import { powerAtLeast } from '../util/powers.js';
import { buildForGroups } from './group.js';

/** Limits of one group: keys of a segment, selected keys, and work-items. */
const SIZES = [
  { segment: 512, first: 128, groupSize: 64 },
  { segment: 4096, first: 512, groupSize: 256 },
] as const;

/** Start of each segment, and start of each segment's first keys in the output: u32. */
export interface BrokenSegments {
  /** Non-decreasing from 0 to n. */
  readonly offsets: Buffer;
  /** One more entry than there are segments, as in `offsets`. */
  readonly begins: Buffer;
  readonly segments: number;
  /** Upper bound of the keys of a segment. */
  readonly longest: number;
}

/** Segments of one length. */
export interface Rows {
  readonly row: number;
  readonly segments: number;
  /** Receives the start of each segment's first keys, then their total number. u32 */
  readonly begins: Buffer;
}

/** Selection of the first keys of short segments. */
export interface TopShortWork {
  /** n keys of `width` bits. */
  readonly keys: Buffer;
  readonly n: number;
  readonly width: number;
  readonly codec: KeyCodec;
  readonly segments: BrokenSegments | Rows;
  /** Most keys to select per segment. */
  readonly k: number;
  /** Holds all selected keys. */
  readonly first: Buffer;
  /** Receives their original positions; u32 */
  readonly positions: Buffer;
  /** Positions count from the start of each segment. */
  readonly fromSegment: boolean;
}

const sizesFor = (longest: number, k: number): (typeof SIZES)[number] | undefined =>
  SIZES.find(({ segment, first }) => longest <= segment && Math.min(k, longest) <= first);

/** Returns whether a group can select the first k keys of a segment of that length. */
export const isShortTop = (longest: number, k: number): boolean => sizesFor(longest, k) !== undefined;

/**
 * Enqueues a selection of the k first keys of each segment, in order.
 *
 * Complexity: one launch; every key is read once, and the selected keys are written. A segment takes its group at
 * most `width` / 8 rounds, about two for random keys, and k² / 64 or k² / 256 comparisons per work-item.
 *
 * @pre `isShortTop`
 * @throws BuildError
 */
export function enqueueTopShort(device: Device, work: TopShortWork): MaybePromise<void> {
  const { keys, n, width, codec, segments, k, first, positions, fromSegment } = work;
  const isRows = 'row' in segments;
  const longest = isRows ? segments.row : segments.longest;
  const sizes = sizesFor(longest, k) ?? SIZES[1];
  const defines = {
    ...{ KEY_BITS: width, VALUE_BYTES: 0, FIRST: sizes.first, ROWS: isRows ? 1 : 0 },
    SEGMENT: Math.max(sizes.groupSize, powerAtLeast(longest)),
    ...ballotDefine(device.capabilities.hasBallot),
  };
  const options = { groupSize: sizes.groupSize };
  const { begins } = segments;
  const where = isRows
    ? [u32(segments.row), u32(Math.min(k, segments.row)), begins]
    : [segments.offsets, begins];
  const how = [u64(n), u32(fromSegment ? 1 : 0), codecArgument(codec)];
  const args = [keys, ...where, first, positions, ...how];
  const built = buildForGroups(device, 'top_short.cl', ['top_short'], defines, options);
  return chain(built, ({ program, groupSize: local }) => {
    device.queue.run(program.kernel('top_short'), args, { global: segments.segments * local, local });
  });
}
