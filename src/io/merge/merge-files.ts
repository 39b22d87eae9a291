/** Merges of sorted key or record files. */

import { dtypeInfo } from '../../keys/dtype.js';
import type { Sorter } from '../../sort/api/sorter.js';
import { bitWindow } from '../../sort/model/options.js';
import { type FileOrder, OrderScan } from '../checks/order-scan.js';
import { insufficientMemory } from '../external/budget.js';
import { withDistinct } from '../file-sort/distinct-output.js';
import { assertDistinct, type FileContext, type FileJob } from '../file-sort/file-job.js';
import { assertOneDtype, sum } from '../formats/concatenate-readers.js';
import { withReaders } from '../formats/inputs.js';
import type { KeyReader, KeyWriter } from '../formats/key-file.js';
import { assertRecordName, inputOptionsOf, openRecords, targetOf } from '../formats/keys.js';
import type { TextReadOptions } from '../formats/text/text-options.js';
import { layoutOrdering } from '../records/layout-ordering.js';
import { fileInput, keyInput, type RecordInput } from '../records/record-input.js';
import { keyText, type RecordLayout, recordKeys } from '../records/record-keys.js';
import { keyOrdering, type RecordOrdering } from '../records/record-ordering.js';
import { RecordOrderChecker } from '../records/scan-record-order.js';
import { bytesTo, type Output, withOutput } from '../streams/output.js';
import { assertNotAborted, assertOneStdin, type Source } from '../streams/raw.js';
import { MergeInput, type OrderCheck } from './merge-input.js';
import { mergeSorted } from './merge-sorted.js';
import { MIN_RECORDS, TARGET_BYTES, TARGET_WINDOW_BYTES } from './policy.js';

/** A merge: inputs, output and options. */
export interface MergeJob
  extends Pick<
    FileJob,
    'dtype' | 'format' | 'column' | keyof TextReadOptions | 'to' | 'out' | 'descending' | 'nan' | 'bits'
  > {
  /** Paths, `-` for stdin. */
  readonly in: readonly string[];
  /** Layout and order of records; undefined to merge keys. */
  readonly records?: RecordLayout | undefined;
  /** Write only the first of equal keys or records; default false. */
  readonly unique?: boolean | undefined;
  /** Path of a file that receives the number of occurrences of each key or record written, as u64. */
  readonly counts?: string | undefined;
  /** Memory limit in bytes, in addition to what the process and readers use anyway. */
  readonly memory: number;
}

export interface MergeReport {
  /** Number of keys or records read. */
  readonly n: number;
  /** Number of keys or records written. */
  readonly written: number;
  /** Description of the records, such as 'u32 keys'. */
  readonly recordCount: string;
  readonly formats: readonly [from: string, to: string];
}

/** Memory per window byte: the window, the part taken from it, two results in alternation, and the sort. */
const memoryFactor = ({ recordBytes, sortBytes }: RecordOrdering): number =>
  4 + (4 * sortBytes) / recordBytes;

/**
 * Returns the size of each window in bytes.
 *
 * @throws UsageError when memory does not suffice for the number of inputs
 */
function windowBytes(inputs: number, order: RecordOrdering, memory: number): number {
  const each = inputs * memoryFactor(order);
  const wanted = Math.min(memory, Math.max(TARGET_BYTES, TARGET_WINDOW_BYTES * each));
  const recordCount = Math.floor(wanted / each / order.recordBytes);
  if (recordCount >= MIN_RECORDS) return recordCount * order.recordBytes;
  const minBytes = Math.ceil(MIN_RECORDS * order.recordBytes * each);
  throw insufficientMemory(`merge ${inputs} files of ${order.description}`, memory, minBytes);
}

/**
 * Merges sorted files into one, in bounded memory. The merge is stable: equal records stay in the order of the inputs.
 *
 * @param sorter sorts each round of the merge
 * @param job inputs, output and options
 * @param context streams and callbacks
 * @throws InputError when an input is not sorted
 * @throws UsageError when an option is invalid or memory does not suffice
 * @throws DtypeError when dtypes differ or are unknown
 * @throws FormatError when a file is not valid in its format
 * @throws IoError when reading or writing fails
 * @throws AbortedError when the signal aborts
 * @throws the errors of the sorter
 */
export async function mergeFiles(sorter: Sorter, job: MergeJob, context: FileContext): Promise<MergeReport> {
  await assertDistinct(job, job.in);
  return withOutput(job.out, context, (output) =>
    (job.records ? mergeRecords : mergeKeys)(sorter, job, context, output),
  );
}

