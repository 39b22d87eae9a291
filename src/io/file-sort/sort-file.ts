import { bytesOf } from '../../keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../../keys/dtype.js';
import type { Sorter } from '../../sort/api/sorter.js';
import { bitWindow, type SortOptions } from '../../sort/model/options.js';
import type { SortReport } from '../../sort/model/report.js';
import { type Lines, linesOf } from '../formats/axis.js';
import { withInputs } from '../formats/inputs.js';
import { readKeys, writeKeys } from '../formats/key-array.js';
import type { KeyReader, KeyWriter } from '../formats/key-file.js';
import { inputOptionsOf, targetOf, writeKeyFile } from '../formats/keys.js';
import { prefetchKeys } from '../formats/prefetch-keys.js';
import { assertNotAborted } from '../streams/raw.js';
import { assertSeparate } from '../streams/same-file.js';
import { measure, measureSpan, now } from '../streams/spans.js';
import {
  assertDistinct,
  assertFiles,
  type FileContext,
  type FileReport,
  inputsOf,
  type LargeFileJob,
  sortOptions,
} from './file-job.js';
import { type FileFacts, maxWholeBytes, planFile } from './file-plan.js';
import { type FileSort, factsOf, openForPipe, writeToOutput } from './file-sort-state.js';
import { onlyReport, reportSpans } from './sort-reports.js';
import { warnOfText } from './text-warning.js';

/**
 * Sorts the keys of one or several files.
 *
 * @param sorter sorts the keys
 * @param job input, output and options
 * @param context streams, callbacks and pools
 * @throws UsageError when an option is invalid
 * @throws DtypeError when the dtype is missing or contradicts the file
 * @throws FormatError when a file is not valid in its format
 * @throws IoError when reading or writing fails
 * @throws AbortedError when the signal aborts
 * @throws the errors of the sorter
 */
export const sortFile = (sorter: Sorter, job: LargeFileJob, context: FileContext): Promise<FileReport> =>
  withFileSort(sorter, job, context, sortKeys);

/** Opens the inputs of a file sort and runs it. */
export async function withFileSort(
  sorter: Sorter,
  job: LargeFileJob,
  context: FileContext,
  run: (work: FileSort) => Promise<FileReport>,
): Promise<FileReport> {
  const inputs = inputsOf(job);
  const { format, out, argsort = false, resume, descending = false } = job;
  if (argsort) await assertSeparate('positions', out, inputs);
  if (resume) assertFiles(inputs, out);
  await assertDistinct(job, inputs);
  return withInputs(inputs, context, (open, areFiles) =>
    openForPipe(areFiles, out, context, async (output) => {
      const reader = await open(inputOptionsOf(job));
      if (format !== 'raw') await warnOfText(reader, context);
      const to = job.to ?? (format === 'raw' ? 'raw' : 'auto');
      const target = await targetOf(reader, out, { ...job, to, signal: context.signal });
      const reportBase = { descending, argsort, formats: [reader.format, target.format] } as const;
      return run({ sorter, reader, target, job, context, reportBase, output });
    }),
  );
}

/** Sorts keys by the plan. The modules of the ways are loaded on demand. */
export async function sortKeys(given: FileSort): Promise<FileReport> {
  const { sorter, job, context } = given;
  const lines = job.unique ? undefined : linesOf(given.reader, job.axis);
  if (lines) return sortLines(given, lines);
  const onDevice = sorter.hasDedicatedMemory ? await import('./sort-on-device.js') : undefined;
  const device = onDevice?.streamingDevice(given);
  const { memory } = job;
  if (memory === undefined && !device) return sortWhole(given);
  const { describeUnfinished } = await import('../external/session.js');
  const old = inputsOf(job).length > 1 ? undefined : await describeUnfinished(job.out, job.tmp);
  const work = memory === undefined ? given : { ...given, reader: await prefetch(given, memory) };
  const facts = { ...fileFacts(work), resumes: old !== undefined && job.resume === true };
  const plan = planFile({ ...facts, device });
  if (plan !== 'parts' && old) context.onNote?.(old);
  const report = plan === 'device' ? await onDevice?.sortOnDevice(work) : undefined;
  if (report) return report;
  if (memory === undefined || planFile(facts) === 'whole') return sortWhole(work);
  const { sortKeysInPartitions } = await import('./partitioned-keys.js');
  return sortKeysInPartitions(work, memory);
}

/** Returns the reader, with as much of a pipe read in advance as the plan requires. */
const prefetch = async (work: FileSort, memory: number): Promise<KeyReader> =>
  work.reader.n === undefined
    ? prefetchKeys(work.reader, maxWholeBytes(fileFacts(work), memory, true))
    : work.reader;

/** Returns the facts that determine the plan of a file sort. */
export function fileFacts({
  sorter,
  reader: { n, dtype },
  job,
  context,
  reportBase: { argsort },
}: FileSort): FileFacts {
  const recordBytes = dtypeInfo(dtype).bytes;
  const { memory, wideFrom } = job;
  return {
    ...{ recordBytes, argsort, memory, wideFrom, isPooled: context.arrays !== undefined },
    bytes: n === undefined ? undefined : n * recordBytes,
    hasDedicatedMemory: sorter.hasDedicatedMemory,
  };
}

