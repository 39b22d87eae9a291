import type { Device } from '../device/device.js';
import type { Program } from '../device/program.js';
import { type Queue, u32, vector } from '../device/queue.js';
import { codecVector } from '../keys/key-codec.js';
import type { AlgorithmShape, Enqueued, ScratchOptions, ScratchSizes, SortWork } from './algorithm.js';
import { digitsOf } from './digits.js';
import { buildFitting, type Fitted } from './fitted.js';
import type { Tuning } from './parameters.js';
import { FLAG_ENCODE, passBuffers, passFlags, passOutputs, passValues, scratchOf } from './passes.js';
import {
  beginSegments,
  type Cut,
  cutOf,
  FLAG_FROM_SEGMENT,
  segmentArrays,
  segmentScratch,
  windowMask,
} from './segments.js';
import { buildTile, fitTile, type TileTuning } from './tile.js';

/** Most keys of a segment that a work-item sorts alone, and that a row does: cl/segment_rows.cl. */
const TINY = 8;
const ROW = 64;
/** Work-items of a row, and of a group of rows. */
const LANES = 32;
const ROWS_GROUP = 128;
/** Small tiles have few keys, for the many segments that would leave most of a large one empty. */
const SMALL_GROUP = 128;
const SMALL_KEYS = 4;
/** Tiles of the shortest run that a segment is cut into. */
const TILES_PER_RUN = 8;
/** Groups that walk over a list, for each unit of the device. */
const GROUPS_PER_UNIT = 16;
/** Most runs of one segment, where drivers end long loops: one group scans their counts. */
const MOST_RUNS = 4096;

const KERNELS = ['segment_tiles', 'segment_passes', 'segment_counts', 'segment_places', 'segment_move'];

/** Programs for tiles of one size. */
interface Tiles {
  readonly program: Program;
  readonly tile: TileTuning;
}

const keysOf = ({ tile }: Tiles): number => tile.groupSize * tile.keysPerItem;

/** The segmented sort of GPUs, see cl/segment_rows.cl and cl/segment_tiles.cl: by the length of each segment. */
export class SegmentsInGroups {
  readonly #device: Device;
  readonly #shape: AlgorithmShape;
  readonly #rows: Fitted;
  readonly #small: Tiles;
  readonly #tiles: Tiles;

  private constructor(
    device: Device,
    shape: AlgorithmShape,
    programs: { rows: Fitted; small: Tiles; tiles: Tiles },
  ) {
    this.#device = device;
    this.#shape = shape;
    this.#rows = programs.rows;
    this.#small = programs.small;
    this.#tiles = programs.tiles;
  }

  /** @throws BuildError, UnsupportedError */
  static async create(device: Device, shape: AlgorithmShape, tuning: Tuning): Promise<SegmentsInGroups> {
    const rowKernels = ['segment_classes', 'segment_rows'];
    const rows = await buildFitting(device, 'segment_rows.cl', rowKernels, ROWS_GROUP, (groupSize) => ({
      KEY_BITS: shape.keyBits,
      VALUE_BYTES: shape.valueBytes,
      GROUP_SIZE: groupSize,
    }));
    const build = (tile: TileTuning) => buildTile(device, 'segment_tiles.cl', shape, tile, KERNELS);
    const tiles = await build({ ...fitTile(device, shape, tuning), valuesAfter: false });
    const groupSize = Math.min(SMALL_GROUP, tiles.tile.groupSize);
    const keysPerItem = Math.min(SMALL_KEYS, tiles.tile.keysPerItem);
    const small = await build({ ...tiles.tile, groupSize, keysPerItem });
    return new SegmentsInGroups(device, shape, { rows, small, tiles });
  }

