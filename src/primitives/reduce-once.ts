import { Board } from '../device/board.js';
import type { Buffer } from '../device/buffer.js';
import type { Device } from '../device/device.js';
import { u32, u64, vector } from '../device/queue.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { codecVector, keyCodec } from '../keys/key-codec.js';
import { LookBack } from './look-back.js';
import { assertArithmetic, KINDS, type ReduceOp, SCAN_OPS } from './possible.js';
import { reducedValue } from './reduce.js';
import { buildWalk, VECTOR_BYTES, type WalkProgram, type WalkTuning, walkTuning } from './walk.js';

/** A reduction of keys in device memory, at least one. */
export interface ReduceOnceWork {
  readonly keys: Buffer;
  readonly n: number;
  readonly dtype: Dtype;
  readonly op: ReduceOp;
  readonly tuning?: WalkTuning;
}

/** Can the groups of a launch hand what they have to the one that is last? Not where loops are ended without a word. */
export const reducesOnce = ({ capabilities: { quirks } }: Pick<Device, 'capabilities'>): boolean =>
  !Number.isFinite(quirks.maxLoopIterations);

/** The program of a reduction. @throws UnsupportedError, BuildError */
export async function buildReduceOnce(
  device: Device,
  { dtype, op, tuning = walkTuning(device, dtype) }: Pick<ReduceOnceWork, 'dtype' | 'op' | 'tuning'>,
): Promise<WalkProgram> {
  assertArithmetic(device, dtype, op);
  const defines = { OP: SCAN_OPS.indexOf(op), KIND: KINDS[dtypeInfo(dtype).kind], WIDE: 1 };
  return buildWalk(device, 'reduce_once.cl', ['reduce_once'], dtype, defines, tuning);
}

/**
 * Enqueues a reduction of one launch: groups leave what their parts come to, and the one that ends last combines it. It
 * waits for nobody: all others have told what they have before it can be the last.
 *
 * Semantics and errors as `Reduction`.
 *
 * @returns the result, to be asked after the next wait
 */
export async function enqueueReduceOnce(
  device: Device,
  work: ReduceOnceWork,
): Promise<() => number | bigint> {
  const { keys, n, dtype, op } = work;
  const info = dtypeInfo(dtype);
  const { program, tuning } = await buildReduceOnce(device, work);
  const local = tuning.groupSize;
  const share = local * tuning.rounds * (VECTOR_BYTES / info.bytes);
  const groups = Math.max(
    1,
    Math.min(Math.ceil(n / share), device.capabilities.computeUnits * tuning.groupsPerUnit),
  );
  const codec = vector(codecVector(keyCodec(dtype, { nan: op === 'min' ? 'first' : 'last' })));
  const { board, at, words } = Board.written(device, 2);
  const { control, launch } = LookBack.of(device).next(groups, 8);
  const args = [keys, control, u64(n), u32(launch), codec, board, u32(at)];
  device.queue.run(program.kernel('reduce_once'), args, { global: groups * local, local });
  return () => {
    const bits = words().slice();
    return reducedValue(dtype, op, new Uint8Array(bits.buffer));
  };
}
