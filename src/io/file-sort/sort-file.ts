import { bytesOf } from '../../keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../../keys/dtype.js';
import type { Sorter } from '../../sort/api/sorter.js';
import { bitWindow, type SortOptions } from '../../sort/model/options.js';
import type { SortReport } from '../../sort/model/report.js';
import { type Lines, linesOf } from '../formats/axis.js';
import { withInputs } from '../formats/inputs.js';
import { readKeys, writeKeys } from '../formats/key-array.js';
import type { KeyReader, KeyWriter } from '../formats/key-file.js';
import { inputOptionsOf, keyTarget } from '../formats/keys.js';
import { assertSeparate, type Output, withOutput } from '../streams/output.js';
import { assertNotAborted } from '../streams/raw.js';
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
import { type FileSort, factsOf, writeToOutput } from './file-sort-state.js';
import { onlyReport, reportSpans } from './sort-reports.js';
import { warnOfText } from './text-warning.js';

/**
 * Sorts the keys of one or several files.
 *
 * @param sorter sorts the keys
 * @param job input, output and options
 * @param context streams, callbacks and pools
 * @param parts sorts input larger than `memory`; without it everything is sorted as a whole
 * @throws UsageError when an option is invalid
 * @throws DtypeError when the dtype is missing or contradicts the file
 * @throws FormatError when a file is not valid in its format
 * @throws IoError when reading or writing fails
 * @throws AbortedError when the signal aborts
 * @throws the errors of the sorter
 */
export async function sortFile(
  sorter: Sorter,
  job: LargeFileJob,
  context: FileContext,
  parts?: PartitionedSort,
): Promise<FileReport> {
  const inputs = inputsOf(job);
  const { dtype, format, header, delimiter, out, argsort, resume } = job;
  if (argsort) await assertSeparate('positions', out, inputs);
  if (resume) assertFiles(inputs, out);
  await assertDistinct(job, inputs);
  return withInputs(inputs, context, async (open, areFiles) => {
    const sortTo = async (output?: Output): Promise<FileReport> => {
      const reader = await open(inputOptionsOf(job));
      if (format !== 'raw') await warnOfText(reader, context);
      const to = job.to ?? (format === 'raw' ? 'raw' : 'auto');
      const model = { ...reader, isDtypeGiven: dtype !== undefined };
      const text = { header, delimiter, signal: context.signal };
      const target = await keyTarget(out, { to, ...text, verify: job.verify }, model);
      const formats = [reader.format, target.format] as const;
      const reportBase = { descending: job.descending ?? false, argsort: argsort ?? false, formats };
      return sortKeys({ sorter, reader, target, job, context, reportBase, output }, parts);
    };
    if (areFiles) return sortTo();
    // Opens the output first, so that an unwritable path is reported before waiting for a pipe.
    let report: FileReport | undefined;
    await withOutput(out, context, async (output) => {
      report = await sortTo(output);
    });
    return report as unknown as FileReport;
  });
}

/** Sorts input in partitions; implemented in partitioned-sort.ts. */
export interface PartitionedSort {
  /** Returns the reader, with as much of a pipe prefetched as the choice of method requires. */
  prepare(work: FileSort): Promise<KeyReader>;
  /** @returns undefined when the keys are to be sorted as a whole */
  sort(work: FileSort): Promise<FileReport | undefined>;
}

async function sortKeys(work: FileSort, parts: PartitionedSort | undefined): Promise<FileReport> {
  const lines = work.job.unique ? undefined : linesOf(work.reader, work.job.axis);
  if (lines) return sortLines(work, lines);
  if (work.sorter.hasDedicatedMemory) {
    // Loaded on demand.
    const { sortOnDevice } = await import('./sort-on-device.js');
    const report = await sortOnDevice(work);
    if (report) return report;
  }
  const prepare = parts ? { ...work, reader: await parts.prepare(work) } : work;
  return (await parts?.sort(prepare)) ?? sortWhole(prepare);
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
  let seconds = 0;
  await writeToOutput(work, async (output) => {
    const writer = await target.create(output, factsOf(work, n, reader.shape));
    const matrix = { sorter, dtype, argsort: reportBase.argsort, options, onDone };
    [, seconds] = await measure(() => sortMatrix(reader, lines, matrix, writer));
    if (reports.length === 0) await sorter.sort(new Uint8Array(0), { ...options, dtype }); // report of an empty sort
    await writer.end();
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
  let times = { readSeconds: 0, writeSeconds: 0 };
  let length = 0;
  await writeToOutput(work, async (output) => {
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
      const write = async (): Promise<void> => {
        length = job.unique ? await compactDistinct(work, sorted) : sorted.length;
        const writer = await target.create(output, factsOf(work, length));
        await writeKeys(writer, sorted.subarray(0, length));
        await writer.end();
      };
      const [, writeSeconds] = await measure(() => measureSpan('write', onSpan, write));
      times = { readSeconds, writeSeconds };
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
  const { counts } = job;
  const request = { order, unique: true, counts, model: reader, text: job };
  await withDistinct(
    request,
    async () => front,
    context,
    (writer) => writeKeys(writer, sorted),
  );
  return end / order.recordBytes;
}
