import { newArray } from '../../../keys/array.js';
import type { Dtype, KeyArray } from '../../../keys/dtype.js';
import { type KeyCodec, keyCodec } from '../../../keys/key-codec.js';
import type { PairCounts } from '../../../primitives/join.js';
import { UnsupportedError } from '../../../util/errors.js';
import { columnKernel } from '../../backend/column-kernel.js';
import type { Columns } from '../../backend/columns.js';
import { u32Of } from '../../backend/host-column-kernels.js';
import type { Keys } from '../../calls/array-store.js';
import type { Call, LaterSteps } from '../../calls/call.js';
import { areSame } from '../../host/host-verify.js';
import { inSlices, runYielding } from '../../host/steps.js';
import { assertIndexable, MAX_INDICES } from '../../model/array-assertions.js';
import { type Column, column, wordsOf } from '../../model/column.js';
import { requireOptionsObject } from '../../model/options.js';
import {
  type Awaitable,
  assertBoolean,
  assertOneOf,
  type PositionDtype,
  type Positions,
  parse,
  readMatching,
  taskOf,
} from '../arguments.js';
import { bindOutputs } from '../bind-columns.js';
import { withSorter } from '../default-sorters.js';
import type { OperationContext } from '../operation.js';
import { type PositionOptions, readPositions, widenPositions } from '../positions.js';
import { SEARCH_SORTED } from '../search-sorted/search-sorted.js';
import { canonicalKeys, type SetOptions } from '../sets/contains.js';
import { sortByNumber } from '../unique/group-equal.js';
import type { Matches } from './device.js';

/** Position of a partner that does not exist: no array has so many keys. */
export const NO_PARTNER = MAX_INDICES - 1;

/** Kinds of joins, with the number of pairs of a key by the number of its equals. */
const KINDS = {
  inner: { least: 0, most: MAX_INDICES - 1, inverted: false },
  left: { least: 1, most: MAX_INDICES - 1, inverted: false },
  semi: { least: 0, most: 1, inverted: false },
  anti: { least: 0, most: 1, inverted: true },
} as const;

/**
 * Kind of a join: pairs of equal keys (`inner`); these and the keys of `a` without a partner (`left`); each key of `a`
 * that has a partner (`semi`) or has none (`anti`), once.
 */
export type JoinKind = keyof typeof KINDS;

/** Options of `join`. */
export interface JoinOptions<J extends JoinKind = JoinKind> extends Omit<SetOptions, 'assumeSorted'> {
  /**
   * Which positions to return: those of pairs of equal keys (`inner`); those and the keys of `a` without a partner
   * (`left`); each key of `a` that has a partner (`semi`) or has none (`anti`), once.
   *
   * @defaultValue `'inner'`
   */
  readonly kind?: J;
  /**
   * Whether `b` is in the order of `sort` with the same `descending` and `nan`, so that it needs no sort; `a` may have
   * any order. The result for keys in another order is undefined.
   *
   * @defaultValue `false`
   */
  readonly assumeSorted?: boolean;
}

/** Result of `join`: positions. `right` is missing for `semi` and `anti`. */
export type Joined<K extends Keys, J extends JoinKind = 'inner', P extends PositionDtype = 'u32'> = {
  left: Positions<K, P>;
} & (J extends 'inner' | 'left' ? { right: Positions<K, P> } : unknown);

