import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import type { Buffer } from '../device/memory/buffer.js';
import { NO_LONG_WAITS } from '../device/platform/quirks.js';
import type { Program } from '../device/programs/program.js';
import { type Queue, u32, u64 } from '../device/queue/queue.js';
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
import { digitsOf } from './digits.js';
import { type Tuning, whole } from './parameters.js';
import {
  alternateBytes,
  alternatingPasses,
  FLAG_ENCODE,
  FLAG_ORDER,
  moveFlags,
  orderFlag,
  passBuffers,
  passOutputs,
  scratchOf,
  valuesOf,
} from './passes.js';
import { FINDS_ORDER } from './policy.js';
import {
  buildTile,
  CHECKED_LANES,
  fitColumns,
  fitTile,
  fittedTuning,
  numberOf,
  OFFSET_BITS,
  SPIN_LIMIT,
  TILE_PARAMETERS,
  type TileTuning,
  tileAvailable,
  tileFits,
  usesLanes,
  VALUES_AFTER,
  windowProblem,
} from './tile.js';
import { modelledTile } from './tile-model.js';
import { tuningFor } from './tuning.js';

export const RADIX_BITS = 8;
export const BINS = 2 ** RADIX_BITS;
/**
 * Bytes of `control` in cl/onesweep.cl: a status word, two words about arrays in order, a ticket per pass, then the
 * sticky status word of all sorts.
 */
export const CONTROL_BYTES = 68;
export const ANY_AT = 64;
/** From this number of keys on, look-back sums need 64-bit words: two bits of a word hold its state. */
export const WIDE = 2 ** 30;
/** Up to this number of keys, small tiles let more compute units take part. */
const FEW_KEYS = 2 ** 18;
/** Fewest keys per work-item of the histogram: fewer groups leave fewer counts to add. */
const HISTOGRAM_KEYS = 16;

/** Parameters that the kernels of cl/onesweep.cl were built with. */
export interface OnesweepTuning extends TileTuning {
  readonly histogramSize: number;
  readonly histogramColumns: number;
  readonly lookBack: number;
}

/** Returns the number of groups of a pass: one that scans the digit counts, and one per tile. */
export const passGroups = ({ groupSize, keysPerItem }: OnesweepTuning, n: number): number =>
  1 + Math.ceil(n / (groupSize * keysPerItem));

export function histogramGroups(
  { capabilities }: Pick<Device, 'capabilities'>,
  { histogramSize }: OnesweepTuning,
  n: number,
): number {
  const busy = Math.ceil(n / (histogramSize * HISTOGRAM_KEYS));
  return Math.max(1, Math.min(capabilities.computeUnits, busy));
}

/** Number of 16-byte vectors of `state`. */
export const stateVectors = (tuning: OnesweepTuning, n: number, passes: number): number =>
  ((passes * passGroups(tuning, n) + tuning.lookBack - 1) * BINS * (tuning.offsetBits / 8)) / 16;

/**
 * Whether a variant finds arrays in order. Keys of 8 bits take one pass, as the move of an array in order does. Random
 * keys of 64 bits without values that are not planned would take up to 3 % longer.
 */
export const findsOrder = ({ keyBits, valueBytes }: AlgorithmShape, isPlanned = false): boolean =>
  FINDS_ORDER && keyBits > RADIX_BITS && (isPlanned || valueBytes > 0 || keyBits < 64);

/** Enqueues the histogram of all digits, which also clears the state that the passes use. */
export function enqueueDigitHistogram(
  queue: Queue,
  program: Program,
  tuning: OnesweepTuning,
  work: SortWork,
  made: {
    readonly from: Buffer;
    readonly control: Buffer;
    readonly groups: number;
    /** Flags of the first pass, and `orderFlag`. */
    readonly flags: number;
  },
): void {
  const { n, bits, codec, onStage } = work;
  const { histogramSize } = tuning;
  const { from, control, groups, flags } = made;
  const [counts, state] = [scratchOf(work, 'counts'), scratchOf(work, 'state')];
  queue.run(
    program.kernel('onesweep_histogram'),
    [
      ...[from, counts, state, control, u64(n), u32(bits[0]), u32(bits[1])],
      ...[u64(stateVectors(tuning, n, digitsOf(bits, RADIX_BITS).length)), codecArgument(codec)],
      u32(flags & (FLAG_ENCODE | FLAG_ORDER)),
    ],
    { global: groups * histogramSize, local: histogramSize },
  );
  onStage?.({ kernel: 'onesweep_histogram', buffers: { counts, state, control } });
}

