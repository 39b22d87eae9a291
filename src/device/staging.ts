import { availableParallelism } from 'node:os';
import { getSystemErrorMap } from 'node:util';
import { clearBytes, copyEach, isDetached, isResizable } from '../keys/array.js';
import * as cl from '../opencl/index.js';
import { DeviceLostError } from '../util/errors.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import type { Buffer } from './buffer.js';
import { type PinnedMemory, pin, pinAsync, unpin } from './pinned-memory.js';
import type { Queue } from './queue.js';
import { typedError } from './status.js';
import { DEVICE_ABANDONED, RING_BYTES, TransferRing } from './transfer-ring.js';

/** Transfers of fewer bytes go the driver's own way, which costs a thread less. */
export const STAGED_BYTES = 2 ** 20;

/** A transfer is cut into so many pieces at least, so that copying one and transferring another overlap, */
const MIN_PIECES = 4;
/** but not into smaller ones than these bytes, since each costs the driver some time, nor into larger ones. */
const MIN_PIECE_BYTES = 2 * 2 ** 20;
const MAX_PIECE_BYTES = 8 * 2 ** 20;
/** So many bytes are not in the caches when they are there, however they are written. */
const UNCACHED_BYTES = 64 * 2 ** 20;
/** More threads than that gain nothing: the memory is busy. */
const MAX_THREADS = 16;
/** Threads that copy at once. Asked for once: the system takes longer to tell than small memory takes to be made. */
export const COPY_THREADS = Math.min(availableParallelism(), MAX_THREADS);

/** Fewer bytes are copied from array to array by the thread that asks for it: to wake others takes as long. */
const MIN_PARALLEL_COPY_BYTES = 2 ** 18;
/** Threads that copy small arrays: others go on with other ones meanwhile. */
const ARRAY_THREADS = Math.min(COPY_THREADS, 4);

/**
 * Copies arrays of the host to others of their lengths, many bytes by other threads.
 *
 * @throws MemoryError
 */
export function copyArrays(from: readonly Uint8Array[], to: readonly Uint8Array[]): MaybePromise<void> {
  let bytes = 0;
  for (const { byteLength } of from) bytes += byteLength;
  // Memory that can shrink is copied while nothing else of the program's runs.
  if (bytes < MIN_PARALLEL_COPY_BYTES || ARRAY_THREADS < 2 || [...from, ...to].some(isResizable)) {
    return copyEach(from, to);
  }
  return cl.copyAsync(from, to, ARRAY_THREADS).catch((error: unknown) => {
    throw typedError(error, `copying ${bytes} bytes`);
  });
}

/**
 * Copies arrays of the host to where they lie one behind the other, by other threads.
 *
 * @param to of as many bytes as all of them
 * @throws MemoryError
 */
export async function concatenateArrays(
  from: readonly ArrayBufferView[],
  to: ArrayBufferView,
): Promise<void> {
  try {
    await cl.joinAsync(from, to, COPY_THREADS);
  } catch (error) {
    throw typedError(error, `copying ${to.byteLength} bytes`);
  }
}

function pieceBytesFor(bytes: number): number {
  const piece = Math.ceil(bytes / MIN_PIECES / 4096) * 4096;
  return Math.min(Math.max(piece, MIN_PIECE_BYTES), MAX_PIECE_BYTES);
}

/** Files that go in one direction at once, and bytes of each that are under way. */
const FILE_LANES = 8;
const FILE_BYTES = 4 * 2 ** 20;
/** Bytes that the device transfers at once, and threads, */
const FILE_TRANSFERS = {
  /**
   * of files that are hashed: one moves a piece while the other one hashes another, which is near the processor yet, and others
   * are on their way;
   */
  hashed: { piece: 2 ** 20, threads: 2 },
  /** that are not; */
  up: { piece: 2 ** 20, threads: 4 },
  /** and that are written: systems let one thread at a time write a file, and handing it on takes some time. */
  down: { piece: 2 ** 20, threads: 1 },
};

/** A stretch of an open file that goes to a buffer, or comes from one. */
export interface FileRange {
  /** May be closed meanwhile. */
  readonly fd: number;
  /** Bytes from the file's start. */
  readonly position: number;
  readonly bytes: number;
  /** The words of a hash that goes on with these bytes, but for the first ones, which it has seen. */
  readonly hash?: { readonly words: BigUint64Array; readonly skipped: number } | undefined;
  /** Ends it early. */
  readonly signal?: AbortSignal | undefined;
}

/** Seconds that threads spent on moving files, all of them together. */
export interface ThreadSeconds {
  /** Reading and writing. */
  readonly file: number;
  readonly hash: number;
  /** Waiting for one another. */
  readonly turn: number;
  /** Waiting for the device, and telling it what to transfer. */
  readonly device: number;
}

/** What became of a stretch. */
export interface FileTransferResult {
  /** Bytes from the first one on: fewer where the file ends before, something failed or the signal fired. */
  readonly moved: number;
  /** What the system said. */
  readonly error: NodeJS.ErrnoException | undefined;
  readonly threads: ThreadSeconds;
}

