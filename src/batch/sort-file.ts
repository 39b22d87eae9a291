import type { Readable, Writable } from 'node:stream';
import { assertGoing, isSameFile, withOutput } from '../io/output.js';
import { openSource } from '../io/raw.js';
import { bytesOf } from '../keys/array.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import type { SortOptions } from '../sort/options.js';
import type { SortReport } from '../sort/report.js';
import type { Sorter } from '../sort/sorter.js';
import { UsageError } from '../util/errors.js';

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
}

/** What is at hand while files are sorted. */
export interface FileContext extends Pick<SortOptions, 'onProgress' | 'onWarning'> {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly signal: AbortSignal;
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
 * @throws UsageError, IoError, AbortedError, and what the Sorter throws
 */
export async function sortFile(sorter: Sorter, job: FileJob, context: FileContext): Promise<FileReport> {
  const { in: from, out, dtype, argsort = false, ...order } = job;
  if (argsort && (await isSameFile(from, out))) {
    throw new UsageError('an argsort would replace the keys by their positions: name another output');
  }
  const { stdin, signal, onProgress, onWarning } = context;
  const source = await openSource(from, stdin);
  let report: FileReport | undefined;
  try {
    await withOutput(out, context, async (output) => {
      const [bytes, readSeconds] = await timed(() => source.read(dtypeInfo(dtype).bytes));
      assertGoing(signal);
      let made: SortReport | undefined;
      const onReport = (one: SortReport) => {
        made = one;
      };
      const options = { ...order, dtype, profile: true, signal, onReport, onProgress, onWarning };
      const known = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
      const result = argsort ? await sorter.argsort(bytes, known) : await sorter.sort(bytes, known);
      const [, writeSeconds] = await timed(() => output.write(bytesOf(result)));
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

async function timed<T>(work: () => Promise<T>): Promise<[result: T, seconds: number]> {
  const started = performance.now();
  const result = await work();
  return [result, (performance.now() - started) / 1000];
}
