import { availableParallelism } from 'node:os';
import { getSystemErrorMap } from 'node:util';
import { clearBytes, copyEach, isResizable } from '../../keys/array.js';
import { copyAsync, joinAsync } from '../../native-host/host-functions.js';
import * as cl from '../../opencl/index.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import { typedError } from '../platform/status.js';
import type { Buffer } from './buffer.js';
import { type PinnedMemory, pin, pinAsync, unpin } from './pinned-memory.js';
import {
  FILE_BYTES,
  FILE_SLICES,
  FILE_TRANSFERS,
  MAX_PIECE_BYTES,
  MAX_THREADS,
  MIN_PARALLEL_COPY_BYTES,
  MIN_PIECE_BYTES,
  MIN_PIECES,
  RING_BYTES,
  UNCACHED_BYTES,
} from './policy.js';
import { TransferRing } from './transfer-ring.js';

/** Threads that copy at once. Computed once, since the query takes longer than a small allocation. */
export const COPY_THREADS = Math.min(availableParallelism(), MAX_THREADS);

/** Threads that copy small arrays, so that others can copy other arrays meanwhile. */
const ARRAY_THREADS = Math.min(COPY_THREADS, 4);

/**
 * Copies host arrays to others of the same lengths. From 256 KiB on, other threads copy, unless memory is resizable.
 *
 * @throws MemoryError when the host is out of memory
 */
export function copyArrays(from: readonly Uint8Array[], to: readonly Uint8Array[]): MaybePromise<void> {
  let bytes = 0;
  for (const { byteLength } of from) bytes += byteLength;
  // Resizable memory is copied synchronously, so that the program cannot shrink it meanwhile.
  if (bytes < MIN_PARALLEL_COPY_BYTES || ARRAY_THREADS < 2 || [...from, ...to].some(isResizable)) {
    return copyEach(from, to);
  }
  return copyAsync(from, to, ARRAY_THREADS).catch((error: unknown) => {
    throw typedError(error, `copy ${bytes} bytes`);
  });
}

/**
 * Copies host arrays one after the other into `to`, on other threads.
 *
 * @param to memory with as many bytes as all arrays together
 * @throws MemoryError when the host is out of memory
 */
export async function concatenateArrays(
  from: readonly ArrayBufferView[],
  to: ArrayBufferView,
): Promise<void> {
  try {
    await joinAsync(from, to, COPY_THREADS);
  } catch (error) {
    throw typedError(error, `copy ${to.byteLength} bytes`);
  }
}

function pieceBytesFor(bytes: number): number {
  const piece = Math.ceil(bytes / MIN_PIECES / 4096) * 4096;
  return Math.min(Math.max(piece, MIN_PIECE_BYTES), MAX_PIECE_BYTES);
}

/** A range of an open file that is transferred to or from a buffer. */
export interface FileRange {
  /** File descriptor. It may be closed during the transfer. */
  readonly fd: number;
  /** Bytes from the file's start. */
  readonly position: number;
  readonly bytes: number;
  /** Words of a hash that continues with these bytes. It includes the first `skipped` bytes already. */
  readonly hash?: { readonly words: BigUint64Array; readonly skipped: number } | undefined;
  /** Ends the transfer early. */
  readonly signal?: AbortSignal | undefined;
}

/** Seconds that threads spent on file transfers, summed over all threads. */
export interface ThreadSeconds {
  /** Reading and writing files. */
  readonly file: number;
  readonly hash: number;
  /** Waiting for each other. */
  readonly turn: number;
  /** Waiting for the device, and enqueuing transfers. */
  readonly device: number;
}

export interface FileTransferResult {
  /**
   * Bytes moved, from the first one on. Fewer than requested if the file ends early, something fails or the signal
   * fires.
   */
  readonly moved: number;
  /** Error of the system; undefined without one. */
  readonly error: NodeJS.ErrnoException | undefined;
  readonly threads: ThreadSeconds;
}

interface StagingQueue {
  readonly handle: cl.CommandQueue;
}

/** Queues of large transfers. The two directions overlap. */
export interface TransferQueues<Q extends StagingQueue = StagingQueue> {
  readonly up: Q;
  readonly down: Q;
}

/** Returns a system error in Node's form; undefined for 0. */
function systemError(errno: number): NodeJS.ErrnoException | undefined {
  if (errno === 0) return undefined;
  const [code, message] = getSystemErrorMap().get(-errno) ?? [`E${errno}`, `error ${errno}`];
  return Object.assign(new Error(`${code}: ${message}`), { errno: -errno, code });
}

/**
 * Transfers of large arrays, and pinned memory for arrays that need no staging.
 *
 * A driver copies ordinary memory through pinned memory of its own, with one thread. Here several threads copy pieces
 * while the device transfers others.
 */
