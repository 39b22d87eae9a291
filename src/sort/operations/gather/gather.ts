import { assertDisjoint } from '../../../keys/array.js';
import type { KeyArray } from '../../../keys/dtype.js';
import { InputError } from '../../../util/errors.js';
import { invalidArgument } from '../../../util/invalid-argument.js';
import { chain, type MaybePromise } from '../../../util/maybe-promise.js';
import type { Keys } from '../../calls/array-store.js';
import type { Call } from '../../calls/call.js';
import { assertSameLengths, assertSamePlace } from '../../model/array-assertions.js';
import { type Column, column } from '../../model/column.js';
import { DeviceArray } from '../../model/device-array.js';
import { type Into, type PrimitiveOptions, requireOptionsObject } from '../../model/options.js';
import {
  type Awaitable,
  assertSeparateOutput,
  type PositionDtype,
  type Positions,
  parsePrimitive,
  readKeys,
  taskOf,
  unusableOption,
} from '../arguments.js';
import { bindInputs, bindOutputs } from '../bind-columns.js';
import { withSorter } from '../default-sorters.js';
import type { Run } from '../operation.js';

export interface Gather {
  /**
   * Gathers elements: `result[i]` is `values[indices[i]]`. With the result of an `argsort`, it sorts further columns.
   *
   * A list of columns, which may have different dtypes, returns a list. The device takes one launch for every eight
   * columns.
   *
   *     const [names, prices] = await sorter.gather([nameIds, amounts], await sorter.argsort(dates));
   *
   * @param values typed array or device array, or a promise of one; or a list of columns that have the same length
   * @param indices positions as u32 or u64, as `argsort` returns them, in the same place as the values
   * @param options `dtype` (not for a list), `signal`, `timeout`, `onWarning` and `into`
   * @returns one element for each index, in an array of the type of `values`; for a list, one such array for each
   *   column
   * @throws InputError when an index is out of range, when the columns differ in length, and when values and indices
   *   are in different places
   * @throws the other errors of `sort`
   */
  gather<V extends Keys>(
    values: Awaitable<V>,
    indices: Awaitable<Positions<V, PositionDtype>>,
    options?: PrimitiveOptions & Into<V>,
  ): Promise<V>;
  /** Gathers elements of several columns, which may have different dtypes. */
  gather<V extends readonly Keys[] | readonly []>(
    values: { readonly [I in keyof V]: Awaitable<V[I]> },
    indices: Awaitable<Positions<Keys, PositionDtype>>,
    options?: PrimitiveOptions & Into<V>,
  ): Promise<V>;
}

/**
 * Gathers elements: `result[i]` is `values[indices[i]]`. A list of columns returns a list.
 *
 *     const [ids, amounts] = await gather([allIds, allAmounts], await argsort(dates));
 *
 * @param values typed array, or a list of typed arrays that have the same length
 * @param indices positions such as those of an `argsort`
 * @param options `device` (default `'auto'`), `devices`, `dtype` (not for a list), `signal`, `timeout`, `onWarning` and
 *   `into`
 * @returns one element for each index, in an array of the type of `values`; for a list, one such array for each column
 * @throws InputError when an index is out of range, and when the columns differ in length
 * @throws the other errors of `sort`
 */
export function gather<V extends KeyArray>(
  values: V,
  indices: Uint32Array | BigUint64Array,
  options?: PrimitiveOptions & Into<V>,
): Promise<V>;
export function gather<V extends readonly KeyArray[] | readonly []>(
  values: V,
  indices: Uint32Array | BigUint64Array,
  options?: PrimitiveOptions & Into<V>,
): Promise<V>;
export function gather(
  values: KeyArray | readonly KeyArray[],
  indices: Uint32Array | BigUint64Array,
  options?: PrimitiveOptions & Into<KeyArray | readonly KeyArray[]>,
): Promise<KeyArray | readonly KeyArray[]> {
  return withSorter(
    options,
    (sorter: Gather, rest): Promise<KeyArray | readonly KeyArray[]> =>
      Array.isArray(values)
        ? sorter.gather(values as readonly KeyArray[], indices, rest as Into<readonly KeyArray[]>)
        : sorter.gather(values as KeyArray, indices, rest as Into<KeyArray>),
  );
}

