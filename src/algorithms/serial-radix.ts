import { codecArgument } from '../device/codec-argument.js';
import type { KnownDevice } from '../device/device.js';
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
import { type Digit, digitsOf } from './digits.js';
import { onOff, type Tuning, whole } from './parameters.js';
import { alternateBytes, carriesValues, scratchOf } from './passes.js';
import { plannedPassArrays, plannedPassesBytes, plannedPassOutputs, sortFlags } from './planned-passes.js';
import { numberOf, OFFSET_BITS } from './tile.js';
import { tuningFor } from './tuning.js';

/** Positions need 64 bits from this number of keys on. */
const WIDE = 2 ** 32;
/** Fewest keys of a run: below that its private counters cost more than its keys. */
const MIN_RUN_KEYS = 4096;
/**
 * Returns an upper bound of the loop iterations of a work-item: drivers that limit loops count inner and outer
 * loops together. Measured by the first run length that exceeded 65,535 iterations, by digit width: 3.2 per key and
 * 9.7 per bin, with values 5.8 and 10.7.
 */
const iterationsOf = (runKeys: number, bins: number, valueBytes: number): number =>
  (valueBytes > 0 ? 7 : 4) * runKeys + 12 * bins;

interface SerialTuning {
  readonly radixBits: number;
  readonly runsPerUnit: number;
  readonly offsetBits: 32 | 64;
  /** Whether the keys of each bin are gathered in cache lines before they are written. */
  readonly lines: boolean;
}

/**
 * Radix sort for CPU devices: few work-items, each with a long contiguous run.
 *
 * Idea: a CPU core counts and scatters fastest alone, with private counters in its cache. Runs of one array are
 * counted in parallel, and one scan over all counts gives each run its output positions. Keys of one bin are
 * gathered in a cache line before they are written to memory, unless the array itself fits the cache.
 *
 * Source: the counting sort of H. H. Seward (1954), run in parallel as by Zagha and Blelloch (1991).
 *
 * Digits that are equal in all keys need no pass. The first count determines which bits differ, and the kernels of
 * such a pass return at once. The host does not wait for that, so device arrays are sorted as fast as host arrays.
 * It also finds out whether the array is in order already; then no pass runs.
 *
 * Complexity: 3 launches per pass; 3 × key (+ 2 × value) bytes of traffic per key and pass. It runs on GPUs, but
 * leaves all but a few work-items idle. Limit: none, except for drivers that limit loops.
 *
 * The planner picks it on CPU devices, for all arrays that exceed `single-workgroup`.
 */
class SerialRadix extends CompiledSort<{ readonly program: Program; readonly tuning: SerialTuning }> {
  protected override accepts({ n }: SortRequest): true | string {
    if (this.built.tuning.offsetBits === 32 && n >= WIDE)
      return 'compiled for fewer than 2^32 keys; offsetBits: 64 supports more';
    return fitsLoops(this.device, this.shape, this.built.tuning, n);
  }

  override scratch(n: number, { inPlace, bits }: ScratchOptions): ScratchSizes {
    const digits = this.#digits(bits).length;
    return {
      ...alternateBytes(this.shape, n, digits, inPlace),
      counts: (this.#entries(n) * this.built.tuning.offsetBits) / 8,
      differing: 2 * this.#runs(n).runs * 8,
      plannedPasses: plannedPassesBytes(digits),
    };
  }

  enqueue(queue: Queue, work: SortWork): Enqueued {
    const { n, bits, codec, onStage } = work;
    if (n === 0) return {};
    const { runs, runKeys } = this.#runs(n);
    const digits = this.#digits(bits);
    const [begin, end] = bits;
    const counts = scratchOf(work, 'counts');
    const differing = scratchOf(work, 'differing');
    const plannedPasses = scratchOf(work, 'plannedPasses');
    const arrays = plannedPassArrays(this.shape, digits.length, work);
    const keys = arrays.slice(0, 3);
    const sort = u32(sortFlags(work));
    const codecWords = codecArgument(codec);
    const size = [u64(n), u64(runKeys)];
    const { shift = 0, bits: width = 0 } = digits[0] ?? {};
    for (const pass of digits.keys()) {
      const launch = { global: runs, local: 1, pass };
      const counted = [...keys, counts, differing, plannedPasses, ...size, u32(pass), u32(shift), u32(width)];
      queue.run(
        this.built.program.kernel('serial_count'),
        [...counted, u32(begin), u32(end), codecWords, sort],
        launch,
      );
      onStage?.({ kernel: 'serial_count', pass, buffers: { counts } });
      const window = [u32(pass), u32(digits.length), u32(begin), u32(end), sort];
      queue.run(
        this.built.program.kernel('serial_scan'),
        [counts, u32(this.#entries(n)), differing, u32(runs), plannedPasses, ...window],
        { global: 1, local: 1, pass },
      );
      onStage?.({ kernel: 'serial_scan', pass, buffers: { counts } });
      queue.run(
        this.built.program.kernel('serial_scatter'),
        [...arrays, counts, plannedPasses, ...size, u32(pass), codecWords],
        launch,
      );
      onStage?.({ kernel: 'serial_scatter', pass, buffers: plannedPassOutputs(work, pass, digits.length) });
    }
    queue.run(
      this.built.program.kernel('serial_settle'),
      [...arrays, plannedPasses, ...size, u32(digits.length)],
      { global: runs, local: 1 },
    );
    return {};
  }

  /** Digits are as wide as possible from the lowest bit on: 32 bits are 11 + 11 + 10, 16 are 11 + 5. */
  #digits(bits: readonly [number, number]): Digit[] {
    return digitsOf(bits, this.built.tuning.radixBits);
  }

  #runs(n: number): ReturnType<typeof runsOf> {
    return runsOf(this.device, this.built.tuning, n);
  }

  #entries(n: number): number {
    return 2 ** this.built.tuning.radixBits * this.#runs(n).runs;
  }
}