  supports(n: number): true | string {
    const { maxLoopIterations } = this.#device.capabilities.quirks;
    if (this.#rows.groupSize < LANES) return `needs work-groups of ${LANES} work-items`;
    const tooMany = maxLoopIterations < Number.POSITIVE_INFINITY && n / this.#cut(n).runKeys > MOST_RUNS;
    return !tooMany || 'the driver ends the loops of a work-item';
  }

  scratch(n: number, options: ScratchOptions): ScratchSizes {
    const { count = 1, longest = n } = options.segments ?? {};
    const { radixBits } = this.#tiles.tile;
    const cut = this.#cut(n, longest);
    const alternates = Math.min(n, longest) > keysOf(this.#tiles);
    return {
      ...segmentScratch(this.#shape, n, options, { radixBits, cut, alternates }),
      lists: Math.max(1, this.#lists(n, count, longest).at(-1) ?? 0) * 4,
    };
  }

  enqueue(queue: Queue, work: SortWork): Enqueued {
    const { n, bits, codec, onStage } = work;
    const { segments, state, told } = beginSegments(queue, work);
    const { offsets, count, longest = n } = segments;
    const { radixBits } = this.#tiles.tile;
    const digits = digitsOf(bits, radixBits);
    const arrays = segmentArrays(queue, this.#shape, digits.length, work);
    const { runKeys, runs } = this.#cut(n, longest);
    const lists = this.#lists(n, count, longest);
    const [list, owners] = [scratchOf(work, 'lists'), scratchOf(work, 'owners')];
    const fromSegment = segments.fromSegment ? FLAG_FROM_SEGMENT : 0;
    const codecWords = vector(codecVector(codec));
    const only = passBuffers(arrays.only);
    const compared = [u32(bits[0]), windowMask(this.#shape, bits), codecWords];
    const flags = u32(arrays.only.flags | fromSegment);
    const onlyOutputs = passOutputs(arrays.only);

    const local = this.#rows.groupSize;
    queue.run(
      this.#rows.program.kernel('segment_classes'),
      [
        ...[...only, offsets, state, list, owners, ...told, u32(count), u32(n)],
        vector(Uint32Array.of(...this.#most(runKeys))),
        vector(Uint32Array.of(...lists, 0, 0, 0)),
        ...[u32(runs), ...compared, flags],
      ],
      { global: Math.ceil(count / local) * local, local },
    );
    onStage?.({ kernel: 'segment_classes', buffers: { state, lists: list, owners, ...onlyOutputs } });

    const listed = (kind: number): number => (lists[kind + 1] ?? 0) - (lists[kind] ?? 0);
    if (listed(0) > 0) {
      const groups = this.#walkers(Math.ceil(listed(0) / (local / LANES)));
      const args = [...only, offsets, state, list, ...compared, flags];
      queue.run(this.#rows.program.kernel('segment_rows'), args, { global: groups * local, local });
      onStage?.({ kernel: 'segment_rows', buffers: onlyOutputs });
    }
    const window = [u32(bits[0]), u32(bits[1]), codecWords, flags];
    for (const [kind, { program, tile }] of [[1, this.#small] as const, [2, this.#tiles] as const]) {
      if (listed(kind) === 0) continue;
      const args = [...only, offsets, state, list, u32(lists[kind] ?? 0), u32(kind), ...window];
      const global = this.#walkers(listed(kind)) * tile.groupSize;
      queue.run(program.kernel('segment_tiles'), args, { global, local: tile.groupSize });
      onStage?.({ kernel: 'segment_tiles', buffers: onlyOutputs });
    }
    const { program, tile } = this.#tiles;
    if (listed(3) > 0) {
      const kind = [u32(lists[3] ?? 0), u32(3), u32(digits.length)];
      const args = [...only, ...arrays.alternates, offsets, state, list, ...kind, ...window];
      const global = this.#walkers(listed(3)) * tile.groupSize;
      queue.run(program.kernel('segment_passes'), args, { global, local: tile.groupSize });
      onStage?.({ kernel: 'segment_passes', buffers: onlyOutputs });
    }
    if (runs === 0) return {};
    const counts = scratchOf(work, 'counts');
    const cut = [offsets, state, owners, counts];
    for (const [pass, { shift, bits: width }] of digits.entries()) {
      const step = arrays.passes[pass];
      if (!step) break;
      const own = passFlags(work, { first: pass === 0, last: pass === digits.length - 1 }) | fromSegment;
      const digit = [u32(runKeys), u32(shift), u32(width), codecWords];
      const launch = { global: this.#walkers(runs) * tile.groupSize, local: tile.groupSize, pass };
      queue.run(
        program.kernel('segment_counts'),
        [step.from, ...cut, ...digit, u32(own & FLAG_ENCODE)],
        launch,
      );
      onStage?.({ kernel: 'segment_counts', pass, buffers: { counts } });
      queue.run(program.kernel('segment_places'), [...cut, u32(runKeys)], launch);
      onStage?.({ kernel: 'segment_places', pass, buffers: { counts } });
      const moved = [step.from, step.to, ...passValues(step), ...cut];
      queue.run(program.kernel('segment_move'), [...moved, ...digit, u32(own)], launch);
      onStage?.({ kernel: 'segment_move', pass, buffers: passOutputs(step) });
    }
    return {};
  }

  /** Most keys of a segment of each kind: rows, small tiles, tiles, runs. */
  #most(runKeys: number): readonly number[] {
    return [ROW, Math.max(ROW, keysOf(this.#small)), Math.max(ROW, keysOf(this.#tiles)), runKeys];
  }

  /** Where the list of each kind begins, and at last where they end: there cannot be more segments of a length. */
  #lists(n: number, count: number, longest: number): number[] {
    const most = this.#most(this.#cut(n, longest).runKeys);
    const ends: number[] = [0];
    for (const [kind, keys] of most.entries()) {
      const fewest = (most[kind - 1] ?? TINY) + 1;
      const none = fewest > keys || fewest > Math.min(n, longest);
      ends.push((ends.at(-1) ?? 0) + (none ? 0 : Math.min(count, Math.floor(n / fewest))));
    }
    return ends;
  }

  #cut(n: number, longest?: number): Cut {
    const { computeUnits, quirks } = this.#device.capabilities;
    const tile = keysOf(this.#tiles);
    const share = Number.isFinite(quirks.maxLoopIterations) ? 0 : Math.ceil(n / (computeUnits * 4));
    return cutOf(n, Math.ceil(Math.max(TILES_PER_RUN * tile, share) / tile) * tile, longest);
  }

  /** Groups that walk over a list; one for each entry where drivers end long loops. */
  #walkers(entries: number): number {
    const { computeUnits, quirks } = this.#device.capabilities;
    const limited = Number.isFinite(quirks.maxLoopIterations);
    return Math.max(1, limited ? entries : Math.min(entries, computeUnits * GROUPS_PER_UNIT));
  }
}