export interface Join {
  /**
   * Returns the positions of equal keys in two arrays: the keys `a[left[i]]` and `b[right[i]]` are equal. `gather` with
   * these positions joins further columns.
   *
   * Pairs are ordered by the position in `a`, then by that in `b`. Keys are compared as numbers: all NaNs are equal, and
   * −0 equals +0. In a `left` join, a key of `a` without a partner has one pair, whose `right` is 0xffffffff (2^32 − 1),
   * also with `positions: 'u64'`.
   *
   * Complexity: an argsort of `b`, two binary searches for each key of `a`, and one read and write for each pair.
   *
   * @param a typed array or device array of fewer than 2^32 keys, or a promise of one
   * @param b fewer than 2^32 keys of the same dtype in the same place
   * @param options `kind` (default `'inner'`), `assumeSorted` (default `false`): `b` is in order; `positions` (default
   *   `'u32'`); and the options of `sort` without `bitRange` and `into`
   * @returns `left` and `right` as u32 or u64, where the keys are; for `semi` and `anti` only `left`
   * @throws InputError when the arrays differ in dtype or place
   * @throws UnsupportedError for 2^32 keys or more, and for 2^32 pairs or more
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * const a = Uint32Array.of(5, 1, 4);
   * const b = Uint32Array.of(4, 5, 5);
   * const { left, right } = await sorter.join(a, b); // 0, 0, 2 and 1, 2, 0
   * const { left: alone } = await sorter.join(a, b, { kind: 'anti' }); // 1
   * ```
   */
  join<K extends Keys, J extends JoinKind = 'inner', P extends PositionDtype = 'u32'>(
    a: Awaitable<K>,
    b: Awaitable<K>,
    options?: JoinOptions<J> & PositionOptions<P>,
  ): Promise<Joined<K, J, P>>;
}

/**
 * Returns the positions of equal keys in two arrays: the keys `a[left[i]]` and `b[right[i]]` are equal. `gather` with
 * these positions joins further columns.
 *
 * Pairs are ordered by the position in `a`, then by that in `b`. All NaNs are equal, and −0 equals +0. In a `left` join,
 * a key of `a` without a partner has one pair, whose `right` is 0xffffffff (2^32 − 1), also with `positions: 'u64'`.
 *
 * @param a typed array of fewer than 2^32 keys
 * @param b typed array of fewer than 2^32 keys of the same dtype
 * @param options `kind` (default `'inner'`), `assumeSorted` (default `false`): `b` is in order; `positions` (default
 *   `'u32'`); and the options of `sort` without `bitRange` and `into`
 * @returns `left` and `right`, each a Uint32Array, or a BigUint64Array with `positions: 'u64'`; for `semi` and `anti` only `left`
 * @throws InputError when the arrays differ in dtype
 * @throws UnsupportedError for 2^32 keys or more, and for 2^32 pairs or more
 * @throws the other errors of `sort`
 * @example
 * ```ts
 * const { left, right } = await join(Uint32Array.of(5, 1, 4), Uint32Array.of(4, 5, 5)); // 0, 0, 2 and 1, 2, 0
 * ```
 */
export function join<K extends KeyArray, J extends JoinKind = 'inner', P extends PositionDtype = 'u32'>(
  a: K,
  b: K,
  options?: JoinOptions<J> & PositionOptions<P>,
): Promise<Joined<K, J, P>> {
  return withSorter(options, (sorter: Join, rest) => sorter.join<K, J, P>(a, b, rest));
}

export const runJoin = (
  { calls, arrays }: OperationContext,
  a: Awaitable<Keys>,
  b: Awaitable<Keys>,
  options?: JoinOptions & PositionOptions,
): Promise<never> =>
  calls.runWithInputs([a, b], (dependency) => {
    const { kind = 'inner', assumeSorted = false, positions, ...rest } = requireOptionsObject(options);
    assertOneOf('kind', Object.keys(KINDS), kind);
    assertBoolean('assumeSorted', assumeSorted);
    const [first, second] = [dependency.resolveInput(a), dependency.resolveInput(b)];
    const settings = parse(rest, ['bitRange']);
    const [keys, others] = readMatching(arrays, first, second, settings, 'a and b');
    for (const { n } of [keys, others]) assertIndexable(n);
    const dtype = readPositions(positions);
    const names = kind === 'inner' || kind === 'left' ? ['left', 'right'] : ['left'];
    return arrays.withResults((make) => {
      const results = (pairs: number) => {
        const made = names.map((name) => [name, make.allocateBeside(first, dtype, pairs)] as const);
        return {
          columns: made.map(([, { place }]) => column(dtype, pairs, place)),
          result: Object.fromEntries(made.map(([name, { result }]) => [name, result])) as never,
        };
      };
      if (keys.n === 0) return results(0).result;
      const task = { ...taskOf('unique', keys, settings, first, dependency), n: keys.n + others.n };
      return calls.execute(task, async (call) => {
        const how = { kind, assumeSorted, make: results };
        const { result } = await enqueueJoin(call, keys, others, how);
        return () => result;
      });
    });
  });