function runsOf({ capabilities }: KnownDevice, { runsPerUnit }: SerialTuning, n: number) {
  const wanted = capabilities.computeUnits * runsPerUnit;
  const runs = Math.max(1, Math.min(wanted, Math.floor(n / MIN_RUN_KEYS)));
  return { runs, runKeys: Math.ceil(n / runs) };
}

/** Returns true if the driver does not end the loops of a sort of n keys, or the reason. */
function fitsLoops(
  device: KnownDevice,
  { valueBytes }: AlgorithmShape,
  tuning: SerialTuning,
  n: number,
): true | string {
  const { maxLoopIterations } = device.capabilities.quirks;
  const { runs, runKeys } = runsOf(device, tuning, n);
  const bins = 2 ** tuning.radixBits;
  const longest = Math.max(iterationsOf(runKeys, bins, valueBytes), bins * runs);
  return longest <= maxLoopIterations || `the driver ends loops after ${maxLoopIterations} iterations`;
}

const parametersOf = (tuning: Tuning): SerialTuning => ({
  radixBits: numberOf(tuning, 'radixBits'),
  runsPerUnit: numberOf(tuning, 'runsPerUnit'),
  offsetBits: numberOf(tuning, 'offsetBits', 32) === 64 ? 64 : 32,
  lines: tuning.lines !== false,
});

export const serialRadix: AlgorithmFactory = {
  name: 'serial',
  stable: true,
  plannedOn: ['cpu'],
  parameters: {
    radixBits: whole(1, 12, { axis: [6, 7, 8, 9, 10, 11, 12], option: true }),
    runsPerUnit: whole(1, 1024, { axis: [1, 2, 3, 4, 8] }),
    lines: onOff({ axis: [false, true] }),
    offsetBits: OFFSET_BITS,
  },
  search: {
    on: ['cpu'],
    sizes: [
      { n: 2 ** 22, over: 2 ** 16 },
      { n: 2 ** 16, max: 2 ** 16 },
    ],
  },

  available: (_device, shape) => carriesValues(shape),

  tune(device, shape, n) {
    const tuning = tuningFor(serialRadix, device, shape, n);
    // Lines are for a core's cache; a GPU work-item's registers cannot hold them, and some compilers reject them.
    const lines = shape.tuning?.lines ?? (device.capabilities.type === 'cpu' && tuning.lines !== false);
    const supported = fitsLoops(device, shape, parametersOf(tuning), n);
    if (supported !== true) return supported;
    return { ...shape, tuning: { ...(n >= WIDE && { offsetBits: 64 }), ...tuning, lines } };
  },

  async create(device, shape) {
    const tuning = tuningFor(serialRadix, device, shape);
    const parameters = parametersOf(tuning);
    const program = await device.program('serial_radix.cl', {
      KEY_BITS: shape.keyBits,
      VALUE_BYTES: shape.valueBytes,
      RADIX_BITS: parameters.radixBits,
      OFFSET_BITS: parameters.offsetBits,
      LINES: parameters.lines ? 1 : 0,
    });
    return new SerialRadix('serial', device, shape, { program, tuning: parameters });
  },
};
