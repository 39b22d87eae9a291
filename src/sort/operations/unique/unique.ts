import type { KeyArray } from '../../../keys/dtype.js';
import { keyCodec } from '../../../keys/key-codec.js';
import type { MaybePromise } from '../../../util/maybe-promise.js';
import type { Keys } from '../../calls/array-store.js';
import type { Call } from '../../calls/call.js';
import { assertIndexable } from '../../model/array-assertions.js';
import type { ArrowVector, VectorOptions } from '../../model/arrow-vector.js';
import { type Column, column } from '../../model/column.js';
import { requireOptionsObject, type UniqueOptions } from '../../model/options.js';
import {
  type Awaitable,
  assertBoolean,
  type PositionDtype,
  type Positions,
  parse,
  readKeys,
  taskOf,
} from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { OperationContext } from '../operation.js';
import { type PositionOptions, readPositions, writePositions } from '../positions.js';
import { groupEqual, sortAndGroup } from './group-equal.js';

/** Value of an option; undefined if it is left out. */
type Flag = boolean | undefined;

/** Options of `unique` that select the columns of its result beside the keys. Without them, these are the counts. */
export interface UniqueColumns<C extends Flag = Flag, I extends Flag = Flag, V extends Flag = Flag> {
  /**
   * Whether to return how often each distinct key occurs.
   *
   * @defaultValue `true` without `index` and `inverse`, otherwise `false`
   */
  readonly counts?: C;
  /**
   * Whether to return the position of the first occurrence of each distinct key in the input.
   *
   * @defaultValue `false`
   */
  readonly index?: I;
  /**
   * Whether to return, for each key of the input, its position among the distinct keys.
   *
   * @defaultValue `false`
   */
  readonly inverse?: V;
}

type Part<A, N extends string, T> = A extends true ? { [Name in N]: T } : unknown;

/** Whether the result has counts. */
type HasCounts<C, I, V> = [C, I, V] extends [undefined, undefined, undefined] ? true : C;

/** Result of `unique`: the distinct keys, and the columns that were requested; counts are u32. */
export type Distinct<
  K extends Keys | ArrowVector,
  C extends Flag = undefined,
  I extends Flag = undefined,
  V extends Flag = undefined,
  P extends PositionDtype = 'u32',
> = { keys: K } & Part<HasCounts<C, I, V>, 'counts', Positions<K>> &
  Part<I, 'index', Positions<K, P>> &
  Part<V, 'inverse', Positions<K, P>>;

export interface Unique {
  /**
   * Returns the distinct rows of an `apache-arrow` vector in order, as `unique` of an array does. All nulls are equal, and
   * come after all keys, or before them with `nulls: 'first'`.
   *
   * @param vector vector of fewer than 2^32 rows
   * @param options `counts`, `index` and `inverse`, as for arrays, `nulls` (default `'last'`), and the options of `sort`
   *   without `bitRange`, `dtype` and `into`
   * @returns `keys`, a vector, and those of `counts`, `index` and `inverse` that were requested, as u32
   * @throws the errors of `sort` of a vector
   * @example
   * ```ts
   * const { keys, counts } = await sorter.unique(table.getChild('city')!);
   * ```
   */
  unique<
    V extends ArrowVector,
    C extends Flag = undefined,
    I extends Flag = undefined,
    Inverse extends Flag = undefined,
  >(
    vector: V,
    options?: VectorOptions<UniqueOptions> & UniqueColumns<C, I, Inverse>,
  ): Promise<Distinct<V, C, I, Inverse>>;
  /**
   * Returns the distinct keys in order, and how often each occurs; or with `index` the position of the first occurrence
   * of each, with `inverse` the position of each input key among the distinct keys.
   *
   * Keys are compared as numbers: all NaNs are equal, and −0 equals +0. Each result is, bit for bit, the first of its
   * equals in the input. Complexity: a sort and one compaction; `index` makes it an argsort, and `inverse` adds a scatter.
   *
   * @param keys fewer than 2^32 keys: typed array or device array, or a promise of one
   * @param options `counts` (default `true` without `index` and `inverse`), `index` (default `false`), `inverse` (default
   *   `false`), `positions` (default `'u32'`), and the options of `sort` without `bitRange` and `into`
   * @returns `keys`, and those of `counts` (u32), `index` and `inverse` (of dtype `positions`) that were requested, where
   *   the input is
   * @throws UnsupportedError for 2^32 keys or more
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * const { keys, counts } = await sorter.unique(Uint8Array.of(3, 1, 3)); // 1, 3 and 1, 2
   * const { index, inverse } = await sorter.unique(Uint8Array.of(3, 1, 3), { index: true, inverse: true }); // 1, 0 and 1, 0, 1
   * ```
   */
  unique<
    K extends Keys,
    C extends Flag = undefined,
    I extends Flag = undefined,
    V extends Flag = undefined,
    P extends PositionDtype = 'u32',
  >(
    keys: Awaitable<K>,
    options?: UniqueOptions & UniqueColumns<C, I, V> & PositionOptions<P>,
  ): Promise<Distinct<K, C, I, V, P>>;
}

