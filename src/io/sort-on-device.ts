/**
 * Files that are sorted in the memory of a device that has its own: keys go to it and come back through a few pieces of pinned
 * memory, which are filled and emptied while others are on their way. What the host has of them is no more than these, however
 * large the file, and each byte is copied by it as often as `cp` does.
 */
import type { ThreadSeconds } from '../device/staging.js';
import { dtypeInfo } from '../keys/dtype.js';
import type { DeviceArray } from '../sort/api/device-array.js';
import type { SortReport } from '../sort/api/report.js';
import { DeviceLostError, MemoryError } from '../util/errors.js';
import { ArrayPool } from './array-pool.js';
import { runBufferedPipeline } from './buffered-pipeline.js';
import { describeUnfinished } from './external/session.js';
import type { KeyWriter } from './formats/key-file.js';
import { moveFile } from './move-file.js';
import { positionDtype } from './positions.js';
import { assertNotAborted } from './raw.js';
import {
  type FileContext,
  type FileReport,
  type FileSort,
  factsOf,
  inputsOf,
  measure,
  reportSpans,
  sortOptions,
  writeToOutput,
} from './sort-file.js';
import { measureMove, now } from './spans.js';

/** Bytes of a piece: far more than what a transfer costs by itself, and near enough to the processor to be copied from there. */
const PIECE_BYTES = 8 * 2 ** 20;
/** Pieces that are read at a time, where they need not come in order. */
const READ_AHEAD = 3;
/** Threads of the addon's read and write files; on Windows they do not, and JavaScript does. */
const BY_THREADS = process.platform !== 'win32';
/** A sort takes its input, its output, and as much again to alternate with. */
const COPIES = 3;
/** Share of the device's memory that a sort may plan to take. */
const MEMORY_SHARE = 0.9;

/** For tests: bytes that go to the device at a time, and whether JavaScript moves them where threads could. */
export interface PieceOptions {
  readonly pieceBytes?: number;
  readonly byThreads?: boolean;
}

/**
 * Sorts the keys of a file on the device, if they are to be sorted so: where they fit there, come from a file, and are at least
 * two pieces. With `verify` transfers are to be checked as well, which is the way of arrays.
 *
 * @returns undefined where they are to be sorted in another way, also since the device has no room or is lost
 * @throws as `sortFile`
 */
export async function sortOnDevice(
  work: FileSort,
  options: PieceOptions = {},
): Promise<FileReport | undefined> {
  const { job, context } = work;
  if (!isForDevice(work, options)) return undefined;
  const old = await describeUnfinished(job.out, job.tmp);
  if (old && job.resume) return undefined;
  if (old) context.onNote?.(old);
  try {
    return await sortKeysOnDevice(work, options);
  } catch (error) {
    if (error instanceof MemoryError || error instanceof DeviceLostError) return undefined;
    throw error;
  }
}

function isForDevice(
  { sorter, reader, job, reportBase, output }: FileSort,
  { pieceBytes = PIECE_BYTES }: PieceOptions,
): boolean {
  const { device, devices } = sorter;
  const { n, dtype, readAt } = reader;
  if (!device || devices.length > 1 || n === undefined || !readAt) return false;
  if (job.verify || job.unique || output || inputsOf(job).length > 1) return false;
  const bytes = n * dtypeInfo(dtype).bytes;
  if (bytes < 2 * pieceBytes) return false;
  if (!reportBase.argsort) return fits(device, bytes, bytes);
  return positionDtype(n, job.wideFrom) === 'u32' && fits(device, bytes, bytes + 4 * n);
}

const fits = (
  { maxAllocation, globalBytes }: { readonly maxAllocation: number; readonly globalBytes: number },
  largest: number,
  all: number,
): boolean => largest <= maxAllocation && COPIES * all <= MEMORY_SHARE * globalBytes;

/** Memory that keys pass through where JavaScript reads or writes them, made when it does. */
class LazyBuffers {
  readonly #pool: ArrayPool;
  readonly #bytes: number;
  /** Pieces that are read at a time. */
  readonly readAhead: number;
  #buffers: readonly Uint8Array[] = [];

  constructor(pool: ArrayPool, bytes: number, readAhead: number) {
    this.#pool = pool;
    this.#bytes = bytes;
    this.readAhead = readAhead;
  }

  get allocateAll(): readonly Uint8Array[] {
    if (this.#buffers.length === 0) {
      const take = () => this.#pool.take('u8', this.#bytes) as Uint8Array;
      this.#buffers = Array.from({ length: this.readAhead + 1 }, take);
    }
    return this.#buffers;
  }

