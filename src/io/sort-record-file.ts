import { constants } from 'node:buffer';
import { bytesOf } from '../keys/array.js';
import type { SortReport } from '../sort/api/report.js';
import type { Sorter } from '../sort/api/sorter.js';
import { runYielding } from '../sort/host/steps.js';
import { MismatchError, UsageError } from '../util/errors.js';
import { UnitOrderCheck } from './check-units.js';
import type { DistinctWriter } from './distinct.js';
import { distinctWriter, withCounts, withDistinct } from './distinct-output.js';
import { unfinished } from './external/session.js';
import type { KeyWriter } from './formats/key-file.js';
import { gatherUnits } from './gather-units.js';
import { randomPoints } from './multiset.js';
import { isSameFile, type Output, withOutput } from './output.js';
import { positionDtype } from './positions.js';
import { assertGoing, PIECE_BYTES, type Source } from './raw.js';
import { assertRecordOutput, openRecords } from './record-file.js';
import { keyText, type RecordLayout, recordKeys } from './record-keys.js';
import { assertRecords, MAX_RECORDS, type RecordOrder, recordOrder } from './record-order.js';
import { RecordPositions } from './record-positions.js';
import {
  assertDistinct,
  assertFiles,
  type DistinctOptions,
  type FileContext,
  type FileJob,
  type FileReport,
  sortOptions,
  timed,
} from './sort-file.js';
import { type LargeOptions, sortLarge } from './sort-large.js';
import { UnitMultiset } from './unit-multiset.js';

/** Which records to sort, from where to where, and how. */
export interface RecordJob
  extends RecordLayout,
    Pick<FileJob, 'out' | 'argsort' | 'algorithm' | 'scan' | 'radixBits' | 'verify' | 'format'> {
  /** File, `-` for stdin. */
  readonly in: string;
}

/** A job of which more may be than fits into memory. */
export interface LargeRecordJob extends RecordJob, DistinctOptions, LargeOptions {}

/**
 * Sorts one file of records.
 *
 * @throws UsageError, DtypeError, FormatError, IoError, UnsupportedError for 2^32 records and more, AbortedError, and
 *   what the Sorter throws
 */
export async function sortRecordFile(
  sorter: Sorter,
  job: LargeRecordJob,
  context: FileContext,
): Promise<FileReport> {
  const { in: from, out, record, keys, nan, argsort = false, format, resume } = job;
  const order = recordOrder({ record, keys, nan });
  if (argsort && (await isSameFile(from, out))) {
    throw new UsageError('an argsort would replace the records by their positions: name another output');
  }
  if (resume) assertFiles([from], out);
  await assertDistinct(job, [from]);
  await assertRecordOutput(out, { format });
  const source = await openRecords(from, context.stdin, { format, signal: context.signal });
  try {
    if (source.bytes !== undefined) return await sortSource(sorter, source, order, job, context);
    // That the result cannot be written is told before anybody waits for a pipe.
    let report: FileReport | undefined;
    await withOutput(out, context, async (output) => {
      report = await sortSource(sorter, source, order, job, context, output);
    });
    return report as unknown as FileReport;
  } finally {
    await source.close();
  }
}

/** @param output the output, where it is open already */
async function sortSource(
  sorter: Sorter,
  source: Source,
  order: RecordOrder,
  job: LargeRecordJob,
  context: FileContext,
  output?: Output,
): Promise<FileReport> {
  const { in: from, out, record, keys, nan, argsort = false, memory, tmp, resume } = job;
  const records = { record, keys: recordKeys({ record, keys }).map(keyText) };
  const told = { descending: false, argsort, records, formats: ['raw', 'raw'] } as const;
  const old = memory === undefined ? undefined : await unfinished(out, tmp);
  if (memory === undefined || (!(old && resume) && (await fits(source, order, job, memory)))) {
    if (old) context.onNote?.(old);
    return { ...(await sortWhole(sorter, source, order, job, context, output)), ...told };
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
  const orderName = `${order.units} by ${records.keys.join(' ')}, NaN ${nan ?? 'last'}${unique ? ', distinct' : ''}`;
  const large = { input, order, orderName, out, tmp, resume, verify: job.verify };
  const how = { memory, how: sortOptions(howOf(job), context), output };
  const facts = { dtype: 'u8', bits: [0, 8], readSeconds: 0, writeSeconds: 0, ...told } as const;
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

/** The job of sorting where records stand, with the codes of their keys. */
function withPositions(large: LargeJob, layout: RecordLayout, wideFrom: number | undefined): LargeJob {
  const units = new RecordPositions(layout);
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
      bytes: bytes === undefined ? undefined : units.bytesOf(bytes),
      pieces: () => units.of(large.input.pieces(), onTotal),
    },
    order: units.order,
    orderName: `positions of ${large.orderName}`,
    // Nothing is written before all has been read, and with that it is known how many there are.
    writer: async (to) => ({
      write: (piece) => to.write(units.positionsOf(piece, positionDtype(total, wideFrom))),
      end: async () => undefined,
    }),
  };
}

