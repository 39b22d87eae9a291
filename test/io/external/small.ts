/** External sorts of small data: budgets so small that there are many partitions, and orders that are not exact. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { externalSort } from '../../../src/io/external/external-sort.js';
import type { ExternalJob, ExternalReport } from '../../../src/io/external/job.js';
import type { FileContext } from '../../../src/io/file-sort/file-job.js';
import { keyOrdering, type RecordOrdering } from '../../../src/io/records/record-ordering.js';
import { type Dtype, dtypeInfo } from '../../../src/keys/dtype.js';
import type { Sorter } from '../../../src/sort/api/sorter.js';
import type { ReferenceOrder } from '../../reference.js';

/** Partitions of at most 4 KiB, with one sampled record per 8 KiB. */
export const TINY = { memory: 1, partitionBytes: 4096, shardBytes: 8192, maxPartitions: 12 } as const;

export const orderOf = (
  dtype: Dtype,
  { descending = false, nan = 'last', bits }: ReferenceOrder = {},
): RecordOrdering => keyOrdering({ dtype, descending, nan, bits: bits ?? [0, dtypeInfo(dtype).width] });

/** Records of 12 bytes, compared by their first ten bytes as memcmp does; prefixes hold eight of these. */
export const TEN_OF_TWELVE: RecordOrdering = {
  recordBytes: 12,
  description: 'units of 12 bytes',
  exact: false,
  sortBytes: 12,
  prefix(piece) {
    const view = new DataView(piece.buffer, piece.byteOffset, piece.byteLength);
    return BigUint64Array.from({ length: piece.length / 12 }, (_, i) => view.getBigUint64(12 * i));
  },
  compare: (a, i, b, j) => Buffer.compare(a.subarray(12 * i, 12 * i + 10), b.subarray(12 * j, 12 * j + 10)),
  async sort(_, bytes) {
    const records = Array.from({ length: bytes.length / 12 }, (_, i) => bytes.subarray(12 * i, 12 * i + 12));
    return new Uint8Array(Buffer.concat(records.sort((a, b) => TEN_OF_TWELVE.compare(a, 0, b, 0))));
  },
};

/** Pieces of memory of whole records, as a pipe yields them. */
export async function* piecesOf(
  bytes: Uint8Array,
  recordBytes: number,
  records = 300,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += records * recordBytes)
    yield bytes.slice(at, at + records * recordBytes);
}

export const contextOf = (more: Partial<FileContext> = {}): FileContext => ({
  stdin: new PassThrough().end(),
  stdout: new PassThrough().resume(),
  signal: new AbortController().signal,
  ...more,
});

export interface SmallSort {
  readonly folder: string;
  readonly bytes: Uint8Array;
  readonly order: RecordOrdering;
  readonly orderName?: string;
  /** If given, the input is read as from a pipe. */
  readonly piped?: boolean;
}

/** The job of sorting bytes from the file `in` of a folder, or from no file, to its file `out`. */
export function jobOf({ folder, bytes, order, orderName = 'units', piped = false }: SmallSort): ExternalJob {
  const path = join(folder, 'in');
  const readAt = async (into: Uint8Array, position: number): Promise<void> =>
    into.set(bytes.subarray(position, position + into.length));
  if (!piped) writeFileSync(path, bytes);
  const input = {
    name: piped ? 'stdin' : path,
    path: piped ? undefined : path,
    readAt: piped ? undefined : readAt,
    bytes: piped ? undefined : bytes.length,
    pieces: () => piecesOf(bytes, order.recordBytes),
  };
  return { input, order, orderName, out: join(folder, 'out'), budget: TINY };
}

/** Sorts and returns the result with the report. */
export async function sortSmall(
  sorter: Sorter,
  small: SmallSort,
  more: Partial<ExternalJob> = {},
  context: Partial<FileContext> = {},
): Promise<{ sorted: Buffer; report: ExternalReport }> {
  const job = { ...jobOf(small), ...more };
  const report = await externalSort(sorter, job, contextOf(context));
  return { sorted: readFileSync(job.out), report };
}