  /** @param isFree false after a failure: what is under way may still use them */
  end(isFree: boolean): void {
    for (const buffer of this.#buffers) isFree ? this.#pool.release(buffer) : this.#pool.abandon(buffer);
  }
}

async function sortKeysOnDevice(work: FileSort, options: PieceOptions): Promise<FileReport> {
  const { sorter, reader, target, job, context, reportBase } = work;
  const n = reader.n as number;
  const { onSpan, signal } = context;
  const reports: SortReport[] = [];
  const how = sortOptions(job, context, (one) => reports.push(one));
  const pool = context.arrays ?? new ArrayPool(sorter, 0);
  // What is read in another order than the file's is read once more to be hashed.
  const buffers = new LazyBuffers(pool, options.pieceBytes ?? PIECE_BYTES, context.hashes ? 1 : READ_AHEAD);
  let array: DeviceArray | undefined;
  let times = { readSeconds: 0, writeSeconds: 0 };
  let isFree = false;
  try {
    await writeToOutput(work, async (output) => {
      const facts = factsOf(work, n);
      const bytes = target.bytes(facts) ?? 0;
      await output.reserve(bytes);
      output.allocate?.(bytes);
      const keys = sorter.allocate(reader.dtype, n);
      array = keys;
      const fill = () => upload(work, keys, buffers, options);
      // Compiled while it is read; what goes wrong will be told by the sort.
      const { onReport: _, onProgress: __, ...plain } = how;
      sorter.prepareSort(keys, plain, { positions: reportBase.argsort }).catch(() => undefined);
      const [, readSeconds] = await measure(() => measureMove('read', onSpan, fill));
      assertNotAborted(signal);
      const began = now();
      const result = reportBase.argsort
        ? await sorter.argsort(keys, how)
        : await sorter.sortInPlace(keys, how);
      if (result !== keys) keys.dispose();
      array = result;
      if (onSpan && reports[0]) reportSpans(onSpan, began, reports[0]);
      const empty = async (): Promise<ThreadSeconds | undefined> => {
        const writer = await target.create(output, facts);
        const threads = await download(work, result, { writer, name: output.name }, buffers, options);
        await writer.end();
        return threads;
      };
      const [, writeSeconds] = await measure(() => measureMove('write', onSpan, empty));
      times = { readSeconds, writeSeconds };
    });
    isFree = true;
  } finally {
    array?.dispose();
    buffers.end(isFree);
  }
  const [report] = reports;
  if (!report) throw new Error('the Sorter sorted without a report');
  return { ...report, ...reportBase, shape: [n], ...times };
}

function reportProgress(
  context: FileContext,
  phase: string,
  { dtype, length }: DeviceArray,
  bytes: number,
): void {
  context.onProgress?.({ phase, done: bytes / dtypeInfo(dtype).bytes, total: length });
}

/** Reads all keys to the device. @returns what threads did, if any */
async function upload(
  { reader, context }: FileSort,
  keys: DeviceArray,
  buffers: LazyBuffers,
  { byThreads = BY_THREADS, pieceBytes: partBytes }: PieceOptions,
): Promise<ThreadSeconds | undefined> {
  const keyBytes = dtypeInfo(keys.dtype).bytes;
  const { name, plainAt, file } = reader;
  const onMoved = (bytes: number): void => reportProgress(context, 'reading', keys, bytes);
  if (byThreads && plainAt !== undefined && file?.fd !== undefined) {
    const { signal } = context;
    const { fd, hash } = file;
    const moved = { name, fd, position: plainAt, bytes: keys.byteLength, hash, signal, partBytes };
    return moveFile('read', moved, (part, at) => keys.fillFrom(part, at / keyBytes), onMoved);
  }
  const { allocateAll: all } = buffers;
  const length = all[0]?.length as number;
  const partOf = (piece: number, buffer: Uint8Array) => buffer.subarray(0, keys.byteLength - piece * length);
  await runBufferedPipeline({
    count: Math.ceil(keys.byteLength / length),
    buffers: all,
    concurrency: buffers.readAhead,
    produce: async (piece, buffer) => {
      assertNotAborted(context.signal);
      await reader.readAt?.(partOf(piece, buffer), piece * length);
    },
    consume: async (piece, buffer) => {
      const part = partOf(piece, buffer);
      await keys.fill(part, (piece * length) / keyBytes);
      onMoved(piece * length + part.length);
    },
  });
  return undefined;
}

/** Writes all of an array. @returns as `upload` */
async function download(
  { context }: FileSort,
  array: DeviceArray,
  { writer, name }: { readonly writer: KeyWriter; readonly name: string },
  buffers: LazyBuffers,
  { byThreads = BY_THREADS, pieceBytes: partBytes }: PieceOptions,
): Promise<ThreadSeconds | undefined> {
  const keyBytes = dtypeInfo(array.dtype).bytes;
  const onMoved = (bytes: number): void => reportProgress(context, 'writing', array, bytes);
  const bytes = array.byteLength;
  if (byThreads && writer.writeBy) {
    const { signal } = context;
    let threads: ThreadSeconds | undefined;
    await writer.writeBy(bytes, async (file) => {
      const moved = { name, ...file, bytes, signal, partBytes };
      threads = await moveFile('write', moved, (part, at) => array.readTo(part, at / keyBytes), onMoved);
    });
    return threads;
  }
  const { allocateAll: all } = buffers;
  const length = all[0]?.length as number;
  const partOf = (piece: number, buffer: Uint8Array) => buffer.subarray(0, bytes - piece * length);
  await runBufferedPipeline({
    count: Math.ceil(bytes / length),
    buffers: all,
    concurrency: 1,
    produce: async (piece, buffer) => {
      assertNotAborted(context.signal);
      await array.readInto(partOf(piece, buffer), (piece * length) / keyBytes);
    },
    consume: async (piece, buffer) => {
      const part = partOf(piece, buffer);
      await writer.write(part);
      onMoved(piece * length + part.length);
    },
  });
  return undefined;
}
