import { constants } from 'node:buffer';
import { bytesOf } from '../../keys/array.js';
import type { Sorter } from '../../sort/api/sorter.js';
import { runYielding } from '../../sort/host/steps.js';
import type { SortReport } from '../../sort/model/report.js';
import { Multiset, randomPoints } from '../checks/multiset.js';
import { describeUnfinished } from '../external/session.js';
import type { KeyWriter } from '../formats/key-file.js';
import { gatherRecords } from '../records/gather-records.js';
import { IndexedRecords } from '../records/indexed-records.js';
import {
  assertRecords,
  type LayoutOrdering,
  layoutOrdering,
  MAX_RECORDS,
} from '../records/layout-ordering.js';
import { assertRecordOutput, openRecords } from '../records/record-file.js';
import { keyText, type RecordLayout, recordKeys } from '../records/record-keys.js';
import { RecordOrderChecker } from '../records/scan-record-order.js';
import { assertSeparate, type Output, withOutput } from '../streams/output.js';
import { PIECE_BYTES } from '../streams/policy.js';
import { assertNotAborted, type Source } from '../streams/raw.js';
import { measure } from '../streams/spans.js';
import type { DistinctWriter } from './distinct.js';
import { distinctWriter, withCounts, withDistinct } from './distinct-output.js';
import type { LargeOptions } from './file-job.js';
import {
  assertDistinct,
  assertFiles,
  type DistinctOptions,
  type FileContext,
  type FileJob,
  type FileReport,
  sortOptions,
} from './file-job.js';
import { positionDtype } from './positions.js';
import { sortLarge } from './sort-large.js';
import { mismatch } from './sort-reports.js';

/** A sort of a record file: input, output and options. */
export interface RecordJob
  extends RecordLayout,
    Pick<FileJob, 'out' | 'argsort' | 'algorithm' | 'scan' | 'radixBits' | 'tuning' | 'verify' | 'format'> {
  /** Path of the input, `-` for stdin. */
  readonly in: string;
}

/** A sort of a record file that may exceed memory. */
export interface LargeRecordJob extends RecordJob, DistinctOptions, LargeOptions {}

/**
 * Sorts a file of records.
 *
 * @param sorter sorts the records
 * @param job input, output, layout and options
 * @param context streams and callbacks
 * @throws UsageError when an option or the layout is invalid
 * @throws DtypeError when a key has an unknown dtype
 * @throws FormatError when a name implies another format
 * @throws IoError when reading or writing fails
 * @throws UnsupportedError when there are 2^32 records or more
 * @throws AbortedError when the signal aborts
 * @throws the errors of the sorter
 */
export async function sortRecordFile(
  sorter: Sorter,
  job: LargeRecordJob,
  context: FileContext,
): Promise<FileReport> {
  const { in: from, out, record, keys, nan, argsort = false, format, resume } = job;
  const order = layoutOrdering({ record, keys, nan });
  if (argsort) await assertSeparate('positions', out, [from]);
  if (resume) assertFiles([from], out);
  await assertDistinct(job, [from]);
  await assertRecordOutput(out, { format });
  const source = await openRecords(from, context.stdin, { format, signal: context.signal });
  try {
    if (source.bytes !== undefined) return await sortSource(sorter, source, order, job, context);
    // Opens the output first, so that an unwritable path is reported before waiting for a pipe.
    let report: FileReport | undefined;
    await withOutput(out, context, async (output) => {
      report = await sortSource(sorter, source, order, job, context, output);
    });
    return report as unknown as FileReport;
  } finally {
    await source.close();
  }
}

