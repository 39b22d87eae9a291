import type { Device } from '../device/device.js';
import { roundUpToGroups } from '../device/fitted-program.js';
import type { Buffer } from '../device/memory/buffer.js';
import { NO_LONG_WAITS } from '../device/platform/quirks.js';
import type { Program } from '../device/programs/program.js';
import { type Queue, u32, u64 } from '../device/queue/queue.js';
import type { Dtype } from '../keys/dtype.js';
import { buildForGroups, type LabOptions } from '../primitives/group.js';
import { assertArithmetic, scanType } from '../primitives/possible.js';
import type { PrefixScanWork } from '../primitives/prefix-scan.js';
import { UnsupportedError } from '../util/errors.js';
import { invalidArgument } from '../util/invalid-argument.js';

/** Up and down a tree; the same with padding against bank conflicts; tiles in registers. */
export const SCAN_STEPS = ['sweep', 'padded', 'tile'] as const;
/** In cl/scan_lab.cl: Hillis and Steele's scan, and a single pass over the values. */
export const SCAN_LAB_STEPS = ['hillis_steele', 'single_pass'] as const;
export type ScanStep = (typeof SCAN_STEPS)[number] | (typeof SCAN_LAB_STEPS)[number];

/** Values of a tile per work-item of its group. */
const VALUES_PER_ITEM: Readonly<Record<ScanStep, number>> = {
  sweep: 2,
  padded: 2,
  tile: 8,
  hillis_steele: 1,
  single_pass: 8,
};

/** One scan; `input` may be `output`, except for the single pass. */
export interface ScanWork extends Pick<PrefixScanWork, 'input' | 'output' | 'n'> {
  readonly inclusive?: boolean;
  /** One buffer for each entry of `sumBytes(n)`. */
  readonly sums: readonly Buffer[];
  /** If compiled with a trace: one buffer for each of `tiles(n)`. */
  readonly traces?: readonly Buffer[];
}

/**
 * Prefix sums of any n: groups scan tiles, the tile sums are scanned recursively and added back.
 *
 * Source: G. E. Blelloch, "Prefix Sums and Their Applications" (1990); M. Harris, S. Sengupta, J. D. Owens,
 * "Parallel Prefix Sum (Scan) with CUDA" (2007), for the padding; W. D. Hillis, G. L. Steele, "Data Parallel
 * Algorithms" (1986), for the scan within a group of the `tile` form.
 *
 * Complexity: two launches per level, one level per factor of the tile (2048 values with groups of 256); each value
 * is read twice and written twice. u32, i32, u64 and i64 wrap in their own width; f64 needs a device with fp64; no
 * other dtypes. Positions are 64-bit.
 */
export class Scan {
  readonly #program: Program;
  readonly #groupSize: number;
  readonly #tile: number;
  readonly #step: ScanStep;
  readonly valueBytes: number;

  private constructor(program: Program, groupSize: number, step: ScanStep, valueBytes: number) {
    this.#program = program;
    this.#groupSize = groupSize;
    this.#step = step;
    this.#tile = groupSize * VALUES_PER_ITEM[step];
    this.valueBytes = valueBytes;
  }

  /** @throws UnsupportedError, BuildError */
  static async create(
    device: Device,
    { dtype, step = 'tile', lab }: { dtype: Dtype; step?: ScanStep; lab?: LabOptions },
  ): Promise<Scan> {
    const type = scanType(dtype);
    assertArithmetic(device, dtype, 'sum');
    if (step === 'single_pass' && type !== 0) {
      throw new UnsupportedError(`cannot scan ${dtype}: step 'single_pass' scans u32 and i32`);
    }
    if (step === 'single_pass' && Number.isFinite(device.capabilities.quirks.maxLoopIterations)) {
      throw new UnsupportedError(`cannot run step 'single_pass': ${NO_LONG_WAITS}`);
    }
    const isLab = SCAN_LAB_STEPS.some((name) => name === step);
    const steps = isLab ? [step] : SCAN_STEPS;
    const kernels = [...steps.map((name) => `scan_${name}`), 'scan_add'];
    const file = isLab ? 'scan_lab.cl' : 'scan.cl';
    const defines = { SCAN_TYPE: type, ...(lab?.looks !== undefined && { MAX_LOOKS: lab.looks }) };
    const { program, groupSize } = await buildForGroups(device, file, kernels, defines, lab);
    return new Scan(program, groupSize, step, type === 0 || type === 2 ? 4 : 8);
  }

  /** Work-items per group. */
  get groupSize(): number {
    return this.#groupSize;
  }

  /** Values that a group scans. */
  get tile(): number {
    return this.#tile;
  }

  /** Returns the number of tiles of each level: of the values, of the sums of their tiles, and so on. */
  tiles(n: number): number[] {
    const tiles = Math.max(1, Math.ceil(n / this.#tile));
    return [tiles, ...(tiles > 1 && this.#step !== 'single_pass' ? this.tiles(tiles) : [])];
  }

  /** Returns the bytes of each level's tile sums; for the single pass, of its sums and its state. */
  sumBytes(n: number): number[] {
    const tiles = Math.max(1, Math.ceil(n / this.#tile));
    if (this.#step === 'single_pass') return [tiles * 4, (1 + tiles) * 4];
    return [tiles * this.valueBytes, ...(tiles > 1 ? this.sumBytes(tiles) : [])];
  }

  enqueue(queue: Queue, { input, output, n, inclusive = false, sums, traces = [] }: ScanWork): void {
    const [own, ...above] = sums;
    if (n === 0 || !own) return;
    const [trace, ...tracesAbove] = traces;
    const local = this.#groupSize;
    const tiles = Math.ceil(n / this.#tile);
    const how = [u64(n), u32(inclusive ? 1 : 0)];
    if (this.#step === 'single_pass') {
      const [state] = above;
      if (!state) return;
      if (input === output)
        throw invalidArgument('output', 'another buffer than input', { text: 'the same buffer' });
      queue.fill(state, 0, { bytes: (1 + tiles) * 4 });
      queue.fill(own, 0, { bytes: tiles * 4 }); // an atomic exchange reads what it replaces
      const all = [input, output, own, state, ...how];
      queue.run(this.#program.kernel('scan_single_pass'), all, { global: tiles * local, local });
      return;
    }
    const args = [input, output, own, ...how, ...(trace ? [trace] : [])];
    queue.run(this.#program.kernel(`scan_${this.#step}`), args, { global: tiles * local, local });
    if (tiles === 1) return;
    this.enqueue(queue, { input: own, output: own, n: tiles, sums: above, traces: tracesAbove });
    const global = roundUpToGroups(n, local);
    queue.run(this.#program.kernel('scan_add'), [output, own, u64(n), u32(this.#tile)], { global, local });
  }
}
