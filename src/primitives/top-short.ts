import type { Buffer } from '../device/buffer.js';
import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import { u32, u64 } from '../device/queue.js';
import type { KeyCodec } from '../keys/key-codec.js';
import { powerAtLeast } from '../util/powers.js';
import { buildForGroups } from './group.js';

/** What a group can have: keys of a segment, of which so many are first, by so many work-items. */
const SIZES = [
  { segment: 512, first: 128, groupSize: 64 },
  { segment: 4096, first: 512, groupSize: 256 },
] as const;

/** Where segments begin, and where the first keys of each go: u32. */
export interface BrokenSegments {
  /** They rise from 0 to n. */
  readonly offsets: Buffer;
  /** One more than there are segments, as offsets are. */
  readonly begins: Buffer;
  readonly segments: number;
  /** No segment has more keys. */
  readonly longest: number;
}

/** Segments of one length. */
export interface Rows {
  readonly row: number;
  readonly segments: number;
  /** Gets where the first keys of each go, and at last how many there are. u32 */
  readonly begins: Buffer;
}

/** The first keys of short segments. */
export interface TopShortWork {
  /** n keys of `width` bits. */
  readonly keys: Buffer;
  readonly n: number;
  readonly width: number;
  readonly codec: KeyCodec;
  readonly segments: BrokenSegments | Rows;
  /** Keys of each segment at most. */
  readonly k: number;
  /** Room for as many keys as come first. */
  readonly first: Buffer;
  /** Gets where they stood; u32 */
  readonly positions: Buffer;
  /** They are counted from the beginning of each segment. */
  readonly fromSegment: boolean;
}

const sizesFor = (longest: number, k: number): (typeof SIZES)[number] | undefined =>
  SIZES.find(({ segment, first }) => longest <= segment && Math.min(k, longest) <= first);

/** Can a group select the first k keys of a segment of so many? */
export const isShortTop = (longest: number, k: number): boolean => sizesFor(longest, k) !== undefined;

/**
 * Enqueues a selection of the k first keys of each segment, in order.
 *
 * Complexity: one launch; every key read once, and what is selected written. A segment takes its group at most `width` / 8
 * rounds, two or so where keys are random, and k² / 64 or k² / 256 comparisons a work-item.
 *
 * @pre `isShortTop`
 * @throws BuildError
 */
export async function enqueueTopShort(device: Device, work: TopShortWork): Promise<void> {
  const { keys, n, width, codec, segments, k, first, positions, fromSegment } = work;
  const isRows = 'row' in segments;
  const longest = isRows ? segments.row : segments.longest;
  const sizes = sizesFor(longest, k) ?? SIZES[1];
  const defines = {
    ...{ KEY_BITS: width, VALUE_BYTES: 0, FIRST: sizes.first, ROWS: isRows ? 1 : 0 },
    SEGMENT: Math.max(sizes.groupSize, powerAtLeast(longest)),
  };
  const options = { groupSize: sizes.groupSize };
  const { program, groupSize: local } = await buildForGroups(
    device,
    'top_short.cl',
    ['top_short'],
    defines,
    options,
  );
  const { begins } = segments;
  const where = isRows
    ? [u32(segments.row), u32(Math.min(k, segments.row)), begins]
    : [segments.offsets, begins];
  const how = [u64(n), u32(fromSegment ? 1 : 0), codecArgument(codec)];
  const global = segments.segments * local;
  device.queue.run(program.kernel('top_short'), [keys, ...where, first, positions, ...how], {
    global,
    local,
  });
}
