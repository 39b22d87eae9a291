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
import type { JobInput, KeyUnits, RecordUnits, SortJob } from './sort-job.js';

/** Units that are read: a stretch of a file, or a whole one. */
export interface UnitReader {
  /** Of all units; undefined where that shows at the end only. */
  readonly bytes: number | undefined;
  /** Fills `into` from a byte of these units on; undefined where they come in order only. */
  readonly readAt: ReadAt | undefined;
  /** The units in order, to be taken once. @param room memory for two pieces, by turns */
  pieces(room: Uint8Array): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

/** Stands where jobs have no stdin. */
const noStdin = (): Readable => Readable.from([]);

export const orderOf = (units: KeyUnits | RecordUnits): RecordOrdering =>
  units.is === 'records' ? layoutOrdering(units) : keyOrdering(units);

/** A whole file of units. @throws as `openKeys` and `openRecords` */
async function openUnits(
  path: string,
  units: KeyUnits | RecordUnits,
  signal: AbortSignal,
): Promise<UnitReader> {
  if (units.is === 'keys') {
    const source = await openSource(path, noStdin(), signal);
    try {
      const reader = await openKeys(source, path, { ...units.read, signal });
      return ofKeys(reader, orderOf(units).recordBytes, async () => {
        await reader.close();
        await source.close();
      });
    } catch (error) {
      await source.close();
      throw error;
    }
  }
  const source = await openRecords(path, noStdin(), { format: units.format, signal });
  const { record } = units;
  const { bytes, readAt } = source;
  return {
    bytes,
    readAt,
    pieces: (room) =>
      readAt && bytes !== undefined
        ? piecesOf(readAt, { begin: 0, end: bytes, recordBytes: record, buffer: room })
        : source.pieces(record),
    close: () => source.close(),
  };
}

function ofKeys(reader: KeyReader, unit: number, close: UnitReader['close']): UnitReader {
  const { n, readAt } = reader;
  const bytes = n === undefined ? undefined : n * unit;
  return {
    bytes,
    readAt,
    pieces: (room) =>
      readAt && bytes !== undefined
        ? piecesOf(readAt, { begin: 0, end: bytes, recordBytes: unit, buffer: room })
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
): Promise<UnitReader> {
  const shard = job.shards[index];
  const input = shard && job.inputs[shard.input];
  if (!shard || !input) throw new InputError(`the job has no shard ${index + 1}`);
  const path = await shared.existing(input.name);
  await assertSame(input, path);
  const whole = await openUnits(path, job.units, signal);
  const { begin, end } = shard;
  const { readAt } = whole;
  if (end === null) return whole;
  if (!readAt) {
    await whole.close();
    throw new InputError(`${path} can be read in order only, and was cut when the job was made`);
  }
  const { recordBytes: unit } = orderOf(job.units);
  return {
    bytes: end - begin,
    readAt: (into, position) => readAt(into, begin + position),
    pieces: (room) => piecesOf(readAt, { begin, end, recordBytes: unit, buffer: room }),
    close: () => whole.close(),
  };
}

/** @throws InputError; hosts may tell the time of a change more or less exactly */
async function assertSame({ name, bytes, modified }: JobInput, path: string): Promise<void> {
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
export function openPart(job: SortJob, path: string, signal: AbortSignal): Promise<UnitReader> {
  const { units, part } = job;
  if (units.is === 'records') return openUnits(path, { ...units, format: 'raw' }, signal);
  const { format, header, delimiter, bigEndian } = part;
  const dtype = `${units.dtype}${format === 'raw' && bigEndian ? 'be' : ''}`;
  return openUnits(path, { ...units, read: { dtype, format, header, delimiter } }, signal);
}
