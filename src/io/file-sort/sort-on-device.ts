/**
 * File sorts in dedicated device memory. Keys pass through a few pieces of pinned memory, which are filled and emptied
 * while others are in transfer. Host memory is limited to these pieces for any file size, and the host copies each byte
 * as often as `cp` does.
 */
import type { ThreadSeconds } from '../../device/memory/staging.js';
import { dtypeInfo } from '../../keys/dtype.js';
import type { DeviceArray } from '../../sort/model/device-array.js';
import type { SortReport } from '../../sort/model/report.js';
import { DeviceLostError, MemoryError } from '../../util/errors.js';
import type { KeyWriter } from '../formats/key-file.js';
import { ArrayPool } from '../streams/array-pool.js';
import { runBufferedPipeline } from '../streams/buffered-pipeline.js';
import { moveFile } from '../streams/move-file.js';
import { assertNotAborted } from '../streams/raw.js';
import { measure, measureMove, now } from '../streams/spans.js';
import { type FileContext, type FileReport, inputsOf, sortOptions } from './file-job.js';
import type { DeviceLimits } from './file-plan.js';
import { type FileSort, factsOf, writeToOutput } from './file-sort-state.js';
import { PIECE_BYTES, READ_AHEAD } from './policy.js';
import { onlyReport, reportSpans } from './sort-reports.js';

/** Whether threads of the addon read and write files; on Windows JavaScript does. */
const BY_THREADS = process.platform !== 'win32';

/** For tests: bytes per transfer, and whether threads move them. */
export interface PieceOptions {
  readonly pieceBytes?: number;
  readonly byThreads?: boolean;
}

/**
 * Returns the limits of the device that a file can be streamed to; undefined when there is no such device. Requires one
 * file with random access. `verify` is excluded, since it also checks transfers, which only the sort of arrays does.
 */
export function streamingDevice(
  { sorter, reader, job, output }: FileSort,
  { pieceBytes = PIECE_BYTES }: PieceOptions = {},
): DeviceLimits | undefined {
  const { device, devices } = sorter;
  const { n, readAt } = reader;
  if (!device || devices.length > 1 || n === undefined || !readAt) return undefined;
  if (job.verify || job.unique || output || inputsOf(job).length > 1) return undefined;
  const { maxAllocation, globalBytes } = device;
  return { maxAllocation, globalBytes, minBytes: 2 * pieceBytes };
}

/**
 * Sorts the keys of a file on the device.
 *
 * @param work the file sort
 * @param options settings for tests
 * @returns undefined when another method must be used, because the device is out of memory or lost
 * @throws the errors of `sortFile`
 */
export async function sortOnDevice(
  work: FileSort,
  options: PieceOptions = {},
): Promise<FileReport | undefined> {
  try {
    return await sortKeysOnDevice(work, options);
  } catch (error) {
    if (error instanceof MemoryError || error instanceof DeviceLostError) return undefined;
    throw error;
  }
}

/** Buffers for transfers by JavaScript, allocated on first use. */
class LazyBuffers {
  readonly #pool: ArrayPool;
  readonly #bytes: number;
  /** Pieces read concurrently. */
  readonly readAhead: number;
  #buffers: readonly Uint8Array[] = [];

  constructor(pool: ArrayPool, bytes: number, readAhead: number) {
    this.#pool = pool;
    this.#bytes = bytes;
    this.readAhead = readAhead;
  }

  get all(): readonly Uint8Array[] {
    if (this.#buffers.length === 0) {
      const take = () => this.#pool.take('u8', this.#bytes) as Uint8Array;
      this.#buffers = Array.from({ length: this.readAhead + 1 }, take);
    }
    return this.#buffers;
  }

  /** @param isFree false after a failure, when pending operations may still use the buffers */
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
  // Hashing needs the bytes in file order; otherwise they would be read twice.
  const buffers = new LazyBuffers(pool, options.pieceBytes ?? PIECE_BYTES, context.hashes ? 1 : READ_AHEAD);
  let array: DeviceArray | undefined;
  let isFree = false;
  try {
    const times = await writeToOutput(work, async (output) => {
      const facts = factsOf(work, n);
      const bytes = target.bytes(facts) ?? 0;
      await output.reserve(bytes);
      output.allocate?.(bytes);
      const keys = sorter.createArray(reader.dtype, n);
      array = keys;
      const fill = () => upload(work, keys, buffers, options);
      // Compiles while the file is read; the sort reports errors.
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
      return { readSeconds, writeSeconds };
    });
    isFree = true;
    return { ...onlyReport(reports), ...reportBase, shape: [n], ...times };
  } finally {
    array?.dispose();
    buffers.end(isFree);
  }
}

function reportProgress(
  context: FileContext,
  phase: string,
  { dtype, length }: DeviceArray,
  bytes: number,
): void {
  context.onProgress?.({ phase, done: bytes / dtypeInfo(dtype).bytes, total: length });
}

/**
 * Reads all keys to the device.
 *
 * @returns the seconds that the transfer threads spent; undefined without threads
 */
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
  const { all } = buffers;
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

/**
 * Writes the whole array.
 *
 * @returns the seconds that the transfer threads spent; undefined without threads
 */
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
  const { all } = buffers;
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
