import { assertDisjoint } from '../../keys/array.js';
import { REDUCE_OPS, type ReduceOp, SCAN_OPS } from '../../primitives/possible.js';
import { InputError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import type { ArrayStore, Keys } from '../calls/array-store.js';
import type { Calls } from '../calls/calls.js';
import type { Dependency } from '../calls/dependency.js';
import { assertIndexable, assertSameLengths, assertSamePlace } from '../model/array-assertions.js';
import { type Column, column } from '../model/column.js';
import { DeviceArray } from '../model/device-array.js';
import {
  type HistogramOptions,
  type Into,
  type PrimitiveOptions,
  requireOptionsObject,
  type ScanOptions,
} from '../model/options.js';
import type { DeviceGroup } from '../multi-device/device-group.js';
import { ShardedArray } from '../multi-device/sharded-array.js';
import type { ShardedArrays } from '../multi-device/sharded-arrays.js';
import { BinEdges } from '../operations/bin-edges.js';
import { digitHistogram, gather, histogram, reduce, scan } from '../operations/column-primitives.js';
import {
  type Awaitable,
  assertBoolean,
  assertOneOf,
  assertSeparateOutput,
  type Positions,
  parse,
  parseChecked,
  parsePrimitive,
  readKeys,
  type Shardable,
  shardedSettings,
  taskOf,
  unusableOption,
  widenKeys,
} from './arguments.js';
import type { OperationContext } from './operation-context.js';

/** Operations that read every key and do not sort. */
export class PrimitiveOperations {
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

  reduce(keys: Awaitable<Shardable>, op: ReduceOp, options?: PrimitiveOptions): Promise<number | bigint> {
    return this.#calls.runWithInputs<number | bigint>([keys], (dependency) => {
      const array = dependency.resolveInput(keys);
      assertOneOf('op', REDUCE_OPS, op);
      const settings = parsePrimitive(options);
      if (array instanceof ShardedArray)
        return this.#shardedArrays().reduce(array, op, shardedSettings(settings, array));
      const input = readKeys(this.#arrays, array, settings);
      const task = taskOf(input, settings, array, dependency);
      if (this.#group) task.shared = this.#group.reduce(input, op, settings);
      return this.#calls.execute(task, (call) => reduce(call, input, op));
    });
  }

  scan<K extends Keys>(keys: Awaitable<K>, options?: ScanOptions & Into<K>): Promise<K> {
    return this.#calls.runWithInputs([keys], (dependency) => {
      const narrow = dependency.resolveInput(keys);
      const { op = 'sum', inclusive = false, into, resultDtype, ...rest } = requireOptionsObject(options);
      assertBoolean('inclusive', inclusive);
      assertOneOf('op', SCAN_OPS, op);
      const own = parseChecked(rest);
      const array = resultDtype === undefined ? narrow : (widenKeys(narrow, own.dtype, resultDtype) as K);
      const settings = resultDtype === undefined ? own : { ...own, dtype: resultDtype };
      const input = readKeys(this.#arrays, array, settings);
      assertSeparateOutput(array, into);
      return this.#arrays.withResults((make) => {
        const sums = make.allocateLike(array, input.dtype, input.n, into);
        dependency.setResult(sums.result);
        const to = column(input.dtype, input.n, sums.place);
        const getResult = () => sums.result;
        return this.#calls.execute(taskOf(input, settings, array, dependency, into), (call) =>
          chain(scan(call, input, to, { op, inclusive }), () => getResult),
        );
      });
    });
  }

  histogram(keys: Awaitable<Keys>, options?: HistogramOptions): Promise<Uint32Array> {
    return this.#calls.runWithInputs([keys], (dependency) => {
      const array = dependency.resolveInput(keys);
      const { bins, range, edges, bitRange, ...rest } = requireOptionsObject(options);
      const settings = parsePrimitive(rest);
      const input = readKeys(this.#arrays, array, settings);
      const byValue = bins !== undefined || range !== undefined || edges !== undefined;
      if (bitRange !== undefined && byValue) {
        throw unusableOption('bitRange', "it excludes 'bins', 'range' and 'edges'");
      }
      const all = bitRange === undefined ? BinEdges.of(requireOptionsObject(options)) : undefined;
      const digits = bitRange && parse({ bitRange }).bits;
      assertIndexable(input.n);
      return this.#calls.execute(taskOf(input, settings, array, dependency), (call) =>
        all ? histogram(call, input, all) : digitHistogram(call, input, digits),
      );
    });
  }

  gather<V extends Keys>(
    values: Awaitable<V>,
    indices: Awaitable<Positions<V>>,
    options?: PrimitiveOptions & Into<V>,
  ): Promise<V> {
    return this.#calls.runWithInputs([values, indices], (dependency) => {
      const { into, ...rest } = requireOptionsObject(options);
      const to = into === undefined ? undefined : [into];
      return this.#gather(dependency, [values], indices, rest, to, ([gathered]) => gathered as V);
    });
  }

  gatherColumns(
    columns: readonly Awaitable<Keys>[],
    indices: Awaitable<Positions<Keys>>,
    options?: PrimitiveOptions & Into<readonly Keys[]>,
  ): Promise<Keys[]> {
    const all = [...columns];
    return this.#calls.runWithInputs<Keys[]>([...all, indices], (dependency) => {
      const { into, ...rest } = requireOptionsObject(options);
      if (rest.dtype !== undefined) throw unusableOption('dtype', 'several columns do not support it');
      if (into !== undefined && !(Array.isArray(into) && into.length === all.length)) {
        throw invalidArgument('into', `an array for each of ${all.length} columns`, into, {
          type: InputError,
        });
      }
      return this.#gather(dependency, all, indices, rest, into, (gathered) => [...gathered]);
    });
  }

  /**
   * @param into an array for each column, or undefined
   * @param toResult converts the results to what the caller receives
   */
  #gather<R>(
    dependency: Dependency,
    columns: readonly Awaitable<Keys>[],
    indices: Awaitable<Positions<Keys>>,
    options: PrimitiveOptions,
    into: readonly Keys[] | undefined,
    toResult: (results: readonly Keys[]) => R,
  ): MaybePromise<R> {
    const arrays = columns.map((one) => dependency.resolveInput(one));
    const at = dependency.resolveInput(indices);
    const settings = parsePrimitive(options);
    const inputs = arrays.map((array) => readKeys(this.#arrays, array, settings));
    const by = readKeys(this.#arrays, at, {});
    if (by.dtype !== 'u32') throw invalidArgument('indices', 'u32', { text: by.dtype }, { type: InputError });
    const [first] = inputs;
    assertSameLengths(inputs.map(({ n }) => n));
    for (const array of arrays) {
      assertSamePlace('values and indices', array, at);
      if (!(array instanceof DeviceArray)) assertDisjoint(array, at as Uint32Array, 'values and indices');
    }
    for (const [i, one] of into?.entries() ?? []) {
      for (const other of [...arrays, at, ...(into ?? []).slice(0, i)]) assertSeparateOutput(other, one);
    }
    return this.#arrays.withResults((make) => {
      const outputs = arrays.map((array, i) =>
        make.allocateLike(array, (inputs[i] as Column).dtype, by.n, into?.[i]),
      );
      if (outputs.length === 1) dependency.setResult(outputs[0]?.result);
      const results = outputs.map(({ result }) => result);
      if (!first) return toResult(results);
      const to = outputs.map(({ place }, i) => column((inputs[i] as Column).dtype, by.n, place));
      const task = taskOf(first, settings, arrays[0] as Keys, dependency, into);
      return this.#calls.execute(task, (call) =>
        chain(gather(call, inputs, by, to), (check) => () => {
          check();
          return toResult(results);
        }),
      );
    });
  }
}