async function mergeKeys(
  sorter: Sorter,
  job: MergeJob,
  context: FileContext,
  output: Output,
): Promise<MergeReport> {
  const { descending = false, nan = 'last' } = job;
  return withReaders(job.in, context, async (open) => {
    const readers = await open(inputOptionsOf(job));
    const first = assertOneDtype(readers);
    const info = dtypeInfo(first.dtype);
    const wanted: FileOrder = { dtype: first.dtype, descending, nan, bits: bitWindow(job.bits, info) };
    const streams = readers.map(keyInput);
    const n = sum(streams.map(({ bytes }) => bytes));
    const target = await targetOf(first, job.out, { ...job, signal: context.signal });
    const order = keyOrdering(wanted);
    const facts = { dtype: first.dtype, column: first.column };
    const count = job.unique || n === undefined ? undefined : n / info.bytes;
    const shape = count === undefined ? undefined : [count];
    const create = () => target.create(output, { ...facts, n: count, shape });
    const inputs = { streams, check: () => keyOrderCheck(wanted), order, model: first };
    return {
      ...(await mergeStreams(sorter, inputs, create, job, context)),
      formats: [first.format, target.format],
    };
  });
}

async function mergeRecords(
  sorter: Sorter,
  job: MergeJob,
  context: FileContext,
  output: Output,
): Promise<MergeReport> {
  const { records, format, out } = job;
  if (!records) throw new Error('cannot merge records: the job has no layout of records');
  assertOneStdin(job.in);
  await assertRecordName(out, format);
  const order = layoutOrdering(records);
  const sources: Source[] = [];
  try {
    for (const path of job.in) {
      const source = await openRecords(path, context.stdin, { format, signal: context.signal });
      sources.push(source);
      source.assertWhole(order.recordBytes);
    }
    const streams = sources.map((source) => fileInput(source, order.recordBytes));
    const n = sum(streams.map(({ bytes }) => bytes));
    if (n !== undefined) await output.reserve(job.unique ? 0 : n);
    const open = async () => bytesTo(output);
    const keys = recordKeys(records).map(keyText);
    const inputs = { streams, check: () => recordOrderCheck(order, keys), order, model: { format: 'raw' } };
    return { ...(await mergeStreams(sorter, inputs, open, job, context)), formats: ['raw', 'raw'] };
  } finally {
    for (const source of sources) await source.close();
  }
}

interface Inputs {
  readonly streams: readonly RecordInput[];
  readonly check: () => OrderCheck;
  readonly order: RecordOrdering;
  /** Source of format and byte order for the counts when their file name implies none. */
  readonly model: Pick<KeyReader, 'format' | 'bigEndian'>;
}

async function mergeStreams(
  sorter: Sorter,
  { streams, check, order, model }: Inputs,
  open: () => Promise<KeyWriter>,
  job: MergeJob,
  context: FileContext,
): Promise<Omit<MergeReport, 'formats'>> {
  const { signal, onProgress } = context;
  const bytes = windowBytes(streams.length, order, job.memory);
  const total = (sum(streams.map((stream) => stream.bytes)) ?? Number.NaN) / order.recordBytes;
  // A window need not exceed its file.
  const windows = streams.map((stream) =>
    Math.max(order.recordBytes, Math.min(bytes, stream.bytes ?? bytes)),
  );
  const all = windows.reduce((sum, one) => sum + one, 0);
  const inputs = streams.map(
    (stream, i) => new MergeInput(stream, check(), new Uint8Array(windows[i] ?? bytes)),
  );
  const buffers = [new Uint8Array(all), new Uint8Array(all), new Uint8Array(all)] as const;
  let n = 0;
  const distinct = { order, unique: job.unique, counts: job.counts, model, text: job };
  const written = await withDistinct(distinct, open, context, async (writer) => {
    let writing: Promise<void> = Promise.resolve();
    try {
      for await (const piece of mergeSorted(inputs, { sorter, order, buffers, options: { signal } })) {
        await writing;
        assertNotAborted(signal);
        writing = writer.write(piece);
        writing.catch(() => undefined); // awaited later, possibly after another failure
        n += piece.length / order.recordBytes;
        onProgress?.({ phase: 'merging', done: n, total });
      }
      await writing;
    } finally {
      await Promise.allSettled([writing]);
    }
  });
  return { n, written: written ?? n, recordCount: order.description };
}

function keyOrderCheck(order: FileOrder): OrderCheck {
  const scan = new OrderScan(order);
  return {
    add: (piece) => scan.add(piece),
    get descent() {
      const { descent } = scan;
      return descent && { at: descent.at, what: `key ${descent.key} follows ${descent.before}` };
    },
  };
}

function recordOrderCheck(order: RecordOrdering, keys: readonly string[]): OrderCheck {
  const check = new RecordOrderChecker(order);
  return {
    add: (piece) => check.add(piece),
    get descent() {
      const { descent: at } = check;
      return at === undefined
        ? undefined
        : { at, what: `a record belongs before its predecessor by ${keys.join(', ')}` };
    },
  };
}
