import type { KeyArray } from '../../../keys/dtype.js';
import { keyCodec } from '../../../keys/key-codec.js';
import type { Keys } from '../../calls/array-store.js';
import type { Call } from '../../calls/call.js';
import { assertIndexable } from '../../model/array-assertions.js';
import { type Column, column } from '../../model/column.js';
import type { UniqueOptions } from '../../model/options.js';
import { type Awaitable, type Positions, parse, readKeys, taskOf } from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { Run } from '../operation.js';
import { groupEqual } from './group-equal.js';

export interface Unique {
  /**
   * Returns the distinct keys in order, and how often each occurs.
   *
   * Keys are compared as numbers: all NaNs are equal, and −0 equals +0. Each result is, bit for bit, the first of its
   * equals in the input. Complexity: a sort and one compaction.
   *
   * @param keys fewer than 2^32 keys: typed array or device array, or a promise of one
   * @param options the options of `sort` without `bitRange` and `into`
   * @returns `keys`, and `counts` as u32, where the input is
   * @throws UnsupportedError for 2^32 keys or more
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * const { keys, counts } = await sorter.unique(Uint8Array.of(3, 1, 3)); // 1, 3 and 1, 2
   * ```
   */
  unique<K extends Keys>(
    keys: Awaitable<K>,
    options?: UniqueOptions,
  ): Promise<{ keys: K; counts: Positions<K> }>;
}

/**
 * Returns the distinct keys in order, and how often each occurs. All NaNs are equal, and −0 equals +0. Each result is
 * the first of its equals in the input.
 *
 * @param keys typed array of fewer than 2^32 keys
 * @param options the options of `sort` without `bitRange` and `into`
 * @returns `keys`, and `counts` as 32-bit numbers
 * @throws UnsupportedError for 2^32 keys or more
 * @throws the other errors of `sort`
 * @example
 * ```ts
 * const { keys, counts } = await unique(Uint8Array.of(3, 1, 3)); // 1, 3 and 1, 2
 * ```
 */
export function unique<K extends KeyArray>(
  keys: K,
  options?: UniqueOptions,
): Promise<{ keys: K; counts: Uint32Array }> {
  return withSorter(options, (sorter: Unique, rest) => sorter.unique<KeyArray>(keys, rest)) as Promise<{
    keys: K;
    counts: Uint32Array;
  }>;
}

export const runUnique: Run<Unique> = ({ calls, arrays }, keys, options) =>
  calls.runWithInputs([keys], (dependency) => {
    const array = dependency.resolveInput(keys);
    const settings = parse(options, ['bitRange']);
    const input = readKeys(arrays, array, settings);
    assertIndexable(input.n);
    return arrays.withResults((make) => {
      const results = (distinct: number) => {
        const found = make.allocateLike(array, input.dtype, distinct);
        const counts = make.allocateBeside(array, 'u32', distinct);
        return {
          keys: column(input.dtype, distinct, found.place),
          counts: column('u32', distinct, counts.place),
          result: { keys: found.result, counts: counts.result as Positions<Keys> },
        };
      };
      if (input.n === 0) return results(0).result;
      return calls.execute(taskOf('unique', input, settings, array, dependency), async (call) => {
        const { result } = await enqueueUnique(call, input, results);
        return () => result;
      });
    });
  });

/**
 * Computes the distinct keys in order, and how often each occurs.
 *
 * Keys are compared as numbers: all NaNs are equal, and so are both zeros. Each result is, bit for bit, the first of
 * its equals in the input.
 *
 * @param make creates the result columns once their length is known; counts are u32
 */
export async function enqueueUnique<R extends { readonly keys: Column; readonly counts: Column }>(
  call: Call,
  keys: Column,
  make: (distinct: number) => R,
): Promise<R> {
  const { kernels } = call.columns;
  const { input, found, places, distinct } = await groupEqual(call, keys);
  await call.settle();
  const result = make(distinct());
  await call.bindOutput(result.counts, async (counts) => {
    await kernels.counts(places, keys.n, counts);
    const codec = keyCodec(keys.dtype, call.settings);
    await call.verify((verifier) => verifier.unique(input, { ...found, n: counts.n }, counts, codec));
  });
  await call.copy(found, result.keys);
  return result;
}
