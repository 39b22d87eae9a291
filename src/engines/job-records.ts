/** The records of a job: their order, and how shards and parts are read and written. */
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { piecesOf } from '../io/external/input.js';
import type { KeyWriter } from '../io/formats/key-file.js';
import { keyTarget, openKeys, openRecords } from '../io/formats/keys.js';
import { layoutOrdering } from '../io/records/layout-ordering.js';
import type { ReadAt } from '../io/records/record-input.js';
import { keyOrdering, type RecordOrdering } from '../io/records/record-ordering.js';
import { bytesTo, type Output } from '../io/streams/output.js';
import { openSource, type Source } from '../io/streams/raw.js';
import { InputError } from '../util/errors.js';
import type { SharedFolder } from './shared-folder.js';
import type { JobInput, KeyFormat, RecordFormat, SortJob } from './sort-job.js';

/** A reader of a whole file or of a range of it. */
export interface RecordReader {
  /** Size of all records in bytes; undefined until the end when unknown. */
  readonly bytes: number | undefined;
  /** Fills `into` from a byte of these records on; undefined when they must be read in order. */
  readonly readAt: ReadAt | undefined;
  /**
   * Yields the records in order. Can be called once.
   *
   * @param buffer memory for two pieces in alternation
   */
  pieces(buffer: Uint8Array): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

const SORT_AGAIN = 'Cancel the job, and sort again';

/** Replaces stdin, which jobs do not have. */
export const noStdin = (): Readable => Readable.from([]);

export const orderOf = (format: KeyFormat | RecordFormat): RecordOrdering =>
  format.is === 'records' ? layoutOrdering(format) : keyOrdering(format);

/**
 * Opens a whole file of records.
 *
 * @throws the errors of `openKeys` and `openRecords`
 */
async function openWhole(
  path: string,
  recordFormat: KeyFormat | RecordFormat,
  signal: AbortSignal,
): Promise<RecordReader> {
  if (recordFormat.is === 'keys') {
    const source = await openSource(path, noStdin(), signal);
    try {
      const reader = await openKeys(source, path, { ...recordFormat.read, signal });
      const { recordBytes } = orderOf(recordFormat);
      const bytes = reader.n === undefined ? undefined : reader.n * recordBytes;
      return recordReader(reader, bytes, recordBytes, async () => {
        await reader.close();
        await source.close();
      });
    } catch (error) {
      await source.close();
      throw error;
    }
  }
  const { record, format } = recordFormat;
  const source = await openRecords(path, noStdin(), { format, signal });
  return recordReader(source, source.bytes, record, () => source.close());
}

const recordReader = (
  source: Pick<Source, 'readAt' | 'pieces'>,
  bytes: number | undefined,
  recordBytes: number,
  close: RecordReader['close'],
): RecordReader => ({
  bytes,
  readAt: source.readAt,
  pieces: (buffer) =>
    source.readAt && bytes !== undefined
      ? piecesOf(source.readAt, { begin: 0, end: bytes, recordBytes, buffer })
      : source.pieces(recordBytes),
  close,
});

/**
 * Opens a shard.
 *
 * @throws InputError when the input has changed since the job was created
 */
export async function openShard(
  job: SortJob,
  index: number,
  shared: SharedFolder,
  signal: AbortSignal,
): Promise<RecordReader> {
  const shard = job.shards[index];
  const input = shard && job.inputs[shard.input];
  if (!shard || !input)
    throw new InputError(`cannot open shard ${index + 1}: the job has ${job.shards.length} shards`);
  const path = await shared.existing(input.name);
  await assertUnchanged(input, path);
  const whole = await openWhole(path, job.units, signal);
  const { begin, end } = shard;
  const { readAt } = whole;
  if (end === null) return whole;
  if (!readAt) {
    await whole.close();
    throw new InputError(
      `cannot open shard ${index + 1}: ${path} no longer allows random access. ${SORT_AGAIN}`,
    );
  }
  const { recordBytes } = orderOf(job.units);
  return {
    bytes: end - begin,
    readAt: (into, position) => readAt(into, begin + position),
    pieces: (buffer) => piecesOf(readAt, { begin, end, recordBytes, buffer }),
    close: () => whole.close(),
  };
}

/** @throws InputError when the file has changed; compares times in milliseconds, since hosts differ in resolution */
async function assertUnchanged({ name, bytes, modified }: JobInput, path: string): Promise<void> {
  const found = await stat(path, { bigint: true });
  const milliseconds = (nanoseconds: bigint): bigint => nanoseconds / 1_000_000n;
  if (Number(found.size) === bytes && milliseconds(found.mtimeNs) === milliseconds(BigInt(modified))) return;
  throw new InputError(`cannot sort ${name}: it has changed since the job started. ${SORT_AGAIN}`, {
    details: { path },
  });
}

/**
 * Opens a writer for the records of a part.
 *
 * @param n number of records
 */
export async function partWriter(job: SortJob, path: string, n: number, output: Output): Promise<KeyWriter> {
  const { units, part } = job;
  if (units.is === 'records') return bytesTo(output);
  const { format, bigEndian, header, delimiter, column } = part;
  const model = { format, bigEndian, isDtypeGiven: true };
  const target = await keyTarget(path, { to: format, header, delimiter }, model);
  return target.create(output, { dtype: units.dtype, n, shape: [n], column });
}

/** Opens a written part for reading. */
export function openPart(job: SortJob, path: string, signal: AbortSignal): Promise<RecordReader> {
  const { units, part } = job;
  if (units.is === 'records') return openWhole(path, { ...units, format: 'raw' }, signal);
  const { format, header, delimiter, bigEndian } = part;
  const dtype = `${units.dtype}${format === 'raw' && bigEndian ? 'be' : ''}`;
  return openWhole(path, { ...units, read: { dtype, format, header, delimiter } }, signal);
}
