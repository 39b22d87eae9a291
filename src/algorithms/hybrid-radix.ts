import { codecArgument } from '../device/codec-argument.js';
import type { KnownDevice } from '../device/device.js';
import type { Buffer } from '../device/memory/buffer.js';
import type { Program } from '../device/programs/program.js';
import { ballotDefine } from '../device/programs/program-source.js';
import { type Queue, u32, u64 } from '../device/queue/queue.js';
import { powerAtMost } from '../util/powers.js';
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
import {
  ANY_AT,
  BINS,
  buildOnesweep,
  CONTROL_BYTES,
  enqueueDigitHistogram,
  histogramGroups,
  type OnesweepTuning,
  onesweep,
  passGroups,
  RADIX_BITS,
  stateVectors,
  WIDE,
} from './onesweep.js';
import { type Parameters, type Tuning, whole } from './parameters.js';
import {
  FLAG_ENCODE,
  orderFlag,
  passBuffers,
  passFlags,
  passOutputs,
  scratchOf,
  valuesOf,
} from './passes.js';
import { buildTile, fitTile, numberOf, windowProblem } from './tile.js';
import { tuningFor } from './tuning.js';

/** Fewer keys are sorted before the plan, which picks the digits to sort by, pays off. */
const PLANNED_FROM = 2 ** 24;
/** Words of the plan, see cl/hybrid_plan.clh. */
const PLAN_WORDS = 16;
/** Most work-items of the group that computes the plan. */
const PLAN_SIZE = 1024;
/** Keys on either side of a tile that a group of `hybrid_finish` reads: FINISH_MARGIN of cl/hybrid_radix.cl. */
const MARGIN = 32;
/** Required parity of the number of moves, as in cl/hybrid_radix.cl. */
const PARITY = { any: 0, odd: 1, even: 2 } as const;
/**
 * Repeats that a sample may contain by chance, and the share of repeats above which a digit set separates keys badly.
 */
const CHANCE_REPEATS = 4;
const MAX_REPEATED = 1 / 8;
/** Tile of the groups that sort large buckets, and the number of these groups per compute unit. */
const REST_TILE = { groupSize: 256, keysPerItem: 16 };
const REST_GROUPS = 4;

interface HybridRadixTuning {
  readonly sweep: OnesweepTuning;
  readonly sample: number;
  readonly crowd: number;
  readonly minDigits: number;
  readonly maxDigits: number;
  readonly planSize: number;
  readonly finishSize: number;
  readonly finishKeys: number;
  readonly finishGroups: number;
  readonly bucket: number;
  readonly restSize: number;
}

interface Programs {
  readonly passes: Program;
  readonly hybrid: Program;
  readonly rest: Program;
}

/**
 * Sorts wide keys by as few digits as separate them, then orders the remaining bits within small buckets.
 *
 * Idea: for 64-bit keys a few of the highest digits are nearly always enough. Passes of `onesweep` sort by these
 * digits alone. Keys that share them are then adjacent, in buckets, and each key finds its position by counting the
 * keys of its bucket that precede it. The device determines the number of digits from a sample of the keys, and
 * skips the passes of constant digits. If no few digits separate the keys, it sorts by all digits that vary. An array
 * that is in order already takes one pass.
 *
 * Source: partial sorting by the highest digits and finishing in local memory follow Stehle and Jacobsen, "A Memory
 * Bandwidth-Efficient Hybrid Radix Sort on GPUs" (2017).
 *
 * A plan that saves nothing costs two to five per cent of a sort of 2^24 keys.
 *
 * Complexity: uniformly random keys are moved 4 times instead of 8; keys are never moved more often than by
 * `onesweep`. Counting takes as many steps per key as its bucket has keys, up to `bucket`. Larger buckets, which
 * the sample missed, are sorted by one group each. Limit: as `onesweep`.
 */
class HybridRadix extends CompiledSort<{ readonly programs: Programs; readonly tuning: HybridRadixTuning }> {
  /** Persistent, as in `onesweep`, so that its sticky word covers many sorts. */
  readonly #control = this.device.allocatePersistent(CONTROL_BYTES);

  protected override accepts(request: SortRequest): true | string {
    return windowProblem(this.shape, request) ?? (request.n < WIDE || 'for fewer than 2^30 keys');
  }