/** @param output the output, when it is already open */
async function sortSource(
  sorter: Sorter,
  source: Source,
  order: LayoutOrdering,
  job: LargeRecordJob,
  context: FileContext,
  output?: Output,
): Promise<FileReport> {
  const { in: from, out, record, keys, nan, argsort = false, memory, tmp, resume } = job;
  const records = { record, keys: recordKeys({ record, keys }).map(keyText) };
  const reportBase = { descending: false, argsort, records, formats: ['raw', 'raw'] } as const;
  const old = memory === undefined ? undefined : await describeUnfinished(out, tmp);
  if (memory === undefined || (!(old && resume) && (await fitsInMemory(source, order, job, memory)))) {
    if (old) context.onNote?.(old);
    return { ...(await sortWhole(sorter, source, order, job, context, output)), ...reportBase };
  }
  source.assertWhole(record);
  const input = {
    name: source.name,
    path: source.bytes === undefined ? undefined : from,
    plainAt: source.bytes === undefined ? undefined : 0,
    bytes: source.bytes,
    pieces: () => source.pieces(record),
  };
  const { unique = false, wideFrom } = job;
  const orderName = `${order.description} by ${records.keys.join(' ')}, NaN ${nan ?? 'last'}${unique ? ', distinct' : ''}`;
  const large = { input, order, orderName, out, tmp, resume, verify: job.verify };
  const how = { memory, how: sortOptions(recordSortOptions(job), context), output };
  const facts = { dtype: 'u8', bitRange: [0, 8], readSeconds: 0, writeSeconds: 0, ...reportBase } as const;
  if (argsort) {
    const made = await sortLarge(sorter, withPositions(large, { record, keys, nan }, wideFrom), how, context);
    return { ...made, ...facts, shape: [made.n] };
  }
  if (!unique) {
    const made = await sortLarge(sorter, large, how, context);
    return { ...made, ...facts, shape: [made.n] };
  }
  let report: FileReport | undefined;
  await withCounts({ counts: job.counts, ...AS_RECORDS }, context, async (counts) => {
    let distinct: DistinctWriter | undefined;
    const writer = async (to: Output): Promise<DistinctWriter> => {
      distinct = distinctWriter(order, { to: bytesTo(to), counts }, context.signal);
      return distinct;
    };
    const made = await sortLarge(sorter, { ...large, writer }, how, context);
    const found = distinct?.n ?? 0;
    report = { ...made, ...facts, distinct: found, shape: [found] };
  });
  return report as unknown as FileReport;
}

type LargeJob = Parameters<typeof sortLarge>[1];

/** Turns a sort of records into a sort of their positions, with the codes of their keys. */
function withPositions(large: LargeJob, layout: RecordLayout, wideFrom: number | undefined): LargeJob {
  const indexed = new IndexedRecords(layout);
  const { bytes } = large.input;
  let total = bytes === undefined ? undefined : bytes / layout.record;
  const onTotal = (n: number): void => {
    total = n;
  };
  return {
    ...large,
    input: {
      ...large.input,
      plainAt: undefined,
      bytes: bytes === undefined ? undefined : indexed.bytesOf(bytes),
      pieces: () => indexed.interleave(large.input.pieces(), onTotal),
    },
    order: indexed.order,
    orderName: `positions of ${large.orderName}`,
    // Writing starts after all input was read, when the number of records is known.
    writer: async (to) => ({
      write: (piece) => to.write(indexed.positionsOf(piece, positionDtype(total, wideFrom))),
      end: async () => undefined,
    }),
  };
}

/** Format of the counts when their file name implies none. */
const AS_RECORDS = { model: { format: 'raw' }, text: {} } as const;

/** Returns a writer of raw records. */
const bytesTo = (output: Output): KeyWriter => ({
  write: (piece) => output.write(piece),
  end: async () => undefined,
});

/** Returns the sort options of a job; the layout defines the order. */
const recordSortOptions = ({ algorithm, scan, radixBits, tuning, verify }: RecordJob) => ({
  algorithm,
  scan,
  radixBits,
  tuning,
  verify,
});

/** Maximum device memory per record in bytes: keys and positions, twice. */
const DEVICE_BYTES = 40;

/** Whether memory suffices for records, sort and result. More records than 32-bit positions can address never fit. */
async function fitsInMemory(
  source: Source,
  { recordBytes, sortBytes }: LayoutOrdering,
  { argsort, wideFrom }: LargeRecordJob,
  memory: number,
): Promise<boolean> {
  const each = recordBytes + sortBytes + DEVICE_BYTES;
  const maxRecords = Math.min(constants.MAX_LENGTH, Math.floor(memory / each) * recordBytes);
  const bytes = source.bytes ?? (await source.head(maxRecords + 1)).length;
  if (argsort && positionDtype(bytes / recordBytes, wideFrom) === 'u64') return false; // positions in memory are u32
  return bytes <= maxRecords && bytes / recordBytes <= MAX_RECORDS;
}

/** Report of a sort as a whole. */
type WholeReport = SortReport & Pick<FileReport, 'shape' | 'distinct' | 'readSeconds' | 'writeSeconds'>;