export class Staging {
  readonly #context: cl.Context;
  readonly #queue: StagingQueue;
  readonly #transferQueues: () => TransferQueues;
  readonly #threads: number;
  readonly #allocated = new Map<ArrayBufferLike, PinnedMemory>();
  /** Arrays allocated for an abandoned device. They are no longer mapped, and keep their data until they are freed. */
  readonly #orphans = new Map<ArrayBufferLike, PinnedMemory>();
  /** Pinned memory for small transfers. */
  readonly #stagingMemory: PinnedMemory[] = [];
  readonly #rings: { up?: TransferRing; down?: TransferRing } = {};
  readonly #fileRings: { up?: Promise<TransferRing>; down?: Promise<TransferRing> } = {};

  /**
   * @param queue queue on which the device works
   * @param transferQueues returns the queues of transfers, which run beside it
   * @param threads maximum number of threads that copy at once; default: the number of processors, at most 16
   */
  constructor(
    context: cl.Context,
    queue: StagingQueue,
    transferQueues: () => TransferQueues,
    threads = COPY_THREADS,
  ) {
    this.#context = context;
    this.#queue = queue;
    this.#transferQueues = transferQueues;
    this.#threads = threads;
  }

  /** Copies `view` into the buffer from byte `offset` on. No enqueued command may use the buffer. */
  async write(buffer: Buffer, view: ArrayBufferView, offset = 0): Promise<void> {
    await this.#transfer('up', buffer, view, offset);
  }

  /** Copies the buffer from byte `offset` on into `view`. No enqueued command may write the buffer. */
  async read(buffer: Buffer, view: ArrayBufferView, offset = 0): Promise<void> {
    await this.#transfer('down', buffer, view, offset);
  }