/**
 * Onesweep: one histogram of all digits, then one kernel per digit. Each pass reads and writes every key once.
 *
 * Idea: while a group ranks its tile, it learns from its predecessors, tile by tile backwards, how many keys of
 * each digit precede it (decoupled look-back).
 *
 * For keys of 32 bits with values, the histogram also compares neighbouring keys. If it finds the array ascending or strictly descending, the last pass
 * copies or reverses it, and the other passes return at once.
 *
 * Whole keys without values may be ranked by returning local atomics (tuning `checkedLanes`). Whether these kept
 * the order of equal digits can be checked in the tile itself: earlier passes ordered it by the lower bits, so
 * after ranking it must be ordered by all bits up to the current digit. Every tile is checked; if one fails, the
 * sort gives up.
 *
 * Source: Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs" (2022).
 *
 * Complexity: 1 + passes launches, 2 × key (+ value) bytes of traffic per key and pass, and one more read of the
 * keys. Work-groups wait for each other, and OpenCL does not guarantee that they make progress concurrently. Waits are
 * bounded: when one runs out, the work-item counts the keys of the other group's tile itself.
 *
 * The planner picks it on GPUs that passed its self-test, for all arrays that exceed the one-launch sorts.
 */
class Onesweep extends CompiledSort<{ readonly program: Program; readonly tuning: OnesweepTuning }> {
  /** Persistent, so that its sticky word covers many sorts. */
  readonly #control = this.device.allocatePersistent(CONTROL_BYTES);

  protected override accepts(request: SortRequest): true | string {
    const problem = windowProblem(this.shape, request);
    if (problem !== undefined) return problem;
    if (this.built.tuning.offsetBits === 32 && request.n >= WIDE)
      return 'compiled for fewer than 2^30 keys; offsetBits: 64 supports more';
    return true;
  }

  override scratch(n: number, { inPlace, bits }: ScratchOptions): ScratchSizes {
    const passes = digitsOf(bits, RADIX_BITS).length;
    return {
      ...alternateBytes(this.shape, n, passes, inPlace),
      // The histogram covers whole keys; digits outside of the window count in bin 0.
      counts:
        (this.shape.keyBits / RADIX_BITS) * histogramGroups(this.device, this.built.tuning, n) * BINS * 4,
      state: stateVectors(this.built.tuning, n, passes) * 16,
    };
  }

  enqueue(queue: Queue, work: SortWork): Enqueued {
    const { n, bits, codec, onStage } = work;
    if (n === 0) return {};
    const { groupSize } = this.built.tuning;
    const digits = digitsOf(bits, RADIX_BITS);
    const counts = scratchOf(work, 'counts');
    const state = scratchOf(work, 'state');
    const control = this.#control;
    const codecWords = codecArgument(codec);
    const steps = alternatingPasses(queue, this.shape, digits.length, work);
    const groups = histogramGroups(this.device, this.built.tuning, n);

    const first = steps[0];
    if (!first) return {};
    // A single pass is as fast as the move of an array in order.
    const order = steps.length > 1 && findsOrder(this.shape) ? orderFlag(work) : 0;
    enqueueDigitHistogram(queue, this.built.program, this.built.tuning, work, {
      ...{ from: first.from, control, groups },
      flags: first.flags | order,
    });
    const values = valuesOf(this.shape, work);

    for (const [pass, step] of steps.entries()) {
      const { shift = 0, bits: width = 0 } = digits[pass] ?? {};
      queue.run(
        this.built.program.kernel('onesweep_pass'),
        [
          ...passBuffers(step),
          ...(values ? [values.input] : []),
          work.input,
          counts,
          state,
          control,
          u64(n),
          u32(pass),
          u32(shift),
          u32(width),
          u32(groups),
          codecWords,
          u32(step.flags | order | (pass === steps.length - 1 ? moveFlags(work) : 0)),
        ],
        { global: passGroups(this.built.tuning, n) * groupSize, local: groupSize, pass },
      );
      onStage?.({ kernel: 'onesweep_pass', pass, buffers: { ...passOutputs(step), state, control } });
    }
    return { status: control, anyAt: ANY_AT };
  }
}

/**
 * Builds cl/onesweep.cl with parameters that the device can hold.
 *
 * @param isPlanned whether a plan computed on the device selects the digits
 * @throws BuildError, UnsupportedError
 */
