import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import type { Buffer } from '../device/memory/buffer.js';
import { u32, u64 } from '../device/queue/queue.js';
import { StatusWords } from '../device/status-words.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { decode, keyCodec } from '../keys/key-codec.js';
import { keyValue } from '../keys/value.js';
import { chain, type MaybePromise } from '../util/maybe-promise.js';
import { Memo } from '../util/memo.js';
import { LookBack } from './look-back.js';
import { assertArithmetic, assertReducible, KINDS, type ReduceOp, runsDtype, SCAN_OPS } from './possible.js';
import {
  buildPrimitive,
  defaultPrimitiveTuning,
  gridStrideVectorGroups,
  nameOfTuning,
  type PrimitiveProgram,
  type PrimitiveTuning,
} from './primitive-program.js';
import { buildReduceRuns, type ReduceRunsWork, runReduceRuns } from './reduce-runs.js';

/** A reduction of at least one key in device memory. */
export interface ReduceWork extends Pick<ReduceRunsWork, 'n' | 'dtype' | 'op'> {
  readonly keys: Buffer;
  readonly tuning?: PrimitiveTuning;
}

/**
 * Returns whether the last group of a launch can combine the others' results: not if the driver ends loops silently.
 */
export const reducesOnce = ({ capabilities: { quirks } }: Pick<Device, 'capabilities'>): boolean =>
  !Number.isFinite(quirks.maxLoopIterations);

const built = new Memo<PrimitiveProgram>();

/** Builds the program of a reduction. @throws UnsupportedError, BuildError */
export function buildReduceOnce(
  device: Device,
  { dtype, op, tuning = defaultPrimitiveTuning(device, dtype) }: Pick<ReduceWork, 'dtype' | 'op' | 'tuning'>,
): MaybePromise<PrimitiveProgram> {
  return built.get(device, `${dtype} ${op} ${nameOfTuning(tuning)}`, async () => {
    assertArithmetic(device, dtype, op);
    const defines = { OP: SCAN_OPS.indexOf(op), KIND: KINDS[dtypeInfo(dtype).kind], WIDE: 1 };
    return buildPrimitive(device, 'reduce_once.cl', ['reduce_once'], dtype, defines, tuning);
  });
}

/** Compiles what `enqueueReduce` runs. @throws UnsupportedError, BuildError */
export const buildReduce = (
  device: Device,
  work: Pick<ReduceWork, 'dtype' | 'op' | 'tuning'>,
): MaybePromise<unknown> =>
  reducesOnce(device) ? buildReduceOnce(device, work) : buildReduceRuns(device, work);

/**
 * Enqueues the sum, minimum or maximum of keys in one launch: groups store the results of their parts, and the last
 * group to finish combines them. No group waits: all others have stored their results before a group is the last. If
 * the driver ends long loops, the keys are reduced as a single run instead.
 *
 * Source: M. Harris, "Optimizing Parallel Reduction in CUDA" (2007); W. Kahan, "Further Remarks on Reducing
 * Truncation Errors" (1965), for sums of floats.
 *
 * Complexity: every key is read once. Sums of integers wrap at 64 bits. Sums of f32 are within 2 log2(n) 2^-24 of the
 * sum of magnitudes. Sums of f64 need a device with fp64; sums of f16 and bf16 are not supported. Minimum and maximum propagate
 * NaN, and -0 is below +0.
 *
 * @returns a function that returns the result; call it after the next wait
 * @throws InputError for the minimum or maximum of no keys
 */
export function enqueueReduce(device: Device, work: ReduceWork): MaybePromise<() => number | bigint> {
  assertReducible(work.dtype, work.op, work.n);
  if (!reducesOnce(device)) return enqueueReduceAsRun(device, work);
  return chain(buildReduceOnce(device, work), (program) => enqueue(device, program, work));
}

/** Enqueues a reduction of all keys as a single run, for drivers that end long loops. */
export async function enqueueReduceAsRun(
  device: Device,
  { keys, n, dtype, op }: ReduceWork,
): Promise<() => number | bigint> {
  const info = dtypeInfo(runsDtype(dtype, op));
  const built = await buildReduceRuns(device, { dtype, op });
  const result = new Uint8Array(8);
  device.pool.withBuffers([4, info.bytes], (places, results) => {
    device.queue.fill(places, 0, { bytes: 4 });
    runReduceRuns(device, built, { values: keys, n, dtype, op, places, runs: 1, results });
    device.queue.read(results, result.subarray(0, info.bytes));
  });
  return () => keyValue(new DataView(result.buffer).getBigUint64(0, true), info);
}

/** Reused result buffer: V8 allocates the memory of small arrays lazily, which is slow. */
const RESULT = new Uint32Array(2);
const RESULT_VIEW = new DataView(RESULT.buffer);

function enqueue(
  device: Device,
  { program, tuning }: PrimitiveProgram,
  work: ReduceWork,
): () => number | bigint {
  const { keys, n, dtype, op } = work;
  const local = tuning.groupSize;
  const groups = gridStrideVectorGroups(device, work, tuning, tuning.rounds);
  const codec = codecArgument(keyCodec(dtype, { nan: op === 'min' ? 'first' : 'last' }));
  const status = StatusWords.uninitialized(device, 2);
  const { control, launch } = LookBack.of(device).next(groups, 8);
  const args = [keys, control, u64(n), u32(launch), codec, status.buffer, u32(status.firstWord)];
  device.queue.run(program.kernel('reduce_once'), args, { global: groups * local, local });
  return () => {
    RESULT.set(status.words());
    return reducedValue(dtype, op, RESULT_VIEW);
  };
}

/** Returns a reduction's result from the 8 bytes that its kernels write. */
export function reducedValue(dtype: Dtype, op: ReduceOp, view: DataView): number | bigint {
  const { kind, width } = dtypeInfo(dtype);
  if (op === 'sum') {
    if (kind === 'float') return width === 32 ? view.getFloat32(0, true) : view.getFloat64(0, true);
    return kind === 'signed' ? view.getBigInt64(0, true) : view.getBigUint64(0, true);
  }
  // NaN wins: its code is the largest for a maximum, the smallest for a minimum.
  const codec = keyCodec(dtype, { nan: op === 'min' ? 'first' : 'last' });
  const code = width === 64 ? view.getBigUint64(0, true) : BigInt(view.getUint32(0, true));
  return keyValue(decode(codec, code), codec.dtype);
}
