import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import type { Buffer } from '../device/memory/buffer.js';
import { u32, u64 } from '../device/queue/queue.js';
import { StatusWords } from '../device/status-words.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { keyCodec } from '../keys/key-codec.js';
import { chain, type MaybePromise } from '../util/maybe-promise.js';
import { Memo } from '../util/memo.js';
import { LookBack } from './look-back.js';
import { assertArithmetic, KINDS, type ReduceOp, SCAN_OPS } from './possible.js';
import {
  buildPrimitive,
  defaultPrimitiveTuning,
  gridStrideVectorGroups,
  nameOfTuning,
  type PrimitiveProgram,
  type PrimitiveTuning,
} from './primitive-program.js';
import { reducedValue } from './reduce.js';

/** A reduction of at least one key in device memory. */
export interface ReduceOnceWork {
  readonly keys: Buffer;
  readonly n: number;
  readonly dtype: Dtype;
  readonly op: ReduceOp;
  readonly tuning?: PrimitiveTuning;
}

/**
 * Returns whether the last group of a launch can combine the others' results: not if the driver ends loops
 * silently.
 */
export const reducesOnce = ({ capabilities: { quirks } }: Pick<Device, 'capabilities'>): boolean =>
  !Number.isFinite(quirks.maxLoopIterations);

const built = new Memo<PrimitiveProgram>();

/** Builds the program of a reduction. @throws UnsupportedError, BuildError */
export function buildReduceOnce(
  device: Device,
  {
    dtype,
    op,
    tuning = defaultPrimitiveTuning(device, dtype),
  }: Pick<ReduceOnceWork, 'dtype' | 'op' | 'tuning'>,
): MaybePromise<PrimitiveProgram> {
  return built.get(device, `${dtype} ${op} ${nameOfTuning(tuning)}`, async () => {
    assertArithmetic(device, dtype, op);
    const defines = { OP: SCAN_OPS.indexOf(op), KIND: KINDS[dtypeInfo(dtype).kind], WIDE: 1 };
    return buildPrimitive(device, 'reduce_once.cl', ['reduce_once'], dtype, defines, tuning);
  });
}

/**
 * Enqueues a reduction in one launch: groups store the results of their parts, and the last group to finish
 * combines them. No group waits: all others have stored their results before a group is the last.
 *
 * Semantics and errors as `Reduction`.
 *
 * @returns a function that returns the result; call it after the next wait
 */
export function enqueueReduceOnce(device: Device, work: ReduceOnceWork): MaybePromise<() => number | bigint> {
  return chain(buildReduceOnce(device, work), (program) => enqueue(device, program, work));
}

/** Reused result buffer: V8 allocates the memory of small arrays lazily, which is slow. */
const RESULT = new Uint32Array(2);
const RESULT_VIEW = new DataView(RESULT.buffer);

function enqueue(
  device: Device,
  { program, tuning }: PrimitiveProgram,
  work: ReduceOnceWork,
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