/** Sorts each row or column of a matrix. */
async function sortLines(work: FileSort, lines: Lines): Promise<FileReport> {
  // Loaded on demand.
  const [{ sortMatrix }, { addReports }] = await Promise.all([
    import('./sort-matrix.js'),
    import('./sort-reports.js'),
  ]);
  const { sorter, reader, target, job, context, reportBase } = work;
  const { dtype, n } = reader;
  const reports: SortReport[] = [];
  const options = sortOptions(job, context, (one) => reports.push(one));
  let done = 0;
  const onDone = (keys: number): void => {
    assertNotAborted(context.signal);
    done += keys;
    context.onProgress?.({ phase: 'sorting', done, total: n ?? done });
  };
  const seconds = await writeToOutput(work, async (output) => {
    const writer = await target.create(output, factsOf(work, n, reader.shape));
    const matrix = { sorter, dtype, argsort: reportBase.argsort, options, onDone };
    const [, took] = await measure(() => sortMatrix(reader, lines, matrix, writer));
    if (reports.length === 0) await sorter.sort(new Uint8Array(0), { ...options, dtype }); // report of an empty sort
    await writer.end();
    return took;
  });
  const whole = addReports(reports, n ?? done, seconds);
  return { ...whole, ...reportBase, shape: reader.shape ?? [], readSeconds: 0, writeSeconds: 0 };
}

/** Sorts all keys in memory. */
async function sortWhole(work: FileSort): Promise<FileReport> {
  const { reader, target, job, context, reportBase } = work;
  const { dtype, n } = reader;
  const reports: SortReport[] = [];
  const options = { ...sortOptions(job, context, (one) => reports.push(one)), dtype };
  const { length, ...times } = await writeToOutput(work, async (output) => {
    // Reports a lack of space before reading, when the length is known.
    if (n !== undefined) await output.reserve(target.bytes(factsOf(work, n)) ?? 0);
    const { arrays, onSpan } = context;
    const [keys, readSeconds] = await measure(() =>
      measureSpan('read', onSpan, () => readKeys(reader, arrays)),
    );
    let result: KeyArray | undefined;
    try {
      assertNotAborted(context.signal);
      const began = now();
      result = await sortedKeys(work, keys, options);
      if (onSpan && reports[0]) reportSpans(onSpan, began, reports[0]);
    } catch (error) {
      arrays?.abandon(keys);
      throw error;
    }
    arrays?.release(keys);
    try {
      const sorted = result;
      const write = async (): Promise<number> => {
        const kept = job.unique ? await compactDistinct(work, sorted) : sorted.length;
        await writeKeyFile(target, output, sorted.subarray(0, kept), factsOf(work, kept));
        return kept;
      };
      const [kept, writeSeconds] = await measure(() => measureSpan('write', onSpan, write));
      return { length: kept, readSeconds, writeSeconds };
    } finally {
      arrays?.release(result);
    }
  });
  const report = onlyReport(reports);
  return { ...report, ...reportBase, ...(job.unique && { distinct: length }), shape: [length], ...times };
}

/** Returns the sorted keys or their positions. Uses the pool, and combines small sorts with those of other files. */
async function sortedKeys(
  { sorter, reportBase, context }: FileSort,
  keys: KeyArray,
  options: SortOptions & { readonly dtype: Dtype },
): Promise<KeyArray> {
  const { arrays, batcher } = context;
  if (!reportBase.argsort && batcher?.accepts(keys, options)) return batcher.sort(keys, options);
  const into = arrays?.take(reportBase.argsort ? 'u32' : options.dtype, keys.length);
  try {
    if (reportBase.argsort)
      return await sorter.argsort(keys, into ? { ...options, into: into as Uint32Array } : options);
    return await sorter.sort(keys, into ? { ...options, into } : options);
  } catch (error) {
    if (into) arrays?.abandon(into);
    throw error;
  }
}

/**
 * Moves the first of equal keys to the front of sorted keys, and writes the counts.
 *
 * @returns the number of distinct keys
 */
async function compactDistinct({ reader, job, context }: FileSort, sorted: KeyArray): Promise<number> {
  // Loaded on demand.
  const [{ withDistinct }, { keyOrdering }] = await Promise.all([
    import('./distinct-output.js'),
    import('../records/record-ordering.js'),
  ]);
  const { dtype } = reader;
  const { descending = false, nan = 'last' } = job;
  const order = keyOrdering({ dtype, descending, nan, bits: bitWindow(job.bits, dtypeInfo(dtype)) });
  const to = bytesOf(sorted);
  let end = 0;
  const front: KeyWriter = {
    // In place: the output never overtakes the input.
    async write(piece) {
      to.set(piece, end);
      end += piece.length;
    },
    end: async () => undefined,
  };
  const { counts, duplicatesOnly } = job;
  const request = { order, unique: true, duplicatesOnly, counts, model: reader, text: job };
  await withDistinct(
    request,
    async () => front,
    context,
    (writer) => writeKeys(writer, sorted),
  );
  return end / order.recordBytes;
}
