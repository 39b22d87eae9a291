import type { Order } from '../../keys/key-codec.js';
import { InputError, UsageError } from '../../util/errors.js';
import { shown } from '../../util/shown.js';
import { after } from '../../util/soon.js';
import { type Column, column } from '../backend/column.js';
import type { ArrayStore, Keys } from '../calls/array-store.js';
import type { Calls } from '../calls/calls.js';
import { filter, partition } from '../operations/choices.js';
import type { ColumnChoice } from '../operations/column-steps.js';
import { type Predicate, rangeOf } from '../operations/predicate.js';
import { merge, searchSorted } from '../operations/sorted.js';
import {
  type Awaitable,
  assertApart,
  assertIndexable,
  type Positions,
  parse,
  parseChecked,
  parsePrimitive,
  readKeys,
  taskOf,
} from './arguments.js';
import { DeviceArray } from './device-array.js';
import type { MadeWith } from './made-with.js';
import { type CheckedOptions, given, type Into, type PrimitiveOptions } from './options.js';

/** One byte for each key: those where it is not 0 are chosen. */
export type Mask<K extends Keys> = K extends DeviceArray ? DeviceArray<'u8'> : Uint8Array;

/** What `merge` takes: the order that both arrays are in, and how to run. */
export type MergeOptions = PrimitiveOptions & Order;

/** What `searchSorted` takes. */
export type SearchSortedOptions = PrimitiveOptions &
  Order & {
    /** Among keys that are equal, the place in front of all (`left`) or behind them. Default `left`. */
    readonly side?: 'left' | 'right';
  };

/** Operations that choose among keys, and those on keys that are in order. */
export class ChoiceOperations {
  readonly #calls: Calls;
  readonly #arrays: ArrayStore;

  constructor({ calls, arrays }: MadeWith) {
    this.#calls = calls;
    this.#arrays = arrays;
  }

