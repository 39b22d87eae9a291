import type { ArrayOf } from '../../../keys/array.js';
import type { KeyArray } from '../../../keys/dtype.js';
import { keyCodec, type Order } from '../../../keys/key-codec.js';
import { chain, type MaybePromise } from '../../../util/maybe-promise.js';
import { columnKernel } from '../../backend/column-kernel.js';
import { u32Of } from '../../backend/host-column-kernels.js';
import { encodedKeysOf, keysOf } from '../../backend/native-column-kernels.js';
import type { Keys } from '../../calls/array-store.js';
import type { Call } from '../../calls/call.js';
import { hostSearchSorted } from '../../host/host-select.js';
import { type Column, column, hostColumn, wordsOf } from '../../model/column.js';
import { type Into, type PrimitiveOptions, requireOptionsObject } from '../../model/options.js';
import {
  type Awaitable,
  assertOneOf,
  assertSeparateOutput,
  type PositionDtype,
  type Positions,
  parseOrder,
  parsePrimitive,
  readMatching,
  taskOf,
} from '../arguments.js';
import { bindInputs } from '../bind-columns.js';
import { withSorter } from '../default-sorters.js';
import type { OperationContext } from '../operation.js';
import { isBeyondU32, type PositionOptions, readPositions, writePositions } from '../positions.js';
import type { Search } from './device.js';

/** Options of `searchSorted`. */
export type SearchSortedOptions = PrimitiveOptions &
  Order & {
    /**
     * Position among equal keys: before all of them (`left`) or behind them (`right`).
     *
     * @defaultValue `'left'`
     */
    readonly side?: 'left' | 'right';
  };

export interface SearchSorted {
  /**
   * Returns the insertion point of each of `keys` in a sorted array: the number of keys of `sorted` that come before
   * it.
   *
   * With `side: 'right'`, keys that are equal to it count as well. The order is that of `sort` with the same
   * `descending` and `nan`, over bit patterns: −0 is before +0, and NaNs have their places. If `sorted` is in another
   * order, the result is undefined. Complexity: one binary search for each key.
   *
   * @param sorted keys in order, of the dtype of `keys` and in the same place
   * @param keys keys to search for: typed array or device array, or a promise of one
   * @param options `side` (default `'left'`), `descending` (default `false`), `nan` (default `'last'`), `positions`
   *   (default `'u32'`), `into`, `dtype`, `signal`, `timeout` and `onWarning`
   * @returns positions as u32 or u64, where the keys are
   * @throws InputError when the arrays differ in dtype or place
   * @throws UnsupportedError for 2^32 sorted keys or more without `positions: 'u64'`, and on a device
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * await sorter.searchSorted(Uint32Array.of(10, 20, 30), Uint32Array.of(20, 25)); // 1, 2
   * ```
   */
  searchSorted<K extends Keys, P extends PositionDtype = 'u32'>(
    sorted: Awaitable<K>,
    keys: Awaitable<K>,
    options?: SearchSortedOptions & PositionOptions<P> & Into<Positions<K, P>>,
  ): Promise<Positions<K, P>>;
}

/**
 * Returns the insertion point of each key in a sorted array: the number of keys of `sorted` that come before it. With
 * `side: 'right'`, keys that are equal to it count as well.
 *
 * @param sorted keys in the order of `sort`, of the dtype of `keys`
 * @param keys typed array of keys to search for
 * @param options `side` (default `'left'`), `descending` (default `false`), `nan` (default `'last'`), `positions`
 *   (default `'u32'`), `into`, `device` (default `'auto'`), `devices`, `dtype`, `signal`, `timeout` and `onWarning`
 * @returns positions: a Uint32Array, or a BigUint64Array with `positions: 'u64'`
 * @throws InputError when the arrays differ in dtype
 * @throws UnsupportedError for 2^32 sorted keys or more without `positions: 'u64'`, and on a device
 * @throws the other errors of `sort`
 * @example
 * ```ts
 * await searchSorted(Uint32Array.of(10, 20, 30), Uint32Array.of(20, 25)); // 1, 2
 * ```
 */
export function searchSorted<K extends KeyArray, P extends PositionDtype = 'u32'>(
  sorted: K,
  keys: K,
  options?: SearchSortedOptions & PositionOptions<P> & Into<ArrayOf<P>>,
): Promise<ArrayOf<P>> {
  return withSorter(options, (sorter: SearchSorted, rest) =>
    sorter.searchSorted<KeyArray, P>(sorted, keys, rest),
  );
}

export const runSearchSorted = (
  { calls, arrays }: OperationContext,
  sorted: Awaitable<Keys>,
  keys: Awaitable<Keys>,
  options?: SearchSortedOptions & PositionOptions & Into<Positions<Keys, PositionDtype>>,
): Promise<never> =>
  calls.runWithInputs([sorted, keys], (dependency) => {
    const { side = 'left', into, positions, descending, nan, ...rest } = requireOptionsObject(options);
    assertOneOf('side', ['left', 'right'], side);
    const [sortedArray, array] = [dependency.resolveInput(sorted), dependency.resolveInput(keys)];
    const settings = parsePrimitive(rest);
    const order = parseOrder({ descending, nan });
    const [from, input] = readMatching(arrays, sortedArray, array, settings, 'sorted and keys');
    const dtype = readPositions(positions, from.n);
    for (const one of [sortedArray, array]) assertSeparateOutput(one, into);
    return arrays.withResults((make) => {
      const places = make.allocateBeside(array, dtype, input.n, into);
      dependency.setResult(places.result);
      const to = column(dtype, input.n, places.place);
      const right = side === 'right';
      const getResult = () => places.result as never;
      const task = taskOf('searchSorted', input, settings, array, dependency, into);
      return calls.execute({ ...task, needsHost: isBeyondU32(from.n) }, (call) =>
        chain(
          writePositions(call, from.n, to, (out) => enqueue(call, from, input, { ...order, right }, out)),
          () => getResult,
        ),
      );
    });
  });

/**
 * Computes how many of `sorted` come before each key; with `right`, equal keys count as well.
 *
 * @param places u32, or u64 in the addon
 */
export const SEARCH_SORTED = columnKernel({
  host: (sorted: Column, keys: Column, { codec, right }: Search, places: Column) =>
    hostSearchSorted(hostColumn(sorted), hostColumn(keys), codec, right, u32Of(places)),
  native: {
    extent: (sorted, keys, _, places) => [Math.max(sorted.n, keys.n), sorted, keys, places],
    run: (onThreads, sorted, keys, { codec, right }, places) => {
      const parameters = [...encodedKeysOf(keys, codec), wordsOf(sorted), right, ...keysOf(places)];
      return onThreads('hostSearchSortedAsync', keys.n, ...parameters);
    },
  },
  load: async () => (await import('./device.js')).searchSortedOnDevice,
});

/** Enqueues the search. `places` receives the insertion points. */
function enqueue(
  call: Call,
  sorted: Column,
  keys: Column,
  { right, ...order }: Order & { readonly right: boolean },
  places: Column,
): MaybePromise<void> {
  if (keys.n === 0) return undefined;
  const search = { codec: keyCodec(keys.dtype, order), right };
  return chain(bindInputs(call, [sorted, keys]), ([sortedInput, input]) =>
    call.bindOutput(places, (out) =>
      call.columns.kernels.run(SEARCH_SORTED, sortedInput as Column, input as Column, search, out),
    ),
  );
}
