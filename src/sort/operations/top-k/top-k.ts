import type { KeyArray } from '../../../keys/dtype.js';
import { keyCodec } from '../../../keys/key-codec.js';
import type { Keys } from '../../calls/array-store.js';
import type { Call } from '../../calls/call.js';
import { assertIndexable } from '../../model/array-assertions.js';
import { type Column, column, isOnDevice } from '../../model/column.js';
import { bitWindow, requireOptionsObject, type TopKOptions } from '../../model/options.js';
import { ShardedArray } from '../../model/sharded-array.js';
import {
  type Awaitable,
  assertTop,
  type Positions,
  parse,
  readKeys,
  type Shardable,
  shardedSettings,
  type TopOf,
  taskOf,
  unusableOption,
} from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { Run, TopColumns } from '../operation.js';
import { SELECT_SHARE } from '../policy.js';

export interface TopK {
  /**
   * Returns the `k` largest keys, or the smallest, in order, and their positions.
   *
   * The result is the beginning of what `sort` and `argsort` return with `descending: largest`. Of equal keys the first
   * ones are taken. NaNs come last, or first with `nan: 'first'`. Above a break-even size, and if `k` is at most n / 4,
   * a radix select finds the keys before they are sorted. Otherwise all keys are sorted.
   *
   * @param keys fewer than 2^32 keys: typed array, device array or sharded array, or a promise of one
   * @param k number of keys; all of them if there are fewer
   * @param options `largest` (default `true`; `false` for the smallest keys), and the options of `sort` without
   *   `descending` and `into`
   * @returns `keys`, and `indices` as u32, where the input is; for a sharded array, on the host
   * @throws UsageError when `k` is not a whole number
   * @throws UnsupportedError for 2^32 keys or more
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * const { keys, indices } = await sorter.topK(scores, 100);
   * ```
   */
  topK<K extends Shardable>(
    keys: Awaitable<K>,
    k: number,
    options?: TopKOptions,
  ): Promise<{ keys: TopOf<K>; indices: TopOf<Positions<K>> }>;
}

/**
 * Returns the `k` largest keys, or the smallest, in order, and their positions. The result is the beginning of what
 * `sort` and `argsort` return. Of equal keys the first ones are taken.
 *
 *     const { keys, indices } = await topK(scores, 100);
 *
 * @param keys typed array of fewer than 2^32 keys
 * @param k number of keys; all of them if there are fewer
 * @param options `largest` (default `true`; `false` for the smallest keys), and the options of `sort` without
 *   `descending` and `into`
 * @returns `keys`, and `indices` as 32-bit numbers
 * @throws UsageError when `k` is not a whole number
 * @throws UnsupportedError for 2^32 keys or more
 * @throws the other errors of `sort`
 */
export function topK<K extends KeyArray>(
  keys: K,
  k: number,
  options?: TopKOptions,
): Promise<{ keys: K; indices: Uint32Array }> {
  return withSorter(options, (sorter: TopK, rest: TopKOptions) =>
    sorter.topK<KeyArray>(keys, k, rest),
  ) as Promise<{
    keys: K;
    indices: Uint32Array;
  }>;
}

export const runTopK: Run<TopK> = ({ calls, arrays, group, shardedArrays }, keys, k, options) =>
  calls.runWithInputs<{ keys: Keys; indices: Positions<Keys> }>([keys], (dependency) => {
    const array = dependency.resolveInput(keys);
    const { largest = true, ...rest } = requireOptionsObject(options);
    assertTop(k, largest);
    const settings = parse({ ...rest, descending: largest });
    if ('descending' in rest) throw unusableOption('descending', "topK uses 'largest' instead");
    if (array instanceof ShardedArray) {
      return shardedArrays().topK(array, k, shardedSettings(settings, array));
    }
    const input = readKeys(arrays, array, settings);
    assertIndexable(input.n);
    const count = Math.min(k, input.n);
    return arrays.withResults(async (make) => {
      const top = make.allocateLike(array, input.dtype, count);
      const indices = make.allocateBeside(array, 'u32', count);
      const result = { keys: top.result, indices: indices.result as Positions<Keys> };
      if (count === 0) return result;
      const out = {
        keys: column(input.dtype, count, top.place),
        positions: column('u32', count, indices.place),
      };
      const shared = group?.topK(input, out, settings);
      await calls.execute({ ...taskOf('topK', input, settings, array, dependency), shared }, async (call) => {
        await enqueueTopK(call, input, out);
        return () => undefined;
      });
      return result;
    });
  });

/**
 * Computes the first keys of the sorted order and their positions, as a stable sort of all keys would.
 *
 * @param out as many keys and positions (u32) as are wanted, at most as many as there are keys
 */
export async function enqueueTopK(call: Call, keys: Column, out: TopColumns): Promise<void> {
  const { n, dtype, info } = keys;
  const k = out.keys.n;
  const { columns, settings } = call;
  const input = await call.bindInput(keys);
  const bits = bitWindow(settings.bits, info);
  const whole = bits[0] === 0 && bits[1] === info.width;
  const codec = keyCodec(dtype, settings);
  /** The verifier needs results that the device can read, so they are copied afterwards. */
  const verifyAndCopy = async (found: TopColumns): Promise<void> => {
    await call.verify((verifier) => verifier.top(input, { ...found, k, codec, bits }));
    await call.copy(found.keys, out.keys);
    await call.copy(found.positions, out.positions);
  };
  if (whole && k <= n * SELECT_SHARE && columns.prefersSelect(n)) {
    const temporary = () => ({ keys: columns.temporary(dtype, k), positions: columns.temporary('u32', k) });
    const isDirect = !settings.verify && isOnDevice(out.keys.place) && isOnDevice(out.positions.place);
    const ranked = isDirect ? out : temporary();
    // A report describes a sort, and a requested algorithm has to sort.
    const needsSort = settings.onReport !== undefined || settings.algorithm !== 'auto';
    if (!needsSort && (await columns.kernels.selectSorted(input, codec, ranked))) {
      return ranked === out ? undefined : verifyAndCopy(ranked);
    }
    const selected = temporary();
    await columns.kernels.select(input, codec, selected);
    const found = settings.verify ? ranked : out;
    await call.sort({
      keys: selected.keys,
      sorted: found.keys.place,
      values: { place: selected.positions.place, bytes: 4 },
      moved: found.positions.place,
    });
    return found === out ? undefined : verifyAndCopy(found);
  }
  const sorted = columns.temporary(dtype, n);
  const positions = columns.temporary('u32', n);
  await call.sort({ keys: input, sorted: sorted.place, moved: positions.place });
  await verifyAndCopy({ keys: { ...sorted, n: k }, positions: { ...positions, n: k } });
}