export const runGather: Run<Gather> = ({ calls, arrays: store }, values, indices, options) => {
  const isList = Array.isArray(values);
  const columns: readonly Awaitable<Keys>[] = isList ? [...values] : [values];
  return calls.runWithInputs([...columns, indices], (dependency): MaybePromise<never> => {
    const { into: given, ...rest } = requireOptionsObject(options);
    if (isList) assertListOptions(rest, given, columns.length);
    const into = (isList || given === undefined ? given : [given]) as readonly Keys[] | undefined;
    const arrays = columns.map((one) => dependency.resolveInput(one));
    const at = dependency.resolveInput(indices);
    const settings = parsePrimitive(rest);
    const inputs = arrays.map((array) => readKeys(store, array, settings));
    const by = readKeys(store, at, {});
    if (by.dtype !== 'u32' && by.dtype !== 'u64') {
      throw invalidArgument('indices', 'u32 or u64', { text: by.dtype }, { type: InputError });
    }
    const [first] = inputs;
    assertSameLengths(inputs.map(({ n }) => n));
    for (const array of arrays) {
      assertSamePlace('values and indices', array, at);
      if (!(array instanceof DeviceArray)) assertDisjoint(array, at as KeyArray, 'values and indices');
    }
    for (const [i, one] of into?.entries() ?? []) {
      for (const other of [...arrays, at, ...(into ?? []).slice(0, i)]) assertSeparateOutput(other, one);
    }
    return store.withResults((make): MaybePromise<never> => {
      const outputs = arrays.map((array, i) =>
        make.allocateLike(array, (inputs[i] as Column).dtype, by.n, into?.[i]),
      );
      if (outputs.length === 1) dependency.setResult(outputs[0]?.result);
      const results = outputs.map(({ result }) => result);
      const gathered = (isList ? results : results[0]) as never;
      if (!first) return gathered;
      const to = outputs.map(({ place }, i) => column((inputs[i] as Column).dtype, by.n, place));
      const task = taskOf('gather', first, settings, arrays[0] as Keys, dependency, into);
      return calls.execute(task, (call) =>
        chain(enqueueGather(call, inputs, by, to), (assertInside) => () => {
          assertInside();
          return gathered;
        }),
      );
    });
  });
};

function assertListOptions({ dtype }: PrimitiveOptions, into: unknown, columns: number): void {
  if (dtype !== undefined) throw unusableOption('dtype', 'several columns do not support it');
  if (into === undefined || (Array.isArray(into) && into.length === columns)) return;
  throw invalidArgument('into', `an array for each of ${columns} columns`, into, { type: InputError });
}

/**
 * Computes `to[i] = from[indices[i]]` for each of several columns of the same length. An index out of range results in
 * zero bytes, and in an error after the wait: nothing waits for a check in between.
 *
 * @returns a function, to be called after the wait, that throws InputError if an index was out of range
 */
export function enqueueGather(
  call: Call,
  from: readonly Column[],
  indices: Column,
  to: readonly Column[],
): MaybePromise<() => void> {
  if (indices.n === 0 || from.length === 0) return () => undefined;
  let outOfRange: (() => number | undefined) | undefined;
  const gathered = chain(bindInputs(call, [indices, ...from]), ([positions, ...inputs]) =>
    bindOutputs(call, to, (out) =>
      chain(call.columns.kernels.gatherRows(inputs, positions as Column, out), (readOutOfRange) => {
        outOfRange = readOutOfRange;
      }),
    ),
  );
  const assertInside = (): void => {
    const index = outOfRange?.();
    if (index === undefined) return;
    const expected = `indices below the number of values (${from[0]?.n})`;
    throw invalidArgument('indices', expected, index, { type: InputError, details: { index } });
  };
  return chain(gathered, () => assertInside);
}
