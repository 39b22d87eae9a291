/** Positions that an operation returns: as u32, or as u64 on request. */
import { keyCodec } from '../../keys/key-codec.js';
import { UnsupportedError } from '../../util/errors.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import type { ColumnKernels } from '../backend/column-kernels.js';
import { NativeColumnKernels } from '../backend/native-column-kernels.js';
import type { Call } from '../calls/call.js';
import { assertIndexable, MAX_INDICES, runWhileAttached } from '../model/array-assertions.js';
import { byteLengthOf, type Column } from '../model/column.js';
import { assertOneOf, type PositionDtype } from './arguments.js';

/** Option of operations that return positions. */
export interface PositionOptions<P extends PositionDtype = PositionDtype> {
  /**
   * Dtype of the positions: `'u32'`, or `'u64'`, with which the input of `argsort`, `topK` and `searchSorted` may have 2^32
   * keys or more.
   *
   * @defaultValue `'u32'`
   * @throws UnsupportedError for 2^32 keys or more with `'u32'`, and with either dtype in other operations
   */
  readonly positions?: P;
}

/**
 * Validates the option `positions`.
 *
 * @param n number of keys that have positions
 * @throws UsageError for another dtype; UnsupportedError when it cannot represent all positions
 */
export function readPositions(positions: PositionDtype = 'u32', n = 0): PositionDtype {
  assertOneOf('positions', ['u32', 'u64'], positions);
  if (positions === 'u32') assertIndexable(n, "Use positions: 'u64'");
  return positions;
}

/** Whether an array has so many keys that positions of 32 bits cannot represent all of them. */
export const isBeyondU32 = (n: number): boolean => n >= MAX_INDICES;

/** Copies positions of u32 to a column of u64. */
export const widenPositions = (kernels: ColumnKernels, from: Column, to: Column): MaybePromise<void> =>
  kernels.appendCodes(from, keyCodec('u32'), to, 0, true);

/**
 * Copies positions of u32 to an array of u64, both in host memory.
 *
 * @throws InputError when an array is detached; AbortedError when the signal is aborted
 */
export function widenOnHost(from: Column, to: Column, signal: AbortSignal | undefined): Promise<void> {
  const spans = [from, to].map((one) => [one.place, byteLengthOf(one)] as const);
  return runWhileAttached(spans, async () => widenPositions(new NativeColumnKernels(signal), from, to));
}

/**
 * Lets `write` compute positions, as u32 if that represents all of them, and widens them if `to` has u64.
 *
 * @param n number of keys that have positions
 * @throws UnsupportedError for 2^32 keys or more on a device, whose kernels write u32
 */
export function writePositions(
  call: Call,
  n: number,
  to: Column,
  write: (positions: Column) => MaybePromise<void>,
): MaybePromise<void> {
  const { columns } = call;
  if (to.dtype === 'u32' || isBeyondU32(n)) {
    if (isBeyondU32(n) && !columns.kernels.writesWidePositions) throw tooManyOnDevice(n);
    return write(to);
  }
  const narrow = columns.temporary('u32', to.n);
  return chain(write(narrow), () =>
    call.bindOutput(to, (out) => widenPositions(columns.kernels, narrow, out)),
  );
}

const tooManyOnDevice = (n: number): UnsupportedError =>
  new UnsupportedError(
    `cannot compute positions of ${n} keys on a device: its limit is 2^32 - 1 keys. Use device: 'host', or process the keys in parts`,
  );
