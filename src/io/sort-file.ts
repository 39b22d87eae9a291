import { constants } from 'node:buffer';
import type { Readable } from 'node:stream';
import { bytesOf } from '../keys/array.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import type { SortOptions } from '../sort/api/options.js';
import type { SortReport } from '../sort/api/report.js';
import type { Sorter } from '../sort/api/sorter.js';
import { UsageError } from '../util/errors.js';
import { budgetOf } from './external/budget.js';
import { externalSort } from './external/external-sort.js';
import type { ExternalReport } from './external/job.js';
import { unfinished } from './external/session.js';
import { assertRawInput, assertRawOutput, type KeyFormat } from './keys.js';
import { isSameFile, type Output, type OutputContext, withOutput } from './output.js';
import { assertGoing, isStdin, isStdout, openSource, type Source } from './raw.js';
import { keyOrder } from './unit-order.js';

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

/** A job of which more may be than fits into memory. */
export interface LargeFileJob extends FileJob {
  /**
   * Most bytes of memory to sort in, beside what the process takes anyway: what is larger is sorted by way of
   * temporary files. By default everything is sorted in memory, as a whole.
   */
  readonly memory?: number | undefined;
  /** Folder for temporary files; default that of the output. */
  readonly tmp?: string | undefined;
  /** Goes on with a sort by way of temporary files that was ended, if there is one. */
  readonly resume?: boolean | undefined;
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
  /** How it went in partitions; left out for what was sorted as a whole. */
  readonly external?: Omit<ExternalReport, 'sort' | 'verified'>;
}

/**
 * Sorts one file.
 *
 * @throws UsageError, FormatError, IoError, AbortedError, and what the Sorter throws
 */
export async function sortFile(sorter: Sorter, job: LargeFileJob, context: FileContext): Promise<FileReport> {
  const { in: from, out, dtype, argsort = false, format, memory, tmp, resume, ...order } = job;
  if (argsort && (await isSameFile(from, out))) {
    throw new UsageError('an argsort would replace the keys by their positions: name another output');
  }
  if (resume && (isStdin(from) || isStdout(out))) {
    throw new UsageError('only a sort of a file into a file can be gone on with: a pipe comes once');
  }
  await assertRawOutput(out, format);
  const { stdin, signal, onProgress, onWarning, onNote } = context;
  const unit = dtypeInfo(dtype).bytes;
  const bytesOut = (bytesIn: number): number => (argsort ? (bytesIn / unit) * 4 : bytesIn);
  const source = await openSource(from, stdin, signal);
  let report: FileReport | undefined;
  try {
    const fits = async (): Promise<boolean> =>
      memory === undefined || (await isForWhole(source, { memory, argsort }, sorter));
    const large = { ...job, memory: memory ?? 0 };
    const old = memory === undefined || argsort ? undefined : await unfinished(out, tmp);
    if (source.bytes !== undefined && ((resume && old) || !(await fits()))) {
      await assertRawInput(source, from, { dtype, format });
      return await sortInPartitions(sorter, source, large, context);
    }
    if (old) onNote?.(old);
    await withOutput(out, context, async (output) => {
      await assertRawInput(source, from, { dtype, format });
      if (source.bytes === undefined && !(await fits())) {
        report = await sortInPartitions(sorter, source, large, context, output);
        return;
      }
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

/** What is smaller gains nothing by partitions. */
const WHOLE_BYTES = 64 * 2 ** 20;

/** Memory that a sort as a whole takes for each byte: keys, result, scratch, and what a pipe came in. */
const WHOLE_MEMORY = 4.2;

/** The same where the device has memory of its own, and the keys come from a file: keys and result. */
const WHOLE_MEMORY_ASIDE = 2.1;

/** Is a source to be sorted as a whole? @throws UsageError when it has to be, and does not fit */
async function isForWhole(
  source: Source,
  { memory, argsort }: { readonly memory: number; readonly argsort: boolean },
  { device }: Sorter,
): Promise<boolean> {
  const most = Math.min(WHOLE_BYTES, Math.floor(memory / WHOLE_MEMORY));
  const bytes = source.bytes ?? (await source.head(most + 1)).length;
  if (bytes <= most) return true;
  // The host is slower at partitions than such a device at the whole.
  const isAside = device !== undefined && device.type !== 'cpu' && source.bytes !== undefined;
  const needed = bytes * (isAside ? WHOLE_MEMORY_ASIDE : WHOLE_MEMORY);
  if (isAside && needed <= memory && bytes <= constants.MAX_LENGTH) return true;
  if (!argsort) return false;
  if (source.bytes === undefined || needed <= memory) return true;
  throw new UsageError(
    `an argsort is made in memory only, of which this one takes ${Math.ceil(needed)} bytes and may take ${memory}: ` +
      'give it more by --memory',
    { details: { memory, least: Math.ceil(needed) } },
  );
}

/**
 * Sorts keys in partitions: in memory where they fit, else by way of temporary files.
 *
 * @param output the output, where it is open already
 */
async function sortInPartitions(
  sorter: Sorter,
  source: Source,
  job: LargeFileJob & { readonly memory: number },
  context: FileContext,
  output?: Output,
): Promise<FileReport> {
  const { in: from, out, dtype, descending = false, nan = 'last', memory, tmp, resume, verify } = job;
  const info = dtypeInfo(dtype);
  const bits = job.bits ?? [0, info.width];
  const order = keyOrder({ dtype, descending, nan, bits });
  const { onWarning } = context;
  const { algorithm, scan, radixBits } = job;
  const given = Object.entries({ algorithm, scan, radixBits, onWarning }).filter(
    ([, value]) => value !== undefined,
  );
  const started = performance.now();
  const { sort, verified, ...external } = await externalSort(
    sorter,
    {
      input: {
        name: source.name,
        path: source.bytes === undefined ? undefined : from,
        plainAt: source.bytes === undefined ? undefined : 0,
        bytes: source.bytes,
        pieces: () => source.pieces(info.bytes),
      },
      order,
      orderName: `${dtype} keys, ${descending ? 'descending' : 'ascending'}, NaN ${nan}, bits ${bits.join(' to ')}`,
      out,
      budget: budgetOf(memory, order),
      tmp,
      resume,
      verify,
      options: Object.fromEntries(given),
    },
    context,
    output,
  );
  const none = {
    device: { name: 'host', type: 'host' },
    algorithm: 'none',
    reason: 'nothing to sort',
  } as const;
  return {
    ...(sort ?? none),
    n: external.bytes / info.bytes,
    dtype,
    bits,
    stages: [], // those of one partition tell nothing of all
    seconds: (performance.now() - started) / 1000,
    ...(verified && { verified }),
    descending,
    argsort: false,
    readSeconds: 0,
    writeSeconds: 0,
    external,
  };
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
