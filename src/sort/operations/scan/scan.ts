import { type ArrayOf, keyColumn } from '../../../keys/array.js';
import type { Dtype, KeyArray } from '../../../keys/dtype.js';
import { widen } from '../../../keys/widen.js';
import { assertScannable, SCAN_OPS, type ScanOp } from '../../../primitives/possible.js';
import { UsageError } from '../../../util/errors.js';
import { chain, type MaybePromise } from '../../../util/maybe-promise.js';
import type { Keys } from '../../calls/array-store.js';
import type { Call } from '../../calls/call.js';
import { byteLengthOf, type Column, column } from '../../model/column.js';
import { DeviceArray } from '../../model/device-array.js';
import { type Into, requireOptionsObject, type ScanOptions } from '../../model/options.js';
import {
  type Awaitable,
  assertBoolean,
  assertOneOf,
  assertSeparateOutput,
  parseChecked,
  readKeys,
  taskOf,
} from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { Run } from '../operation.js';

export interface Scan {
  /**
   * Returns prefix sums: each result is the sum of all keys before its key, and with `inclusive` of the key itself.
   * Option `op` selects minima, maxima or products instead.
   *
   * Results have the dtype of the keys, or `resultDtype`. Integers wrap. Sums of floats are within 4 log2(n) ε of the
   * sum of the magnitudes before them, with ε as in `reduce`. Products are within n ε of themselves, as long as no
   * product of neighbours is too large or small. A minimum or maximum is NaN from the first NaN on, and −0 is below +0.
   * The first exclusive result is 0 for a sum and 1 for a product. For a minimum it is the largest number (infinity for
   * floats), for a maximum the smallest.
   *
   * Source: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016). Complexity:
   * O(n).
   *
   * @param keys typed array or device array, or a promise of one; `resultDtype` requires a typed array
   * @param options `op` (default `'sum'`), `inclusive` (default `false`), `resultDtype`, `verify` (default `false`),
   *   `into`, `dtype`, `signal`, `timeout` and `onWarning`
   * @returns one result for each key, where the keys are
   * @throws UnsupportedError for sums and products of f16 and bf16
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * await sorter.scan(Uint32Array.of(3, 1, 2), { inclusive: true }); // 3, 4, 6
   * ```
   */
  scan<D extends Dtype>(
    keys: Awaitable<KeyArray>,
    options: ScanOptions & Into<ArrayOf<D>> & { readonly resultDtype: D },
  ): Promise<ArrayOf<D>>;
  /** Returns prefix sums in the dtype of the keys. */
  scan<K extends Keys>(keys: Awaitable<K>, options?: ScanOptions & Into<K>): Promise<K>;
}

/**
 * Returns prefix sums of `keys`: each result is the sum of the keys before its key, and with `inclusive` of the key
 * itself. Option `op` selects minima, maxima or products instead.
 *
 * Results have the dtype of the keys, or `resultDtype`; integers wrap in it. Error bounds and first results: see
 * `Sorter.scan`.
 *
 * @param keys typed array
 * @param options `op` (default `'sum'`), `inclusive` (default `false`), `resultDtype`, `verify` (default `false`),
 *   `into`, `device` (default `'auto'`), `devices`, `dtype`, `signal`, `timeout` and `onWarning`
 * @returns one result for each key
 * @throws UnsupportedError for sums and products of f16 and bf16
 * @throws the other errors of `sort`
 * @example
 * ```ts
 * await scan(Uint32Array.of(3, 1, 2), { inclusive: true }); // 3, 4, 6
 * ```
 */
export function scan<D extends Dtype>(
  keys: KeyArray,
  options: ScanOptions & Into<ArrayOf<D>> & { readonly resultDtype: D },
): Promise<ArrayOf<D>>;
export function scan<K extends KeyArray>(keys: K, options?: ScanOptions & Into<K>): Promise<K>;
export function scan<K extends KeyArray>(keys: K, options?: ScanOptions & Into<K>): Promise<K> {
  return withSorter(options, (sorter: Scan, rest) => sorter.scan(keys, rest));
}

export const runScan: Run<Scan> = ({ calls, arrays }, keys, options) =>
  calls.runWithInputs([keys], (dependency) => {
    const narrow = dependency.resolveInput(keys);
    const { op = 'sum', inclusive = false, into, resultDtype, ...rest } = requireOptionsObject(options);
    assertBoolean('inclusive', inclusive);
    assertOneOf('op', SCAN_OPS, op);
    const own = parseChecked(rest);
    const array = resultDtype === undefined ? narrow : widenKeys(narrow, own.dtype, resultDtype);
    const settings = resultDtype === undefined ? own : { ...own, dtype: resultDtype };
    const input = readKeys(arrays, array, settings);
    assertSeparateOutput(array, into);
    return arrays.withResults((make) => {
      const sums = make.allocateLike(array, input.dtype, input.n, into);
      dependency.setResult(sums.result);
      const to = column(input.dtype, input.n, sums.place);
      const getResult = () => sums.result;
      return calls.execute(taskOf('scan', input, settings, array, dependency, into), (call) =>
        chain(enqueueScan(call, input, to, { op, inclusive }), () => getResult),
      );
    });
  });

/** Operation and variant of a scan. */
export interface ScanMode {
  readonly op: ScanOp;
  readonly inclusive: boolean;
}

/** Computes a scan in the keys' dtype. */
export function enqueueScan(call: Call, keys: Column, to: Column, by: ScanMode): MaybePromise<void> {
  const { columns } = call;
  const { op, inclusive } = by;
  assertScannable(keys.dtype, op);
  if (keys.n === 0) return undefined;
  if ((op === 'sum' || op === 'product') && columns.lacksDoubles(keys.dtype)) {
    return scanOnHost(call, keys, to, by);
  }
  call.prepareVerify(keys.dtype, (verifier, none) => verifier.scan(none, none, op, inclusive));
  return chain(call.bindInput(keys), (input) =>
    call.bindOutput(to, (out) =>
      chain(columns.kernels.scan(input, out, op, inclusive), () =>
        call.verify((verifier) => verifier.scan(input, out, op, inclusive)),
      ),
    ),
  );
}

async function scanOnHost(call: Call, keys: Column, to: Column, { op, inclusive }: ScanMode): Promise<void> {
  const host = await call.fallBackToHost('scan f64', 'fp64', keys);
  const sums = { ...host.keys, place: new Uint8Array(byteLengthOf(keys)) };
  await host.kernels.scan(host.keys, sums, op, inclusive);
  await call.verify(() => host.verifier.scan(host.keys, sums, op, inclusive));
  return call.copy(sums, to);
}

/**
 * Widens host keys to another dtype.
 *
 * @throws UsageError for device arrays, and when the dtype cannot represent every key
 */
function widenKeys(keys: Keys, dtype: Dtype | undefined, to: Dtype): KeyArray {
  if (!(keys instanceof DeviceArray)) return widen(keyColumn(keys, dtype), to);
  throw new UsageError(
    `cannot use option 'resultDtype' with a device array of ${keys.dtype}: only host keys are widened. Upload the keys as ${to}`,
  );
}
