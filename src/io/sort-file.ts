import type { Readable } from 'node:stream';
import { bytesOf } from '../keys/array.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import type { SortOptions } from '../sort/api/options.js';
import type { SortReport } from '../sort/api/report.js';
import type { Sorter } from '../sort/api/sorter.js';
import { UsageError } from '../util/errors.js';
import { assertRawInput, assertRawOutput, type KeyFormat } from './keys.js';
import { isSameFile, type Output, type OutputContext, withOutput } from './output.js';
import { assertGoing, openSource } from './raw.js';

/** What to sort, from where to where, and how. */
export interface FileJob
  extends Pick<SortOptions, 'descending' | 'nan' | 'bits' | 'algorithm' | 'scan' | 'radixBits' | 'verify'> {
  /** Raw little-endian file, `-` for stdin. */
  readonly in: string;
  /** Result, `-` for stdout. An existing file is replaced when all is well. */
  readonly out: string;
  readonly dtype: Dtype;
  /** Write positions (u32) instead of keys. */
  readonly argsort?: boolean | undefined;
  /** `raw` takes and makes raw keys whatever names and headers say; default `auto`, which refuses other formats. */
  readonly format?: KeyFormat | undefined;
}

/** What is at hand while files are sorted. */
export interface FileContext extends Pick<SortOptions, 'onProgress' | 'onWarning'>, OutputContext {
  readonly stdin: Readable;
  /** Gets what the user should know beside the result: where temporary files are, and how large they get. */
  readonly onNote?: ((text: string) => void) | undefined;
}

/** The library's report, and what files cost. */
export interface FileReport extends SortReport {
  readonly descending: boolean;
  readonly argsort: boolean;
  readonly readSeconds: number;
  readonly writeSeconds: number;
}

/**
 * Sorts one file.
 *
 * @throws UsageError, FormatError, IoError, AbortedError, and what the Sorter throws
 */
export async function sortFile(sorter: Sorter, job: FileJob, context: FileContext): Promise<FileReport> {
  const { in: from, out, dtype, argsort = false, format, ...order } = job;
  if (argsort && (await isSameFile(from, out))) {
    throw new UsageError('an argsort would replace the keys by their positions: name another output');
  }
  await assertRawOutput(out, format);
  const { stdin, signal, onProgress, onWarning } = context;
  const unit = dtypeInfo(dtype).bytes;
  const bytesOut = (bytesIn: number): number => (argsort ? (bytesIn / unit) * 4 : bytesIn);
  const source = await openSource(from, stdin, signal);
  let report: FileReport | undefined;
  try {
    await withOutput(out, context, async (output) => {
      await assertRawInput(source, from, { dtype, format });
      if (source.bytes !== undefined) await output.reserve(bytesOut(source.bytes));
      const [bytes, readSeconds] = await timed(() => source.read(unit));
      if (source.bytes === undefined) await output.reserve(bytesOut(bytes.length));
      assertGoing(signal);
      let made: SortReport | undefined;
      const onReport = (one: SortReport) => {
        made = one;
      };
      const options = { ...order, dtype, profile: true, signal, onReport, onProgress, onWarning };
      const known = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
      const result = argsort ? await sorter.argsort(bytes, known) : await sorter.sort(bytes, known);
      const [, writeSeconds] = await timed(() => writeAll(output, result));
      if (made) {
        report = { ...made, descending: job.descending ?? false, argsort, readSeconds, writeSeconds };
      }
    });
  } finally {
    await source.close();
  }
  if (!report) throw new Error('the Sorter returned without a report');
  return report;
}

/** Bytes that are written at a time: an array may have more than plain bytes can. */
const WRITE_BYTES = 2 ** 30;

async function writeAll(output: Output, view: ArrayBufferView): Promise<void> {
  let start = 0;
  do {
    const end = Math.min(start + WRITE_BYTES, view.byteLength);
    await output.write(bytesOf(view, start, end));
    start = end;
  } while (start < view.byteLength);
}

async function timed<T>(work: () => Promise<T>): Promise<[result: T, seconds: number]> {
  const started = performance.now();
  const result = await work();
  return [result, (performance.now() - started) / 1000];
}
