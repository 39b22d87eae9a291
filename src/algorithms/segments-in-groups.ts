import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import type { FittedProgram } from '../device/fitted-program.js';
import type { Buffer } from '../device/memory/buffer.js';
import { type KernelArgument, type Queue, u32, vector } from '../device/queue/queue.js';
import { UnsupportedError } from '../util/errors.js';
import type { AlgorithmShape, Enqueued, ScratchOptions, ScratchSizes, SortWork } from './algorithm.js';
import { digitsOf } from './digits.js';
import type { Tuning } from './parameters.js';
import { FLAG_ENCODE, passBuffers, passFlags, passOutputs, passValues, scratchOf } from './passes.js';
import {
  buildSegmentPrograms,
  CLASSES,
  keysOf,
  type SegmentPrograms,
  type Sweep,
  type Tiles,
} from './segment-programs.js';
import {
  beginSegments,
  type Cut,
  cutOf,
  FLAG_FROM_SEGMENT,
  segmentArrays,
  segmentScratch,
  windowMask,
} from './segments.js';

/** Most keys of a segment that a row of work-items sorts: cl/segment_rows.cl. */
export const MAX_ROW_KEYS = 64;
/** Work-items per row, which is also the maximal number of segments that a row reads. */
const LANES = 32;
/** Tiles of the shortest run that a segment is cut into. */
const TILES_PER_RUN = 8;
/** Groups per compute unit that process a list in a grid-stride loop. */
const GROUPS_PER_UNIT = 16;
/** The same for the counting kernel of a sweep: each group has private counters to add up. */
const COUNTERS_PER_UNIT = 4;
/** Most runs of one segment if the driver limits loops: one group scans their counts. */
const MAX_RUNS = 4096;

/**
 * Look-back of a sweep: byte of the sticky word of `control` in cl/tile_look_back.clh, words before the rows in
 * cl/segment_sweep.cl, and the segment length from which on the sums overflow.
 */
const ANY_AT = 64;
const BEFORE_ROWS = 128;
const TOO_LONG = 2 ** 30;

/** The segmented sort of GPUs, by the length of each segment; see cl/segment_rows.cl and cl/segment_tiles.cl. */
export class SegmentsInGroups {
  readonly #device: Device;
  readonly #shape: AlgorithmShape;
  /** Upper bound of the keys of a segment; undefined if unknown. */
  readonly longest: number | undefined;
  /** Missing if every segment has as many keys, and more than `MAX_ROW_KEYS`. */
  readonly #rows: FittedProgram | undefined;
  /** Equal to `#tiles` if the segment length is bounded. */
  readonly #small: Tiles;
  readonly #tiles: Tiles;
  readonly #sweep: Sweep | undefined;

  private constructor(device: Device, shape: AlgorithmShape, programs: SegmentPrograms) {
    this.longest = programs.longest;
    this.#device = device;
    this.#shape = shape;
    this.#rows = programs.rows;
    this.#small = programs.small;
    this.#tiles = programs.tiles;
    this.#sweep = programs.sweep;
  }

  /** @throws BuildError, UnsupportedError */
  static async create(device: Device, shape: AlgorithmShape, tuning: Tuning): Promise<SegmentsInGroups> {
    return new SegmentsInGroups(device, shape, await buildSegmentPrograms(device, shape, tuning));
  }