/** What brings bytes to a buffer, or away from it, by whoever it is lent to. */
export interface TransferTarget {
  readonly queue: cl.CommandQueue;
  readonly buffer: cl.MemObject;
}

/** The same, and what they pass through. */
export interface StagedTransferTarget extends TransferTarget {
  /** Memory that the device reaches directly. */
  readonly ring: Uint8Array;
}

/** @throws DeviceLostError when the device was given up while somebody else was waited for, and the memory has gone with it */
export function assertNotAbandoned({ ring }: StagedTransferTarget): void {
  if (isDetached(ring)) throw new DeviceLostError(DEVICE_ABANDONED);
}

/** The queues of large transfers: those in one direction pass those in the other. */
export interface TransferQueues {
  readonly up: Queue;
  readonly down: Queue;
}

/** As Node has it; undefined for 0. */
function systemError(errno: number): NodeJS.ErrnoException | undefined {
  if (errno === 0) return undefined;
  const [code, message] = getSystemErrorMap().get(-errno) ?? [`E${errno}`, `error ${errno}`];
  return Object.assign(new Error(`${code}: ${message}`), { errno: -errno, code });
}

/**
 * Transfers of large arrays, and pinned memory for arrays that need none of it.
 *
 * A driver copies ordinary memory through pinned memory of its own, with one thread. Here several threads
 * copy pieces while the device transfers others.
 */
export class Staging {
  readonly #context: cl.Context;
  readonly #queue: Queue;
  readonly #transferQueues: () => TransferQueues;
  readonly #threads: number;
  readonly #allocated = new Map<ArrayBufferLike, PinnedMemory>();
  /** What was allocated for a device that was given up: nobody maps it any more, it has its data until it is freed. */
  readonly #orphans = new Map<ArrayBufferLike, PinnedMemory>();
  /** What small arrays pass through. */
  readonly #stagingMemory: PinnedMemory[] = [];
  readonly #rings: { up?: TransferRing; down?: TransferRing } = {};
  readonly #fileRings: { up?: Promise<TransferRing>; down?: Promise<TransferRing> } = {};

  /**
   * @param queue on which the device works
   * @param transferQueues whose commands run beside its own
   * @param threads most that copy at once
   */
  constructor(
    context: cl.Context,
    queue: Queue,
    transferQueues: () => TransferQueues,
    threads = COPY_THREADS,
  ) {
    this.#context = context;
    this.#queue = queue;
    this.#transferQueues = transferQueues;
    this.#threads = threads;
  }

  /** Copies `view` into the buffer from `offset` on. Nothing that is enqueued may use the buffer. */
  async write(buffer: Buffer, view: ArrayBufferView, offset = 0): Promise<void> {
    await this.#transfer('up', buffer, view, offset);
  }

