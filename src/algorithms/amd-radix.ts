import type { Device } from '../device/device.js';
import type { Program } from '../device/program.js';
import { type KernelArgument, type Queue, u32, u64, vector } from '../device/queue.js';
import { codecVector } from '../keys/key-codec.js';
import { UsageError } from '../util/errors.js';
import {
  type Algorithm,
  type AlgorithmFactory,
  type AlgorithmShape,
  type Enqueued,
  pingPong,
  type ScratchSizes,
  type SortRequest,
  type SortWork,
} from './algorithm.js';
import { type AmdGeometry, amdGeometry, MAX_PADDED, PADDING, RADIX } from './amd-geometry.js';

const RADIX_BITS = 8;
const SCAN_BINS = 16;
const BINS_PER_ITEM = 4;
const PASS_ENCODE = 1;
const PASS_DECODE = 2;
const PASS_INDICES = 4;

const passesOf = ([begin, end]: readonly [number, number]): number => Math.ceil((end - begin) / RADIX_BITS);

/**
 * The classic AMD-style pipeline: seven kernels a pass, 8 bits a pass, stable.
 *
 * Idea: count the digits of small blocks, turn the counts into places by a two-level scan, move each
 * key. Every intermediate table is in global memory, where a reader (and `clsort explain`) can look at it.
 *
 * Source: re-implemented from the structure of the RadixSort sample of AMD's APP SDK (2010); the
 * counting sort underneath is H. H. Seward's (1954).
 *
 * Complexity: 4 or 6 launches and one for the move per pass, 44 bytes of traffic per 32-bit key and
 * pass, a table as large as 32-bit keys. Limit: n padded to a multiple of 16384 is at most 2^32.
 *
 * The planner picks it when the faster pipelines are not available: it needs nothing but local memory
 * and local atomics.
 */
class AmdRadix implements Algorithm {
  readonly name = 'amd';
  readonly device: Device;
  readonly shape: AlgorithmShape;
  readonly #program: Program;
  readonly #localSize: number;

  constructor(device: Device, shape: AlgorithmShape, program: Program, localSize: number) {
    this.device = device;
    this.shape = shape;
    this.#program = program;
    this.#localSize = localSize;
  }

  supports({ n, valueBytes }: SortRequest): true | string {
    if (valueBytes !== this.shape.valueBytes) return `compiled for values of ${this.shape.valueBytes} bytes`;
    if (this.shape.tuning?.scan === 3 && n > PADDING) return `scan: 3 serves at most ${PADDING} keys`;
    if (Math.ceil(n / PADDING) * PADDING > MAX_PADDED) return 'places are 32-bit: at most 2^32 keys';
    return true;
  }

  scratch(n: number, { inPlace, bits }: { inPlace: boolean; bits: readonly [number, number] }): ScratchSizes {
    const { blocks, runs } = amdGeometry(n);
    const moves = passesOf(bits) > 1 || inPlace;
    return {
      ...(moves && { alternateKeys: (n * this.shape.keyBits) / 8 }),
      ...(moves && this.shape.valueBytes > 0 && { alternateValues: n * this.shape.valueBytes }),
      buckets: blocks * RADIX * 4,
      scannedBuckets: blocks * RADIX * 4,
      sumBuffer: RADIX * runs * 4,
      binTotals: RADIX * 4,
    };
  }