  override scratch(n: number, { bits }: ScratchOptions): ScratchSizes {
    const { keyBits, valueBytes } = this.shape;
    const { sweep } = this.built.tuning;
    return {
      alternateKeys: (n * keyBits) / 8,
      ...(valueBytes > 0 && { alternateValues: n * valueBytes }),
      counts: (keyBits / RADIX_BITS) * histogramGroups(this.device, sweep, n) * BINS * 4,
      state: stateVectors(sweep, n, digitsOf(bits, RADIX_BITS).length) * 16,
      plan: PLAN_WORDS * 4,
      list: listLength(this.built.tuning, n) * 8,
    };
  }

  enqueue(queue: Queue, work: SortWork): Enqueued {
    const { n, bits, codec, input, output, indices, onStage } = work;
    if (n === 0) return {};
    const { sweep } = this.built.tuning;
    const passes = digitsOf(bits, RADIX_BITS).length;
    const values = valuesOf(this.shape, work);
    const alternate = scratchOf(work, 'alternateKeys');
    const alternateValues = values && scratchOf(work, 'alternateValues');
    const [counts, state] = [scratchOf(work, 'counts'), scratchOf(work, 'state')];
    const [plan, list] = [scratchOf(work, 'plan'), scratchOf(work, 'list')];
    const control = this.#control;
    const codecWords = codecArgument(codec);
    const groups = histogramGroups(this.device, sweep, n);
    const firstFlags = passFlags(work, { first: true, last: false });
    const lastFlags = passFlags(work, { first: false, last: true });

    // An in-place sort needs an even number of moves, unless the input is copied first.
    const isOdd = passes % 2 === 1;
    const keysInPlace = input === output;
    const valuesInPlace = values !== undefined && !indices && values.input === values.output;
    const parity = !keysInPlace && !valuesInPlace ? 'any' : isOdd ? 'odd' : 'even';
    const copies = (isInPlace: boolean) => isInPlace && isOdd;
    if (copies(keysInPlace)) queue.copy(input, alternate, { bytes: n * codec.dtype.bytes });
    if (alternateValues && copies(valuesInPlace)) {
      queue.copy(values.input, alternateValues, { bytes: n * this.shape.valueBytes });
    }
    const from = copies(keysInPlace) ? alternate : input;
    const elements: Buffer[] = [from, output, alternate];
    if (alternateValues) {
      elements.push(copies(valuesInPlace) ? alternateValues : values.input, values.output, alternateValues);
    }

    enqueueDigitHistogram(queue, this.built.programs.passes, sweep, work, {
      from,
      control,
      groups,
      flags: firstFlags | orderFlag(work),
    });
    this.#plan(queue, work, { from, counts, plan, passes, groups, parity, firstFlags });

    for (let pass = 0; pass < passes; pass++) {
      queue.run(
        this.built.programs.passes.kernel('onesweep_pass'),
        [
          ...[...elements, counts, state, control, plan, u64(n), u32(pass), u32(passes), u32(groups)],
          ...[codecWords, u32(firstFlags), u32(lastFlags)],
        ],
        { global: passGroups(sweep, n) * sweep.groupSize, local: sweep.groupSize, pass },
      );
      onStage?.({
        kernel: 'onesweep_pass',
        pass,
        buffers: {
          output,
          alternate,
          ...(alternateValues && { outputValues: values.output, alternateValues }),
        },
      });
    }
    if (this.#leaves(bits)) this.#finish(queue, work, { alternate, alternateValues, plan, list, lastFlags });
    return { status: control, anyAt: ANY_AT };
  }

  /**
   * Returns whether passes may leave work for `hybrid_finish`. The window must be the whole code: `hybrid_finish`
   * compares whole codes.
   */
  #leaves([begin, end]: readonly [number, number]): boolean {
    return begin === 0 && end === this.shape.keyBits;
  }

