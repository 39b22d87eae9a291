/** The host engine of the addon: the sorts of host-sort.ts, with several threads beside JavaScript's. */
import { type HostColumn, isResizable } from '../../keys/array.js';
import { codecWords, keyCodec } from '../../keys/key-codec.js';
import { native } from '../../opencl/binding.js';
import { OpenCLError } from '../../opencl/errors.js';
import { MemoryError, UnsupportedError } from '../../util/errors.js';
import { hostThreads } from '../../util/threads.js';
import { throwIfAborted } from '../model/options.js';
import { type HostSegments, offsetsOf } from './host-segments.js';
import type { HostOrder, HostResult } from './host-sort.js';
import { MAX_KEYS_AT_ONCE } from './policy.js';

/** Whether the addon can sort in this memory: no other thread may use memory that may shrink. */
export const suitsNative = (keys: HostColumn, { sorted, values, moved }: HostResult): boolean =>
  ![keys.view, sorted, values?.place, moved].some((view) => view !== undefined && isResizable(view));

export const threadsFor = (n: number): number => (n <= MAX_KEYS_AT_ONCE ? 1 : hostThreads());

/** Smaller results come from V8. */
const LARGE_RESULT_BYTES = 2 ** 15;

/**
 * Allocates memory for a result, which may hold old data; undefined if V8 should.
 *
 * @throws MemoryError when it cannot be allocated
 */
export function resultMemory(bytes: number): ArrayBuffer | undefined {
  if (bytes < LARGE_RESULT_BYTES || nativeProblem()) return undefined;
  try {
    return native().allocateHostMemory(bytes, 0, true) as ArrayBuffer;
  } catch (error) {
    throw hostError(error, `allocate ${bytes} bytes`, 'Use smaller arrays');
  }
}

/** OpenCL's status for exhausted host memory. */
const OUT_OF_HOST_MEMORY = -6;

let problem: UnsupportedError | false | undefined;

/**
 * Returns the reason why the addon's host engine cannot be used, if there is one: the addon cannot be loaded, or
 * `CLSORT_HOST_ENGINE` is `javascript`. Loads the addon at the first call.
 */
export function nativeProblem(): UnsupportedError | undefined {
  if (problem === undefined) problem = findProblem() ?? false;
  return problem || undefined;
}

function findProblem(): UnsupportedError | undefined {
  if (process.env.CLSORT_HOST_ENGINE === 'javascript') {
    return new UnsupportedError('cannot use the addon: CLSORT_HOST_ENGINE requests the JavaScript engine');
  }
  try {
    native();
    return undefined;
  } catch (error) {
    if (error instanceof UnsupportedError) return error;
    throw error;
  }
}

/** Segments that are sorted separately, and the signal of a call. */
interface SortContext {
  readonly segments?: HostSegments | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sorts keys like `hostSort`, or each of their segments. Small arrays are sorted before it returns.
 *
 * @throws AbortedError when the signal is aborted; results in the memory of the input are then a permutation of it
 * @throws MemoryError when the scratch memory cannot be allocated; other results than the input are undefined then
 */
export async function nativeSort(
  keys: HostColumn,
  order: HostOrder,
  result: HostResult,
  { segments, signal }: SortContext,
): Promise<void> {
  const { n } = keys;
  if (n === 0) return;
  if (n <= MAX_KEYS_AT_ONCE) return sortAtOnce(keys, order, result, { segments, signal });
  const parameters = parametersOf(keys, order, result, segments);
  try {
    await runJob((stop) => native().hostSortAsync(threadsFor(n), stop, ...parameters), signal);
  } catch (error) {
    throw sortError(error, n);
  }
}

/** Sorts at most `MAX_KEYS_AT_ONCE` keys as `nativeSort` does, without a promise. */
export function sortAtOnce(
  keys: HostColumn,
  order: HostOrder,
  result: HostResult,
  { segments, signal }: SortContext,
): void {
  try {
    native().hostSort(1, undefined, ...parametersOf(keys, order, result, segments));
  } catch (error) {
    throw sortError(error, keys.n);
  }
  throwIfAborted(signal);
}

const sortError = (error: unknown, n: number) => hostError(error, `sort ${n} keys`, 'Sort them in parts');

/**
 * Verifies a result of `nativeSort` like `verifySteps`, or that of each segment, on several threads.
 *
 * @throws AbortedError when the signal is aborted
 * @throws MemoryError when the scratch memory cannot be allocated
 */
export async function nativeVerify(
  keys: HostColumn,
  order: HostOrder,
  result: HostResult,
  { segments, signal }: SortContext,
): Promise<{ order: boolean; permutation: boolean }> {
  const findings = BigUint64Array.of(1n, 1n);
  if (keys.n > 0) {
    const parameters = [...parametersOf(keys, order, result, segments), findings];
    await runOnThreads('hostVerifyAsync', keys.n, parameters, signal);
  }
  return { order: findings[0] === 1n, permutation: findings[1] === 1n };
}

/** Returns the arguments of the addon's functions that sort and verify. */
function parametersOf(
  { view, dtype, info, n }: HostColumn,
  order: HostOrder,
  { sorted, values, moved }: HostResult,
  segments: HostSegments | undefined,
): readonly unknown[] {
  const [begin, end] = order.bits ?? [0, info.width];
  return [
    view,
    info.bytes,
    codecWords(keyCodec(dtype, order), (1n << BigInt(end)) - (1n << BigInt(begin))),
    sorted,
    moved && values?.place,
    moved ? (values?.bytes ?? moved.byteLength / n) : 0,
    moved,
    segments && offsetsOf(segments),
    segments?.fromSegment ?? false,
  ];
}

/** Functions of the addon that process arrays on several threads. */
type HostFunction = `host${string}Async`;

/**
 * Runs one of the addon's other operations on n elements, on several threads.
 *
 * @throws AbortedError when the signal is aborted; the result is then undefined
 * @throws MemoryError when the scratch memory cannot be allocated
 */
export async function runOnThreads(
  name: HostFunction,
  n: number,
  parameters: readonly unknown[],
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    await runJob((stop) => native()[name](threadsFor(n), stop, ...parameters), signal);
  } catch (error) {
    throw hostError(error, `process ${n} elements`, 'Use smaller arrays');
  }
}

/** Starts a job and waits for its end. The word `stop` becomes 1 when the signal is aborted. */
async function runJob(
  start: (stop: Int32Array) => Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const stop = Int32Array.of(signal?.aborted ? 1 : 0);
  const onAbort = () => {
    stop[0] = 1;
  };
  signal?.addEventListener('abort', onAbort);
  try {
    await start(stop);
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
  throwIfAborted(signal);
}

function hostError(error: unknown, task: string, advice: string): unknown {
  if (!(error instanceof OpenCLError) || error.code !== OUT_OF_HOST_MEMORY) return error;
  return new MemoryError(`cannot ${task} on the host: memory is insufficient. ${advice}`, { cause: error });
}
