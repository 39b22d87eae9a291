import type { KeyArray } from '../../../keys/dtype.js';
import { keyCodec } from '../../../keys/key-codec.js';
import type { Binning } from '../../../primitives/histogram.js';
import { invalidArgument } from '../../../util/invalid-argument.js';
import { chain, type MaybePromise } from '../../../util/maybe-promise.js';
import { columnKernel } from '../../backend/column-kernel.js';
import { encodedKeysOf } from '../../backend/native-column-kernels.js';
import type { Keys } from '../../calls/array-store.js';
import type { Call } from '../../calls/call.js';
import { hostDigits, hostHistogram } from '../../host/host-primitives.js';
import { assertIndexable } from '../../model/array-assertions.js';
import { type Column, hostColumn } from '../../model/column.js';
import {
  bitWindow,
  type HistogramBins,
  type HistogramOptions,
  requireOptionsObject,
} from '../../model/options.js';
import { type Awaitable, parse, parsePrimitive, readKeys, taskOf, unusableOption } from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { Run } from '../operation.js';
import { BinEdges } from './bin-edges.js';

const MAX_DIGIT_BITS = 16;

export interface Histogram {
  /**
   * Counts the keys in each bin. A bin includes its lower edge and excludes its upper edge; the last bin includes both.
   *
   * Keys are compared as numbers: both zeros are at an edge of 0, and NaN is in no bin. With `bitRange` it counts the
   * values of a digit, as a radix sort does. The digit belongs to the codes of the ascending order with NaN last, so
   * every key is in a bin.
   *
   * @param keys fewer than 2^32 keys: typed array or device array, or a promise of one
   * @param options `bins` and `range`, or `edges`, or `bitRange`; `dtype`, `signal`, `timeout` and `onWarning`
   * @returns one count for each bin
   * @throws UsageError when the options do not define bins
   * @throws UnsupportedError for 2^32 keys or more
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * const counts = await sorter.histogram(ages, { bins: 10, range: [0, 100] });
   * ```
   */
  histogram(keys: Awaitable<Keys>, options?: HistogramOptions): Promise<Uint32Array>;
}

/**
 * Counts the keys in each bin: `bins` bins of equal width over `range`, or bins between `edges`, or the values of a
 * digit, `bitRange` of the keys' codes. A bin includes its lower edge and the last bin its upper edge; NaN is in no bin.
 *
 *     await histogram(ages, { bins: 10, range: [0, 100] });
 *
 * @param keys typed array of fewer than 2^32 keys
 * @param options `bins` and `range`, or `edges`, or `bitRange`; `device` (default `'auto'`), `devices`, `dtype`, `signal`,
 *   `timeout` and `onWarning`
 * @returns one count for each bin
 * @throws UsageError when the options do not define bins
 * @throws UnsupportedError for 2^32 keys or more
 * @throws the other errors of `sort`
 */
export function histogram(keys: KeyArray, options: HistogramOptions): Promise<Uint32Array> {
  return withSorter(options, (sorter: Histogram, rest) => sorter.histogram(keys, rest));
}

export const runHistogram: Run<Histogram> = ({ calls, arrays }, keys, options) =>
  calls.runWithInputs([keys], (dependency) => {
    const array = dependency.resolveInput(keys);
    const { bins, range, edges, bitRange, ...rest } = requireOptionsObject(options);
    const settings = parsePrimitive(rest);
    const input = readKeys(arrays, array, settings);
    const byValue = bins !== undefined || range !== undefined || edges !== undefined;
    if (bitRange !== undefined && byValue) {
      throw unusableOption('bitRange', "it excludes 'bins', 'range' and 'edges'");
    }
    const all = bitRange === undefined ? BinEdges.of(requireOptionsObject(options)) : undefined;
    const digits = bitRange && parse({ bitRange }).bits;
    assertIndexable(input.n);
    return calls.execute(taskOf('histogram', input, settings, array, dependency), (call) =>
      all ? enqueueHistogram(call, input, all) : enqueueDigitHistogram(call, input, digits),
    );
  });

/**
 * Counts the keys between edges.
 *
 * @returns a function that returns the counts after the wait
 * @throws UsageError when the edges of float keys are BigInts
 */
export function enqueueHistogram(call: Call, keys: Column, bins: BinEdges): MaybePromise<() => Uint32Array> {
  if (keys.info.kind === 'float' && typeof bins.edges[0] === 'bigint') {
    throw invalidArgument('edges', `numbers for ${keys.dtype} keys`, { text: 'BigInts' });
  }
  const codes = bins.codes(keys.dtype);
  if (keys.n === 0 || !codes) return () => new Uint32Array(bins.bins);
  // Bins that start above every key are left out: their edges have no code.
  const counted = chain(call.bindInput(keys), (input) =>
    call.columns.kernels.run(HISTOGRAM, input, { edges: codes }),
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
export function enqueueDigitHistogram(
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
  return chain(call.bindInput(keys), (input) => call.columns.kernels.run(HISTOGRAM, input, { bits }));
}

/**
 * Counts keys by digit, or between codes in ascending order; the last bin includes its upper edge.
 *
 * @returns a function that returns the counts after the wait
 */
export const HISTOGRAM = columnKernel({
  *host(keys: Column, binning: Binning) {
    const words = hostColumn(keys);
    const counts = yield* 'bits' in binning
      ? hostDigits(words, binning.bits)
      : hostHistogram(words, binning.edges);
    return () => counts;
  },
  native: {
    extent: (keys) => [keys.n, keys],
    run: async (onThreads, keys, binning) => {
      const encoded = encodedKeysOf(keys, keyCodec(keys.dtype));
      if ('bits' in binning) {
        const [begin, end] = binning.bits;
        const counts = new Uint32Array(2 ** (end - begin));
        await onThreads('hostCountDigitsAsync', keys.n, ...encoded, begin, counts);
        return () => counts;
      }
      const edges = BigUint64Array.from(binning.edges);
      const counts = new Uint32Array(edges.length - 1);
      await onThreads('hostCountBinsAsync', keys.n, ...encoded, edges, counts);
      return () => counts;
    },
  },
  load: async () => (await import('./device.js')).histogramOnDevice,
});