/** Sorts all records in memory. */
async function sortWhole(
  sorter: Sorter,
  source: Source,
  order: LayoutOrdering,
  job: LargeRecordJob,
  context: FileContext,
  opened?: Output,
): Promise<WholeReport> {
  const { out, record, argsort = false, verify = false } = job;
  const { signal } = context;
  const bytesOut = (bytesIn: number): number => (argsort ? (bytesIn / record) * 4 : bytesIn);
  let report: WholeReport | undefined;
  const write = async (output: Output): Promise<void> => {
    if (source.bytes !== undefined) {
      if (source.bytes % record === 0) assertRecords(source.bytes, record); // before reading them
      await output.reserve(bytesOut(source.bytes));
    }
    const [bytes, readSeconds] = await measure(() => source.read(record));
    assertRecords(bytes.length, record);
    if (source.bytes === undefined) await output.reserve(bytesOut(bytes.length));
    assertNotAborted(signal);
    let made: SortReport | undefined;
    const onReport = (one: SortReport) => {
      made = one;
    };
    const options = sortOptions(recordSortOptions(job), context, onReport);
    const [positions, seconds] = await measure(() => order.positions(sorter, bytes, options));
    const sorted = { order, bytes, positions, verify, signal };
    let verified: SortReport['verified'];
    let distinct: number | undefined;
    const [, writeSeconds] = await measure(async () => {
      if (argsort) return output.write(bytesOf(positions));
      const request = { order, unique: job.unique, counts: job.counts, ...AS_RECORDS };
      distinct = await withDistinct(
        request,
        async () => bytesTo(output),
        context,
        async (writer) => {
          verified = await writeRecords(sorted, writer);
        },
      );
    });
    const times = { seconds, readSeconds, writeSeconds };
    const found = { ...(verified && { verified }), ...(distinct !== undefined && { distinct }) };
    if (made) report = { ...made, ...found, ...times, shape: [distinct ?? positions.length] };
  };
  await (opened ? write(opened) : withOutput(out, context, write));
  if (!report) throw new Error('cannot report the sort: the sorter returned no report');
  return report;
}

interface SortedRecords {
  readonly order: LayoutOrdering;
  /** The records in input order. */
  readonly bytes: Uint8Array;
  readonly positions: Uint32Array;
  readonly verify: boolean;
  readonly signal: AbortSignal;
}

/**
 * Writes records in sorted order. Records are gathered piece by piece, so that memory holds them only once.
 *
 * @returns the result of the verification; undefined without `verify`
 * @throws MismatchError when verification fails
 */
async function writeRecords(
  { order, bytes, positions, verify, signal }: SortedRecords,
  output: Pick<KeyWriter, 'write'>,
): Promise<SortReport['verified']> {
  const { recordBytes } = order;
  const maxRecords = Math.floor(PIECE_BYTES / recordBytes);
  const verifier = verify ? new RecordVerifier(order) : undefined;
  const pieces = [0, 1].map(() => new Uint8Array(Math.min(maxRecords, positions.length) * recordBytes));
  let writing: Promise<void> | undefined;
  for (let start = 0; start < positions.length; start += maxRecords) {
    const some = positions.subarray(start, start + maxRecords);
    const [piece] = pieces.reverse() as [Uint8Array]; // the other one is being written
    const gathered = piece.subarray(0, some.length * recordBytes);
    await runYielding(gatherRecords(bytes, recordBytes, some, gathered), signal);
    await verifier?.add(bytes.subarray(start * recordBytes, (start + some.length) * recordBytes), gathered);
    await writing;
    writing = output.write(gathered);
    writing.catch(() => undefined); // awaited later, possibly after another failure
  }
  await writing;
  return verifier?.verified();
}

/** Verifies that records are in order and are those of the input. */
class RecordVerifier {
  readonly #check: RecordOrderChecker;
  readonly #before: Multiset;
  readonly #after: Multiset;

  constructor(order: LayoutOrdering) {
    const points = randomPoints();
    this.#check = new RecordOrderChecker(order);
    this.#before = new Multiset(order.recordBytes, points);
    this.#after = new Multiset(order.recordBytes, points);
  }

  /**
   * @param before any records of the input, as many as `after`
   * @param after the next records of the output
   */
  async add(before: Uint8Array, after: Uint8Array): Promise<void> {
    this.#check.add(after);
    await this.#before.add(before);
    await this.#after.add(after);
  }

  /** @throws MismatchError when the output is not in order or not a permutation of the input */
  verified(): { readonly order: boolean; readonly permutation: boolean } {
    const found = {
      order: this.#check.descent === undefined,
      permutation: this.#before.equals(this.#after),
    };
    if (found.order && found.permutation) return found;
    throw mismatch('records', found);
  }
}
