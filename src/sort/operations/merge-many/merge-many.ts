import { byteRange } from '../../../keys/array.js';
import type { KeyArray } from '../../../keys/dtype.js';
import { type KeyCodec, keyCodec } from '../../../keys/key-codec.js';
import { InputError } from '../../../util/errors.js';
import { invalidArgument } from '../../../util/invalid-argument.js';
import { columnKernel } from '../../backend/column-kernel.js';
import type { Keys } from '../../calls/array-store.js';
import type { Call } from '../../calls/call.js';
import { copySteps, type Steps } from '../../host/steps.js';
import { byteLengthOf, type Column, column, viewOf } from '../../model/column.js';
import { type Into, requireOptionsObject, type SortOptions } from '../../model/options.js';
import { type Awaitable, assertSeparateOutput, parse, readMatching, taskOf } from '../arguments.js';
import { bindInputs } from '../bind-columns.js';
import { withSorter } from '../default-sorters.js';
import { MERGE } from '../merge/merge.js';
import type { Run } from '../operation.js';
import { MAX_MERGED_ARRAYS } from '../policy.js';

/** Options of `mergeMany`, which compares whole keys. */
export type MergeManyOptions = Omit<SortOptions, 'bitRange'>;

export interface MergeMany {
  /**
   * Merges sorted arrays into one. The result is what `sort` returns for their concatenation.
   *
   * All arrays are in the order of `sort` with the same `descending` and `nan`; otherwise the result need not be in order.
   * The merge is stable: of equal keys, those of earlier arrays come first. Two arrays (four of 64-bit keys) are merged in
   * pairs, see `merge`. More arrays, keys of up to 16 bits, and merges that are verified are concatenated and sorted, which
   * takes O(n) time for each digit of the key, for any number of arrays.
   *
   * @param arrays sorted typed arrays or device arrays of one dtype in one place, or promises of them; at least one
   * @param options `descending` (default `false`), `nan` (default `'last'`), `into` and the other options of `sort` without
   *   `bitRange`
   * @returns the merged keys, in an array of the type of the first one
   * @throws InputError when there is no array, or the arrays differ in dtype or place
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * await sorter.mergeMany([Uint32Array.of(1, 4), Uint32Array.of(2, 3), Uint32Array.of(0)]); // 0, 1, 2, 3, 4
   * ```
   */
  mergeMany<K extends Keys>(
    arrays: readonly Awaitable<K>[],
    options?: MergeManyOptions & Into<K>,
  ): Promise<K>;
}

/**
 * Merges sorted arrays into one. The merge is stable: of equal keys, those of earlier arrays come first.
 *
 * @param arrays typed arrays of one dtype, each in the order of `sort`; at least one
 * @param options `descending` (default `false`), `nan` (default `'last'`), `into` and the other options of `sort` without
 *   `bitRange`
 * @returns the merged keys, in an array of the type of the first one
 * @throws InputError when there is no array, or the arrays differ in dtype
 * @throws the other errors of `sort`
 * @example
 * ```ts
 * await mergeMany([Uint32Array.of(1, 4), Uint32Array.of(2, 3), Uint32Array.of(0)]); // 0, 1, 2, 3, 4
 * ```
 */
export function mergeMany<K extends KeyArray>(
  arrays: readonly K[],
  options?: MergeManyOptions & Into<K>,
): Promise<K> {
  return withSorter(options, (sorter: MergeMany, rest) =>
    sorter.mergeMany<KeyArray>(arrays, rest),
  ) as Promise<K>;
}

export const runMergeMany: Run<MergeMany> = ({ calls, arrays }, given, options) => {
  if (!Array.isArray(given)) throw invalidArgument('arrays', 'a list of arrays', given, { type: InputError });
  return calls.runWithInputs(given, (dependency) => {
    const { into, ...rest } = requireOptionsObject(options);
    const inputs = given.map((one) => dependency.resolveInput<Keys>(one));
    const [first] = inputs;
    if (first === undefined)
      throw invalidArgument('arrays', 'at least one array', { text: 'none' }, { type: InputError });
    const settings = parse(rest, ['bitRange']);
    const columns = inputs.map(
      (one, i) => readMatching(arrays, first, one, settings, `array 0 and array ${i}`)[1],
    );
    for (const one of inputs) assertSeparateOutput(one, into);
    return arrays.withResults((make) => {
      const { dtype } = columns[0] as Column;
      const n = columns.reduce((sum, one) => sum + one.n, 0);
      const merged = make.allocateLike(first, dtype, n, into);
      dependency.setResult(merged.result);
      const to = column(dtype, n, merged.place);
      const task = { ...taskOf('merge', to, settings, first, dependency, into), n };
      return calls.execute(task, async (call) => {
        await joinSorted(call, columns.filter(hasKeys), to);
        return () => merged.result;
      });
    });
  });
};

const hasKeys = ({ n }: Column): boolean => n > 0;

/** Merges columns that have keys. */
async function joinSorted(call: Call, columns: readonly Column[], to: Column): Promise<void> {
  if (columns.length === 0) return;
  let parts = await bindInputs(call, columns);
  const { kernels } = call.columns;
  if (call.settings.verify || parts.length > MAX_MERGED_ARRAYS[to.info.width]) {
    const all = call.columns.temporary(to.dtype, to.n);
    await kernels.run(CONCATENATE, parts, all);
    return call.bindOutput(to, (out) => call.sort({ keys: all, sorted: out.place }));
  }
  const codec = keyCodec(to.dtype, call.settings);
  while (parts.length > 2) parts = await mergePairs(call, parts, codec);
  const [a, b] = parts as [Column, Column?];
  await call.bindOutput(to, (out) =>
    b ? kernels.run(MERGE, a, b, codec, out) : kernels.run(CONCATENATE, [a], out),
  );
}

/** Merges each column of even position with the next one; a last column without a partner stays as it is. */
async function mergePairs(call: Call, parts: readonly Column[], codec: KeyCodec): Promise<readonly Column[]> {
  const merged: Column[] = [];
  for (let i = 0; i < parts.length; i += 2) {
    const [a, b] = parts.slice(i, i + 2) as [Column, Column?];
    const to = b ? call.columns.temporary(a.dtype, a.n + b.n) : a;
    if (b) await call.columns.kernels.run(MERGE, a, b, codec, to);
    merged.push(to);
  }
  return merged;
}

/** Copies columns one after the other. */
export const CONCATENATE = columnKernel({
  *host(from: readonly Column[], to: Column): Steps {
    let at = 0;
    for (const part of from) {
      const bytes = byteLengthOf(part);
      yield* copySteps(byteRange(viewOf(part), 0, bytes), byteRange(viewOf(to), at, at + bytes));
      at += bytes;
    }
  },
  load: async () => (await import('./device.js')).concatenateOnDevice,
});
