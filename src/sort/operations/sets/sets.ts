import type { KeyArray } from '../../../keys/dtype.js';
import { keyCodec } from '../../../keys/key-codec.js';
import type { Keys } from '../../calls/array-store.js';
import type { Call } from '../../calls/call.js';
import { assertIndexable } from '../../model/array-assertions.js';
import { type Column, column } from '../../model/column.js';
import { requireOptionsObject } from '../../model/options.js';
import { type Awaitable, assertBoolean, parse, readMatching, taskOf } from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import { MERGE } from '../merge/merge.js';
import type { OperationContext, Run } from '../operation.js';
import { COMPACT } from '../select/selection.js';
import { groupEqual } from '../unique/group-equal.js';
import { verifyDistinct, verifyNone } from '../unique/unique.js';
import { canonicalKeys, markMembers, prepareMarks, type SetOptions, verifyOnHost } from './contains.js';

export interface Intersect {
  /**
   * Returns the distinct keys that are in both arrays, in order.
   *
   * Keys are compared as numbers: all NaNs are equal, and −0 equals +0. Each result is, bit for bit, the first of its
   * equals in `a`. Complexity: two sorts, and one binary search for each distinct key; without sorts if `assumeSorted`.
   *
   * @param a typed array or device array, or a promise of one
   * @param b keys of the same dtype in the same place; `a` and `b` together have fewer than 2^32 keys
   * @param options `assumeSorted` (default `false`): both arrays are in order; and the options of `sort` without
   *   `bitRange` and `into`
   * @returns keys in an array of the type of `a`
   * @throws InputError when the arrays differ in dtype or place
   * @throws UnsupportedError for 2^32 keys or more
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * await sorter.intersect(Uint32Array.of(5, 1, 5, 4), Uint32Array.of(4, 5, 6)); // 4, 5
   * ```
   */
  intersect<K extends Keys>(a: Awaitable<K>, b: Awaitable<K>, options?: SetOptions): Promise<K>;
}

export interface Union {
  /**
   * Returns the distinct keys of two arrays, in order. Keys are compared as in `intersect`; each result is the first of
   * its equals in `a`, otherwise in `b`.
   *
   * @param a typed array or device array, or a promise of one
   * @param b keys of the same dtype in the same place; `a` and `b` together have fewer than 2^32 keys
   * @param options the options of `intersect`
   * @returns keys in an array of the type of `a`
   * @throws the errors of `intersect`
   * @example
   * ```ts
   * await sorter.union(Uint32Array.of(5, 1, 5, 4), Uint32Array.of(4, 5, 6)); // 1, 4, 5, 6
   * ```
   */
  union<K extends Keys>(a: Awaitable<K>, b: Awaitable<K>, options?: SetOptions): Promise<K>;
}

export interface Difference {
  /**
   * Returns the distinct keys of `a` that are not in `b`, in order. Keys are compared as in `intersect`.
   *
   * @param a typed array or device array, or a promise of one
   * @param b keys of the same dtype in the same place; `a` and `b` together have fewer than 2^32 keys
   * @param options the options of `intersect`
   * @returns keys in an array of the type of `a`
   * @throws the errors of `intersect`
   * @example
   * ```ts
   * await sorter.difference(Uint32Array.of(5, 1, 5, 4), Uint32Array.of(4, 5, 6)); // 1
   * ```
   */
  difference<K extends Keys>(a: Awaitable<K>, b: Awaitable<K>, options?: SetOptions): Promise<K>;
}

export interface SetXor {
  /**
   * Returns the distinct keys that are in one of the arrays but not in both, in order. Keys are compared as in
   * `intersect`.
   *
   * @param a typed array or device array, or a promise of one
   * @param b keys of the same dtype in the same place; `a` and `b` together have fewer than 2^32 keys
   * @param options the options of `intersect`
   * @returns keys in an array of the type of `a`
   * @throws the errors of `intersect`
   * @example
   * ```ts
   * await sorter.setXor(Uint32Array.of(5, 1, 5, 4), Uint32Array.of(4, 5, 6)); // 1, 6
   * ```
   */
  setXor<K extends Keys>(a: Awaitable<K>, b: Awaitable<K>, options?: SetOptions): Promise<K>;
}

