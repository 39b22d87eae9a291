import type { KnownDevice } from '../device/device.js';
import type { Queue } from '../device/queue/queue.js';
import type {
  AlgorithmFactory,
  AlgorithmShape,
  Enqueued,
  ScratchOptions,
  ScratchSizes,
  SortRequest,
  SortWork,
} from './algorithm.js';
import { CompiledSort } from './compiled-sort.js';
import { choice, whole } from './parameters.js';
import { carriesValues } from './passes.js';
import { BOUNDS, boundFor } from './segment-programs.js';
import { MAX_ROW_KEYS, SegmentsInGroups } from './segments-in-groups.js';
import { SerialSegments } from './segments-serial.js';
import { SPIN_LIMIT, TILE_PARAMETERS, tileAvailable } from './tile.js';
import { tuningFor } from './tuning.js';

/** Positions need 64 bits from this number of keys on: differences of positions are signed. */
const WIDE = 2 ** 31;

/**
 * Segmented sort: sorts every segment of an array separately, all with a few launches, whatever their lengths.
 *
 * Idea: the device reads each offset once, and a method that suits the length sorts the segment.
 * - GPU, tiny: one work-item, in its registers.
 * - GPU, short: the row of 32 work-items that reads its offset.
 * - GPU, longer: one group in local memory, or one group in passes.
 * - GPU, segments that would keep one group busy for too long: all groups, run by run.
 * - CPU: each work-item sorts one segment after the other, by insertion or by radix in its cache. All work-items
 *   share the longest segments.
 *
 * Source: the classes are those of K. Hou, W. Liu, H. Wang, W. Feng, "Fast Segmented Sort on GPUs" (2017); the
 * sorts within them are enumeration and radix sorts, and the network of K. E. Batcher (1968).
 *
 * Complexity: 1 to 5 launches, and 3 more per digit if a segment can be so long that it is cut. Offsets are read
 * and checked on the device only. Limit: fewer than 2^31 keys.
 *
 * The planner picks it for all segments; an array without any is one segment.
 */
class SegmentedSort extends CompiledSort<SerialSegments | SegmentsInGroups> {
  get longest(): number | undefined {
    return this.built.longest;
  }

  protected override accepts({ n }: SortRequest): true | string {
    if (n >= WIDE) return 'sorts segments of fewer than 2^31 keys in all';
    return this.built.supports(n);
  }

  override scratch(n: number, options: ScratchOptions): ScratchSizes {
    return this.built.scratch(n, options);
  }

  sortsRows(n: number, each: number): boolean {
    return this.built instanceof SegmentsInGroups && this.built.sortsRows(n, each);
  }

  enqueue(queue: Queue, work: SortWork): Enqueued {
    // Without keys no kernel touches elements, but offsets may still be invalid.
    return work.n === 0 && !work.segments ? {} : this.built.enqueue(queue, work);
  }
}

/** Returns the form: CPU cores sort alone, unless the driver limits their loops or the tuning sets another form. */
function formOf({ capabilities }: KnownDevice, { tuning }: AlgorithmShape): 'serial' | 'groups' {
  if (tuning?.form === 'serial' || tuning?.form === 'groups') return tuning.form;
  const { maxLoopIterations } = capabilities.quirks;
  return capabilities.type === 'cpu' && maxLoopIterations === Number.POSITIVE_INFINITY ? 'serial' : 'groups';
}

export const segmentedSort: AlgorithmFactory = {
  name: 'segmented',
  stable: true,
  bySegments: true,
  bounds: BOUNDS,
  waits: true, // if its parameters include a sweep
  parameters: {
    form: choice(['serial', 'groups']),
    /** Upper bound of the keys of a segment; only the tile for that bound is compiled. */
    longest: choice(BOUNDS),
    /** How rows of work-items sort up to 64 keys; `none`: every segment has as many keys, and more than 64. */
    rows: choice(['counts', 'network', 'none']),
    ...Object.fromEntries(
      Object.entries(TILE_PARAMETERS).map(([name, { axis: _, ...parameter }]) => [name, parameter]),
    ),
    radixBits: whole(1, 8),
    sweepGroupSize: whole(1, 2 ** 16),
    sweepKeysPerItem: whole(0, 2 ** 12),
    lookBack: whole(1, 64),
    spinLimit: SPIN_LIMIT,
  },

  available(device, shape) {
    return formOf(device, shape) === 'serial' ? carriesValues(shape) : tileAvailable(device, shape);
  },

  tune(device, shape, n, { longest, areRows } = {}) {
    if (device.capabilities.type !== 'gpu' || formOf(device, shape) === 'serial' || !longest) return shape;
    if (shape.tuning?.longest !== undefined) return shape;
    const bound = boundFor(device, shape, tuningFor(segmentedSort, device, shape, n), longest);
    if (!bound) return shape;
    const rows = areRows && longest > MAX_ROW_KEYS ? { rows: 'none' } : {};
    return { ...shape, tuning: { ...shape.tuning, longest: bound.longest, ...rows } };
  },

  async create(device, shape) {
    const form =
      formOf(device, shape) === 'serial'
        ? await SerialSegments.create(device, shape)
        : await SegmentsInGroups.create(device, shape, tuningFor(segmentedSort, device, shape));
    return new SegmentedSort('segmented', device, shape, form);
  },
};
