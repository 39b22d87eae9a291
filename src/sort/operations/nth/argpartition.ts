import type { ArrayOf } from '../../../keys/array.js';
import type { KeyArray } from '../../../keys/dtype.js';
import { decode, encode, keyCodec } from '../../../keys/key-codec.js';
import type { Keys } from '../../calls/array-store.js';
import type { Call, Sort } from '../../calls/call.js';
import { type Column, column } from '../../model/column.js';
import { requireOptionsObject } from '../../model/options.js';
import type { Awaitable, PositionDtype, Positions } from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { OperationContext } from '../operation.js';
import { MAX_PIVOTS } from '../policy.js';
import { type PositionOptions, readPositions, writePositions } from '../positions.js';
import { SEARCH_SORTED } from '../search-sorted/search-sorted.js';
import { type NthOptions, readSelection } from './nth.js';
import { columnOfBits, keysAtRanks } from './ranks.js';

export interface Argpartition {
  /**
   * Returns the positions of the keys so that `keys[result[k]]` is the key at position `k` of the ascending order. The
   * keys before it come no later in the order, and those behind it no earlier.
   *
   * Positions on each side keep the order of the input. The selection is that of `nth`; above 64 positions, all keys are
   * sorted.
   *
   * @param keys fewer than 2^32 keys: typed array or device array, or a promise of one
   * @param k position, from 0; or several positions, for each of which this holds
   * @param options `positions` (default `'u32'`), `nan` (default `'last'`), `verify` (default `false`), `dtype`, `signal`,
   *   `timeout` and `onWarning`
   * @returns positions as u32 or u64, where the keys are
   * @throws UsageError when a position is not a whole number below the number of keys
   * @throws UnsupportedError for 2^32 keys or more
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * const order = await sorter.argpartition(Uint8Array.of(9, 5, 7, 1), 1); // 3, 1, 0, 2
   * ```
   */
  argpartition<K extends Keys, P extends PositionDtype = 'u32'>(
    keys: Awaitable<K>,
    k: number | readonly number[],
    options?: NthOptions & PositionOptions<P>,
  ): Promise<Positions<K, P>>;
}

/**
 * Returns the positions of the keys so that `keys[result[k]]` is the key at position `k` of the ascending order. The keys
 * before it come no later in the order, and those behind it no earlier. Each side keeps the order of the input.
 *
 * @param keys typed array of fewer than 2^32 keys
 * @param k position, from 0; or several positions, for each of which this holds
 * @param options `positions` (default `'u32'`), `nan` (default `'last'`), `verify` (default `false`), `device` (default
 *   `'auto'`), `devices`, `dtype`, `signal`, `timeout` and `onWarning`
 * @returns positions: a Uint32Array, or a BigUint64Array with `positions: 'u64'`
 * @throws UsageError when a position is not a whole number below the number of keys
 * @throws UnsupportedError for 2^32 keys or more
 * @throws the other errors of `sort`
 * @example
 * ```ts
 * const order = await argpartition(Uint8Array.of(9, 5, 7, 1), 1); // 3, 1, 0, 2
 * ```
 */
export function argpartition<P extends PositionDtype = 'u32'>(
  keys: KeyArray,
  k: number | readonly number[],
  options?: NthOptions & PositionOptions<P>,
): Promise<ArrayOf<P>> {
  return withSorter(options, (sorter: Argpartition, rest) => sorter.argpartition<KeyArray, P>(keys, k, rest));
}

export const runArgpartition = (
  { calls, arrays }: OperationContext,
  keys: Awaitable<Keys>,
  k: number | readonly number[],
  options?: NthOptions & PositionOptions,
): Promise<never> =>
  calls.runWithInputs([keys], (dependency) => {
    const array = dependency.resolveInput(keys);
    const { positions, ...rest } = requireOptionsObject(options);
    const { input, ranks, task } = readSelection(arrays, array, k, rest, dependency);
    const dtype = readPositions(positions);
    return arrays.withResults((make) => {
      const moved = make.allocateBeside(array, dtype, input.n);
      const result = moved.result as never;
      if (input.n === 0) return result;
      dependency.setResult(moved.result);
      return calls.execute(task, async (call) => {
        await writePositions(call, input.n, column(dtype, input.n, moved.place), (to) =>
          enqueueArgpartition(call, input, ranks, to),
        );
        return () => result;
      });
    });
  });

/** Enqueues the sort of the keys by the part that they are in: before, at or behind each rank. */
async function enqueueArgpartition(
  call: Call,
  keys: Column,
  ranks: readonly number[],
  to: Column,
): Promise<void> {
  const input = await call.bindInput(keys);
  if (ranks.length === 0 || ranks.length > MAX_PIVOTS) return call.sort({ keys: input, moved: to.place });
  const { kernels } = call.columns;
  const parts = call.columns.temporary('u32', keys.n);
  const search = { codec: keyCodec(keys.dtype, { nan: call.settings.nan }), right: true };
  const sortOf = (pivotCount: number): Sort => {
    const bits = [0, 32 - Math.clz32(pivotCount)] as const;
    return { keys: parts, settings: { bits }, moved: to.place };
  };
  const found = await keysAtRanks(call, keys, ranks, {
    sort: sortOf(2 * ranks.length),
    steps: (none) => {
      const noKeys = none(keys.dtype);
      return [kernels.run(SEARCH_SORTED, noKeys, noKeys, search, none('u32'))];
    },
  });
  const pivots = pivotsOf(keys, found, call.settings.nan);
  await kernels.run(SEARCH_SORTED, await call.bindInput(pivots), input, search, parts);
  await call.sort(sortOf(pivots.n));
}

/** Returns the keys that parts begin with: each of some keys, and the next one in the order. */
function pivotsOf({ dtype, info }: Column, keys: readonly bigint[], nan: 'first' | 'last'): Column {
  const codec = keyCodec(dtype, { nan });
  const codes = new Set(keys.flatMap((bits) => [encode(codec, bits), encode(codec, bits) + 1n]));
  codes.delete(1n << BigInt(info.width));
  const ascending = [...codes].sort((a, b) => (a < b ? -1 : 1));
  return columnOfBits(
    { dtype, info },
    ascending.map((code) => decode(codec, code)),
  );
}
