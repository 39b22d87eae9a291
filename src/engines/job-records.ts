/** The units of a job: in which order they go, how a shard of them is read, and how a part is written and read back. */
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { piecesOf } from '../io/external/input.js';
import type { ReadAt } from '../io/external/sample.js';
import type { KeyReader, KeyWriter } from '../io/formats/key-file.js';
import { keyTarget, openKeys } from '../io/keys.js';
import { layoutOrdering } from '../io/layout-ordering.js';
import type { Output } from '../io/output.js';
import { openSource } from '../io/raw.js';
import { openRecords } from '../io/record-file.js';
import { keyOrdering, type RecordOrdering } from '../io/record-ordering.js';
import { InputError } from '../util/errors.js';
import type { SharedFolder } from './shared-folder.js';
import type { JobInput, KeyFormat, RecordFormat, SortJob } from './sort-job.js';

/** Units that are read: a stretch of a file, or a whole one. */
export interface RecordReader {
  /** Of all units; undefined where that shows at the end only. */
  readonly bytes: number | undefined;
  /** Fills `into` from a byte of these units on; undefined where they come in order only. */
  readonly readAt: ReadAt | undefined;
  /** The units in order, to be taken once. @param buffer memory for two pieces, by turns */
  pieces(buffer: Uint8Array): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

/** Stands where jobs have no stdin. */
const noStdin = (): Readable => Readable.from([]);

export const orderOf = (format: KeyFormat | RecordFormat): RecordOrdering =>
  format.is === 'records' ? layoutOrdering(format) : keyOrdering(format);

/** A whole file of units. @throws as `openKeys` and `openRecords` */
async function openWhole(
  path: string,
  recordFormat: KeyFormat | RecordFormat,
  signal: AbortSignal,
): Promise<RecordReader> {
  if (recordFormat.is === 'keys') {
    const source = await openSource(path, noStdin(), signal);
    try {
      const reader = await openKeys(source, path, { ...recordFormat.read, signal });
      return keyRecordReader(reader, orderOf(recordFormat).recordBytes, async () => {
        await reader.close();
        await source.close();
      });
    } catch (error) {
      await source.close();
      throw error;
    }
  }
  const source = await openRecords(path, noStdin(), { format: recordFormat.format, signal });
  const { record } = recordFormat;
  const { bytes, readAt } = source;
  return {
    bytes,
    readAt,
    pieces: (buffer) =>
      readAt && bytes !== undefined
        ? piecesOf(readAt, { begin: 0, end: bytes, recordBytes: record, buffer: buffer })
        : source.pieces(record),
    close: () => source.close(),
  };
}

function keyRecordReader(reader: KeyReader, recordBytes: number, close: RecordReader['close']): RecordReader {
  const { n, readAt } = reader;
  const bytes = n === undefined ? undefined : n * recordBytes;
  return {
    bytes,
    readAt,
    pieces: (buffer) =>
      readAt && bytes !== undefined
        ? piecesOf(readAt, { begin: 0, end: bytes, recordBytes: recordBytes, buffer: buffer })
        : reader.pieces(),
    close,
  };
}

/** Opens a shard. @throws InputError when the file is not the one that the job was made for */
export async function openShard(
  job: SortJob,
  index: number,
  shared: SharedFolder,
  signal: AbortSignal,
): Promise<RecordReader> {
  const shard = job.shards[index];
  const input = shard && job.inputs[shard.input];
  if (!shard || !input) throw new InputError(`the job has no shard ${index + 1}`);
  const path = await shared.existing(input.name);
  await assertUnchanged(input, path);
  const whole = await openWhole(path, job.units, signal);
  const { begin, end } = shard;
  const { readAt } = whole;
  if (end === null) return whole;
  if (!readAt) {
    await whole.close();
    throw new InputError(`${path} can be read in order only, and was cut when the job was made`);
  }
  const { recordBytes } = orderOf(job.units);
  return {
    bytes: end - begin,
    readAt: (into, position) => readAt(into, begin + position),
    pieces: (buffer) => piecesOf(readAt, { begin, end, recordBytes: recordBytes, buffer: buffer }),
    close: () => whole.close(),
  };
}

/** @throws InputError; hosts may tell the time of a change more or less exactly */
async function assertUnchanged({ name, bytes, modified }: JobInput, path: string): Promise<void> {
  const found = await stat(path, { bigint: true });
  const milliseconds = (nanoseconds: bigint): bigint => nanoseconds / 1_000_000n;
  if (Number(found.size) === bytes && milliseconds(found.mtimeNs) === milliseconds(BigInt(modified))) return;
  throw new InputError(`${name} has changed since the sort of it began: cancel the job, and sort it anew`, {
    details: { path },
  });
}

/** Writes the units of a part. @param n how many there will be */
export async function partWriter(job: SortJob, path: string, n: number, output: Output): Promise<KeyWriter> {
  const { units, part } = job;
  if (units.is === 'records') {
    return { write: (piece) => output.write(piece), end: async () => undefined };
  }
  const { format, bigEndian, header, delimiter, column } = part;
  const model = { format, bigEndian, dtypeSaid: true };
  const target = await keyTarget(path, { to: format, header, delimiter }, model);
  return target.create(output, { dtype: units.dtype, n, shape: [n], column });
}

/** Reads a part back. */
export function openPart(job: SortJob, path: string, signal: AbortSignal): Promise<RecordReader> {
  const { units, part } = job;
  if (units.is === 'records') return openWhole(path, { ...units, format: 'raw' }, signal);
  const { format, header, delimiter, bigEndian } = part;
  const dtype = `${units.dtype}${format === 'raw' && bigEndian ? 'be' : ''}`;
  return openWhole(path, { ...units, read: { dtype, format, header, delimiter } }, signal);
}
