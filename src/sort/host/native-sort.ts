/** The host engine of the addon: the sorts of host-sort.ts, with several threads beside JavaScript's. */
import type { HostColumn } from '../../keys/array.js';
import { codecWords, keyCodec } from '../../keys/key-codec.js';
import { native } from '../../opencl/binding.js';
import { OpenCLError } from '../../opencl/errors.js';
import { MemoryError, UnsupportedError } from '../../util/errors.js';
import { hostThreads } from '../../util/threads.js';
import { throwIfAborted } from '../model/options.js';
import { type HostSegments, offsetsOf } from './host-segments.js';
import type { HostOrder, HostResult } from './host-sort.js';

/**
 * Maximum keys that are sorted on the JavaScript thread: at most about a millisecond of work. Below, a change of threads
 * takes longer than the second thread gains: 20 to 50 microseconds.
 */
const MAX_KEYS_AT_ONCE = 2 ** 16;

/** Whether the memory of an array may shrink, so that no other thread may use it. */
const isResizable = ({ buffer }: ArrayBufferView): boolean => {
  const { resizable, growable } = buffer as { resizable?: boolean; growable?: boolean };
  return resizable === true || growable === true;
};

/** Whether the addon can sort in this memory. */
export const suitsNative = (keys: HostColumn, { sorted, values, moved }: HostResult): boolean =>
  ![keys.view, sorted, values?.view, moved].some((view) => view !== undefined && isResizable(view));

/** Returns the number of threads that sort n keys. */
export const threadsFor = (n: number): number => (n <= MAX_KEYS_AT_ONCE ? 1 : hostThreads());

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

/**
 * Sorts keys like `hostSort`, or each of their segments. Small arrays are sorted before it returns.
 *
 * @throws AbortedError when the signal is aborted; results in the memory of the input are then a permutation of it
 * @throws MemoryError when the scratch memory cannot be allocated; no result has changed then
 */
export async function nativeSort(
  keys: HostColumn,
  order: HostOrder,
  { sorted, values, moved }: HostResult,
  {
    segments,
    signal,
  }: { readonly segments?: HostSegments | undefined; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const { view, info, n } = keys;
  if (n === 0) return;
  const [begin, end] = order.bits ?? [0, info.width];
  const parameters = [
    view,
    info.bytes,
    codecWords(keyCodec(keys.dtype, order), (1n << BigInt(end)) - (1n << BigInt(begin))),
    sorted,
    moved && values?.view,
    moved ? (values?.bytes ?? moved.byteLength / n) : 0,
    moved,
    segments && offsetsOf(segments),
    segments?.fromSegment ?? false,
  ];
  try {
    if (n <= MAX_KEYS_AT_ONCE) {
      native().hostSort(...parameters, 1);
      return;
    }
    const stop = new Int32Array(1);
    const onAbort = () => {
      stop[0] = 1;
    };
    signal?.addEventListener('abort', onAbort);
    try {
      await native().hostSortAsync(...parameters, threadsFor(n), stop);
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  } catch (error) {
    throw hostError(error, n);
  }
  throwIfAborted(signal);
}

function hostError(error: unknown, n: number): unknown {
  if (!(error instanceof OpenCLError) || error.code !== OUT_OF_HOST_MEMORY) return error;
  return new MemoryError(`cannot sort ${n} keys on the host: memory is insufficient. Sort them in parts`, {
    cause: error,
  });
}