/** Sorted keys, and their positions before the sort; without them, the keys were in order. */
interface Partners {
  readonly sorted: Column;
  readonly order?: Column | undefined;
}

/** Returns the keys in the order of the call, with equal bits for equal numbers. */
async function sortPartners(
  call: Call,
  keys: Column,
  assumeSorted: boolean,
  later: LaterSteps,
): Promise<Partners> {
  if (assumeSorted || keys.n === 0) return { sorted: await canonicalKeys(call, await call.bindInput(keys)) };
  const { sorted, positions } = await sortByNumber(call, keys, later);
  return { sorted, order: positions };
}

/** Kernels, and memory for their results. */
type Engine = Pick<Columns, 'kernels' | 'temporary'>;

/**
 * Computes the pairs of positions. With `verify`, the host engine computes them a second time from the sorted keys.
 *
 * @param keys at least one
 * @param make creates the result columns, `left` and if requested `right`, once their length is known
 */
export async function enqueueJoin<R extends { readonly columns: readonly Column[] }>(
  call: Call,
  keys: Column,
  others: Column,
  {
    kind: name,
    assumeSorted = false,
    make,
  }: { readonly kind: JoinKind; readonly assumeSorted?: boolean; readonly make: (pairs: number) => R },
): Promise<R> {
  const { columns } = call;
  const kind = KINDS[name];
  const codec = keyCodec(keys.dtype, call.settings);
  const { sorted, order } = await sortPartners(call, others, assumeSorted, (none) => {
    const [noKeys, noWords] = [none(keys.dtype), none('u32')];
    const { kernels } = columns;
    return [
      kernels.run(SEARCH_SORTED, noKeys, noKeys, { codec, right: false }, noWords),
      kernels.run(JOIN_COUNTS, noWords, noWords, kind),
      kernels.reduce(noWords, 'sum'),
      kernels.scan(noWords, noWords, 'sum', false),
      kernels.segmentIds(noWords, noWords),
    ];
  });
  const input = await canonicalKeys(call, await call.bindInput(keys));
  const { count, ...matches } = await findMatches(columns, sorted, input, codec, kind);
  await call.settle();
  const pairs = Number(count());
  assertCountable(keys.n, sorted.n, pairs);
  const result = make(pairs);
  const verify = (found: readonly Column[]) =>
    call.verify(async () => {
      const { keys: hostSorted, kernels } = await columns.copyToHost(sorted);
      const host = {
        kernels,
        temporary: (dtype: Dtype, n: number) => column(dtype, n, newArray(dtype, n)),
      };
      const copy = async (one: Column) => (await columns.copyToHost(one)).keys;
      const again = await findMatches(host, hostSorted, await copy(input), codec, kind);
      if (Number(again.count()) !== pairs) return () => 'the number of pairs is wrong';
      const expected = found.map(({ n }) => host.temporary('u32', n));
      await writePairs(host, again, order && (await copy(order)), expected);
      const actual = await Promise.all(found.map(copy));
      for (const [i, one] of expected.entries()) {
        const isRight = areSame(wordsOf(one), wordsOf(actual[i] as Column));
        if (!(await runYielding(isRight, call.settings.signal))) return () => 'pairs are wrong';
      }
      return () => undefined;
    });
  if (pairs === 0) await verify([]);
  else {
    await bindOutputs(call, result.columns, async (to) => {
      const narrow = to.map((one) => (one.dtype === 'u64' ? columns.temporary('u32', pairs) : one));
      await writePairs(columns, matches, order, narrow);
      await verify(narrow);
      for (const [i, one] of to.entries()) {
        const from = narrow[i] as Column;
        if (from !== one) await widenPositions(columns.kernels, from, one);
      }
    });
  }
  return result;
}

