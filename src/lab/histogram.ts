/** Histograms for teaching only: counter layouts, tagged counters and two ways to merge. */

import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import { roundUpToGroups } from '../device/fitted-program.js';
import type { Buffer } from '../device/memory/buffer.js';
import type { Program } from '../device/programs/program.js';
import { type Queue, u32, u64 } from '../device/queue/queue.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { type KeyCodec, keyCodec } from '../keys/key-codec.js';
import { buildForGroups, type LabOptions } from '../primitives/group.js';
import { UnsupportedError } from '../util/errors.js';

/** Counters: global; bytes per work-item in three layouts; tagged words and atomics of rows of 32. */
export const HISTOGRAM_LAB_STEPS = [
  'global',
  'private_items',
  'private_bins',
  'permuted',
  'tagged',
  'waves',
  'bytes_vector',
] as const;
export type HistogramLabStep = (typeof HISTOGRAM_LAB_STEPS)[number];

export const MERGES = ['serial', 'parallel'] as const;
export type Merge = (typeof MERGES)[number];

/** LAB_LAYOUT of cl/histogram_lab.cl. */
const LAYOUTS: Readonly<Partial<Record<HistogramLabStep, number>>> = {
  private_items: 0,
  private_bins: 1,
  permuted: 2,
};
const KERNELS: Readonly<Record<HistogramLabStep, string>> = {
  global: 'histogram_global',
  private_items: 'histogram_layout',
  private_bins: 'histogram_layout',
  permuted: 'histogram_layout',
  tagged: 'histogram_tagged',
  waves: 'histogram_rows',
  bytes_vector: 'histogram_bytes_vector',
};
/** Bins of the counters of one work-item, and of one row of 32. */
const PRIVATE_BINS = 64;
export const ROW_BINS = 256;
const ROW = 32;
/** Most keys per work-item: a byte counts to 255. */
const MAX_KEYS_PER_ITEM = 240;

export interface HistogramLabOptions {
  readonly dtype: Dtype;
  readonly step: HistogramLabStep;
  readonly lab?: LabOptions;
  /** Keys per work-item; default and maximum 240. */
  readonly keysPerItem?: number;
}

/** A histogram of the digit [begin, end) of the codes. */
export interface LabWork {
  readonly keys: Buffer;
  readonly n: number;
  readonly bits: readonly [begin: number, end: number];
  /** One histogram per group. */
  readonly partials: Buffer;
  readonly counts: Buffer;
  readonly merge?: Merge;
  readonly trace?: Buffer;
}

/**
 * Teaching variants of the histogram.
 *
 * Source: V. Podlozhnyuk, "Histogram calculation in CUDA" (2007), for the permuted layout and for tagged counters,
 * here without relying on lock step.
 *
 * Limits: 64 bins for bytes of work-items, 256 for rows of 32; fewer than 2^27 keys per row for tagged counters.
 */
export class HistogramLab {
  readonly #program: Program;
  readonly #codec: KeyCodec;
  readonly step: HistogramLabStep;
  /** Work-items per group. */
  readonly groupSize: number;
  readonly #keysPerItem: number;

  private constructor(
    program: Program,
    codec: KeyCodec,
    step: HistogramLabStep,
    groupSize: number,
    keysPerItem: number,
  ) {
    this.#keysPerItem = keysPerItem;
    this.#program = program;
    this.#codec = codec;
    this.step = step;
    this.groupSize = groupSize;
  }

  /** @throws UnsupportedError, BuildError */
  static async create(
    device: Device,
    { dtype, step, lab, keysPerItem = MAX_KEYS_PER_ITEM }: HistogramLabOptions,
  ): Promise<HistogramLab> {
    const { width } = dtypeInfo(dtype);
    if (step === 'bytes_vector' && width !== 8) {
      throw new UnsupportedError(`cannot count ${dtype} keys: step 'bytes_vector' counts u8 keys`);
    }
    const kernels = [KERNELS[step], 'histogram_merge', 'histogram_merge_parallel'];
    const defines = { KEY_BITS: width, VALUE_BYTES: 0, LAB_LAYOUT: LAYOUTS[step] ?? 0 };
    const { program, groupSize } = await buildForGroups(device, 'histogram_lab.cl', kernels, defines, lab);
    if (step === 'permuted' && groupSize < 4) {
      throw new UnsupportedError(
        `cannot run step 'permuted': it needs groups of 4 work-items; ${device.info.name} has ${groupSize}`,
      );
    }
    return new HistogramLab(program, keyCodec(dtype), step, groupSize, keysPerItem);
  }

  /** Most bins. */
  get maxBins(): number {
    if (this.step === 'global') return 65_536;
    return LAYOUTS[this.step] === undefined ? ROW_BINS : PRIVATE_BINS;
  }

  groups(n: number): number {
    return Math.max(1, Math.ceil(n / (this.#keysPerItem * this.groupSize)));
  }

  /** Number of counters of a group, and bytes of one counter. */
  get counters(): { readonly length: number; readonly bytes: 1 | 4 } {
    if (LAYOUTS[this.step] !== undefined) return { length: PRIVATE_BINS * this.groupSize, bytes: 1 };
    return { length: Math.ceil(this.groupSize / ROW) * ROW_BINS, bytes: 4 };
  }

  /** Returns the index of the counter in which a work-item of a group counts a bin. */
  counterOf(item: number, bin: number): number {
    const { groupSize } = this;
    switch (this.step) {
      case 'private_items':
        return item * PRIVATE_BINS + bin;
      case 'private_bins':
        return bin * groupSize + item;
      case 'permuted':
        return bin * groupSize + (item % (groupSize / 4)) * 4 + Math.floor(item / (groupSize / 4));
      default:
        return Math.floor(item / ROW) * ROW_BINS + bin;
    }
  }

  /** @throws UnsupportedError for more bins than the counters have */
  enqueue(queue: Queue, { keys, n, bits, partials, counts, merge = 'serial', trace }: LabWork): void {
    const bins = 2 ** (bits[1] - bits[0]);
    if (bins > this.maxBins) {
      throw new UnsupportedError(
        `cannot count ${bins} bins: step '${this.step}' counts at most ${this.maxBins}`,
      );
    }
    const local = this.groupSize;
    const groups = this.groups(n);
    const how = [u64(n), u32(bins), u32(bits[0]), u32(0), codecArgument(this.#codec)];
    const isGlobal = this.step === 'global';
    if (isGlobal) queue.fill(counts, 0, { bytes: bins * 4 });
    const args = [keys, isGlobal ? counts : partials, keys, ...how, ...(trace && !isGlobal ? [trace] : [])];
    queue.run(this.#program.kernel(KERNELS[this.step]), args, { global: groups * local, local });
    if (!isGlobal) this.enqueueMerge(queue, { partials, counts, bins, groups, merge });
  }

  /** Enqueues the sum of the groups' histograms. */
  enqueueMerge(
    queue: Queue,
    {
      partials,
      counts,
      bins,
      groups,
      merge,
    }: { partials: Buffer; counts: Buffer; bins: number; groups: number; merge: Merge },
  ): void {
    const local = this.groupSize;
    const args = [partials, counts, u32(bins), u32(groups)];
    if (merge === 'parallel') {
      queue.run(this.#program.kernel('histogram_merge_parallel'), args, { global: bins * local, local });
    } else {
      const global = roundUpToGroups(bins, local);
      queue.run(this.#program.kernel('histogram_merge'), args, { global, local });
    }
  }
}