  /** Copies the buffer from `offset` on into `view`. Nothing that is enqueued may write the buffer. */
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
    const [start, doing] =
      direction === 'up'
        ? ([cl.writeBufferAsync, 'uploading'] as const)
        : ([cl.readBufferAsync, 'downloading'] as const);
    try {
      this.#rings[direction] ??= new TransferRing(this.#pin(RING_BYTES));
      await this.#rings[direction].run(bytes, ({ memory, threads, isContended }) => {
        const { handle: queue } = this.#transferQueues()[direction];
        const copiers = Math.min(threads, this.#threads);
        const bypassesCaches = isContended || bytes >= UNCACHED_BYTES;
        return start(queue, handle, offset, view, memory, pieceBytesFor(bytes), copiers, bypassesCaches);
      });
    } catch (error) {
      throw typedError(error, `${doing} ${bytes} bytes`);
    }
  }

  /** Lends what brings bytes to the buffer. Nothing that is enqueued may use the buffer. */
  feed(buffer: Buffer, use: (feed: StagedTransferTarget) => Promise<void>): Promise<void> {
    return this.#withRing('up', buffer, use);
  }

  /** Lends what brings bytes away from the buffer. Nothing that is enqueued may write the buffer. */
  drain(buffer: Buffer, use: (feed: StagedTransferTarget) => Promise<void>): Promise<void> {
    return this.#withRing('down', buffer, use);
  }

  /** Lends what brings bytes to the buffer from memory of who it is lent to. Nothing that is enqueued may use the buffer. */
  feedUnstaged({ handle }: Buffer, use: (direction: TransferTarget) => Promise<void>): Promise<void> {
    return use({ queue: this.#transferQueues().up.handle, buffer: handle });
  }

  async #withRing(
    direction: 'up' | 'down',
    { handle }: Buffer,
    use: (feed: StagedTransferTarget) => Promise<void>,
  ): Promise<void> {
    this.#rings[direction] ??= new TransferRing(this.#pin(RING_BYTES));
    await this.#rings[direction].run(RING_BYTES, ({ memory: ring }) =>
      use({ queue: this.#transferQueues()[direction].handle, buffer: handle, ring }),
    );
  }

  /** Copies a stretch of a file into the buffer from `offset` on. Nothing that is enqueued may use the buffer. */
  writeFromFile(buffer: Buffer, file: FileRange, offset = 0): Promise<FileTransferResult> {
    return this.#transferFile('up', buffer, file, offset);
  }

  /** Copies the buffer from `offset` on into a stretch of a file. Nothing that is enqueued may write the buffer. */
  readToFile(buffer: Buffer, file: FileRange, offset = 0): Promise<FileTransferResult> {
    return this.#transferFile('down', buffer, file, offset);
  }

  async #transferFile(
    direction: 'up' | 'down',
    { handle }: Buffer,
    { fd, position, bytes, hash, signal }: FileRange,
    offset: number,
  ): Promise<FileTransferResult> {
    const [start, doing] =
      direction === 'up'
        ? ([cl.writeBufferFromFileAsync, 'uploading'] as const)
        : ([cl.readBufferToFileAsync, 'downloading'] as const);
    const { STOP, MOVED, ERROR, FILING, HASHING, WAITING, TRANSFERRING, WORDS } = cl.FILE_TRANSFER;
    const state = new BigInt64Array(WORDS);
    const stop = (): void => {
      state[STOP] = 1n;
    };
    signal?.addEventListener('abort', stop);
    try {
      const ring = await this.#fileRing(direction);
      await ring.runInLane(({ memory }) => {
        const { handle: queue } = this.#transferQueues()[direction];
        const { words = null, skipped = 0 } = hash ?? {};
        const { piece, threads } = FILE_TRANSFERS[hash ? 'hashed' : direction];
        const how = [memory, piece, Math.min(threads, this.#threads), words, skipped, state] as const;
        return start(queue, handle, offset, fd, position, bytes, ...how);
      });
    } catch (error) {
      throw typedError(error, `${doing} ${bytes} bytes`);
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

  /** Makes the memory that files pass through, which is made else when the first one comes. @throws MemoryError */
  async prepareFileRings(): Promise<void> {
    await Promise.all([this.#fileRing('up'), this.#fileRing('down')]);
  }

  #fileRing(direction: 'up' | 'down'): Promise<TransferRing> {
    const rings = this.#fileRings;
    const make = async (): Promise<TransferRing> => {
      try {
        const queue = this.#transferQueues()[direction].handle;
        return new TransferRing(await pinAsync(this.#context, queue, FILE_BYTES * FILE_LANES), FILE_LANES);
      } catch (error) {
        delete rings[direction]; // there may be room for it another time
        throw error;
      }
    };
    rings[direction] ??= make();
    return rings[direction];
  }

  /** Pinned memory of zeros, until `free` or `release`. @throws MemoryError */
  allocate(bytes: number): ArrayBuffer {
    const pinned = this.#pin(bytes);
    this.#allocated.set(pinned.memory, pinned);
    clearBytes(pinned.memory); // drivers give what they have, with what it held
    return pinned.memory;
  }

  /** Pinned memory for small arrays to pass through, until `release` or `abandon`. @throws MemoryError */
  allocateStaging(bytes: number): ArrayBuffer {
    const pinned = this.#pin(bytes);
    this.#stagingMemory.push(pinned);
    return pinned.memory;
  }

  /** Is this memory of `allocate`? */
  has(memory: ArrayBufferLike): boolean {
    return this.#allocated.has(memory);
  }

  /** Is this memory of `passage`? */
  isStaging(memory: ArrayBufferLike): boolean {
    return this.#stagingMemory.some((pinned) => pinned.memory === memory);
  }

  /** Gives pinned memory back and detaches it. @returns false for any other memory */
  free(memory: ArrayBufferLike): boolean {
    const pinned = this.#allocated.get(memory);
    if (pinned) this.#unpin(pinned);
    this.#orphans.get(memory)?.buffer.release();
    return this.#allocated.delete(memory) || this.#orphans.delete(memory);
  }

  /** Gives back all that was allocated; arrays are detached. */
  freeAll(): void {
    for (const memory of [...this.#allocated.keys(), ...this.#orphans.keys()]) this.free(memory);
  }

  /** The device is given up: what was allocated has no queue any more. It keeps its data, and is freed all the same. */
  orphan(): void {
    for (const [memory, pinned] of this.#allocated) this.#orphans.set(memory, pinned);
    this.#allocated.clear();
  }

  /** Takes over what was allocated for the device before it was given up. */
  adoptOrphans(predecessor: Staging): void {
    for (const [memory, pinned] of predecessor.#orphans) this.#orphans.set(memory, pinned);
    predecessor.#orphans.clear();
  }

  /** Gives everything back; arrays in pinned memory are detached. */
  release(): void {
    this.freeAll();
    this.#releaseStaging((pinned) => this.#unpin(pinned));
  }

  /**
   * Gives back what transfers pass through, when nobody waits any more for a device that was given up: arrays of `allocate` keep
   * their data. Nothing is unmapped, since the queue has gone. A command that is under way all the same keeps the memory until it ends.
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
      // One that is being made goes when it is there.
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
