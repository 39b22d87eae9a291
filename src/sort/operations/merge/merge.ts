import type { KeyArray } from '../../../keys/dtype.js';
import { type KeyCodec, keyCodec, type Order } from '../../../keys/key-codec.js';
import { columnKernel } from '../../backend/column-kernel.js';
import { encodedKeysOf } from '../../backend/native-column-kernels.js';
import type { Keys } from '../../calls/array-store.js';
import { hostMerge } from '../../host/host-select.js';
import { type Column, column, hostColumn, wordsOf } from '../../model/column.js';
import { type Into, type PrimitiveOptions, requireOptionsObject } from '../../model/options.js';
import {
  type Awaitable,
  assertSeparateOutput,
  parseOrder,
  parsePrimitive,
  readMatching,
  taskOf,
} from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { Run } from '../operation.js';

/** Options of `merge`: the order of both arrays, and how to run. */
export type MergeOptions = PrimitiveOptions & Order;

export interface Merge {
  /**
   * Merges two sorted arrays into one. The result is what `sort` returns for the concatenation of `a` and `b`.
   *
   * Both arrays are in the order of `sort` with the same `descending` and `nan`; otherwise the result is not in order
   * either. Of equal keys those of `a` come first. Source: O. Green, R. McColl, D. Bader, "GPU Merge Path" (2012).
   * Complexity: O(n).
   *
   * @param a sorted typed array or device array, or a promise of one
   * @param b sorted array of the same dtype in the same place
   * @param options `descending` (default `false`), `nan` (default `'last'`), `into`, `dtype`, `signal`, `timeout` and
   *   `onWarning`
   * @returns the merged keys, in an array of the type of `a`
   * @throws InputError when the arrays differ in dtype or place
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * await sorter.merge(Uint32Array.of(1, 4), Uint32Array.of(2, 3)); // 1, 2, 3, 4
   * ```
   */
  merge<K extends Keys>(a: Awaitable<K>, b: Awaitable<K>, options?: MergeOptions & Into<K>): Promise<K>;
}

/**
 * Merges two sorted arrays into one. Of equal keys those of `a` come first.
 *
 * @param a typed array in the order of `sort`
 * @param b typed array of the same dtype in the same order
 * @param options `descending` (default `false`), `nan` (default `'last'`), `into`, `device` (default `'auto'`),
 *   `devices`, `dtype`, `signal`, `timeout` and `onWarning`
 * @returns the merged keys, in an array of the type of `a`
 * @throws InputError when the arrays differ in dtype
 * @throws the other errors of `sort`
 * @example
 * ```ts
 * await merge(Uint32Array.of(1, 4), Uint32Array.of(2, 3)); // 1, 2, 3, 4
 * ```
 */
export function merge<K extends KeyArray>(a: K, b: K, options?: MergeOptions & Into<K>): Promise<K> {
  return withSorter(options, (sorter: Merge, rest) => sorter.merge<KeyArray>(a, b, rest)) as Promise<K>;
}

export const runMerge: Run<Merge> = ({ calls, arrays }, a, b, options) =>
  calls.runWithInputs([a, b], (dependency) => {
    const { into, descending, nan, ...rest } = requireOptionsObject(options);
    const [first, second] = [dependency.resolveInput(a), dependency.resolveInput(b)];
    const settings = parsePrimitive(rest);
    const order = parseOrder({ descending, nan });
    const [from, other] = readMatching(arrays, first, second, settings, 'a and b');
    for (const one of [first, second]) assertSeparateOutput(one, into);
    return arrays.withResults((make) => {
      const n = from.n + other.n;
      const merged = make.allocateLike(first, from.dtype, n, into);
      dependency.setResult(merged.result);
      const to = column(from.dtype, n, merged.place);
      const task = { ...taskOf('merge', from, settings, first, dependency, into), n };
      return calls.execute(task, async (call) => {
        if (n > 0) {
          const [one, two] = [await call.bindInput(from), await call.bindInput(other)];
          const codec = keyCodec(from.dtype, order);
          await call.bindOutput(to, (out) => call.columns.kernels.run(MERGE, one, two, codec, out));
        }
        return () => merged.result;
      });
    });
  });

/** Merges two columns that are in the codec's order. Of equal keys those of `a` come first. */
export const MERGE = columnKernel({
  host: (a: Column, b: Column, codec: KeyCodec, to: Column) =>
    hostMerge(hostColumn(a), hostColumn(b), codec, wordsOf(to)),
  native: {
    extent: (a, b, _, to) => [a.n + b.n, a, b, to],
    run: (onThreads, a, b, codec, to) =>
      onThreads('hostMergeAsync', a.n + b.n, ...encodedKeysOf(a, codec), wordsOf(b), wordsOf(to)),
  },
  load: async () => (await import('./device.js')).mergeOnDevice,
});