  async #transfer(
    direction: 'up' | 'down',
    { handle }: Buffer,
    view: ArrayBufferView,
    offset: number,
  ): Promise<void> {
    const bytes = view.byteLength;
    const [start, verb] =
      direction === 'up'
        ? ([cl.writeBufferAsync, 'upload'] as const)
        : ([cl.readBufferAsync, 'download'] as const);
    try {
      this.#rings[direction] ??= new TransferRing(this.#pin(RING_BYTES));
      await this.#rings[direction].run(bytes, ({ memory, threads, isContended }) => {
        const { handle: queue } = this.#transferQueues()[direction];
        const copiers = Math.min(threads, this.#threads);
        const bypassesCaches = isContended || bytes >= UNCACHED_BYTES;
        return start(queue, handle, offset, view, memory, pieceBytesFor(bytes), copiers, bypassesCaches);
      });
    } catch (error) {
      throw typedError(error, `${verb} ${bytes} bytes`);
    }
  }

  /** Copies a range of a file into the buffer from byte `offset` on. No enqueued command may use the buffer. */
  writeFromFile(buffer: Buffer, file: FileRange, offset = 0): Promise<FileTransferResult> {
    return this.#transferFile('up', buffer, file, offset);
  }

  /** Copies the buffer from byte `offset` on into a range of a file. No enqueued command may write the buffer. */
  readToFile(buffer: Buffer, file: FileRange, offset = 0): Promise<FileTransferResult> {
    return this.#transferFile('down', buffer, file, offset);
  }

  async #transferFile(
    direction: 'up' | 'down',
    { handle }: Buffer,
    { fd, position, bytes, hash, signal }: FileRange,
    offset: number,
  ): Promise<FileTransferResult> {
    const [start, verb] =
      direction === 'up'
        ? ([cl.writeBufferFromFileAsync, 'upload'] as const)
        : ([cl.readBufferToFileAsync, 'download'] as const);
    const { STOP, MOVED, ERROR, FILING, HASHING, WAITING, TRANSFERRING, WORDS } = cl.FILE_TRANSFER;
    const state = new BigInt64Array(WORDS);
    const stop = (): void => {
      state[STOP] = 1n;
    };
    signal?.addEventListener('abort', stop);
    try {
      const ring = await this.#fileRing(direction);
      await ring.runInSlice(({ memory }) => {
        const { handle: queue } = this.#transferQueues()[direction];
        const { words = null, skipped = 0 } = hash ?? {};
        const { piece, threads } = FILE_TRANSFERS[hash ? 'hashed' : direction];
        const how = [memory, piece, Math.min(threads, this.#threads), words, skipped, state] as const;
        return start(queue, handle, offset, fd, position, bytes, ...how);
      });
    } catch (error) {
      throw typedError(error, `${verb} ${bytes} bytes`);
    } finally {
      signal?.removeEventListener('abort', stop);
    }
    const seconds = (word: number): number => Number(state[word]) / 1e9;
    return {
      moved: Number(state[MOVED]),
      error: systemError(Number(state[ERROR])),
      threads: {
        file: seconds(FILING),
        hash: seconds(HASHING),
        turn: seconds(WAITING),
        device: seconds(TRANSFERRING),
      },
    };
  }

  /**
   * Allocates the staging memory of file transfers, which is otherwise allocated for the first one.
   *
   * @throws MemoryError when the memory cannot be allocated
   */
  async prepareFileRings(): Promise<void> {
    await Promise.all([this.#fileRing('up'), this.#fileRing('down')]);
  }

  #fileRing(direction: 'up' | 'down'): Promise<TransferRing> {
    const rings = this.#fileRings;
    const make = async (): Promise<TransferRing> => {
      try {
        const queue = this.#transferQueues()[direction].handle;
        return new TransferRing(await pinAsync(this.#context, queue, FILE_BYTES * FILE_SLICES), FILE_SLICES);
      } catch (error) {
        delete rings[direction]; // a later attempt may succeed
        throw error;
      }
    };
    rings[direction] ??= make();
    return rings[direction];
  }

  /**
   * Allocates pinned memory of zeros. It lasts until `free` or `release`.
   *
   * @throws MemoryError when the memory cannot be allocated
   */
  allocate(bytes: number): ArrayBuffer {
    const pinned = this.#pin(bytes);
    this.#allocated.set(pinned.memory, pinned);
    clearBytes(pinned.memory); // drivers return memory with old contents
    return pinned.memory;
  }

  /**
   * Allocates pinned memory for small transfers. It lasts until `release` or `abandon`.
   *
   * @throws MemoryError when the memory cannot be allocated
   */
  allocateStaging(bytes: number): ArrayBuffer {
    const pinned = this.#pin(bytes);
    this.#stagingMemory.push(pinned);
    return pinned.memory;
  }

  /** Whether `allocate` returned this memory. */
  has(memory: ArrayBufferLike): boolean {
    return this.#allocated.has(memory);
  }

  /** Whether `allocateStaging` returned this memory. */
  isStaging(memory: ArrayBufferLike): boolean {
    return this.#stagingMemory.some((pinned) => pinned.memory === memory);
  }

  /**
   * Frees memory of `allocate` and detaches it.
   *
   * @returns false for any other memory
   */
  free(memory: ArrayBufferLike): boolean {
    const pinned = this.#allocated.get(memory);
    if (pinned) this.#unpin(pinned);
    this.#orphans.get(memory)?.buffer.release();
    return this.#allocated.delete(memory) || this.#orphans.delete(memory);
  }

  /** Frees all memory of `allocate`. Its arrays are detached. */
  freeAll(): void {
    for (const memory of [...this.#allocated.keys(), ...this.#orphans.keys()]) this.free(memory);
  }

  /** Prepares for an abandoned device, whose queue is gone. Allocated memory keeps its data and can still be freed. */
  orphan(): void {
    for (const [memory, pinned] of this.#allocated) this.#orphans.set(memory, pinned);
    this.#allocated.clear();
  }

  /** Takes over the memory that was allocated before the device was abandoned. */
  adoptOrphans(predecessor: Staging): void {
    for (const [memory, pinned] of predecessor.#orphans) this.#orphans.set(memory, pinned);
    predecessor.#orphans.clear();
  }

  /** Releases everything. Arrays in pinned memory are detached. */
  release(): void {
    this.freeAll();
    this.#releaseStaging((pinned) => this.#unpin(pinned));
  }

  /**
   * Releases the staging memory of an abandoned device once no wait is pending. Arrays of `allocate` keep their data.
   *
   * Nothing is unmapped, since the queue is gone. A command that is still in flight keeps the memory until it ends.
   */
  abandon(): void {
    this.#releaseStaging(({ buffer }) => buffer.release());
  }

  #releaseStaging(release: (pinned: PinnedMemory) => void): void {
    for (const pinned of this.#stagingMemory.splice(0)) release(pinned);
    for (const direction of ['up', 'down'] as const) {
      const ring = this.#rings[direction];
      if (ring) release(ring.pinned);
      delete this.#rings[direction];
      // A ring that is still being allocated is released once it exists.
      this.#fileRings[direction]?.then(({ pinned }) => release(pinned)).catch(() => undefined);
      delete this.#fileRings[direction];
    }
  }

  #pin(bytes: number): PinnedMemory {
    return pin(this.#context, this.#queue.handle, bytes);
  }

  #unpin(pinned: PinnedMemory): void {
    unpin(this.#queue.handle, pinned);
  }
}
