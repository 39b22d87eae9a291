import { assertReducible, REDUCE_OPS, type ReduceOp, runsDtype } from '../../primitives/possible.js';
import { InputError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import type { ArrayStore, Keys } from '../calls/array-store.js';
import type { Calls } from '../calls/calls.js';
import { isPromise } from '../calls/dependency.js';
import {
  assertIndexable,
  assertOnePerKey,
  assertSameLengths,
  assertSamePlace,
} from '../model/array-assertions.js';
import { column } from '../model/column.js';
import { DeviceArray } from '../model/device-array.js';
import {
  type LexsortColumn,
  type LexsortOptions,
  parseColumnOptions,
  requireOptionsObject,
  type SortSettings,
  type TopKOptions,
  type UniqueOptions,
} from '../model/options.js';
import type { DeviceGroup } from '../multi-device/device-group.js';
import { ShardedArray } from '../multi-device/sharded-array.js';
import type { ShardedArrays } from '../multi-device/sharded-arrays.js';
import { type LexColumn, lexsort } from '../operations/lexsort.js';
import { reduceByKey } from '../operations/reduce-by-key.js';
import { topK } from '../operations/top-k.js';
import { unique } from '../operations/unique.js';
import {
  type Awaitable,
  assertOneOf,
  assertTop,
  type Positions,
  parse,
  readKeys,
  type Shardable,
  shardedSettings,
  taskOf,
  unusableOption,
} from './arguments.js';
import type { OperationContext } from './operation-context.js';

/** A column of rows, with its own order or that of the options. */
export type RowColumn<K extends Keys> = Awaitable<K> | LexsortColumn<Awaitable<K>>;

/** Operations that are based on sorts. */
export class OrderOperations {
  readonly #calls: Calls;
  readonly #arrays: ArrayStore;
  readonly #group: DeviceGroup | undefined;
  readonly #shardedArrays: () => ShardedArrays;

  constructor({ calls, arrays, group, shardedArrays }: OperationContext) {
    this.#calls = calls;
    this.#arrays = arrays;
    this.#group = group;
    this.#shardedArrays = shardedArrays;
  }

  lexsort(columns: readonly RowColumn<Keys>[], options?: LexsortOptions): Promise<Positions<Keys>> {
    // A wrong argument rejects the promise, as every other error does.
    const all = Array.isArray(columns) ? columns.map(columnOf) : undefined;
    return this.#calls.runWithInputs(all?.map(({ keys }) => keys) ?? [], async (dependency) => {
      if (!all) throw invalidArgument('columns', 'a list of arrays', columns, { type: InputError });
      const settings = parse(options, ['bitRange', 'dtype']);
      const parsed = all.map(({ keys, ...own }): { like: Keys; column: LexColumn } => {
        const order = parse({ ...pick(settings), ...parseColumnOptions(own) });
        const like = dependency.resolveInput(keys);
        return { like, column: { keys: readKeys(this.#arrays, like, order), order: pick(order) } };
      });
      const [first] = parsed;
      if (!first) throw invalidArgument('columns', 'at least one column', all, { type: InputError });
      const { n } = first.column.keys;
      assertSameLengths(parsed.map(({ column: { keys } }) => keys.n));
      assertIndexable(n);
      return this.#arrays.withResults(async (make) => {
        const moved = make.allocateBeside(first.like, 'u32', n);
        dependency.setResult(moved.result);
        if (n > 0) {
          const onHost = !parsed.some((one) => one.like instanceof DeviceArray);
          const rows = parsed.map((one) => one.column);
          await this.#calls.execute(
            { n, settings, dependency: dependency, onHost, again: onHost },
            async (call) => {
              await lexsort(call, rows, column('u32', n, moved.place));
              return () => undefined;
            },
          );
        }
        return moved.result as Positions<Keys>;
      });
    });
  }

  topK(
    keys: Awaitable<Shardable>,
    k: number,
    options?: TopKOptions,
  ): Promise<{ keys: Keys; indices: Positions<Keys> }> {
    return this.#calls.runWithInputs<{ keys: Keys; indices: Positions<Keys> }>([keys], async (dependency) => {
      const array = dependency.resolveInput(keys);
      const { largest = true, ...rest } = requireOptionsObject(options);
      assertTop(k, largest);
      const settings = parse({ ...rest, descending: largest });
      if ('descending' in rest) throw unusableOption('descending', "topK uses 'largest' instead");
      if (array instanceof ShardedArray) {
        return this.#shardedArrays().topK(array, k, shardedSettings(settings, array));
      }
      const input = readKeys(this.#arrays, array, settings);
      assertIndexable(input.n);
      const count = Math.min(k, input.n);
      return this.#arrays.withResults(async (make) => {
        const top = make.allocateLike(array, input.dtype, count);
        const indices = make.allocateBeside(array, 'u32', count);
        if (count > 0) {
          const out = {
            keys: column(input.dtype, count, top.place),
            positions: column('u32', count, indices.place),
          };
          const task = {
            ...taskOf(input, settings, array, dependency),
            shared: this.#group?.topK(input, out, settings),
          };
          await this.#calls.execute(task, async (call) => {
            await topK(call, input, out);
            return () => undefined;
          });
        }
        return { keys: top.result, indices: indices.result as Positions<Keys> };
      });
    });
  }

  unique<K extends Keys>(
    keys: Awaitable<K>,
    options?: UniqueOptions,
  ): Promise<{ keys: K; counts: Positions<K> }> {
    return this.#calls.runWithInputs([keys], async (dependency) => {
      const array = dependency.resolveInput(keys);
      const settings = parse(options, ['bitRange']);
      const input = readKeys(this.#arrays, array, settings);
      assertIndexable(input.n);
      return this.#arrays.withResults(async (make) => {
        const results = (distinct: number) => {
          const found = make.allocateLike(array, input.dtype, distinct);
          const counts = make.allocateBeside(array, 'u32', distinct);
          return {
            keys: column(input.dtype, distinct, found.place),
            counts: column('u32', distinct, counts.place),
            result: { keys: found.result, counts: counts.result as Positions<K> },
          };
        };
        if (input.n === 0) return results(0).result;
        return this.#calls.execute(taskOf(input, settings, array, dependency), async (call) => {
          const { result } = await unique(call, input, results);
          return () => result;
        });
      });
    });
  }

  reduceByKey<K extends Keys, V extends Keys>(
    keys: Awaitable<K>,
    values: Awaitable<V>,
    op: ReduceOp,
    options?: UniqueOptions,
  ): Promise<{ keys: K; values: Keys }> {
    return this.#calls.runWithInputs([keys, values], async (dependency) => {
      const [array, beside] = [dependency.resolveInput(keys), dependency.resolveInput(values)];
      assertOneOf('op', REDUCE_OPS, op);
      const settings = parse(options, ['bitRange']);
      const input = readKeys(this.#arrays, array, settings);
      assertIndexable(input.n);
      assertSamePlace('keys and values', array, beside);
      const own = readKeys(this.#arrays, beside, {});
      assertReducible(own.dtype, op);
      assertOnePerKey('values', own.n, input.n);
      const dtype = runsDtype(own.dtype, op);
      return this.#arrays.withResults(async (make) => {
        const results = (distinct: number) => {
          const found = make.allocateLike(array, input.dtype, distinct);
          const reduced =
            dtype === own.dtype
              ? make.allocateLike(beside, dtype, distinct)
              : make.allocateBeside(array, dtype, distinct);
          return {
            keys: column(input.dtype, distinct, found.place),
            values: column(dtype, distinct, reduced.place),
            result: { keys: found.result, values: reduced.result },
          };
        };
        if (input.n === 0) return results(0).result;
        return this.#calls.execute(taskOf(input, settings, array, dependency), async (call) => {
          const { result } = await reduceByKey(call, input, own, op, results);
          return () => result;
        });
      });
    });
  }
}

const isArray = (one: unknown): one is Keys =>
  ArrayBuffer.isView(one) || one instanceof DeviceArray || one instanceof ShardedArray;

/** Returns a column with its order; a bare array has no order of its own, and any other value has no keys. */
const columnOf = (one: RowColumn<Keys> | null | undefined): LexsortColumn<Awaitable<Keys>> =>
  isArray(one) || isPromise(one) ? { keys: one } : ((one ?? {}) as LexsortColumn<Awaitable<Keys>>);

const pick = ({ descending, nan }: SortSettings): LexColumn['order'] => ({ descending, nan });