/** @throws UnsupportedError when 32 bits cannot represent all pairs */
function assertCountable(keys: number, others: number, pairs: number): void {
  if (pairs < MAX_INDICES) return;
  throw new UnsupportedError(
    `cannot join ${keys} keys with ${others}: their ${pairs} pairs are 2^32 or more. Join parts of a, or use kind 'semi'`,
    { details: { pairs } },
  );
}

/**
 * Enqueues the search for the equals of each key.
 *
 * @param sorted keys with equal bits for equal numbers, as `keys`
 * @returns with `count`, which returns the number of pairs after the wait
 */
async function findMatches(
  engine: Engine,
  sorted: Column,
  keys: Column,
  codec: KeyCodec,
  kind: PairCounts,
): Promise<Matches & { readonly count: () => number | bigint }> {
  const { kernels } = engine;
  const [first, counts] = [engine.temporary('u32', keys.n), engine.temporary('u32', keys.n)];
  await kernels.run(SEARCH_SORTED, sorted, keys, { codec, right: false }, first);
  await kernels.run(SEARCH_SORTED, sorted, keys, { codec, right: true }, counts);
  await kernels.run(JOIN_COUNTS, first, counts, kind);
  const count = await kernels.reduce(counts, 'sum');
  await kernels.scan(counts, counts, 'sum', false);
  return { first, begins: counts, count };
}

/** Enqueues the computation of the positions of all pairs, at least one. */
async function writePairs(
  { kernels }: Engine,
  matches: Matches,
  order: Column | undefined,
  [left, right]: readonly Column[],
): Promise<void> {
  if (!left) return;
  await kernels.segmentIds(matches.begins, left);
  if (right) await kernels.run(JOIN_PLACES, left, matches, order, right);
}

/**
 * Computes how many pairs each key has.
 *
 * @param first number of sorted keys before each key; becomes `NO_PARTNER` if the key has no equal
 * @param counts number of sorted keys that do not follow the key; becomes the number of pairs
 */
export const JOIN_COUNTS = columnKernel({
  host(first: Column, counts: Column, { least, most, inverted }: PairCounts) {
    const [begins, ends] = [u32Of(first), u32Of(counts)];
    return inSlices(counts.n, (start, end) => {
      for (let i = start; i < end; i++) {
        const count = (ends[i] as number) - (begins[i] as number);
        ends[i] = Math.min(Math.max(count, least), most) ^ Number(inverted);
        if (count === 0) begins[i] = NO_PARTNER;
      }
    });
  },
  load: async () => (await import('./device.js')).joinCountsOnDevice,
});

/**
 * Computes the second position of each pair.
 *
 * @param left first positions, ascending
 * @param order positions of the sorted keys before the sort; missing if they were in order
 */
export const JOIN_PLACES = columnKernel({
  host(left: Column, matches: Matches, order: Column | undefined, right: Column) {
    const [ids, to] = [u32Of(left), u32Of(right)];
    const [begins, first] = [u32Of(matches.begins), u32Of(matches.first)];
    const places = order && u32Of(order);
    return inSlices(right.n, (start, end) => {
      for (let p = start; p < end; p++) {
        const i = ids[p] as number;
        const begin = first[i] as number;
        const place = begin + p - (begins[i] as number);
        to[p] = begin === NO_PARTNER ? NO_PARTNER : ((places ? places[place] : place) as number);
      }
    });
  },
  load: async () => (await import('./device.js')).joinPlacesOnDevice,
});