/**
 * Returns the distinct keys that are in both arrays, in order. All NaNs are equal, and −0 equals +0. Each result is the
 * first of its equals in `a`.
 *
 * @param a typed array
 * @param b typed array of the same dtype; together they have fewer than 2^32 keys
 * @param options `assumeSorted` (default `false`): both arrays are in order; and the options of `sort` without `bitRange`
 *   and `into`
 * @returns keys in an array of the type of `a`
 * @throws InputError when the arrays differ in dtype
 * @throws UnsupportedError for 2^32 keys or more
 * @throws the other errors of `sort`
 * @example
 * ```ts
 * await intersect(Uint32Array.of(5, 1, 5, 4), Uint32Array.of(4, 5, 6)); // 4, 5
 * ```
 */
export function intersect<K extends KeyArray>(a: K, b: K, options?: SetOptions): Promise<K> {
  return withSorter(options, (sorter: Intersect, rest) =>
    sorter.intersect<KeyArray>(a, b, rest),
  ) as Promise<K>;
}

/**
 * Returns the distinct keys of two arrays, in order. Each result is the first of its equals in `a`, otherwise in `b`.
 *
 * @param a typed array
 * @param b typed array of the same dtype; together they have fewer than 2^32 keys
 * @param options the options of `intersect`
 * @returns keys in an array of the type of `a`
 * @throws the errors of `intersect`
 * @example
 * ```ts
 * await union(Uint32Array.of(5, 1, 5, 4), Uint32Array.of(4, 5, 6)); // 1, 4, 5, 6
 * ```
 */
export function union<K extends KeyArray>(a: K, b: K, options?: SetOptions): Promise<K> {
  return withSorter(options, (sorter: Union, rest) => sorter.union<KeyArray>(a, b, rest)) as Promise<K>;
}

/**
 * Returns the distinct keys of `a` that are not in `b`, in order. Keys are compared as in `intersect`.
 *
 * @param a typed array
 * @param b typed array of the same dtype; together they have fewer than 2^32 keys
 * @param options the options of `intersect`
 * @returns keys in an array of the type of `a`
 * @throws the errors of `intersect`
 * @example
 * ```ts
 * await difference(Uint32Array.of(5, 1, 5, 4), Uint32Array.of(4, 5, 6)); // 1
 * ```
 */
export function difference<K extends KeyArray>(a: K, b: K, options?: SetOptions): Promise<K> {
  return withSorter(options, (sorter: Difference, rest) =>
    sorter.difference<KeyArray>(a, b, rest),
  ) as Promise<K>;
}

/**
 * Returns the distinct keys that are in one of the arrays but not in both, in order. Keys are compared as in `intersect`.
 *
 * @param a typed array
 * @param b typed array of the same dtype; together they have fewer than 2^32 keys
 * @param options the options of `intersect`
 * @returns keys in an array of the type of `a`
 * @throws the errors of `intersect`
 * @example
 * ```ts
 * await setXor(Uint32Array.of(5, 1, 5, 4), Uint32Array.of(4, 5, 6)); // 1, 6
 * ```
 */
export function setXor<K extends KeyArray>(a: K, b: K, options?: SetOptions): Promise<K> {
  return withSorter(options, (sorter: SetXor, rest) => sorter.setXor<KeyArray>(a, b, rest)) as Promise<K>;
}

/** Computes the parts of a result, each of distinct keys in order. No key is in two parts. */
type Parts = (call: Call, a: Column, b: Column, assumeSorted: boolean) => Promise<readonly Column[]>;

const setOperation =
  (parts: Parts) =>
  (
    { calls, arrays }: OperationContext,
    a: Awaitable<Keys>,
    b: Awaitable<Keys>,
    options?: SetOptions,
  ): Promise<Keys> =>
    calls.runWithInputs([a, b], (dependency) => {
      const { assumeSorted = false, ...rest } = requireOptionsObject(options);
      assertBoolean('assumeSorted', assumeSorted);
      const [first, second] = [dependency.resolveInput(a), dependency.resolveInput(b)];
      const settings = parse(rest, ['bitRange']);
      const [one, other] = readMatching(arrays, first, second, settings, 'a and b');
      const n = one.n + other.n;
      assertIndexable(n);
      return arrays.withResults((make) => {
        if (n === 0) return make.allocateLike(first, one.dtype, 0).result;
        const task = { ...taskOf('unique', one, settings, first, dependency), n };
        return calls.execute(task, async (call) => {
          const found = (await parts(call, one, other, assumeSorted)).filter((part) => part.n > 0);
          const length = found.reduce((sum, part) => sum + part.n, 0);
          const { place, result } = make.allocateLike(first, one.dtype, length);
          await joinParts(call, found, column(one.dtype, length, place));
          return () => result;
        });
      });
    });

