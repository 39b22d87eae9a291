import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import type { Buffer } from '../device/memory/buffer.js';
import { type KernelArgument, u32, u64 } from '../device/queue/queue.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { keyCodec } from '../keys/key-codec.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { Memo } from '../util/memo.js';
import { LookBack, passesSelfTest } from './look-back.js';
import { assertArithmetic, assertScannable, KINDS, SCAN_OPS, type ScanOp } from './possible.js';
import {
  buildPrimitive,
  defaultTileTuning,
  nameOfTuning,
  type PrimitiveProgram,
  type PrimitiveTuning,
  partsOf,
} from './primitive-program.js';

/** One scan of keys in device memory. */
export interface PrefixScanWork {
  readonly input: Buffer;
  /** May be `input`; keys are read twice then. */
  readonly output: Buffer;
  readonly n: number;
  readonly inclusive: boolean;
}

/** Parameters that a scan is compiled for. */
export interface PrefixScanShape {
  readonly dtype: Dtype;
  readonly op: ScanOp;
  readonly tuning?: PrimitiveTuning;
}

const definesOf = ({ dtype, op }: PrefixScanShape): Readonly<Record<string, number>> => ({
  OP: SCAN_OPS.indexOf(op),
  KIND: KINDS[dtypeInfo(dtype).kind],
  WIDE: 0,
});

/** Returns whether the order of operations affects rounding; such scans use no look-back. */
const rounds = ({ dtype, op }: PrefixScanShape): boolean =>
  dtypeInfo(dtype).kind === 'float' && (op === 'sum' || op === 'product');

/** Builds the program of a scan. @throws UnsupportedError, BuildError */
export async function buildScan(device: Device, shape: PrefixScanShape): Promise<PrimitiveProgram> {
  const { dtype, op } = shape;
  assertScannable(dtype, op);
  assertArithmetic(device, dtype, op);
  const tuning = shape.tuning ?? defaultTileTuning(device, 'scan', dtype);
  const kernels = [
    'scan_part_totals',
    'scan_parts',
    ...(tuning.lookBack > 0 && !rounds(shape) ? ['scan_once'] : []),
  ];
  return buildPrimitive(device, 'prefix_scan.cl', kernels, dtype, definesOf(shape), tuning);
}

/**
 * Scans any number of keys by sum, product, minimum or maximum.
 *
 * Idea: while a group scans its tile, it learns the totals of the preceding tiles, backwards (decoupled look-back).
 * If groups cannot wait for each other, each group reduces a part of the keys, and a second launch scans the parts.
 * Sums of floats take the same path, because their rounding would depend on timing.
 *
 * Source: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016). A group that
 * waits too long computes the missing total itself: T. Smith's and R. Levien's decoupled fall-back (2024).
 *
 * Complexity: one launch that reads and writes every key once; or two launches that read it twice. Integers wrap in
 * their own width. Sums of floats are within 4 log2(n) ε of the sum of magnitudes, products within n ε of
 * themselves.
 */
export class PrefixScan {
  readonly #device: Device;
  readonly #built: PrimitiveProgram;
  readonly #shape: PrefixScanShape;
  readonly #once: boolean;

  private constructor(device: Device, built: PrimitiveProgram, shape: PrefixScanShape, once: boolean) {
    this.#device = device;
    this.#built = built;
    this.#shape = shape;
    this.#once = once;
  }

  static readonly #created = new Memo<PrefixScan>();

  /** @throws UnsupportedError, BuildError */
  static create(device: Device, shape: PrefixScanShape): MaybePromise<PrefixScan> {
    const { dtype, op, tuning } = shape;
    const name = `${dtype} ${op} ${tuning ? nameOfTuning(tuning) : ''}`;
    return PrefixScan.#created.get(device, name, () => PrefixScan.#create(device, shape));
  }

  static async #create(device: Device, shape: PrefixScanShape): Promise<PrefixScan> {
    const built = await buildScan(device, shape);
    const wanted = built.tuning.lookBack > 0 && !rounds(shape);
    const name = JSON.stringify(['scan', shape.dtype, definesOf(shape), built.tuning]);
    const once =
      wanted &&
      (await passesSelfTest(device, name, () => selfTest(new PrefixScan(device, built, shape, true))));
    return new PrefixScan(device, built, shape, once);
  }

  /** True if keys are read once. */
  get once(): boolean {
    return this.#once;
  }

  /** Enqueues a scan with scratch from the device's pool. */
  enqueue({ input, output, n, inclusive }: PrefixScanWork): void {
    if (n === 0) return;
    const device = this.#device;
    const { queue, pool } = device;
    const { program, tuning, tileKeys } = this.#built;
    const local = tuning.groupSize;
    const { dtype, op } = this.#shape;
    // NaN wins: its code is the largest for a maximum, the smallest for a minimum.
    const codec = codecArgument(keyCodec(dtype, { nan: op === 'min' ? 'first' : 'last' }));
    const how: KernelArgument[] = [u32(inclusive ? 1 : 0), codec];
    if (this.#once && input !== output) {
      const tiles = Math.ceil(n / tileKeys);
      const { control, launch } = LookBack.of(device).next(tiles, this.#operandBytes);
      const args = [input, output, control, u64(n), u32(launch), ...how];
      queue.run(program.kernel('scan_once'), args, { global: tiles * local, local });
      return;
    }
    const { parts, tiles } = partsOf(device, n, this.#built);
    const launch = { global: parts * local, local };
    pool.withBuffers([parts * this.#operandBytes], (totals) => {
      if (parts > 1) {
        queue.run(program.kernel('scan_part_totals'), [input, totals, u64(n), u32(tiles), codec], launch);
      }
      queue.run(program.kernel('scan_parts'), [input, output, totals, u64(n), u32(tiles), ...how], launch);
    });
  }

  get #operandBytes(): number {
    return dtypeInfo(this.#shape.dtype).width === 64 ? 8 : 4;
  }

  /** @internal */
  get device(): Device {
    return this.#device;
  }

  /** @internal */
  get tileKeys(): number {
    return this.#built.tileKeys;
  }

  /** @internal */
  get dtype(): Dtype {
    return this.#shape.dtype;
  }
}

/** Checks that a scan of several tiles by look-back gives the same result as one in parts. */
async function selfTest(scan: PrefixScan): Promise<boolean> {
  const { device, tileKeys, dtype } = scan;
  const { queue, pool } = device;
  const { bytes } = dtypeInfo(dtype);
  const n = 40 * tileKeys + 3;
  const keys = Uint8Array.from({ length: n * bytes }, (_, i) => (i * 0x9e3779b1) >>> 23);
  const [once, parts] = [new Uint8Array(n * bytes), new Uint8Array(n * bytes)];
  const size = n * bytes;
  pool.withBuffers([size, size], (input, output) => {
    queue.write(input, keys);
    scan.enqueue({ input, output, n, inclusive: false });
    queue.read(output, once);
    scan.enqueue({ input, output: input, n, inclusive: false });
    queue.read(input, parts);
  });
  await queue.finish();
  return globalThis.Buffer.compare(once, parts) === 0;
}
