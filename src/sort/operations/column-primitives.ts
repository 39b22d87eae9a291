import { assertReducible, assertScannable, type ReduceOp, type ScanOp } from '../../primitives/possible.js';
import { InputError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import type { Call } from '../calls/call.js';
import { byteLengthOf, type Column } from '../model/column.js';
import { bitWindow, type HistogramBins } from '../model/options.js';
import type { BinEdges } from './bin-edges.js';

const MAX_DIGIT_BITS = 16;

/**
 * Computes the sum, minimum or maximum. Sums of integers are BigInts; sums of floats are numbers in the keys' dtype.
 *
 * @returns a function that returns the result after the wait
 * @throws InputError, UnsupportedError
 */
export function reduce(call: Call, keys: Column, op: ReduceOp): MaybePromise<() => number | bigint> {
  const { columns } = call;
  assertReducible(keys.dtype, op, keys.n);
  if (keys.n === 0) return () => (keys.info.kind === 'float' ? 0 : 0n);
  if (op === 'sum' && columns.lacksDoubles(keys.dtype)) {
    const host = call.fallBackToHost('sum f64', 'fp64', keys);
    return host.then(({ kernels, keys: copy }) => kernels.reduce(copy, op));
  }
  return chain(call.bindInput(keys), (input) => columns.kernels.reduce(input, op));
}

/** Operation and variant of a scan. */
export interface ScanMode {
  readonly op: ScanOp;
  readonly inclusive: boolean;
}

/** Computes a scan in the keys' dtype. */
export function scan(call: Call, keys: Column, to: Column, by: ScanMode): MaybePromise<void> {
  const { columns } = call;
  const { op, inclusive } = by;
  assertScannable(keys.dtype, op);
  if (keys.n === 0) return undefined;
  if ((op === 'sum' || op === 'product') && columns.lacksDoubles(keys.dtype)) {
    return scanOnHost(call, keys, to, by);
  }
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
 * Counts the keys between edges.
 *
 * @returns a function that returns the counts after the wait
 * @throws UsageError when the edges of float keys are BigInts
 */
export function histogram(call: Call, keys: Column, bins: BinEdges): MaybePromise<() => Uint32Array> {
  if (keys.info.kind === 'float' && typeof bins.edges[0] === 'bigint') {
    throw invalidArgument('edges', `numbers for ${keys.dtype} keys`, { text: 'BigInts' });
  }
  const codes = bins.codes(keys.dtype);
  if (keys.n === 0 || !codes) return () => new Uint32Array(bins.bins);
  // Bins that start above every key are left out: their edges have no code.
  const counted = chain(call.bindInput(keys), (input) =>
    call.columns.kernels.histogram(input, { edges: codes }),
  );
  return chain(counted, (readCounts) => () => {
    const counts = new Uint32Array(bins.bins);
    counts.set(readCounts());
    return counts;
  });
}

/**
 * Counts the keys by a digit of their codes.
 *
 * @returns a function that returns the counts after the wait
 * @throws UsageError when the digit has no bits or more than 16
 */
export function digitHistogram(
  call: Call,
  keys: Column,
  window: HistogramBins['bitRange'],
): MaybePromise<() => Uint32Array> {
  const bits = bitWindow(window, keys.info);
  const width = bits[1] - bits[0];
  if (width < 1 || width > MAX_DIGIT_BITS) {
    throw invalidArgument('bits', `1 to ${MAX_DIGIT_BITS} bits`, { text: `${width}` });
  }
  if (keys.n === 0) return () => new Uint32Array(2 ** width);
  return chain(call.bindInput(keys), (input) => call.columns.kernels.histogram(input, { bits }));
}

/**
 * Computes `to[i] = from[indices[i]]` for each of several columns of the same length. An index out of range results in
 * zero bytes, and in an error after the wait: nothing waits for a check in between.
 *
 * @returns a function, to be called after the wait, that throws InputError if an index was out of range
 */
export function gather(
  call: Call,
  from: readonly Column[],
  indices: Column,
  to: readonly Column[],
): MaybePromise<() => void> {
  if (indices.n === 0 || from.length === 0) return () => undefined;
  let outOfRange: (() => number | undefined) | undefined;
  const gathered = chain(bringAll(call, [indices, ...from]), ([positions, ...inputs]) =>
    intoAll(call, to, (out) =>
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

/** Binds columns as inputs of kernels, one after the other. */
export function bringAll(call: Call, columns: readonly Column[]): MaybePromise<readonly Column[]> {
  const brought: Column[] = [];
  for (const [i, column] of columns.entries()) {
    const next = call.bindInput(column);
    if (next instanceof Promise) {
      return next.then((broughtColumn) =>
        chain(bringAll(call, columns.slice(i + 1)), (others) => [...brought, broughtColumn, ...others]),
      );
    }
    brought.push(next);
  }
  return brought;
}

/** Binds columns as outputs of kernels, which `write` fills, and copies them to their destinations. */
export function intoAll(
  call: Call,
  to: readonly Column[],
  write: (to: readonly Column[]) => MaybePromise<void>,
): MaybePromise<void> {
  const [first, ...rest] = to;
  if (!first) return write([]);
  return call.bindOutput(first, (firstOutput) =>
    intoAll(call, rest, (otherOutputs) => write([firstOutput, ...otherOutputs])),
  );
}