  supports(n: number): true | string {
    const { maxLoopIterations } = this.#device.capabilities.quirks;
    if (this.#rows && this.#rows.groupSize < LANES) return `needs work-groups of ${LANES} work-items`;
    const tooMany = maxLoopIterations < Number.POSITIVE_INFINITY && n / this.#cut(n, n, n).runKeys > MAX_RUNS;
    return !tooMany || 'the driver ends the loops of a work-item';
  }

  scratch(n: number, options: ScratchOptions): ScratchSizes {
    const { count = 1, longest = this.longest ?? n } = options.segments ?? {};
    const { radixBits } = this.#tiles.tile;
    const cut = this.#cut(n, count, longest);
    const alternates = Math.min(n, longest) > keysOf(this.#tiles);
    const sweep = cut.runs > 0 ? this.#sweepFor(n, longest) : undefined;
    const { counts, ...others } = segmentScratch(this.#shape, n, options, { radixBits, cut, alternates });
    return {
      ...others,
      lists: Math.max(1, this.#lists(n, count, longest).at(-1) ?? 0) * 4,
      ...(sweep ? { sweep: this.#sweepBytes(sweep, cut) } : counts !== undefined && { counts }),
    };
  }

  /** Returns true for rows that one group sorts each, and for longer ones that groups share by a sweep. */
  sortsRows(n: number, each: number): boolean {
    return this.#cut(n, n / each, each).runs === 0 || this.#sweepFor(n, each) !== undefined;
  }

  enqueue(queue: Queue, work: SortWork): Enqueued {
    const { n, bits, codec, onStage } = work;
    const { count = 1, longest = n } = work.segments ?? {};
    if (this.longest !== undefined && longest > this.longest) {
      throw new UnsupportedError(
        `cannot sort a segment of ${longest} keys: the program sorts segments of at most ${this.longest}`,
      );
    }
    // Kernels that receive the common segment length read no offsets.
    const each = work.segments && !work.segments.offsets ? longest : 0;
    const cut = this.#cut(n, count, longest, each);
    const { runKeys, runs } = cut;
    const sweep = runs > 0 ? this.#sweepFor(n, longest) : undefined;
    const swept = sweep && { buffer: scratchOf(work, 'sweep'), bytes: this.#sweepBytes(sweep, cut) };
    const { segments, state, status } = beginSegments(queue, work, swept);
    const offsets = segments.offsets ?? state;
    const { radixBits } = this.#tiles.tile;
    const digits = digitsOf(bits, radixBits);
    const arrays = segmentArrays(queue, this.#shape, digits.length, work);
    const lists = this.#lists(n, count, longest);
    const [list, owners] = [scratchOf(work, 'lists'), scratchOf(work, 'owners')];
    const fromSegment = segments.fromSegment ? FLAG_FROM_SEGMENT : 0;
    const codecWords = codecArgument(codec);
    const only = passBuffers(arrays.only);
    const compared = [u32(bits[0]), windowMask(this.#shape, bits), codecWords];
    const flags = u32(arrays.only.flags | fromSegment);
    const onlyOutputs = passOutputs(arrays.only);

    if (each <= MAX_ROW_KEYS) {
      const { program, groupSize: local } = this.#rows ?? noRows(each);
      const span = this.#span(count, local);
      const groups = Math.max(1, Math.ceil(count / (span * (local / LANES))));
      queue.run(
        program.kernel(CLASSES),
        [
          ...[...only, offsets, state, list, owners, ...status, u32(count), u32(n), u32(each), u32(span)],
          vector(Uint32Array.of(...this.#maxKeys(cut), 0)),
          vector(Uint32Array.of(...lists)),
          ...[u32(runs), u32(runKeys), ...compared, flags],
        ],
        { global: groups * local, local },
      );
      onStage?.({ kernel: CLASSES, buffers: { state, lists: list, owners, ...onlyOutputs } });
    }

    const listed = (kind: number): number => {
      if (each > 0) return kind === this.#kindOf(each, cut) ? count : 0;
      return (lists[kind + 1] ?? 0) - (lists[kind] ?? 0);
    };
    const all = [u32(count), u32(each)];
    const window = [u32(bits[0]), u32(bits[1]), codecWords, flags];
    for (const [kind, { program, tile }] of [[0, this.#small] as const, [1, this.#tiles] as const]) {
      if (listed(kind) === 0) continue;
      const args = [...only, offsets, state, list, u32(lists[kind] ?? 0), u32(kind), ...all, ...window];
      const global = this.#walkers(listed(kind)) * tile.groupSize;
      queue.run(program.kernel('segment_tiles'), args, { global, local: tile.groupSize });
      onStage?.({ kernel: 'segment_tiles', buffers: onlyOutputs });
    }
    const { program, tile } = this.#tiles;
    if (listed(2) > 0) {
      const kind = [u32(lists[2] ?? 0), u32(2), ...all, u32(digits.length)];
      const args = [...only, ...arrays.alternates, offsets, state, list, ...kind, ...window];
      const global = this.#walkers(listed(2)) * tile.groupSize;
      queue.run(program.kernel('segment_passes'), args, { global, local: tile.groupSize });
      onStage?.({ kernel: 'segment_passes', buffers: onlyOutputs });
    }
    if (runs === 0) return {};
    if (sweep) return this.#enqueueSweep(queue, work, { offsets, state, each }, { sweep, cut, arrays });
    const counts = scratchOf(work, 'counts');
    const runsOf = [offsets, state, owners, counts];
    for (const [pass, { shift, bits: width }] of digits.entries()) {
      const step = arrays.passes[pass];
      if (!step) break;
      const own = passFlags(work, { first: pass === 0, last: pass === digits.length - 1 }) | fromSegment;
      const digit = [u32(runKeys), u32(shift), u32(width), codecWords];
      const launch = { global: this.#walkers(runs) * tile.groupSize, local: tile.groupSize, pass };
      queue.run(
        program.kernel('segment_counts'),
        [step.from, ...runsOf, ...digit, u32(own & FLAG_ENCODE)],
        launch,
      );
      onStage?.({ kernel: 'segment_counts', pass, buffers: { counts } });
      queue.run(program.kernel('segment_places'), [...runsOf, u32(runKeys)], launch);
      onStage?.({ kernel: 'segment_places', pass, buffers: { counts } });
      const moved = [step.from, step.to, ...passValues(step), ...runsOf];
      queue.run(program.kernel('segment_move'), [...moved, ...digit, u32(own)], launch);
      onStage?.({ kernel: 'segment_move', pass, buffers: passOutputs(step) });
    }
    return {};
  }

  /**
   * Enqueues the sweep that sorts the segments that are cut, one launch per digit.
   *
   * @param each keys of every segment, if all are equally long; 0: the kernels read the offsets and `state`
   */
  #enqueueSweep(
    queue: Queue,
    work: SortWork,
    { offsets, state, each }: { offsets: Buffer; state: Buffer; each: number },
    { sweep, cut, arrays }: { sweep: Sweep; cut: Cut; arrays: ReturnType<typeof segmentArrays> },
  ): Enqueued {
    const { bits, codec, onStage } = work;
    const { program, tile, control } = sweep;
    const digits = digitsOf(bits, tile.radixBits);
    const first = arrays.passes[0];
    if (!first) return {};
    const rows = scratchOf(work, 'sweep');
    const fromSegment = work.segments?.fromSegment ? FLAG_FROM_SEGMENT : 0;
    const codecWords = codecArgument(codec);
    const flagsOf = (pass: number): number =>
      passFlags(work, { first: pass === 0, last: pass === digits.length - 1 }) | fromSegment;
    const owners = scratchOf(work, 'owners');
    const runsOf: KernelArgument[] = [offsets, state, owners, rows, control, u32(cut.runs), u32(each)];
    const local = tile.groupSize;
    queue.run(
      program.kernel('segment_sweep_counts'),
      [first.from, ...runsOf, u32(bits[0]), u32(bits[1]), codecWords, u32(flagsOf(0) & FLAG_ENCODE)],
      { global: this.#walkers(cut.runs, COUNTERS_PER_UNIT) * local, local },
    );
    onStage?.({ kernel: 'segment_sweep_counts', buffers: { sweep: rows, control } });
    for (const [pass, { shift, bits: width }] of digits.entries()) {
      const step = arrays.passes[pass];
      if (!step) break;
      queue.run(
        program.kernel('segment_sweep'),
        [
          ...[step.from, step.to, ...passValues(step), ...runsOf],
          ...[u32(pass), u32(shift), u32(width), codecWords, u32(flagsOf(pass))],
        ],
        { global: cut.runs * local, local, pass },
      );
      onStage?.({ kernel: 'segment_sweep', pass, buffers: { ...passOutputs(step), sweep: rows, control } });
    }
    return { status: control, anyAt: ANY_AT };
  }

  /** Returns the sweep, unless a segment may be too long for its sums. */
  #sweepFor(n: number, longest: number): Sweep | undefined {
    return Math.min(n, longest) < TOO_LONG ? this.#sweep : undefined;
  }

  #sweepBytes({ tile: { radixBits }, lookBack }: Sweep, { runs }: Cut): number {
    const { keyBits } = this.#shape;
    const passes = digitsOf([0, keyBits], radixBits).length;
    return (BEFORE_ROWS + (passes * runs + lookBack - 1) * 2 ** radixBits) * 4;
  }

  /** Returns the number of segments that a row reads: as many as keep all rows busy. */
  #span(count: number, groupSize: number): number {
    const rows = this.#device.capabilities.computeUnits * GROUPS_PER_UNIT * (groupSize / LANES);
    return Math.min(LANES, Math.max(1, Math.ceil(count / rows)));
  }

  /**
   * Returns the most keys of a segment of each kind: small tiles, full tiles, passes of one group. Longer segments are
   * cut.
   */
  #maxKeys({ whole }: Cut): readonly number[] {
    return [Math.max(MAX_ROW_KEYS, keysOf(this.#small)), Math.max(MAX_ROW_KEYS, keysOf(this.#tiles)), whole];
  }

  /** Returns the kind of a segment of that length; -1: rows of work-items sort it. */
  #kindOf(length: number, cut: Cut): number {
    return length <= MAX_ROW_KEYS ? -1 : this.#maxKeys(cut).findIndex((maxKeys) => length <= maxKeys);
  }

  /** Returns the start of each kind's list, then the end of the last one. A list has room for all possible segments. */
  #lists(n: number, count: number, longest: number): number[] {
    const maxKeys = this.#maxKeys(this.#cut(n, count, longest));
    const ends: number[] = [0];
    for (const [kind, keys] of maxKeys.entries()) {
      const minKeys = (maxKeys[kind - 1] ?? MAX_ROW_KEYS) + 1;
      const none = minKeys > keys || minKeys > Math.min(n, longest);
      ends.push((ends.at(-1) ?? 0) + (none ? 0 : Math.min(count, Math.floor(n / minKeys))));
    }
    return ends;
  }

  /** @param each keys of every segment, if the kernels read no offsets */
  #cut(n: number, count: number, longest: number, each = 0): Cut {
    const { computeUnits, quirks } = this.#device.capabilities;
    const sweep = this.#sweepFor(n, longest);
    const tile = keysOf(this.#tiles);
    if (this.longest !== undefined) return { runKeys: tile, whole: tile, runs: 0 };
    if (sweep) {
      const cut = cutOf(n, keysOf(sweep), { count, longest, whole: Math.max(MAX_ROW_KEYS, tile) });
      return each > 0 && cut.runs > 0 ? { ...cut, runs: count * Math.ceil(each / cut.runKeys) } : cut;
    }
    const share = Number.isFinite(quirks.maxLoopIterations) ? 0 : Math.ceil(n / (computeUnits * 4));
    return cutOf(n, Math.ceil(Math.max(TILES_PER_RUN * tile, share) / tile) * tile, { longest });
  }

  /** Returns the number of groups that process a list; one per entry if the driver limits loops. */
  #walkers(entries: number, perUnit = GROUPS_PER_UNIT): number {
    const { computeUnits, quirks } = this.#device.capabilities;
    const limited = Number.isFinite(quirks.maxLoopIterations);
    return Math.max(1, limited ? entries : Math.min(entries, computeUnits * perUnit));
  }
}

/** @throws UnsupportedError for offsets, or rows that the program without `rows` does not sort */
function noRows(each: number): never {
  const got = each > 0 ? `rows of ${each} keys` : 'offsets';
  throw new UnsupportedError(
    `expected rows of more than ${MAX_ROW_KEYS} keys but got ${got}. Leave out the parameter 'rows'`,
  );
}
