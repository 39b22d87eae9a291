import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import type { Buffer } from '../device/memory/buffer.js';
import { type KernelArgument, u32, u64 } from '../device/queue/queue.js';
import { bytesOf } from '../keys/array.js';
import { dtypeInfo } from '../keys/dtype.js';
import { decode, keyCodec } from '../keys/key-codec.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { Memo } from '../util/memo.js';
import { Random } from '../util/random.js';
import { keysOfPicks, LookBack, LookBackPrimitive, type LookBackShape, TEST_TILES } from './look-back.js';
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
  /** May be `input` for a shape with `inParts`. */
  readonly output: Buffer;
  readonly n: number;
  readonly inclusive: boolean;
}

/** Parameters that a scan is compiled for. */
export interface PrefixScanShape extends LookBackShape {
  readonly op: ScanOp;
  /** Whether keys are read twice. Default: only if groups cannot wait for each other, and for sums of floats. */
  readonly inParts?: boolean;
}

const definesOf = ({ dtype, op }: PrefixScanShape): Readonly<Record<string, number>> => ({
  OP: SCAN_OPS.indexOf(op),
  KIND: KINDS[dtypeInfo(dtype).kind],
  WIDE: 0,
});

/** Returns whether the order of operations affects rounding; such scans use no look-back. */
const rounds = ({ dtype, op }: PrefixScanShape): boolean =>
  dtypeInfo(dtype).kind === 'float' && (op === 'sum' || op === 'product');

const isOnce = (shape: PrefixScanShape, { lookBack }: PrimitiveTuning): boolean =>
  !shape.inParts && lookBack > 0 && !rounds(shape);

const KERNELS = { once: ['scan_once'], parts: ['scan_part_totals', 'scan_parts'] };

/** Builds the program of a scan: one of its two forms. @throws UnsupportedError, BuildError */
export async function buildScan(device: Device, shape: PrefixScanShape): Promise<PrimitiveProgram> {
  const { dtype, op } = shape;
  assertScannable(dtype, op);
  assertArithmetic(device, dtype, op);
  const tuning = shape.tuning ?? defaultTileTuning(device, 'scan', dtype);
  const once = isOnce(shape, tuning);
  const defines = { ...definesOf(shape), ONCE: once ? 1 : 0 };
  return buildPrimitive(device, 'prefix_scan.cl', KERNELS[once ? 'once' : 'parts'], dtype, defines, tuning);
}

/**
 * Scans any number of keys by sum, product, minimum or maximum.
 *
 * Idea: while a group scans its tile, it learns the totals of the preceding tiles, backwards (decoupled look-back). If
 * groups cannot wait for each other, each group reduces a part of the keys, and a second launch scans the parts. Sums
 * of floats take the same path, because their rounding would depend on timing.
 *
 * Source: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016). A group that
 * waits too long computes the missing total itself: T. Smith's and R. Levien's decoupled fall-back (2024).
 *
 * Complexity: one launch that reads and writes every key once; or two launches that read it twice. Integers wrap in
 * their own width. Sums of floats are within 4 log2(n) ε of the sum of magnitudes, products within n ε of themselves.
 */
export class PrefixScan extends LookBackPrimitive<PrefixScanShape> {
  static readonly #created = new Memo<PrefixScan>();

