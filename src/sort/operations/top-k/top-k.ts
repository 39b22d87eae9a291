import type { ArrayOf } from '../../../keys/array.js';
import type { KeyArray } from '../../../keys/dtype.js';
import { keyCodec } from '../../../keys/key-codec.js';
import type { Call } from '../../calls/call.js';
import type { ArrowVector, VectorOptions } from '../../model/arrow-vector.js';
import { type Column, column, isOnDevice } from '../../model/column.js';
import { bitWindow, requireOptionsObject, type TopKOptions } from '../../model/options.js';
import { ShardedArray } from '../../model/sharded-array.js';
import {
  type Awaitable,
  assertTop,
  type PositionDtype,
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
import type { OperationContext, TopColumns } from '../operation.js';
import { SELECT_SHARE } from '../policy.js';
import { isBeyondU32, type PositionOptions, readPositions, writePositions } from '../positions.js';

export interface TopK {
  /**
   * Returns the first `k` rows of what `sort` and `argsort` of an `apache-arrow` vector return with `descending:
   * largest`. Nulls count as rows: they come after all keys, or before them with `nulls: 'first'`.
   *
   * @param vector vector of fewer than 2^32 rows
   * @param k number of rows; all of them if there are fewer
   * @param options `largest` (default `true`), `nulls` (default `'last'`), and the options of `sort` without
   *   `descending`, `dtype` and `into`
   * @returns `keys`, a vector, and `indices` as u32
   * @throws UsageError when `k` is not a whole number
   * @throws the errors of `sort` of a vector
   * @example
   * ```ts
   * const { keys, indices } = await sorter.topK(table.getChild('price')!, 100);
   * ```
   */
  topK<V extends ArrowVector>(
    vector: V,
    k: number,
    options?: VectorOptions<TopKOptions>,
  ): Promise<{ keys: V; indices: Uint32Array }>;
  /**
   * Returns the `k` largest keys, or the smallest, in order, and their positions.
   *
   * The result is the beginning of what `sort` and `argsort` return with `descending: largest`. Of equal keys the first
   * ones are taken. NaNs come last, or first with `nan: 'first'`. Above a break-even size, and if `k` is at most n / 4,
   * a radix select finds the keys before they are sorted. Otherwise all keys are sorted.
   *
   * @param keys typed array, device array or sharded array, or a promise of one
   * @param k number of keys; all of them if there are fewer
   * @param options `largest` (default `true`; `false` for the smallest keys), `positions` (default `'u32'`), and the
   *   options of `sort` without `descending` and `into`
   * @returns `keys`, and `indices` as u32 or u64, where the input is; for a sharded array, on the host
   * @throws UsageError when `k` is not a whole number
   * @throws UnsupportedError for 2^32 keys or more without `positions: 'u64'`, and on a device
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * const { keys, indices } = await sorter.topK(scores, 100);
   * ```
   */
  topK<K extends Shardable, P extends PositionDtype = 'u32'>(
    keys: Awaitable<K>,
    k: number,
    options?: TopKOptions & PositionOptions<P>,
  ): Promise<{ keys: TopOf<K>; indices: TopOf<Positions<K, P>> }>;
}

/**
 * Returns the `k` largest keys, or the smallest, in order, and their positions. The result is the beginning of what
 * `sort` and `argsort` return. Of equal keys the first ones are taken.
 *
 *     const { keys, indices } = await topK(scores, 100);
 *
 * @param keys typed array
 * @param k number of keys; all of them if there are fewer
 * @param options `largest` (default `true`; `false` for the smallest keys), `positions` (default `'u32'`), and the
 *   options of `sort` without `descending` and `into`
 * @returns `keys`, and `indices`: a Uint32Array, or a BigUint64Array with `positions: 'u64'`
 * @throws UsageError when `k` is not a whole number
 * @throws UnsupportedError for 2^32 keys or more without `positions: 'u64'`, and on a device
 * @throws the other errors of `sort`
 */
export function topK<K extends KeyArray, P extends PositionDtype = 'u32'>(
  keys: K,
  k: number,
  options?: TopKOptions & PositionOptions<P>,
): Promise<{ keys: K; indices: ArrayOf<P> }>;
/**
 * Returns the first `k` rows of what `sort` and `argsort` of an `apache-arrow` vector return with `descending: largest`.
 * Nulls count as rows: they come after all keys, or before them with `nulls: 'first'`.
 *
 *     const { keys, indices } = await topK(table.getChild('price'), 100);
 *
 * @param vector vector of fewer than 2^32 rows
 * @param k number of rows; all of them if there are fewer
 * @param options `largest` (default `true`), `nulls` (default `'last'`), and the options of `sort` without `descending`,
 *   `dtype` and `into`
 * @returns `keys`, a vector, and `indices` as 32-bit numbers
 * @throws UsageError when `k` is not a whole number
 * @throws the errors of `sort` of a vector
 */
export function topK<V extends ArrowVector>(
  vector: V,
  k: number,
  options?: VectorOptions<TopKOptions>,
): Promise<{ keys: V; indices: Uint32Array }>;
export function topK(
  keys: KeyArray,
  k: number,
  options?: TopKOptions & PositionOptions,
): Promise<{ keys: KeyArray; indices: ArrayOf<PositionDtype> }> {
  return withSorter(options, (sorter: TopK, rest) => sorter.topK<KeyArray, PositionDtype>(keys, k, rest));
}

export const runTopK = (
  { calls, arrays, group, shardedArrays }: OperationContext,
  keys: Awaitable<Shardable>,
  k: number,
  options?: TopKOptions & PositionOptions,
): Promise<never> =>
  calls.runWithInputs([keys], (dependency) => {
    const array = dependency.resolveInput(keys);
    const { largest = true, positions, ...rest } = requireOptionsObject(options);
    assertTop(k, largest);
    const settings = parse({ ...rest, descending: largest });
    if ('descending' in rest) throw unusableOption('descending', "topK uses 'largest' instead");
    if (array instanceof ShardedArray) {
      const dtype = readPositions(positions, array.length);
      return shardedArrays().topK(array, k, shardedSettings(settings, array), dtype) as Promise<never>;
    }
    const input = readKeys(arrays, array, settings);
    const dtype = readPositions(positions, input.n);
    const needsHost = isBeyondU32(input.n);
    const count = Math.min(k, input.n);
    return arrays.withResults(async (make) => {
      const top = make.allocateLike(array, input.dtype, count);
      const indices = make.allocateBeside(array, dtype, count);
      const result = { keys: top.result, indices: indices.result } as never;
      if (count === 0) return result;
      const out = {
        keys: column(input.dtype, count, top.place),
        positions: column(dtype, count, indices.place),
      };
      const shared = needsHost ? undefined : group?.topK(input, out, settings);
      const task = { ...taskOf('topK', input, settings, array, dependency), shared, needsHost };
      await calls.execute(task, async (call) => {
        await writePositions(call, input.n, out.positions, (to) =>
          enqueueTopK(call, input, { ...out, positions: to }),
        );
        return () => undefined;
      });
      return result;
    });
  });

/**
 * Computes the first keys of the sorted order and their positions, as a stable sort of all keys would.
 *
 * @param out as many keys and positions as are wanted, at most as many as there are keys
 */
export async function enqueueTopK(call: Call, keys: Column, out: TopColumns): Promise<void> {
  const { n, dtype, info } = keys;
  const k = out.keys.n;
  const { columns, settings } = call;
  const { dtype: positionDtype, info: position } = out.positions;
  const input = await call.bindInput(keys);
  const bits = bitWindow(settings.bits, info);
  const whole = bits[0] === 0 && bits[1] === info.width;
  const codec = keyCodec(dtype, settings);
  call.prepareVerify(dtype, (verifier, none) =>
    verifier.top(none, { keys: none, positions: none, k, codec, bits }),
  );
  /** The verifier needs results that the device can read, so they are copied afterwards. */
  const verifyAndCopy = async (found: TopColumns): Promise<void> => {
    await call.verify((verifier) => verifier.top(input, { ...found, k, codec, bits }));
    await call.copy(found.keys, out.keys);
    await call.copy(found.positions, out.positions);
  };
  if (whole && k <= n * SELECT_SHARE && columns.prefersSelect(n)) {
    const temporary = () => ({
      keys: columns.temporary(dtype, k),
      positions: columns.temporary(positionDtype, k),
    });
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
      values: { place: selected.positions.place, bytes: position.bytes },
      moved: found.positions.place,
    });
    return found === out ? undefined : verifyAndCopy(found);
  }
  const sorted = columns.temporary(dtype, n);
  const positions = columns.temporary(positionDtype, n);
  const widePositions = positionDtype === 'u64';
  await call.sort({ keys: input, sorted: sorted.place, moved: positions.place, widePositions });
  await verifyAndCopy({ keys: { ...sorted, n: k }, positions: { ...positions, n: k } });
}
