import type { Order } from '../../keys/key-codec.js';
import { InputError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { chain } from '../../util/maybe-promise.js';
import type { ColumnSelection } from '../backend/column-kernels.js';
import type { ArrayStore, Keys } from '../calls/array-store.js';
import type { Calls } from '../calls/calls.js';
import { assertIndexable, assertOnePerKey, assertSamePlace } from '../model/array-assertions.js';
import { type Column, column } from '../model/column.js';
import { DeviceArray } from '../model/device-array.js';
import {
  type CheckedOptions,
  type Into,
  type PrimitiveOptions,
  requireOptionsObject,
} from '../model/options.js';
import { type Predicate, rangeOf } from '../operations/predicate.js';
import { merge, searchSorted } from '../operations/search-and-merge.js';
import { filter, partition } from '../operations/select.js';
import {
  type Awaitable,
  assertOneOf,
  assertSeparateOutput,
  type Positions,
  parse,
  parseChecked,
  parsePrimitive,
  readKeys,
  taskOf,
} from './arguments.js';
import type { OperationContext } from './operation-context.js';

/** Mask with one byte for each key. It selects the keys whose byte is not 0. */
export type Mask<K extends Keys> = K extends DeviceArray ? DeviceArray<'u8'> : Uint8Array;

/** Options of `merge`: the order of both arrays, and how to run. */
export type MergeOptions = PrimitiveOptions & Order;

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

/** Operations that select keys, and operations on sorted keys. */
export class SelectOperations {
  readonly #calls: Calls;
  readonly #arrays: ArrayStore;

  constructor({ calls, arrays }: OperationContext) {
    this.#calls = calls;
    this.#arrays = arrays;
  }

  filter<K extends Keys>(
    keys: Awaitable<K>,
    by: Awaitable<Mask<K>> | Predicate,
    options?: CheckedOptions,
  ): Promise<K> {
    return this.#calls.runWithInputs([keys, by], async (dependency) => {
      const array = dependency.resolveInput(keys);
      const settings = parseChecked(options);
      const input = readKeys(this.#arrays, array, settings);
      assertIndexable(input.n);
      const selection = this.#selection(
        input,
        array,
        dependency.resolveInput(by as Awaitable<Keys>) as Keys | Predicate,
      );
      return this.#arrays.withResults(async (make) => {
        const results = (chosen: number) => {
          const found = make.allocateLike(array, input.dtype, chosen);
          return { keys: column(input.dtype, chosen, found.place), result: found.result };
        };
        if (input.n === 0) return results(0).result;
        return this.#calls.execute(taskOf(input, settings, array, dependency), async (call) => {
          const { result } = await filter(call, input, selection, results);
          return () => result;
        });
      });
    });
  }

  partition<K extends Keys>(
    keys: Awaitable<K>,
    by: Awaitable<Mask<K>> | Predicate,
    options?: CheckedOptions & Into<K>,
  ): Promise<{ keys: K; count: number }> {
    return this.#calls.runWithInputs([keys, by], async (dependency) => {
      const { into, ...rest } = requireOptionsObject(options);
      const array = dependency.resolveInput(keys);
      const settings = parseChecked(rest);
      const input = readKeys(this.#arrays, array, settings);
      assertIndexable(input.n);
      assertSeparateOutput(array, into);
      const selection = this.#selection(
        input,
        array,
        dependency.resolveInput(by as Awaitable<Keys>) as Keys | Predicate,
      );
      return this.#arrays.withResults(async (make) => {
        const partitioned = make.allocateLike(array, input.dtype, input.n, into);
        const to = column(input.dtype, input.n, partitioned.place);
        const task = taskOf(input, settings, array, dependency, into);
        const count = await this.#calls.execute(task, (call) => partition(call, input, selection, to));
        return { keys: partitioned.result, count };
      });
    });
  }

  searchSorted<K extends Keys>(
    sorted: Awaitable<K>,
    keys: Awaitable<K>,
    options?: SearchSortedOptions & Into<Positions<K>>,
  ): Promise<Positions<K>> {
    return this.#calls.runWithInputs([sorted, keys], (dependency) => {
      const { side = 'left', into, descending, nan, ...rest } = requireOptionsObject(options);
      assertOneOf('side', ['left', 'right'], side);
      const [sortedArray, array] = [dependency.resolveInput(sorted), dependency.resolveInput(keys)];
      const settings = parsePrimitive(rest);
      const order = orderOf({ descending, nan });
      const [from, input] = this.#readMatching(sortedArray, array, settings, 'sorted and keys');
      assertIndexable(from.n);
      for (const one of [sortedArray, array]) assertSeparateOutput(one, into);
      return this.#arrays.withResults((make) => {
        const places = make.allocateBeside(array, 'u32', input.n, into);
        dependency.setResult(places.result);
        const to = column('u32', input.n, places.place);
        const search = { ...order, right: side === 'right' };
        const getResult = () => places.result as Positions<K>;
        return this.#calls.execute(taskOf(input, settings, array, dependency, into), (call) =>
          chain(searchSorted(call, from, input, search, to), () => getResult),
        );
      });
    });
  }

  merge<K extends Keys>(a: Awaitable<K>, b: Awaitable<K>, options?: MergeOptions & Into<K>): Promise<K> {
    return this.#calls.runWithInputs([a, b], async (dependency) => {
      const { into, descending, nan, ...rest } = requireOptionsObject(options);
      const [first, second] = [dependency.resolveInput(a), dependency.resolveInput(b)];
      const settings = parsePrimitive(rest);
      const order = orderOf({ descending, nan });
      const [from, other] = this.#readMatching(first, second, settings, 'a and b');
      for (const one of [first, second]) assertSeparateOutput(one, into);
      return this.#arrays.withResults(async (make) => {
        const n = from.n + other.n;
        const merged = make.allocateLike(first, from.dtype, n, into);
        dependency.setResult(merged.result);
        const to = column(from.dtype, n, merged.place);
        await this.#calls.execute({ ...taskOf(from, settings, first, dependency, into), n }, async (call) => {
          await merge(call, from, other, order, to);
          return () => undefined;
        });
        return merged.result;
      });
    });
  }

  /**
   * Validates two arrays.
   *
   * @throws InputError when they differ in dtype or place
   */
  #readMatching(
    a: Keys,
    b: Keys,
    settings: Parameters<typeof readKeys>[2],
    what: string,
  ): readonly [Column, Column] {
    assertSamePlace(what, a, b);
    const columns = [readKeys(this.#arrays, a, settings), readKeys(this.#arrays, b, settings)] as const;
    const [one, other] = columns;
    if (one.dtype !== other.dtype) {
      const text = `${one.dtype} and ${other.dtype}`;
      throw invalidArgument(what, 'arrays of the same dtype', { text }, { type: InputError });
    }
    return columns;
  }

  #selection(input: Column, array: Keys, by: Keys | Predicate): ColumnSelection {
    if (!(ArrayBuffer.isView(by) || by instanceof DeviceArray)) return rangeOf(by as Predicate, input);
    assertSamePlace('keys and mask', array, by);
    const mask = readKeys(this.#arrays, by, {});
    if (mask.dtype !== 'u8') throw invalidArgument('mask', 'u8', { text: mask.dtype }, { type: InputError });
    assertOnePerKey('mask', mask.n, input.n);
    return { mask };
  }
}

/** @throws UsageError when `descending` or `nan` has an impossible value */
function orderOf({ descending, nan }: { [Name in keyof Order]: Order[Name] | undefined }): Required<Order> {
  const given = { ...(descending !== undefined && { descending }), ...(nan !== undefined && { nan }) };
  const settings = parse(given);
  return { descending: settings.descending, nan: settings.nan };
}