export async function buildOnesweep(
  device: Device,
  shape: AlgorithmShape,
  wanted: Tuning,
  isPlanned = false,
): Promise<{ program: Program; tuning: OnesweepTuning }> {
  const lookBack = numberOf(wanted, 'lookBack');
  const histogramSize = numberOf(wanted, 'histogramSize');
  const histogramColumns = numberOf(wanted, 'histogramColumns');
  const defines = {
    HISTOGRAM_SIZE: histogramSize,
    HISTOGRAM_COLUMNS: histogramColumns,
    LOOK_BACK: lookBack,
    SPIN_LIMIT: numberOf(wanted, 'spinLimit'),
    MUTE: numberOf(wanted, 'mute', 0),
    FINDS_ORDER: findsOrder(shape, isPlanned) ? 1 : 0,
    PLANNED: isPlanned ? 1 : 0,
  };
  const fitted = { ...fitTile(device, shape, wanted), radixBits: RADIX_BITS };
  const ranked: TileTuning = usesLanes(shape, fitted, wanted) ? { ...fitted, rank: 'lanes' } : fitted;
  const { program, tile } = await buildTile(device, 'onesweep.cl', shape, ranked, ['onesweep_pass'], defines);
  return { program, tuning: { ...tile, rank: fitted.rank, histogramSize, histogramColumns, lookBack } };
}

export const onesweep: AlgorithmFactory = {
  name: 'onesweep',
  stable: true,
  waits: true,
  plannedOn: ['gpu'],
  parameters: {
    ...TILE_PARAMETERS,
    lookBack: whole(1, 64, { axis: [1, 2, 4, 8] }),
    checkedLanes: CHECKED_LANES,
    valuesAfter: VALUES_AFTER,
    histogramSize: whole(1, 2 ** 16, { axis: [256, 512, 1024] }),
    histogramColumns: whole(1, 64, { axis: [4, 8, 16, 32] }),
    offsetBits: OFFSET_BITS,
    spinLimit: SPIN_LIMIT,
    mute: whole(0, 3),
  },
  search: {
    on: ['gpu'],
    sizes: [
      { n: 2 ** 25, over: 2 ** 24 },
      { n: 2 ** 24, over: 2 ** 22, max: 2 ** 24 },
      { n: 2 ** 22, over: 2 ** 18, max: 2 ** 22 },
      { n: 2 ** 18, max: 2 ** 18 },
    ],
  },

  available(device, shape) {
    const { quirks, int64Atomics, hasAcquireRelease } = device.capabilities;
    if (Number.isFinite(quirks.maxLoopIterations)) return NO_LONG_WAITS;
    if (shape.tuning?.offsetBits === 64 && !hasAcquireRelease && !int64Atomics) {
      return '2^30 keys and more need 64-bit atomics';
    }
    return tileAvailable(device, shape);
  },

  modelled(device, shape, n) {
    const { hasBallot, computeUnits } = device.capabilities;
    const few = n <= FEW_KEYS ? FEW_KEYS / 2 : Number.POSITIVE_INFINITY;
    return {
      ...modelledTile(device, shape, {
        name: `onesweep of up to ${few}`,
        valuesAfter: true,
        score: ({ groupSize, keysPerItem }, { score }) =>
          score * Math.min(1, few / (groupSize * keysPerItem * computeUnits)),
      }),
      ...(hasBallot && { histogramSize: 1024, histogramColumns: 32 }),
    };
  },

  fit(device, shape, tuning) {
    const { capabilities } = device;
    // A histogram group may use the whole budget: it runs alone on its compute unit.
    const columnBytes = Math.ceil(shape.keyBits / RADIX_BITS) * BINS * 4;
    return fittedTuning(tuning, fitTile(device, shape, tuning), {
      histogramSize: Math.min(numberOf(tuning, 'histogramSize'), capabilities.maxWorkGroup),
      histogramColumns: fitColumns(capabilities, numberOf(tuning, 'histogramColumns'), columnBytes),
    });
  },

  tune(device, shape, n) {
    const tuning = { ...(n >= WIDE && { offsetBits: 64 }), ...tuningFor(onesweep, device, shape, n) };
    const fitted = onesweep.fit?.(device, shape, tuning) ?? tuning;
    const fits = tileFits(device, shape, fitTile(device, shape, fitted));
    return fits === true ? { ...shape, tuning: fitted } : fits;
  },

  async create(device, shape) {
    const { program, tuning } = await buildOnesweep(device, shape, tuningFor(onesweep, device, shape));
    return new Onesweep('onesweep', device, shape, { program, tuning });
  },
};