/**
 * Returns the distinct keys in order, and how often each occurs; or with `index` the position of the first occurrence of
 * each, with `inverse` the position of each input key among the distinct keys. All NaNs are equal, and −0 equals +0.
 * Each result is the first of its equals in the input.
 *
 * @param keys typed array of fewer than 2^32 keys
 * @param options `counts` (default `true` without `index` and `inverse`), `index` (default `false`), `inverse` (default
 *   `false`), `positions` (default `'u32'`), and the options of `sort` without `bitRange` and `into`
 * @returns `keys`, and those of `counts`, `index` and `inverse` that were requested, as 32-bit numbers; `index` and
 *   `inverse` as BigUint64Array with `positions: 'u64'`
 * @throws UnsupportedError for 2^32 keys or more
 * @throws the other errors of `sort`
 * @example
 * ```ts
 * const { keys, counts } = await unique(Uint8Array.of(3, 1, 3)); // 1, 3 and 1, 2
 * ```
 */
export function unique<
  K extends KeyArray,
  C extends Flag = undefined,
  I extends Flag = undefined,
  V extends Flag = undefined,
  P extends PositionDtype = 'u32',
>(
  keys: K,
  options?: UniqueOptions & UniqueColumns<C, I, V> & PositionOptions<P>,
): Promise<Distinct<K, C, I, V, P>>;
/**
 * Returns the distinct rows of an `apache-arrow` vector in order, as `unique` of an array does. All nulls are equal, and
 * come after all keys, or before them with `nulls: 'first'`.
 *
 * @param vector vector of fewer than 2^32 rows
 * @param options `counts`, `index` and `inverse`, as for arrays, `nulls` (default `'last'`), and the options of `sort`
 *   without `bitRange`, `dtype` and `into`
 * @returns `keys`, a vector, and those of `counts`, `index` and `inverse` that were requested, as 32-bit numbers
 * @throws the errors of `sort` of a vector
 */
export function unique<
  V extends ArrowVector,
  C extends Flag = undefined,
  I extends Flag = undefined,
  Inverse extends Flag = undefined,
>(
  vector: V,
  options?: VectorOptions<UniqueOptions> & UniqueColumns<C, I, Inverse>,
): Promise<Distinct<V, C, I, Inverse>>;
export function unique(
  keys: KeyArray,
  options?: UniqueOptions & UniqueColumns & PositionOptions,
): Promise<unknown> {
  return withSorter(options, (sorter: Unique, rest) =>
    sorter.unique<KeyArray, Flag, Flag, Flag, PositionDtype>(keys, rest),
  );
}

export const runUnique = (
  { calls, arrays }: OperationContext,
  keys: Awaitable<Keys>,
  options?: UniqueOptions & UniqueColumns & PositionOptions,
): Promise<never> =>
  calls.runWithInputs([keys], (dependency) => {
    const array = dependency.resolveInput(keys);
    const { counts, index, inverse, positions, ...rest } = requireOptionsObject(options);
    const names = namesOf({ counts, index, inverse });
    const settings = parse(rest, ['bitRange']);
    const input = readKeys(arrays, array, settings);
    assertIndexable(input.n);
    const positionDtype = readPositions(positions);
    return arrays.withResults((make) => {
      const results = (distinct: number) => {
        const found = make.allocateLike(array, input.dtype, distinct);
        const beside = names.map((name) => {
          const n = name === 'inverse' ? input.n : distinct;
          const dtype = name === 'counts' ? 'u32' : positionDtype;
          const { place, result } = make.allocateBeside(array, dtype, n);
          return { name, to: column(dtype, n, place), result };
        });
        const columns = Object.fromEntries(beside.map(({ name, to }) => [name, to]));
        const arraysOf = Object.fromEntries(beside.map(({ name, result }) => [name, result]));
        return {
          ...(columns as Partial<Record<ColumnName, Column>>),
          keys: column(input.dtype, distinct, found.place),
          result: { keys: found.result, ...arraysOf } as never,
        };
      };
      if (input.n === 0) return results(0).result;
      return calls.execute(taskOf('unique', input, settings, array, dependency), async (call) => {
        const { result } = await enqueueUnique(call, input, results, names);
        return () => result;
      });
    });
  });

