import { bytesOf } from '../keys/array.js';
import type { SortReport } from '../sort/api/report.js';
import type { Sorter } from '../sort/api/sorter.js';
import { inTurns } from '../sort/host/steps.js';
import { MismatchError, UsageError } from '../util/errors.js';
import { UnitOrderCheck } from './check-units.js';
import { gatherUnits } from './gather-units.js';
import { randomPoints } from './multiset.js';
import { isSameFile, type Output, withOutput } from './output.js';
import { assertGoing, PIECE_BYTES } from './raw.js';
import { assertRecordOutput, openRecords } from './record-file.js';
import { keyText, type RecordLayout, recordKeys } from './record-keys.js';
import { assertRecords, type RecordOrder, recordOrder } from './record-order.js';
import { type FileContext, type FileJob, type FileReport, timed } from './sort-file.js';
import { UnitMultiset } from './unit-multiset.js';

/** Which records to sort, from where to where, and how. */
export interface RecordJob
  extends RecordLayout,
    Pick<FileJob, 'out' | 'argsort' | 'algorithm' | 'scan' | 'radixBits' | 'verify' | 'format'> {
  /** File, `-` for stdin. */
  readonly in: string;
}

/**
 * Sorts one file of records.
 *
 * @throws UsageError, DtypeError, FormatError, IoError, UnsupportedError for 2^32 records and more, AbortedError, and
 *   what the Sorter throws
 */
export async function sortRecordFile(
  sorter: Sorter,
  job: RecordJob,
  context: FileContext,
): Promise<FileReport> {
  const { in: from, out, record, keys, nan, argsort = false, format, ...how } = job;
  const order = recordOrder({ record, keys, nan });
  if (argsort && (await isSameFile(from, out))) {
    throw new UsageError('an argsort would replace the records by their positions: name another output');
  }
  await assertRecordOutput(out, { format });
  const { stdin, signal, onProgress, onWarning } = context;
  const bytesOut = (bytesIn: number): number => (argsort ? (bytesIn / record) * 4 : bytesIn);
  const source = await openRecords(from, stdin, { format, signal });
  let report: FileReport | undefined;
  try {
    await withOutput(out, context, async (output) => {
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
      const options = { ...how, profile: true, signal, onReport, onProgress, onWarning };
      const known = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
      const [positions, seconds] = await timed(() => order.positions(sorter, bytes, known));
      const sorted = { order, bytes, positions, verify: job.verify ?? false, signal };
      const [verified, writeSeconds] = await timed(async () =>
        argsort ? void (await output.write(bytesOf(positions))) : await writeRecords(sorted, output),
      );
      if (!made) return;
      const records = { record, keys: recordKeys({ record, keys }).map(keyText) };
      const times = { seconds, readSeconds, writeSeconds };
      const told = {
        descending: false,
        argsort,
        records,
        formats: ['raw', 'raw'],
        shape: [positions.length],
      } as const;
      report = { ...made, ...(verified && { verified }), ...times, ...told };
    });
  } finally {
    await source.close();
  }
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
  output: Output,
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
    await inTurns(gatherUnits(bytes, unit, some, gathered), signal);
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
