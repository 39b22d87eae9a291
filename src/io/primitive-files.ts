/** Reductions, scans and histograms of files of keys. */

import { newArray } from '../keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../keys/dtype.js';
import { widens } from '../keys/widen.js';
import type { ReduceOp, ScanOp } from '../primitives/possible.js';
import type { HistogramOptions, PrimitiveOptions } from '../sort/api/options.js';
import type { Sorter } from '../sort/api/sorter.js';
import type { KeyReader } from './formats/key-file.js';
import { withInputs } from './inputs.js';
import { keyGroups, readKeys, writeKeys } from './key-array.js';
import { type InputOptions, inputOptionsOf, keyTarget } from './keys.js';
import { withOutput } from './output.js';
import { assertNotAborted } from './raw.js';
import type { FileContext } from './sort-file.js';
import type { TextReadOptions } from './text/text-options.js';

/** Keys that one call takes: the rest of a file is not in memory meanwhile. */
const GROUP_KEYS = 2 ** 24;

/** What is read: files, `-` for stdin; of several the keys of all. */
export interface PrimitiveJob
  extends Pick<InputOptions, 'dtype' | 'format' | 'column' | keyof TextReadOptions> {
  readonly in: readonly string[];
}

const callOptions = (reader: KeyReader, { signal, onWarning }: FileContext): PrimitiveOptions =>
  ({ dtype: reader.dtype, signal, ...(onWarning && { onWarning }) }) as PrimitiveOptions;

/** Hands the keys over in groups; once, without keys, where there are none. @returns how many there were */
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
  if (n === 0) await take(newArray(reader.dtype, 0)); // so that what is wrong is told of no keys, too
  return n;
}

/** What a reduction found. */
export interface Reduced {
  readonly n: number;
  readonly dtype: KeyReader['dtype'];
  readonly result: number | bigint;
}

/**
 * The sum, minimum or maximum of the keys of files, in memory for a part of them.
 *
 * Sums of integers have 64 bits and wrap, as those of `Sorter.reduce`; of floats the parts are added in doubles, and the
 * whole is rounded to the keys' type.
 *
 * @throws UsageError, DtypeError, FormatError, IoError, AbortedError, and what `Sorter.reduce` throws
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
    const isZeros = best === 0 && part === 0; // −0 is below +0
    const isLess = isZeros ? Object.is(part, -0) && Object.is(best, 0) : part < best;
    const isMore = isZeros ? Object.is(part, 0) && Object.is(best, -0) : part > best;
    return (op === 'min' ? isLess : isMore) ? part : best;
  }, first);
}

/**
 * Writes the prefix sums of the keys of files, in memory as a whole.
 *
 * @throws as `reduceFiles`; UnsupportedError for dtypes that are not scanned
 */
export async function scanFiles(
  sorter: Sorter,
  job: PrimitiveJob & {
    readonly out: string;
    readonly to?: string | undefined;
    readonly inclusive: boolean;
    readonly op: ScanOp;
    readonly verify?: boolean;
    /** Dtype of the results; default that of the output's name where it holds every key, else that of the keys. */
    readonly resultDtype?: Dtype | undefined;
  },
  context: FileContext,
): Promise<{
  readonly n: number;
  readonly dtype: Dtype;
  /** Dtype of the results. */
  readonly result: Dtype;
  readonly formats: readonly [string, string];
}> {
  const { out, to, header, delimiter, inclusive, op, dtype, verify = false } = job;
  return withInputs(job.in, context, async (open) => {
    const reader = await open(inputOptionsOf(job));
    const model = { ...reader, dtypeSaid: dtype !== undefined };
    const target = await keyTarget(out, { to, header, delimiter, signal: context.signal }, model);
    const { named } = target;
    const result =
      job.resultDtype ?? (named !== undefined && widens(reader.dtype, named) ? named : reader.dtype);
    let n = 0;
    await withOutput(out, context, async (output) => {
      const keys = await readKeys(reader);
      assertNotAborted(context.signal);
      n = keys.length;
      const how = { ...callOptions(reader, context), inclusive, op, verify };
      const wide = result === reader.dtype ? how : { ...how, resultDtype: result };
      const sums = await sorter.scan(keys as Uint32Array, wide);
      const facts = { dtype: result, n, shape: [n], column: reader.column };
      const writer = await target.create(output, facts);
      await writeKeys(writer, sums);
      await writer.end();
    });
    return { n, dtype: reader.dtype, result, formats: [reader.format, target.format] };
  });
}

/**
 * How many keys of files are in each bin, in memory for a part of them.
 *
 * @throws as `reduceFiles`; UsageError where the options do not make bins
 */
export function histogramFiles(
  sorter: Sorter,
  job: PrimitiveJob & { readonly how: Pick<HistogramOptions, 'bins' | 'range' | 'edges' | 'bits'> },
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
