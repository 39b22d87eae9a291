/** Partitioned sorts of files, for when memory does not suffice for a sort as a whole. */
import type { SortOptions } from '../../sort/model/options.js';
import type { SortReport } from '../../sort/model/report.js';
import { partitionBudget } from '../external/budget.js';
import { externalSort } from '../external/external-sort.js';
import type { ExternalJob, RecordWriter } from '../external/job.js';
import type { KeyReader, KeyWriter } from '../formats/key-file.js';
import type { IndexedRecords } from '../records/indexed-records.js';
import type { RecordInput } from '../records/record-input.js';
import type { KeyOrdering, RecordOrdering } from '../records/record-ordering.js';
import type { Output } from '../streams/output.js';
import { type CountingWriter, distinctWriter, withCounts } from './distinct-output.js';
import type { FileReport, LargeFileJob, LargeReport } from './file-job.js';
import type { FileSort } from './file-sort-state.js';
import { positionDtype } from './positions.js';

/** A file to sort in partitions. */
export interface PartitionedFile extends Pick<FileSort, 'sorter' | 'context' | 'output'> {
  readonly input: RecordInput;
  readonly order: RecordOrdering | KeyOrdering;
  /** Description of the order, which must match to resume a sort. */
  readonly orderName: string;
  readonly job: Pick<
    LargeFileJob,
    | 'out'
    | 'tmp'
    | 'resume'
    | 'verify'
    | 'unique'
    | 'duplicatesOnly'
    | 'counts'
    | 'wideFrom'
    | 'header'
    | 'delimiter'
  >;
  readonly memory: number;
  /** Options of the sort; the order defines direction and bits. */
  readonly options: SortOptions;
  /** Opens the writer of the result. */
  readonly create: (output: Output, n: number | undefined) => Promise<KeyWriter>;
  /** Whether the result is exactly the sorted records, which can be resumed. */
  readonly isPlain: boolean;
  /** Sorts positions instead of records. */
  readonly indexed?: IndexedRecords | undefined;
  /** Source of format and byte order for the counts when their file name implies none. */
  readonly model: Pick<KeyReader, 'format' | 'bigEndian'>;
  /** Fields of the report that are known in advance. */
  readonly reportBase: Pick<
    FileReport,
    'descending' | 'argsort' | 'formats' | 'dtype' | 'bitRange' | 'records'
  >;
}

/**
 * Sorts a file in partitions: in memory when they fit, otherwise through temporary files.
 *
 * @throws the errors of `externalSort`
 */
export async function sortInPartitions(file: PartitionedFile): Promise<FileReport> {
  const { input, order, job, context, create, isPlain, indexed, model } = file;
  if (indexed) return sortPositions(file, indexed);
  if (!job.unique) {
    const n = input.bytes === undefined ? undefined : input.bytes / order.recordBytes;
    return sortRecords(file, isPlain ? {} : { writer: (to) => create(to, n) });
  }
  return withCounts({ counts: job.counts, model, text: job }, context, async (counts) => {
    let distinct: CountingWriter | undefined;
    const writer = async (to: Output): Promise<RecordWriter> => {
      distinct = distinctWriter(
        { order, duplicatesOnly: job.duplicatesOnly },
        { to: await create(to, undefined), counts },
        context.signal,
      );
      return distinct;
    };
    const made = await sortRecords(file, { writer });
    const found = distinct?.n ?? 0;
    return { ...made, distinct: found, shape: [found] };
  });
}

function sortPositions(file: PartitionedFile, indexed: IndexedRecords): Promise<FileReport> {
  const { input, order, orderName, create, job } = file;
  let total = input.bytes === undefined ? undefined : input.bytes / order.recordBytes;
  const onTotal = (n: number): void => {
    total = n;
  };
  /** Opens the output on the first write, after all input was read, when the number of records is known. */
  const writer = async (to: Output): Promise<RecordWriter> => {
    let opened: Promise<KeyWriter> | undefined;
    const open = (): Promise<KeyWriter> => {
      opened ??= create(to, total);
      return opened;
    };
    return {
      async write(piece) {
        await (await open()).write(indexed.positionsOf(piece, positionDtype(total, job.wideFrom)));
      },
      end: async () => (await open()).end(),
    };
  };
  return sortRecords(file, {
    input: {
      ...input,
      readAt: undefined,
      bytes: input.bytes === undefined ? undefined : indexed.bytesOf(input.bytes),
      pieces: () => indexed.interleave(input.pieces(), onTotal),
    },
    order: indexed.order,
    orderName: `positions of ${orderName}`,
    writer,
  });
}

const NOT_SORTED: Omit<SortReport, 'n' | 'dtype' | 'bitRange' | 'stages' | 'seconds'> = {
  device: { name: 'host', type: 'host' },
  algorithm: 'none',
  reason: 'nothing to sort',
};

/** @param changes what differs from a sort of the file's records to raw bytes */
async function sortRecords(
  { sorter, context, memory, options, output, reportBase, ...file }: PartitionedFile,
  changes: Partial<Pick<ExternalJob, 'input' | 'order' | 'orderName' | 'writer'>>,
): Promise<FileReport & { readonly external: LargeReport }> {
  const { algorithm, advanced, onWarning } = options;
  const given = Object.entries({ algorithm, advanced, onWarning }).filter(([, value]) => value !== undefined);
  const { out, tmp, resume, verify } = file.job;
  const { input, order, orderName, writer } = { ...file, ...changes };
  const job = { input, order, orderName, writer, out, tmp, resume, verify };
  const started = performance.now();
  const { sort, verified, ...external } = await externalSort(
    sorter,
    { ...job, budget: partitionBudget(memory, order), options: Object.fromEntries(given) },
    context,
    output,
  );
  const n = external.bytes / order.recordBytes;
  return {
    ...(sort ?? NOT_SORTED),
    n,
    stages: [], // the stages of one partition say nothing about the whole
    seconds: (performance.now() - started) / 1000,
    ...(verified && { verified }),
    external,
    ...reportBase,
    ...{ shape: [n], readSeconds: 0, writeSeconds: 0 },
  };
}