/** How counts of records are written where their name says nothing. */
const AS_RECORDS = { model: { format: 'raw' }, text: {} } as const;

/** Writes records as they are. */
const bytesTo = (output: Output): KeyWriter => ({
  write: (piece) => output.write(piece),
  end: async () => undefined,
});

/** What of a job is said of the sort: the order is the records' own. */
const howOf = ({ algorithm, scan, radixBits, verify }: RecordJob) => ({ algorithm, scan, radixBits, verify });

/** Bytes that the device takes for each record, at most: keys and positions, and as many beside them. */
const DEVICE_BYTES = 40;

/** Is there memory for the records, what is sorted of them, and the result? More than 32-bit positions tell apart never fit. */
async function fits(
  source: Source,
  { unit, sortBytes }: RecordOrder,
  { argsort, wideFrom }: LargeRecordJob,
  memory: number,
): Promise<boolean> {
  const each = unit + sortBytes + DEVICE_BYTES;
  const most = Math.min(constants.MAX_LENGTH, Math.floor(memory / each) * unit);
  const bytes = source.bytes ?? (await source.head(most + 1)).length;
  if (argsort && positionDtype(bytes / unit, wideFrom) === 'u64') return false; // in memory they are u32
  return bytes <= most && bytes / unit <= MAX_RECORDS;
}

/** Of a sort as a whole. */
type WholeReport = SortReport & Pick<FileReport, 'shape' | 'distinct' | 'readSeconds' | 'writeSeconds'>;

/** Sorts records that are in memory all at once. */
async function sortWhole(
  sorter: Sorter,
  source: Source,
  order: RecordOrder,
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
      if (source.bytes % record === 0) assertRecords(source.bytes, record); // before they are read
      await output.reserve(bytesOut(source.bytes));
    }
    const [bytes, readSeconds] = await timed(() => source.read(record));
    assertRecords(bytes.length, record);
    if (source.bytes === undefined) await output.reserve(bytesOut(bytes.length));
    assertGoing(signal);
    let made: SortReport | undefined;
    const onReport = (one: SortReport) => {
      made = one;
    };
    const options = sortOptions(howOf(job), context, onReport);
    const [positions, seconds] = await timed(() => order.positions(sorter, bytes, options));
    const sorted = { order, bytes, positions, verify, signal };
    let verified: SortReport['verified'];
    let distinct: number | undefined;
    const [, writeSeconds] = await timed(async () => {
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
  if (!report) throw new Error('the Sorter returned without a report');
  return report;
}

interface Sorted {
  readonly order: RecordOrder;
  /** The records as they were. */
  readonly bytes: Uint8Array;
  readonly positions: Uint32Array;
  readonly verify: boolean;
  readonly signal: AbortSignal;
}

/**
 * Writes records in order, gathered piece by piece, so that they are not in memory twice.
 *
 * @returns what was found of the records that were written, when they were to be verified
 * @throws MismatchError when they are not what is to be written
 */
async function writeRecords(
  { order, bytes, positions, verify, signal }: Sorted,
  output: Pick<KeyWriter, 'write'>,
): Promise<SortReport['verified']> {
  const { unit } = order;
  const most = Math.floor(PIECE_BYTES / unit);
  const proof = verify ? new Proof(order) : undefined;
  const pieces = [0, 1].map(() => new Uint8Array(Math.min(most, positions.length) * unit));
  let writing: Promise<void> | undefined;
  for (let start = 0; start < positions.length; start += most) {
    const some = positions.subarray(start, start + most);
    const [piece] = pieces.reverse() as [Uint8Array]; // the other one is being written
    const gathered = piece.subarray(0, some.length * unit);
    await runYielding(gatherUnits(bytes, unit, some, gathered), signal);
    await proof?.add(bytes.subarray(start * unit, (start + some.length) * unit), gathered);
    await writing;
    writing = output.write(gathered);
    writing.catch(() => undefined); // it is awaited, perhaps after another failure
  }
  await writing;
  return proof?.verified();
}

/** Proves that records are in order, and those that there were. */
class Proof {
  readonly #check: UnitOrderCheck;
  readonly #before: UnitMultiset;
  readonly #after: UnitMultiset;

  constructor(order: RecordOrder) {
    const points = randomPoints();
    this.#check = new UnitOrderCheck(order);
    this.#before = new UnitMultiset(order.unit, points);
    this.#after = new UnitMultiset(order.unit, points);
  }

  /** @param before as many records of the input, any of them */
  async add(before: Uint8Array, after: Uint8Array): Promise<void> {
    this.#check.add(after);
    await this.#before.add(before);
    await this.#after.add(after);
  }

  /** @throws MismatchError */
  verified(): { readonly order: boolean; readonly permutation: boolean } {
    const found = {
      order: this.#check.descent === undefined,
      permutation: this.#before.equals(this.#after),
    };
    if (found.order && found.permutation) return found;
    throw new MismatchError(
      'the sorted records are not in order, or not those of the input, so the output was left as it was: ' +
        'sort on another device',
      { details: found },
    );
  }
}
