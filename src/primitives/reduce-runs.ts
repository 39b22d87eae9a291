import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import type { FittedProgram } from '../device/fitted-program.js';
import type { Buffer } from '../device/memory/buffer.js';
import { u32, u64 } from '../device/queue/queue.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { keyCodec } from '../keys/key-codec.js';
import { buildForGroups } from './group.js';
import { assertArithmetic, KINDS, type ReduceOp, SCAN_OPS } from './possible.js';

const ITEMS = 8;

/** A reduction of n values in runs, which start at `places`. */
export interface ReduceRunsWork {
  readonly values: Buffer;
  readonly n: number;
  readonly dtype: Dtype;
  readonly op: ReduceOp;
  /** u32, strictly increasing from 0. */
  readonly places: Buffer;
  readonly runs: number;
  /** Elements of dtype `runsDtype`. */
  readonly results: Buffer;
}

/** Builds the program of reductions by runs. @throws UnsupportedError, BuildError */
export function buildReduceRuns(
  device: Device,
  { dtype, op }: Pick<ReduceRunsWork, 'dtype' | 'op'>,
): ReturnType<typeof buildForGroups> {
  assertArithmetic(device, dtype, op);
  const { width, kind } = dtypeInfo(dtype);
  const defines = { OP: SCAN_OPS.indexOf(op), KIND: KINDS[kind], WIDE: 1, ITEMS };
  const kernels = ['reduce_run_tiles', 'reduce_run_ends'];
  return buildForGroups(device, 'reduce_runs.cl', kernels, { KEY_BITS: width, VALUE_BYTES: 0, ...defines });
}

/**
 * Enqueues a reduction of each run.
 *
 * Complexity: two launches; every value is read once, and one result per run is written. The time does not depend
 * on the lengths of the runs.
 */
export async function enqueueReduceRuns(device: Device, work: ReduceRunsWork): Promise<void> {
  runReduceRuns(device, await buildReduceRuns(device, work), work);
}

/** Enqueues a reduction of each run by a program of `buildReduceRuns`. */
export function runReduceRuns(
  device: Device,
  { program, groupSize }: FittedProgram,
  { values, n, dtype, op, places, runs, results }: ReduceRunsWork,
): void {
  const tiles = Math.ceil(n / (groupSize * ITEMS));
  const codec = codecArgument(keyCodec(dtype, { nan: op === 'min' ? 'first' : 'last' }));
  const local = groupSize;
  device.pool.withBuffers([tiles * 8, tiles * 8, tiles * 4], (firsts, lasts, closed) => {
    const { queue } = device;
    const args = [values, places, results, firsts, lasts, closed, u64(n), u32(runs), codec];
    queue.run(program.kernel('reduce_run_tiles'), args, { global: tiles * local, local });
    const ends = [results, firsts, lasts, closed, u32(tiles), u32(runs), codec];
    queue.run(program.kernel('reduce_run_ends'), ends, { global: local, local });
  });
}