  #plan(
    queue: Queue,
    work: SortWork,
    made: {
      readonly from: Buffer;
      readonly counts: Buffer;
      readonly plan: Buffer;
      readonly passes: number;
      readonly groups: number;
      readonly parity: keyof typeof PARITY;
      readonly firstFlags: number;
    },
  ): void {
    const { n, bits, codec, onStage } = work;
    const { minDigits, maxDigits, planSize, sample, crowd } = this.built.tuning;
    const sampled = Math.min(n, sample);
    // Expected repeats if every bucket has `crowd` keys: n is large, and each pair of sampled keys has the same
    // chance.
    const crowded = (sampled * sampled * crowd) / (2 * n);
    const repeats = Math.floor(Math.min(CHANCE_REPEATS + crowded, sampled * MAX_REPEATED));
    queue.run(
      this.built.programs.hybrid.kernel('hybrid_plan'),
      [
        ...[made.from, made.counts, made.plan, this.#control],
        ...[u64(n), u32(bits[0]), u32(bits[1]), u32(made.passes)],
        ...[u32(made.groups), u32(PARITY[made.parity]), u32(minDigits)],
        ...[u32(this.#leaves(bits) ? maxDigits : 0), u32(sampled), u32(repeats), u32(crowd)],
        ...[codecArgument(codec), u32((made.firstFlags & FLAG_ENCODE) | orderFlag(work))],
      ],
      { global: planSize, local: planSize },
    );
    onStage?.({ kernel: 'hybrid_plan', buffers: { plan: made.plan } });
  }

  #finish(
    queue: Queue,
    { n, output, outputValues, codec, onStage }: SortWork,
    made: {
      readonly alternate: Buffer;
      readonly alternateValues: Buffer | undefined;
      readonly plan: Buffer;
      readonly list: Buffer;
      readonly lastFlags: number;
    },
  ): void {
    const { alternate, alternateValues, plan, list } = made;
    const { finishSize, finishKeys, finishGroups, restSize } = this.built.tuning;
    const { computeUnits } = this.device.capabilities;
    const step = {
      from: alternate,
      to: output,
      ...(alternateValues && outputValues && { fromValues: alternateValues, toValues: outputValues }),
    };
    const [codecWords, flags] = [codecArgument(codec), u32(made.lastFlags)];
    const tiles = Math.ceil(n / (finishSize * finishKeys));
    queue.run(
      this.built.programs.hybrid.kernel('hybrid_finish'),
      [...passBuffers(step), plan, list, u32(n), codecWords, flags],
      { global: Math.min(tiles, computeUnits * finishGroups) * finishSize, local: finishSize },
    );
    onStage?.({ kernel: 'hybrid_finish', buffers: { ...passOutputs(step), plan, list } });
    queue.run(
      this.built.programs.rest.kernel('hybrid_rest'),
      [...passBuffers(step), plan, list, codecWords, flags],
      {
        global: Math.min(listLength(this.built.tuning, n), computeUnits * REST_GROUPS) * restSize,
        local: restSize,
      },
    );
    onStage?.({ kernel: 'hybrid_rest', buffers: passOutputs(step) });
  }
}

/** Returns the maximal number of buckets that are too large for counting. */
const listLength = ({ bucket }: HybridRadixTuning, n: number): number =>
  Math.max(1, Math.floor(n / (bucket + 1)));

/** Bytes of local memory of `hybrid_plan` and of `hybrid_finish`. */
const sampleBytes = (sample: number): number => 3 * sample * 4 + 128;
const finishBytes = (tile: number): number => (tile + 2 * MARGIN) * (4 + 1 / 8);

/** Parameters of its passes. The search of `onesweep` covers them, so they have no axis here. */
const PASS_PARAMETERS: Parameters = Object.fromEntries(
  Object.entries(onesweep.parameters).map(([name, { axis: _, ...parameter }]) => [name, parameter]),
);

export const hybridRadix: AlgorithmFactory = {
  name: 'hybrid-radix',
  stable: true,
  waits: true,
  plannedOn: ['gpu'],
  plannedFrom: PLANNED_FROM,
  parameters: {
    ...PASS_PARAMETERS,
    finishSize: whole(1, 2 ** 16, { axis: [64, 128, 256, 512, 1024] }),
    finishKeys: whole(1, 2 ** 12, { axis: [2, 4, 8, 16, 32] }),
    finishGroups: whole(1, 2 ** 16, { axis: [4, 8, 16, 32] }),
    maxDigits: whole(0, 7, { axis: [3, 4, 5, 6] }),
    minDigits: whole(1, 7, { axis: [2, 3, 4] }),
    crowd: whole(1, 2 ** 16, { axis: [4, 8, 16, 32] }),
    sample: whole(1, 2 ** 16, { axis: [2048, 4096, 8192, 16384] }),
    bucket: whole(1, 2 ** 16, { axis: [256, 512, 1024, 2048] }),
  },
  // More keys need a larger sample than these searches cover; there the shipped value applies.
  search: {
    on: ['gpu'],
    keyBits: [64],
    sizes: [
      { n: 2 ** 25, over: 2 ** 24, max: 2 ** 26 },
      { n: PLANNED_FROM, max: PLANNED_FROM },
    ],
  },

  available(device, shape) {
    if (shape.keyBits !== 64) return 'for keys of 64 bits';
    if (device.capabilities.maxWorkGroup < 32) return 'needs work-groups of at least 32 work-items';
    if (shape.tuning?.offsetBits === 64) return 'for fewer than 2^30 keys';
    return onesweep.available(device, shape);
  },

  // The passes use the tuning of onesweep, which may come from a model; a model here would override its stored
  // rows.
  modelled: () => ({}),

  fit(device, shape, own) {
    const tuning = { ...tuningFor(onesweep, device, { ...shape, tuning: {} }), ...own };
    const { capabilities } = device;
    const budget = capabilities.localBudget;
    const largest = powerAtMost(capabilities.maxWorkGroup);
    let sample = powerAtMost(numberOf(tuning, 'sample'));
    while (sample > 1 && sampleBytes(sample) > budget) sample /= 2;
    const finishSize = Math.min(numberOf(tuning, 'finishSize'), largest);
    let finishKeys = numberOf(tuning, 'finishKeys');
    while (finishKeys > 1 && finishBytes(finishSize * finishKeys) > budget) finishKeys--;
    return { ...tuning, ...onesweep.fit?.(device, shape, tuning), sample, finishSize, finishKeys };
  },

  tune(device, shape, n) {
    if (n >= WIDE) return 'for fewer than 2^30 keys';
    return onesweep.tune?.(device, { ...shape, tuning: tuningOf(device, shape, n) }, n) ?? shape;
  },

  async create(device, shape) {
    const wanted = tuningOf(device, shape);
    const { program: passes, tuning: sweep } = await buildOnesweep(device, shape, wanted, true);
    const planSize = Math.min(PLAN_SIZE, powerAtMost(device.capabilities.maxWorkGroup));
    const [sample, finishSize] = [numberOf(wanted, 'sample'), numberOf(wanted, 'finishSize')];
    const finishKeys = numberOf(wanted, 'finishKeys');
    const bucket = numberOf(wanted, 'bucket');
    const wideProgram = await device.program('hybrid_radix.cl', {
      KEY_BITS: shape.keyBits,
      VALUE_BYTES: shape.valueBytes,
      RADIX_BITS,
      PLAN_SIZE: planSize,
      SAMPLE: sample,
      FINISH_SIZE: finishSize,
      FINISH_KEYS: finishKeys,
      BUCKET: bucket,
      ...ballotDefine(sweep.hasBallot),
    });
    const restTile = { ...fitTile(device, shape, { ...REST_TILE, rank: sweep.rank }), radixBits: RADIX_BITS };
    const rest = await buildTile(device, 'hybrid_rest.cl', shape, restTile, ['hybrid_rest']);
    return new HybridRadix('hybrid-radix', device, shape, {
      programs: { passes, hybrid: wideProgram, rest: rest.program },
      tuning: {
        sweep,
        sample,
        crowd: numberOf(wanted, 'crowd'),
        minDigits: numberOf(wanted, 'minDigits'),
        maxDigits: numberOf(wanted, 'maxDigits'),
        planSize,
        finishSize,
        finishKeys,
        finishGroups: numberOf(wanted, 'finishGroups'),
        bucket,
        restSize: rest.tile.groupSize,
      },
    });
  },
};

/** Returns the parameters of the passes and of the algorithm itself, reduced to the limits of the device. */
function tuningOf(device: KnownDevice, shape: AlgorithmShape, n?: number): Tuning {
  const { fit: _, ...own } = hybridRadix;
  const tuning = {
    ...tuningFor(onesweep, device, { ...shape, tuning: {} }, n),
    ...tuningFor(own, device, shape, n),
  };
  return { ...tuning, ...hybridRadix.fit?.(device, shape, tuning) };
}
