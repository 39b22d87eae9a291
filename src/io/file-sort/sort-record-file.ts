import { bytesOf } from '../../keys/array.js';
import type { Sorter } from '../../sort/api/sorter.js';
import { runYielding } from '../../sort/host/steps.js';
import type { SortReport } from '../../sort/model/report.js';
import { Multiset, randomPoints } from '../checks/multiset.js';
import { describeUnfinished } from '../external/session.js';
import type { KeyWriter } from '../formats/key-file.js';
import { assertRecordName, openRecords } from '../formats/keys.js';
import { gatherRecords } from '../records/gather-records.js';
import { IndexedRecords } from '../records/indexed-records.js';
import { assertRecords, type LayoutOrdering, layoutOrdering } from '../records/layout-ordering.js';
import { fileInput } from '../records/record-input.js';
import { keyText, type RecordLayout, recordKeys } from '../records/record-keys.js';
import { RecordVerifier } from '../records/record-verifier.js';
import { bytesTo } from '../streams/output.js';
import { PIECE_BYTES } from '../streams/policy.js';
import { assertNotAborted, type Source } from '../streams/raw.js';
import { assertSeparate } from '../streams/same-file.js';
import { measure } from '../streams/spans.js';
import { withDistinct } from './distinct-output.js';
import {
  assertDistinct,
  assertFiles,
  type DistinctOptions,
  type FileContext,
  type FileJob,
  type FileReport,
  type LargeOptions,
  orderingOptions,
} from './file-job.js';
import { maxWholeBytes, planFile } from './file-plan.js';
import { type FileSort, openForPipe, writeToOutput } from './file-sort-state.js';
import { sortInPartitions } from './partitioned-sort.js';
import { mismatch, onlyReport } from './sort-reports.js';

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
  await assertRecordName(out, format);
  const source = await openRecords(from, context.stdin, { format, signal: context.signal });
  try {
    return await openForPipe(source.bytes !== undefined, out, context, (output) =>
      sortSource({ sorter, source, order, job, context, output }),
    );
  } finally {
    await source.close();
  }
}

/** The state of one sort of a record file. */
interface RecordSort extends Pick<FileSort, 'sorter' | 'context' | 'output'> {
  readonly source: Source;
  readonly order: LayoutOrdering;
  readonly job: LargeRecordJob;
}

async function sortSource(work: RecordSort): Promise<FileReport> {
  const { sorter, source, order, job, context, output } = work;
  const {
    in: from,
    out,
    record,
    nan,
    argsort = false,
    unique = false,
    duplicatesOnly,
    memory,
    tmp,
    resume,
  } = job;
  const keys = recordKeys({ record, keys: job.keys }).map(keyText);
  const reportBase = {
    descending: false,
    argsort,
    records: { record, keys },
    formats: ['raw', 'raw'],
  } as const;
  if (memory === undefined) return { ...(await sortWhole(work)), ...reportBase };
  const old = await describeUnfinished(out, tmp);
  const { recordBytes, sortBytes } = order;
  const facts = { recordBytes, sortBytes, argsort, wideFrom: job.wideFrom, memory };
  const maxBytes = maxWholeBytes(facts, memory);
  const head = source.bytes ?? (await source.head(maxBytes + 1)).length;
  const bytes = source.bytes === undefined && head > maxBytes ? undefined : head;
  if (planFile({ ...facts, bytes, resumes: old !== undefined && resume }) === 'whole') {
    if (old) context.onNote?.(old);
    return { ...(await sortWhole(work)), ...reportBase };
  }
  source.assertWhole(record);
  return sortInPartitions({
    ...{ sorter, order, job, memory, context, output, model: { format: 'raw' }, isPlain: true },
    input: { ...fileInput(source, record), path: source.bytes === undefined ? undefined : from },
    orderName: `${order.description} by ${keys.join(' ')}, NaN ${nan ?? 'last'}${unique ? ', distinct' : ''}${duplicatesOnly ? ', duplicates only' : ''}`,
    options: orderingOptions(job, context),
    create: async (to) => bytesTo(to),
    indexed: argsort ? IndexedRecords.ofLayout(job) : undefined,
    reportBase: { ...reportBase, dtype: 'u8', bitRange: [0, 8] },
  });
}

/** Format of the counts when their file name implies none. */
const AS_RECORDS = { model: { format: 'raw' }, text: {} } as const;

type WholeReport = SortReport & Pick<FileReport, 'shape' | 'distinct' | 'readSeconds' | 'writeSeconds'>;

/** Sorts all records in memory. */
function sortWhole(work: RecordSort): Promise<WholeReport> {
  const { sorter, source, order, job, context } = work;
  const { record, argsort = false, verify = false, unique, duplicatesOnly, counts } = job;
  const { signal } = context;
  const bytesOut = (bytesIn: number): number => (argsort ? (bytesIn / record) * 4 : bytesIn);
  return writeToOutput(work, async (output) => {
    if (source.bytes !== undefined) {
      if (source.bytes % record === 0) assertRecords(source.bytes, record); // before reading them
      await output.reserve(bytesOut(source.bytes));
    }
    const [bytes, readSeconds] = await measure(() => source.read(record));
    assertRecords(bytes.length, record);
    if (source.bytes === undefined) await output.reserve(bytesOut(bytes.length));
    assertNotAborted(signal);
    const reports: SortReport[] = [];
    const options = orderingOptions(job, context, (one) => reports.push(one));
    const [positions, seconds] = await measure(() => order.positions(sorter, bytes, options));
    const sorted = { order, bytes, positions, verify, signal };
    let verified: SortReport['verified'];
    const [distinct, writeSeconds] = await measure(async () => {
      if (argsort) {
        await output.write(bytesOf(positions));
        return undefined;
      }
      const request = { order, unique, duplicatesOnly, counts, ...AS_RECORDS };
      const open = async () => bytesTo(output);
      return withDistinct(request, open, context, async (writer) => {
        verified = await writeRecords(sorted, writer);
      });
    });
    return {
      ...onlyReport(reports),
      ...(verified && { verified }),
      ...(distinct !== undefined && { distinct }),
      ...{ seconds, readSeconds, writeSeconds, shape: [distinct ?? positions.length] },
    };
  });
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
  const points = randomPoints();
  const before = new Multiset(recordBytes, points);
  const verifier = verify ? new RecordVerifier(order, points) : undefined;
  const pieces = [0, 1].map(() => new Uint8Array(Math.min(maxRecords, positions.length) * recordBytes));
  let writing: Promise<void> | undefined;
  for (let start = 0; start < positions.length; start += maxRecords) {
    const some = positions.subarray(start, start + maxRecords);
    const [piece] = pieces.reverse() as [Uint8Array]; // the other one is being written
    const gathered = piece.subarray(0, some.length * recordBytes);
    await runYielding(gatherRecords(bytes, recordBytes, some, gathered), signal);
    if (verifier) {
      await before.add(bytes.subarray(start * recordBytes, (start + some.length) * recordBytes));
      await verifier.add(gathered, signal);
    }
    await writing;
    writing = output.write(gathered);
    writing.catch(() => undefined); // awaited later, possibly after another failure
  }
  await writing;
  if (!verifier) return undefined;
  const found = { order: verifier.descent === undefined, permutation: verifier.equals(before) };
  if (found.order && found.permutation) return found;
  throw mismatch('records', found);
}
