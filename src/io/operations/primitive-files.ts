/** Reductions, scans and histograms of key files. */

import { newArray } from '../../keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../../keys/dtype.js';
import { widens } from '../../keys/widen.js';
import type { ReduceOp, ScanOp } from '../../primitives/possible.js';
import type { Sorter } from '../../sort/api/sorter.js';
import type { HistogramOptions, PrimitiveOptions } from '../../sort/model/options.js';
import type { FileContext } from '../file-sort/file-job.js';
import { withInputs } from '../formats/inputs.js';
import { keyGroups, readKeys } from '../formats/key-array.js';
import type { KeyReader } from '../formats/key-file.js';
import { type InputOptions, inputOptionsOf, targetOf, writeKeyFile } from '../formats/keys.js';
import type { TextReadOptions } from '../formats/text/text-options.js';
import { withOutput } from '../streams/output.js';
import { assertNotAborted } from '../streams/raw.js';
import { GROUP_KEYS } from './policy.js';

/** Input files, `-` for stdin; several files are concatenated. */
export interface PrimitiveJob
  extends Pick<InputOptions, 'dtype' | 'format' | 'column' | keyof TextReadOptions> {
  readonly in: readonly string[];
}

const callOptions = (reader: KeyReader, { signal, onWarning }: FileContext): PrimitiveOptions =>
  ({ dtype: reader.dtype, signal, ...(onWarning && { onWarning }) }) as PrimitiveOptions;

/**
 * Calls `take` with groups of keys; once with an empty array when there are no keys.
 *
 * @returns the number of keys
 */
async function forEachGroup(
  reader: KeyReader,
  context: FileContext,
  take: (keys: KeyArray) => Promise<void>,
): Promise<number> {
  let n = 0;
  for await (const keys of keyGroups(reader, GROUP_KEYS)) {
    assertNotAborted(context.signal);
    await take(keys);
    n += keys.length;
    context.onProgress?.({ phase: 'looking', done: n, total: reader.n ?? Number.NaN });
  }
  if (n === 0) await take(newArray(reader.dtype, 0)); // so that invalid options raise an error for empty files
  return n;
}

/** Result of a reduction. */
export interface Reduced {
  readonly n: number;
  readonly dtype: KeyReader['dtype'];
  readonly result: number | bigint;
}

/**
 * Computes the sum, minimum or maximum of the keys of files. Holds one group of keys in memory.
 *
 * Sums of integers have 64 bits and wrap, as those of `Sorter.reduce`. Sums of floats add the groups in double
 * precision and round the total to the dtype of the keys.
 *
 * @param sorter computes the partial results
 * @param job inputs and operation
 * @param context streams, signal and callbacks
 * @throws UsageError when an option is invalid
 * @throws DtypeError when dtypes differ or are unknown
 * @throws FormatError when a file is not valid in its format
 * @throws IoError when reading fails
 * @throws AbortedError when the signal aborts
 * @throws the errors of `Sorter.reduce`
 */
export function reduceFiles(
  sorter: Sorter,
  job: PrimitiveJob & { readonly op: ReduceOp },
  context: FileContext,
): Promise<Reduced> {
  const { op } = job;
  return withInputs(job.in, context, async (open) => {
    const reader = await open(inputOptionsOf(job));
    const { dtype } = reader;
    const options = callOptions(reader, context);
    const parts: (number | bigint)[] = [];
    const n = await forEachGroup(reader, context, async (keys) => {
      parts.push(await sorter.reduce(keys, op, options));
    });
    return { n, dtype, result: combinePartials(parts, op, dtypeInfo(dtype)) };
  });
}

function combinePartials(
  parts: readonly (number | bigint)[],
  op: ReduceOp,
  { kind, width }: ReturnType<typeof dtypeInfo>,
): number | bigint {
  const [first = 0, ...others] = parts;
  if (others.length === 0) return first;
  if (op === 'sum') {
    if (kind !== 'float') {
      const sum = parts.reduce<bigint>((total, part) => total + BigInt(part), 0n);
      return kind === 'signed' ? BigInt.asIntN(64, sum) : BigInt.asUintN(64, sum);
    }
    const sum = parts.reduce<number>((total, part) => total + Number(part), 0);
    return width === 32 ? Math.fround(sum) : sum;
  }
  return others.reduce((best, part) => {
    if (Number.isNaN(best) || Number.isNaN(part)) return Number.NaN;
    const isZeros = best === 0 && part === 0; // −0 is less than +0
    const isLess = isZeros ? Object.is(part, -0) && Object.is(best, 0) : part < best;
    const isMore = isZeros ? Object.is(part, 0) && Object.is(best, -0) : part > best;
    return (op === 'min' ? isLess : isMore) ? part : best;
  }, first);
}

/**
 * Writes the prefix sums of the keys of files. Holds all keys in memory.
 *
 * @param sorter computes the scan
 * @param job inputs, output and operation
 * @param context streams, signal and callbacks
 * @throws the errors of `reduceFiles`
 * @throws UnsupportedError when the dtype cannot be scanned
 */
export async function scanFiles(
  sorter: Sorter,
  job: PrimitiveJob & {
    readonly out: string;
    readonly to?: string | undefined;
    readonly inclusive: boolean;
    readonly op: ScanOp;
    readonly verify?: boolean;
    /**
     * Dtype of the results; default: that of the output name when it can represent every key, otherwise that of the
     * keys.
     */
    readonly resultDtype?: Dtype | undefined;
  },
  context: FileContext,
): Promise<{
  readonly n: number;
  readonly dtype: Dtype;
  readonly result: Dtype;
  readonly formats: readonly [string, string];
}> {
  const { out, inclusive, op, verify = false } = job;
  return withInputs(job.in, context, async (open) => {
    const reader = await open(inputOptionsOf(job));
    const target = await targetOf(reader, out, { ...job, verify: false, signal: context.signal });
    const { named } = target;
    const result =
      job.resultDtype ?? (named !== undefined && widens(reader.dtype, named) ? named : reader.dtype);
    const n = await withOutput(out, context, async (output) => {
      const keys = await readKeys(reader);
      assertNotAborted(context.signal);
      const how = { ...callOptions(reader, context), inclusive, op, verify };
      const wide = result === reader.dtype ? how : { ...how, resultDtype: result };
      const sums = await sorter.scan(keys as Uint32Array, wide);
      await writeKeyFile(target, output, sums, { dtype: result, column: reader.column });
      return keys.length;
    });
    return { n, dtype: reader.dtype, result, formats: [reader.format, target.format] };
  });
}

/**
 * Counts the keys of files per bin. Holds one group of keys in memory.
 *
 * @param sorter computes the counts
 * @param job inputs and bins
 * @param context streams, signal and callbacks
 * @throws the errors of `reduceFiles`
 * @throws UsageError when the options do not define bins
 */
export function histogramFiles(
  sorter: Sorter,
  job: PrimitiveJob & { readonly how: Pick<HistogramOptions, 'bins' | 'range' | 'edges' | 'bitRange'> },
  context: FileContext,
): Promise<{ readonly n: number; readonly dtype: KeyReader['dtype']; readonly counts: number[] }> {
  return withInputs(job.in, context, async (open) => {
    const reader = await open(inputOptionsOf(job));
    const options = { ...callOptions(reader, context), ...job.how } as HistogramOptions;
    let counts: number[] = [];
    const n = await forEachGroup(reader, context, async (keys) => {
      const own = await sorter.histogram(keys, options);
      counts = Array.from(own, (count, bin) => count + (counts[bin] ?? 0));
    });
    return { n, dtype: reader.dtype, counts };
  });
}