type ColumnName = keyof UniqueColumns;

/** Returns the columns that the options request. @throws UsageError for a value that is no boolean */
function namesOf(options: Record<ColumnName, unknown>): ColumnName[] {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) assertBoolean(name, value);
  if (given.length === 0) return ['counts'];
  return given.filter(([, value]) => value).map(([name]) => name as ColumnName);
}

/** Result columns of `unique`: counts as u32, positions as u32 or u64. */
interface DistinctColumns extends Partial<Readonly<Record<ColumnName, Column>>> {
  readonly keys: Column;
}

/**
 * Computes the distinct keys in order, and the other columns of `make`.
 *
 * Keys are compared as numbers: all NaNs are equal, and so are both zeros. Each result is, bit for bit, the first of
 * its equals in the input.
 *
 * @param make creates the result columns once their length is known
 * @param names columns that `make` creates beside the keys
 */
export async function enqueueUnique<R extends DistinctColumns>(
  call: Call,
  keys: Column,
  make: (distinct: number) => R,
  names: readonly ColumnName[] = ['counts'],
): Promise<R> {
  const { kernels } = call.columns;
  const needsPositions = names.includes('index') || names.includes('inverse');
  const group = await (needsPositions ? sortAndGroup : groupEqual)(call, keys, (none) => {
    const [noKeys, noWords] = [none(keys.dtype), none('u32')];
    return [
      names.includes('counts') && kernels.counts(noWords, 0, noWords),
      ...verifyNone(call, noKeys, noWords),
      names.includes('index') && kernels.gather(noWords, noWords, noWords),
      names.includes('inverse') && kernels.segmentIds(noWords, noWords, noWords),
    ];
  });
  const { input, found, distinct, positions } = group;
  await call.settle();
  const result = make(distinct());
  const { index, inverse, keys: out }: DistinctColumns = result;
  const { n } = out;
  const places = { ...group.places, n };
  const distinctKeys = { ...found, n };
  if (result.counts)
    await call.bindOutput(result.counts, (to) => countDistinct(call, input, distinctKeys, places, to));
  else await verifyDistinct(call, input, distinctKeys, places);
  if (positions) {
    if (index) {
      await writePositions(call, keys.n, index, (narrow) =>
        call.bindOutput(narrow, (to) => kernels.gather(positions, places, to)),
      );
    }
    if (inverse) {
      await writePositions(call, keys.n, inverse, (narrow) =>
        call.bindOutput(narrow, (to) => kernels.segmentIds(places, to, positions)),
      );
    }
  }
  await call.copy(found, out);
  return result;
}

/** Computes how often each distinct key occurs, and verifies both. */
async function countDistinct(
  call: Call,
  keys: Column,
  distinct: Column,
  places: Column,
  to: Column,
): Promise<void> {
  await call.columns.kernels.counts(places, keys.n, to);
  const codec = keyCodec(keys.dtype, call.settings);
  await call.verify((verifier) => verifier.unique(keys, distinct, to, codec));
}

/**
 * Verifies the distinct keys of a bound input, if the call does.
 *
 * @param places where the runs of equal keys begin
 */
export async function verifyDistinct(
  call: Call,
  keys: Column,
  distinct: Column,
  places: Column,
): Promise<void> {
  if (!call.settings.verify) return;
  await countDistinct(call, keys, distinct, places, call.columns.temporary('u32', distinct.n));
}

/** Returns the steps of `verifyDistinct` on no keys. */
export const verifyNone = (call: Call, noKeys: Column, noWords: Column): MaybePromise<unknown>[] =>
  call.settings.verify
    ? [
        call.columns.kernels.counts(noWords, 0, noWords),
        call.columns.verifier.unique(noKeys, noKeys, noWords, keyCodec(noKeys.dtype)),
      ]
    : [];
