import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import { roundUpToGroups } from '../device/fitted-program.js';
import type { Buffer } from '../device/memory/buffer.js';
import type { Program } from '../device/programs/program.js';
import { type Queue, u32, u64 } from '../device/queue/queue.js';
import { type Dtype, type DtypeInfo, dtypeInfo } from '../keys/dtype.js';
import { type KeyCodec, keyCodec } from '../keys/key-codec.js';
import { UnsupportedError } from '../util/errors.js';
import { invalidArgument } from '../util/invalid-argument.js';
import { buildForGroups, gridStrideGroups } from './group.js';

/** Global atomics; private bytes, laid out by work-item or by bin; histograms per wave. */
export const HISTOGRAM_STEPS = ['global', 'private_items', 'private_bins', 'waves'] as const;
export type HistogramStep = (typeof HISTOGRAM_STEPS)[number];

const MAX_BINS: Readonly<Record<HistogramStep, number>> = {
  global: 65_536,
  private_items: 64,
  private_bins: 64,
  waves: 256,
};

/** Assignment of keys to bins. */
export type Binning =
  | {
      /** The digit of the code in [begin, end): 2^(end - begin) bins. */ readonly bits: readonly [
        number,
        number,
      ];
    }
  | {
      /** Codes of the edges, one more than bins, ascending. */ readonly edges: readonly bigint[];
    };

/**
 * Counts keys by bin.
 *
 * Source: V. Podlozhnyuk, "Histogram calculation in CUDA" (2007), for private byte counters and for histograms per
 * warp. Here the bytes are flushed before they overflow, and the histograms use atomics.
 *
 * Complexity: every key is read once; one launch, and a second one that merges the groups' histograms. Up to 65,536
 * bins; private bytes hold 64, waves 256. Counters are 32-bit: fewer than 2^32 keys.
 */
export class Histogram {
  readonly #device: Device;
  readonly #program: Program;
  readonly #groupSize: number;
  readonly #step: HistogramStep;
  readonly #codec: KeyCodec;

  private constructor(
    device: Device,
    step: HistogramStep,
    codec: KeyCodec,
    program: Program,
    groupSize: number,
  ) {
    this.#device = device;
    this.#step = step;
    this.#codec = codec;
    this.#program = program;
    this.#groupSize = groupSize;
  }

  static async create(
    device: Device,
    { dtype, step }: { dtype: Dtype; step: HistogramStep },
  ): Promise<Histogram> {
    const kernels = ['histogram_global', 'histogram_private', 'histogram_waves', 'histogram_merge'];
    const { program, groupSize } = await buildForGroups(device, 'histogram.cl', kernels, {
      KEY_BITS: dtypeInfo(dtype).width,
      VALUE_BYTES: 0,
      LAYOUT: step === 'private_bins' ? 1 : 0,
    });
    return new Histogram(device, step, keyCodec(dtype), program, groupSize);
  }

  #groups(n: number): number {
    return gridStrideGroups(this.#device, n, this.#groupSize);
  }

  /** Returns the bytes of the groups' histograms and of the edges' codes. */
  scratch(n: number, binning: Binning): { partials: number; edges: number } {
    const edges = 'edges' in binning ? binning.edges.length * this.#codec.dtype.bytes : 4;
    return { partials: this.#step === 'global' ? 4 : this.#groups(n) * binsOf(binning) * 4, edges };
  }

  /** @param edges holds the codes of `binning.edges`. @throws UnsupportedError, UsageError */
  enqueue(
    queue: Queue,
    binning: Binning,
    {
      keys,
      n,
      counts,
      partials,
      edges,
    }: { keys: Buffer; n: number; counts: Buffer; partials: Buffer; edges: Buffer },
  ): void {
    const bins = binsOf(binning);
    if (bins > MAX_BINS[this.#step]) {
      throw new UnsupportedError(
        `cannot count ${bins} bins: step '${this.#step}' counts at most ${MAX_BINS[this.#step]}`,
      );
    }
    if (n >= 2 ** 32) throw new UnsupportedError(`cannot count ${n} keys: counters have 32 bits`);
    const local = this.#groupSize;
    const groups = this.#groups(n);
    const byEdges = 'edges' in binning;
    const how = [u64(n), u32(bins), u32(byEdges ? 0 : binning.bits[0]), u32(byEdges ? 1 : 0)];
    const codec = codecArgument(this.#codec);
    if (this.#step === 'global') {
      queue.fill(counts, 0, { bytes: bins * 4 });
      const args = [keys, counts, edges, ...how, codec];
      queue.run(this.#program.kernel('histogram_global'), args, { global: groups * local, local });
      return;
    }
    const kernel = this.#step === 'waves' ? 'histogram_waves' : 'histogram_private';
    const args = [keys, partials, edges, ...how, codec];
    queue.run(this.#program.kernel(kernel), args, { global: groups * local, local });
    const global = roundUpToGroups(bins, local);
    const merge = [partials, counts, u32(bins), u32(groups)];
    queue.run(this.#program.kernel('histogram_merge'), merge, { global, local });
  }
}

const binsOf = (binning: Binning): number => {
  const byEdges = 'edges' in binning;
  const bins = byEdges ? binning.edges.length - 1 : 2 ** (binning.bits[1] - binning.bits[0]);
  const minBins = byEdges ? 1 : 2;
  if (bins < minBins || bins > MAX_BINS.global) {
    throw invalidArgument('bins', `a whole number from ${minBins} to ${MAX_BINS.global}`, bins);
  }
  return bins;
};

/** A histogram of keys in device memory. */
export interface HistogramWork {
  readonly keys: Buffer;
  readonly n: number;
  readonly dtype: Dtype;
  readonly binning: Binning;
  /** Counting method; default: by the number of bins. */
  readonly step?: HistogramStep;
}

/** Enqueues a histogram. @returns a function that returns the counts; call it when the queue has finished */
export async function enqueueHistogram(
  device: Device,
  { keys, n, dtype, binning, step }: HistogramWork,
): Promise<() => Uint32Array> {
  const bins = binsOf(binning);
  const made = await Histogram.create(device, { dtype, step: step ?? (bins <= 256 ? 'waves' : 'global') });
  const sizes = made.scratch(n, binning);
  const result = new Uint32Array(bins);
  device.pool.withBuffers([bins * 4, sizes.partials, sizes.edges], (counts, partials, edges) => {
    if ('edges' in binning) device.queue.write(edges, codeWords(binning.edges, dtypeInfo(dtype)));
    made.enqueue(device.queue, binning, { keys, n, counts, partials, edges });
    device.queue.read(counts, result);
  });
  return () => result;
}

/** Runs `enqueueHistogram` and waits for the counts. */
export async function histogram(device: Device, work: HistogramWork): Promise<Uint32Array> {
  const counts = await enqueueHistogram(device, work);
  await device.queue.finish();
  return counts();
}

/** Converts codes to words of a key's width. */
export function codeWords(codes: readonly bigint[], { bytes }: DtypeInfo): ArrayBufferView {
  if (bytes === 8) return BigUint64Array.from(codes);
  const numbers = codes.map(Number);
  if (bytes === 4) return Uint32Array.from(numbers);
  return bytes === 2 ? Uint16Array.from(numbers) : Uint8Array.from(numbers);
}