  filter<K extends Keys>(
    keys: Awaitable<K>,
    by: Awaitable<Mask<K>> | Predicate,
    options?: CheckedOptions,
  ): Promise<K> {
    return this.#calls.runWithInputs([keys, by], async (link) => {
      const array = link.resolveInput(keys);
      const settings = parseChecked(options);
      const input = readKeys(this.#arrays, array, settings);
      assertIndexable(input.n);
      const choice = this.#choice(input, array, link.resolveInput(by as Awaitable<Keys>) as Keys | Predicate);
      return this.#arrays.withResults(async (make) => {
        const results = (chosen: number) => {
          const found = make.allocateLike(array, input.dtype, chosen);
          return { keys: column(input.dtype, chosen, found.place), result: found.result };
        };
        if (input.n === 0) return results(0).result;
        return this.#calls.execute(taskOf(input, settings, array, link), async (call) => {
          const { result } = await filter(call, input, choice, results);
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
    return this.#calls.runWithInputs([keys, by], async (link) => {
      const { into, ...rest } = given(options);
      const array = link.resolveInput(keys);
      const settings = parseChecked(rest);
      const input = readKeys(this.#arrays, array, settings);
      assertIndexable(input.n);
      assertApart(array, into);
      const choice = this.#choice(input, array, link.resolveInput(by as Awaitable<Keys>) as Keys | Predicate);
      return this.#arrays.withResults(async (make) => {
        const parted = make.allocateLike(array, input.dtype, input.n, into);
        const to = column(input.dtype, input.n, parted.place);
        const task = taskOf(input, settings, array, link, into);
        const count = await this.#calls.execute(task, (call) => partition(call, input, choice, to));
        return { keys: parted.result, count };
      });
    });
  }

  searchSorted<K extends Keys>(
    sorted: Awaitable<K>,
    keys: Awaitable<K>,
    options?: SearchSortedOptions & Into<Positions<K>>,
  ): Promise<Positions<K>> {
    return this.#calls.runWithInputs([sorted, keys], (link) => {
      const { side = 'left', into, descending, nan, ...rest } = given(options);
      if (side !== 'left' && side !== 'right') {
        throw new UsageError(`option 'side' is ${shown(side)}: expected left or right`);
      }
      const [among, array] = [link.resolveInput(sorted), link.resolveInput(keys)];
      const settings = parsePrimitive(rest);
      const order = orderOf({ descending, nan });
      const [from, input] = this.#alike(
        among,
        array,
        settings,
        'keys and those among which they are looked for',
      );
      assertIndexable(from.n);
      for (const one of [among, array]) assertApart(one, into);
      return this.#arrays.withResults((make) => {
        const places = make.allocateBeside(array, 'u32', input.n, into);
        link.setResult(places.result);
        const to = column('u32', input.n, places.place);
        const search = { ...order, right: side === 'right' };
        const made = () => places.result as Positions<K>;
        return this.#calls.execute(taskOf(input, settings, array, link, into), (call) =>
          after(searchSorted(call, from, input, search, to), () => made),
        );
      });
    });
  }

  merge<K extends Keys>(a: Awaitable<K>, b: Awaitable<K>, options?: MergeOptions & Into<K>): Promise<K> {
    return this.#calls.runWithInputs([a, b], async (link) => {
      const { into, descending, nan, ...rest } = given(options);
      const [first, second] = [link.resolveInput(a), link.resolveInput(b)];
      const settings = parsePrimitive(rest);
      const order = orderOf({ descending, nan });
      const [from, other] = this.#alike(first, second, settings, 'two arrays that are merged');
      for (const one of [first, second]) assertApart(one, into);
      return this.#arrays.withResults(async (make) => {
        const n = from.n + other.n;
        const merged = make.allocateLike(first, from.dtype, n, into);
        link.setResult(merged.result);
        const to = column(from.dtype, n, merged.place);
        await this.#calls.execute({ ...taskOf(from, settings, first, link, into), n }, async (call) => {
          await merge(call, from, other, order, to);
          return () => undefined;
        });
        return merged.result;
      });
    });
  }

  /** Two arrays of one dtype in one place, checked. */
  #alike(
    a: Keys,
    b: Keys,
    settings: Parameters<typeof readKeys>[2],
    what: string,
  ): readonly [Column, Column] {
    if (a instanceof DeviceArray !== b instanceof DeviceArray) {
      throw new InputError(`${what} are in different places: upload both or none`);
    }
    const columns = [readKeys(this.#arrays, a, settings), readKeys(this.#arrays, b, settings)] as const;
    const [one, other] = columns;
    if (one.dtype !== other.dtype) {
      throw new InputError(`${what} are ${one.dtype} and ${other.dtype}: expected one dtype`);
    }
    return columns;
  }

  #choice(input: Column, array: Keys, by: Keys | Predicate): ColumnChoice {
    if (!(ArrayBuffer.isView(by) || by instanceof DeviceArray)) return rangeOf(by as Predicate, input);
    if (array instanceof DeviceArray !== by instanceof DeviceArray) {
      throw new InputError('keys and mask are in different places: upload both or none');
    }
    const mask = readKeys(this.#arrays, by, {});
    if (mask.dtype !== 'u8') throw new InputError(`the mask is ${mask.dtype}: expected a Uint8Array or u8`);
    if (mask.n !== input.n) {
      throw new InputError(
        `a mask of ${mask.n} bytes does not fit ${input.n} keys: expected one for each key`,
      );
    }
    return { mask };
  }
}

/** @throws UsageError for a direction or place of NaNs that there is not */
function orderOf({ descending, nan }: { [Name in keyof Order]: Order[Name] | undefined }): Required<Order> {
  const given = { ...(descending !== undefined && { descending }), ...(nan !== undefined && { nan }) };
  const settings = parse(given);
  return { descending: settings.descending, nan: settings.nan };
}