export const runIntersect: Run<Intersect> = setOperation(async (call, a, b, assumeSorted) => {
  const keys = await distinctKeys(call, a, assumeSorted);
  return [await partOf(call, keys, { others: b, areSorted: assumeSorted }, false)];
});

export const runDifference: Run<Difference> = setOperation(async (call, a, b, assumeSorted) => {
  const keys = await distinctKeys(call, a, assumeSorted);
  return [await partOf(call, keys, { others: b, areSorted: assumeSorted }, true)];
});

export const runUnion: Run<Union> = setOperation(async (call, a, b, assumeSorted) => {
  const keys = await distinctKeys(call, a, assumeSorted, true);
  return [keys, await partOf(call, await distinctKeys(call, b, assumeSorted), sorted(keys), true)];
});

export const runSetXor: Run<SetXor> = setOperation(async (call, a, b, assumeSorted) => {
  const one = await distinctKeys(call, a, assumeSorted, true);
  const other = await distinctKeys(call, b, assumeSorted);
  return [await partOf(call, one, sorted(other), true), await partOf(call, other, sorted(one), true)];
});

const sorted = (others: Column) => ({ others, areSorted: true });

/**
 * Waits, and returns the distinct keys in order. Each is the first of its equals.
 *
 * @param merges whether the call merges two parts at its end
 */
async function distinctKeys(
  call: Call,
  keys: Column,
  assumeSorted: boolean,
  merges = false,
): Promise<Column> {
  if (keys.n === 0) return keys;
  const { kernels } = call.columns;
  const codec = keyCodec(keys.dtype, call.settings);
  const { input, found, places, distinct } = await (assumeSorted ? groupSorted : groupEqual)(
    call,
    keys,
    (none) => {
      const [noKeys, mask] = [none(keys.dtype), none('u8')];
      return [
        ...prepareMarks(call, noKeys, mask),
        kernels.run(COMPACT, noKeys, { mask }, noKeys, false),
        merges && kernels.run(MERGE, noKeys, noKeys, codec, noKeys),
        ...verifyNone(call, noKeys, none('u32')),
        call.settings.verify && call.columns.verifier.compact(noKeys, { mask }, noKeys, false, () => 0),
      ];
    },
  );
  await call.settle();
  const all = { ...found, n: distinct() };
  const begins = { ...places, n: all.n };
  if (assumeSorted && keys.info.kind === 'float') {
    await call.bindInput(all);
    await call.columns.kernels.gather(input, begins, all); // the keys themselves instead of their canonical forms
  }
  await verifyDistinct(call, input, all, begins);
  return all;
}

/** Enqueues the search for runs of equal keys in order. */
async function groupSorted(call: Call, keys: Column) {
  const { columns } = call;
  const input = await call.bindInput(keys);
  const found = columns.temporary(keys.dtype, keys.n);
  const places = columns.temporary('u32', keys.n);
  const plain = await canonicalKeys(call, input);
  const distinct = await columns.kernels.distinct(plain, { keys: found, places });
  return { input, found, places, distinct };
}

/**
 * Waits, and returns the keys that are among others.
 *
 * @param inverted returns the others instead
 */
async function partOf(
  call: Call,
  keys: Column,
  from: { readonly others: Column; readonly areSorted: boolean },
  inverted: boolean,
): Promise<Column> {
  if (keys.n === 0 || from.others.n === 0) return inverted ? keys : { ...keys, n: 0 };
  const { columns } = call;
  const input = await call.bindInput(keys);
  const mask = columns.temporary('u8', keys.n);
  await markMembers(call, from, input, inverted, mask);
  const to = columns.temporary(keys.dtype, keys.n);
  const count = await columns.kernels.run(COMPACT, input, { mask }, to, false);
  await call.settle();
  const part = { ...to, n: count() };
  await call.verify((verifier) => verifier.compact(input, { mask }, part, false, count));
  return part;
}

/** Merges the parts of a result. */
export async function joinParts(call: Call, [one, other]: readonly Column[], to: Column): Promise<void> {
  if (!one) return;
  if (!other) return call.copy(one, to);
  const codec = keyCodec(to.dtype, call.settings);
  const [a, b] = [await call.bindInput(one), await call.bindInput(other)];
  await call.bindOutput(to, async (out) => {
    await call.columns.kernels.run(MERGE, a, b, codec, out);
    await verifyOnHost(call, MERGE, [a, b, codec, out], 'keys are merged incorrectly');
  });
}