  /** @throws UnsupportedError, BuildError */
  static create(device: Device, shape: PrefixScanShape): MaybePromise<PrefixScan> {
    const { dtype, op, tuning, inParts = false } = shape;
    const name = `${dtype} ${op} ${inParts} ${tuning ? nameOfTuning(tuning) : ''}`;
    const create = async (form: PrefixScanShape): Promise<PrefixScan> => {
      const built = await buildScan(device, form);
      return new PrefixScan(device, built, form, isOnce(form, built.tuning));
    };
    const nameOf = ({ built }: PrefixScan) => ['scan', dtype, definesOf(shape), built.tuning];
    return PrefixScan.#created.get(device, name, () =>
      LookBackPrimitive.createTested(shape, create, nameOf, selfTest),
    );
  }

  /** Enqueues a scan with scratch from the device's pool. */
  enqueue({ input, output, n, inclusive }: PrefixScanWork): void {
    if (n === 0) return;
    const { device } = this;
    const { queue, pool } = device;
    const { program, tuning, tileKeys } = this.built;
    const local = tuning.groupSize;
    const { dtype, op } = this.shape;
    // NaN wins: its code is the largest for a maximum, the smallest for a minimum.
    const codec = codecArgument(keyCodec(dtype, { nan: op === 'min' ? 'first' : 'last' }));
    const how: KernelArgument[] = [u32(inclusive ? 1 : 0), codec];
    if (this.once) {
      const tiles = Math.ceil(n / tileKeys);
      const { control, launch } = LookBack.of(device).next(tiles, this.#operandBytes);
      const args = [input, output, control, u64(n), u32(launch), ...how];
      queue.run(program.kernel('scan_once'), args, { global: tiles * local, local });
      return;
    }
    const { parts, tiles } = partsOf(device, n, this.built);
    const launch = { global: parts * local, local };
    pool.withBuffers([parts * this.#operandBytes], (totals) => {
      if (parts > 1) {
        queue.run(program.kernel('scan_part_totals'), [input, totals, u64(n), u32(tiles), codec], launch);
      }
      queue.run(program.kernel('scan_parts'), [input, output, totals, u64(n), u32(tiles), ...how], launch);
    });
  }

  get #operandBytes(): number {
    return dtypeInfo(this.shape.dtype).width === 64 ? 8 : 4;
  }
}

/** Distinct keys of the self-test. */
const TEST_KEYS = 64;

/** Checks a scan of several tiles by look-back against a loop on the host. */
async function selfTest(scan: PrefixScan): Promise<boolean> {
  const { device, tileKeys, shape } = scan;
  const { dtype, op } = shape;
  const { queue, pool } = device;
  const { bytes, width } = dtypeInfo(dtype);
  const n = TEST_TILES * tileKeys + 3;
  const isExtreme = op === 'min' || op === 'max';
  const codec = keyCodec(dtype, { nan: op === 'min' ? 'first' : 'last' });
  const patterns = Array.from(
    { length: TEST_KEYS },
    (_, i) =>
      isExtreme
        ? decode(codec, (codec.lastNumber / BigInt(TEST_KEYS)) * BigInt(i))
        : BigInt.asUintN(width, BigInt(i % 2 === 0 ? 2 * i + 1 : -2 * i - 1)), // products of odd numbers are not 0
  );
  // A minimum decreases and a maximum increases up to the last tile, so that no tile is right without the others.
  const picks = new Random(n).bytes(n).map((byte, i) => {
    const step = Math.floor((i / n) * (TEST_KEYS - 4)) + (byte & 3);
    return op === 'max' ? step : op === 'min' ? TEST_KEYS - 1 - step : byte & (TEST_KEYS - 1);
  });
  const keys = keysOfPicks(dtype, picks, patterns);
  const expected = isExtreme
    ? keysOfPicks(dtype, extremes(picks, op), patterns)
    : totals(keys as IntegerKeys, op);
  const results = [true, false].map((inclusive) => ({ inclusive, made: new Uint8Array(n * bytes) }));
  pool.withBuffers([n * bytes, n * bytes], (input, output) => {
    queue.write(input, keys);
    for (const { inclusive, made } of results) {
      scan.enqueue({ input, output, n, inclusive });
      queue.read(output, made);
    }
  });
  await queue.finish();
  const last = (n - 1) * bytes;
  return results.every(({ inclusive, made }) =>
    inclusive
      ? globalThis.Buffer.compare(made, bytesOf(expected)) === 0
      : globalThis.Buffer.compare(made.subarray(bytes), bytesOf(expected, 0, last)) === 0,
  );
}

/** Returns the minimum or the maximum of the numbers up to each one. */
function extremes(picks: Uint8Array, op: ScanOp): Uint8Array {
  let best = picks[0] as number;
  return picks.map((pick) => (best = op === 'min' ? Math.min(best, pick) : Math.max(best, pick)));
}

type IntegerKeys = Uint8Array | Uint16Array | Uint32Array | BigUint64Array;

/** Returns the sum or the product of the keys up to each one, in the keys' own width. */
function totals(keys: IntegerKeys, op: ScanOp): IntegerKeys {
  if (keys instanceof BigUint64Array) {
    let total = op === 'sum' ? 0n : 1n;
    return keys.map((key) => (total = BigInt.asUintN(64, op === 'sum' ? total + key : total * key)));
  }
  let total = op === 'sum' ? 0 : 1;
  return keys.map((key) => (total = (op === 'sum' ? total + key : Math.imul(total, key)) >>> 0));
}
