import { codecArgument } from '../device/codec-argument.js';
import { buildFittedProgram, type FittedProgram } from '../device/fitted-program.js';
import { type KernelArgument, type Queue, u32, u64 } from '../device/queue/queue.js';
import type {
  AlgorithmFactory,
  Enqueued,
  ScratchOptions,
  ScratchSizes,
  SortRequest,
  SortWork,
} from './algorithm.js';
import { type AmdGeometry, amdGeometry, MAX_PADDED, PADDING, RADIX, type ScanChain } from './amd-geometry.js';
import { CompiledSort } from './compiled-sort.js';
import { type Digit, digitsOf } from './digits.js';
import { choice, type Tuning, whole } from './parameters.js';
import {
  alternateBytes,
  alternatingPasses,
  carriesValues,
  passOutputs,
  passValues,
  scratchOf,
} from './passes.js';

const RADIX_BITS = 8;
const SCAN_BINS = 16;
const BINS_PER_ITEM = 4;

/**
 * Digits may begin at any bit of a code. An empty window still takes one pass, which copies and generates the
 * positions.
 */
const digitsOfWindow = (bits: readonly [number, number]): Digit[] => digitsOf(bits, RADIX_BITS, 64);

/**
 * The classic AMD-style pipeline: stable, seven kernels and 8 bits per pass.
 *
 * Idea: count the digits of small blocks, turn the counts into output positions by a two-level scan, then move each
 * key. Every intermediate table is in global memory, where a reader (and `clsort explain`) can inspect it.
 *
 * Source: re-implemented from the structure of the RadixSort sample of AMD's APP SDK (2010); the underlying
 * counting sort is H. H. Seward's (1954).
 *
 * Complexity: 4 or 6 launches and one for the move per pass, 44 bytes of traffic per 32-bit key and pass, a table
 * as large as 32-bit keys. Limit: n padded to a multiple of 16384 is at most 2^32.
 *
 * The planner picks it when the faster pipelines are not available: it needs only local memory and local atomics.
 */
class AmdRadix extends CompiledSort<FittedProgram> {
  protected override accepts({ n }: SortRequest): true | string {
    if (this.shape.tuning?.scan === 3 && n > PADDING) return `scan: 3 serves at most ${PADDING} keys`;
    if (Math.ceil(n / PADDING) * PADDING > MAX_PADDED) return 'places are 32-bit: at most 2^32 keys';
    return true;
  }

  override scratch(n: number, { inPlace, bits }: ScratchOptions): ScratchSizes {
    const { blocks, runs } = amdGeometry(n);
    return {
      ...alternateBytes(this.shape, n, digitsOfWindow(bits).length, inPlace),
      buckets: blocks * RADIX * 4,
      scannedBuckets: blocks * RADIX * 4,
      sumBuffer: RADIX * runs * 4,
      binTotals: RADIX * 4,
    };
  }

  enqueue(queue: Queue, work: SortWork): Enqueued {
    const { n, codec, bits } = work;
    const geometry = amdGeometry(n, chainOf(this.shape.tuning));
    const digits = digitsOfWindow(bits);
    const codecWords = codecArgument(codec);
    for (const [i, pass] of alternatingPasses(queue, this.shape, digits.length, work).entries()) {
      const { shift = 0, bits: width = 0 } = digits[i] ?? {};
      const digit = [u64(n), codecWords, u32(pass.flags), u32(shift), u32(width)];
      const run = this.#runner(queue, work, i);
      const buckets = scratchOf(work, 'buckets');
      run('histogram', [pass.from, buckets, ...digit], [geometry.blocks * this.built.groupSize], { buckets });
      this.#scan(run, geometry, work);
      run(
        'permute',
        [pass.from, pass.to, scratchOf(work, 'scannedBuckets'), ...passValues(pass), ...digit],
        [geometry.blocks * this.built.groupSize],
        passOutputs(pass),
      );
    }
    return {};
  }

  #runner(queue: Queue, { onStage }: SortWork, pass: number): Run {
    return (name, args, global, buffers) => {
      const local = global.map((_, dimension) => (dimension === 0 ? this.built.groupSize : 1));
      queue.run(this.built.program.kernel(name), args, { global, local, pass });
      onStage?.({ kernel: name, pass, buffers });
    };
  }

  #scan(run: Run, { blocks, runs, scan }: AmdGeometry, work: SortWork): void {
    const buckets = scratchOf(work, 'buckets');
    const scannedBuckets = scratchOf(work, 'scannedBuckets');
    const sumBuffer = scratchOf(work, 'sumBuffer');
    const binTotals = scratchOf(work, 'binTotals');
    const localSize = this.built.groupSize;
    run('ScanArraysdim2', [buckets, scannedBuckets, sumBuffer], [runs * localSize, RADIX / SCAN_BINS], {
      scannedBuckets,
      sumBuffer,
    });
    if (scan === 5) {
      run('prefixSum', [sumBuffer, binTotals, u32(runs)], [RADIX * localSize], { sumBuffer, binTotals });
      run('blockAddition', [scannedBuckets, sumBuffer], [RADIX / BINS_PER_ITEM, blocks], { scannedBuckets });
    }
    // With a single run, the run totals are the bin totals.
    const totals = scan === 5 ? binTotals : sumBuffer;
    run('ScanArraysdim1', [totals], [localSize], { binTotals: totals });
    run('fixOffset', [scannedBuckets, totals], [RADIX / BINS_PER_ITEM, blocks], { scannedBuckets });
  }
}

type Run = (
  kernel: string,
  args: KernelArgument[],
  global: number[],
  buffers: Record<string, SortWork['input']>,
) => void;

const chainOf = ({ scan }: Tuning = {}): ScanChain | 'auto' => (scan === 3 || scan === 5 ? scan : 'auto');

const KERNELS = [
  'histogram',
  'ScanArraysdim2',
  'prefixSum',
  'blockAddition',
  'ScanArraysdim1',
  'fixOffset',
  'permute',
];

/** A CPU loops over the work-items of a group: smaller groups scan fewer counters per block in `permute`. */
const GPU_LOCAL_SIZE = 64;
const CPU_LOCAL_SIZE = 16;

/** Bytes of local memory that `permute` takes per work-item: one counter per digit. */
const LOCAL_BYTES_PER_ITEM = RADIX;

export const amdRadix: AlgorithmFactory = {
  name: 'amd',
  stable: true,
  plannedOn: ['cpu', 'gpu'],
  parameters: { scan: choice([3, 5], { option: true }), localSize: whole(1, 64) },

  available: (_device, shape) => carriesValues(shape),

  /** Returns the number of scan kernels and the padded number of keys. */
  facts({ tuning }, n) {
    const { scan, padded } = amdGeometry(n, chainOf(tuning));
    return { scan, padded };
  },

  async create(device, shape) {
    const { localBytes, type } = device.capabilities;
    const wanted = Number(shape.tuning?.localSize ?? (type === 'cpu' ? CPU_LOCAL_SIZE : GPU_LOCAL_SIZE));
    const maxGroupSize = Math.min(wanted, localBytes / LOCAL_BYTES_PER_ITEM);
    const fitted = await buildFittedProgram(device, 'amd_radix.cl', KERNELS, maxGroupSize, (groupSize) => ({
      KEY_BITS: shape.keyBits,
      VALUE_BYTES: shape.valueBytes,
      GROUP_SIZE: groupSize,
    }));
    return new AmdRadix('amd', device, shape, fitted);
  },
};