  enqueue(queue: Queue, work: SortWork): Enqueued {
    const { n, codec, scratch, bits } = work;
    const { scan } = this.shape.tuning ?? {};
    const geometry = amdGeometry(n, scan === 3 || scan === 5 ? scan : 'auto');
    // An empty window still runs one pass, on a digit of no bits: it copies, and makes the indices.
    const passes = Math.max(1, passesOf(bits));
    const keys = pingPong(passes, {
      input: work.input,
      output: work.output,
      alternate: scratch.alternateKeys ?? work.output,
    });
    const values =
      this.shape.valueBytes === 0 || !work.outputValues
        ? undefined
        : pingPong(passes, {
            input: work.inputValues ?? work.outputValues,
            output: work.outputValues,
            alternate: scratch.alternateValues ?? work.outputValues,
          });
    if (keys.copyFirst && scratch.alternateKeys) {
      queue.copy(work.input, scratch.alternateKeys, { bytes: (n * this.shape.keyBits) / 8 });
    }
    if (values?.copyFirst && work.inputValues && scratch.alternateValues) {
      queue.copy(work.inputValues, scratch.alternateValues, { bytes: n * this.shape.valueBytes });
    }
    const codecWords = vector(codecVector(codec));
    for (const [pass, { from, to }] of keys.steps.entries()) {
      const shift = bits[0] + pass * RADIX_BITS;
      const flags =
        (pass === 0 ? PASS_ENCODE | (work.indices ? PASS_INDICES : 0) : 0) |
        (pass === passes - 1 ? PASS_DECODE : 0);
      const digit = [u64(n), codecWords, u32(flags), u32(shift), u32(Math.min(RADIX_BITS, bits[1] - shift))];
      const run = this.#runner(queue, work, pass);
      this.#count(run, geometry, scratch, from, digit);
      this.#scan(run, geometry, scratch);
      const step = values?.steps[pass];
      run(
        'permute',
        [from, to, table(scratch, 'scannedBuckets'), ...(step ? [step.from, step.to] : []), ...digit],
        [geometry.blocks * this.#localSize],
        { keys: to, ...(step && { values: step.to }) },
      );
    }
    return {};
  }

  #runner(queue: Queue, { onStage }: SortWork, pass: number): Run {
    return (name, args, global, buffers) => {
      const local = global.map((_, dimension) => (dimension === 0 ? this.#localSize : 1));
      queue.run(this.#program.kernel(name), args, { global, local, pass });
      onStage?.({ kernel: name, pass, buffers });
    };
  }

  #count(
    run: Run,
    { blocks }: AmdGeometry,
    scratch: SortWork['scratch'],
    keys: SortWork['input'],
    digit: KernelArgument[],
  ): void {
    const buckets = table(scratch, 'buckets');
    run('histogram', [keys, buckets, ...digit], [blocks * this.#localSize], { buckets });
  }

  #scan(run: Run, { blocks, runs, scan }: AmdGeometry, scratch: SortWork['scratch']): void {
    const buckets = table(scratch, 'buckets');
    const scannedBuckets = table(scratch, 'scannedBuckets');
    const sumBuffer = table(scratch, 'sumBuffer');
    const binTotals = table(scratch, 'binTotals');
    const localSize = this.#localSize;
    run('ScanArraysdim2', [buckets, scannedBuckets, sumBuffer], [runs * localSize, RADIX / SCAN_BINS], {
      scannedBuckets,
      sumBuffer,
    });
    if (scan === 5) {
      run('prefixSum', [sumBuffer, binTotals, u32(runs)], [RADIX * localSize], { sumBuffer, binTotals });
      run('blockAddition', [scannedBuckets, sumBuffer], [RADIX / BINS_PER_ITEM, blocks], { scannedBuckets });
    }
    // With a single run its totals are the bins' totals.
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

function table(scratch: SortWork['scratch'], name: string): SortWork['input'] {
  const buffer = scratch[name];
  if (!buffer)
    throw new UsageError(`scratch buffer '${name}' is missing: pass one for each entry of scratch()`);
  return buffer;
}

const KERNELS = [
  'histogram',
  'ScanArraysdim2',
  'prefixSum',
  'blockAddition',
  'ScanArraysdim1',
  'fixOffset',
  'permute',
];

/** A CPU loops over the work-items of a group: fewer of them scan fewer counters for each block in `permute`. */
const GPU_LOCAL_SIZE = 64;
const CPU_LOCAL_SIZE = 16;

/** Bytes of local memory that `permute` takes for each work-item: a counter for each digit. */
const LOCAL_BYTES_PER_ITEM = RADIX;

export const amdRadix: AlgorithmFactory = {
  name: 'amd',
  stable: true,

  available(_device, { valueBytes }) {
    return (
      [0, 1, 2, 4, 8, 16].includes(valueBytes) || `values of ${valueBytes} bytes need an argsort and a gather`
    );
  },

  async create(device, shape) {
    const { maxWorkGroup, localBytes, type } = device.capabilities;
    const wanted = Number(shape.tuning?.localSize ?? (type === 'cpu' ? CPU_LOCAL_SIZE : GPU_LOCAL_SIZE));
    const fitting = Math.min(wanted, maxWorkGroup, localBytes / LOCAL_BYTES_PER_ITEM);
    // A compiler may allow some kernel less than the device allows in general: ask, and build again smaller.
    for (let localSize = 2 ** Math.floor(Math.log2(fitting)); ; localSize /= 2) {
      const program = await device.program('amd_radix.cl', {
        KEY_BITS: shape.keyBits,
        VALUE_BYTES: shape.valueBytes,
        LOCAL_SIZE: localSize,
      });
      const limit = Math.min(...KERNELS.map((name) => program.kernel(name).workGroupLimit));
      if (limit >= localSize || localSize === 1) return new AmdRadix(device, shape, program, localSize);
    }
  },
};
