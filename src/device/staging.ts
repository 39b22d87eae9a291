import { availableParallelism } from 'node:os';
import * as cl from '../opencl/index.js';
import { Buffer } from './buffer.js';
import type { Queue } from './queue.js';
import { typedError } from './status.js';

/** Transfers of fewer bytes go the driver's own way, which costs a thread less. */
export const STAGED_BYTES = 4 * 2 ** 20;

/** Bytes of the memory that large transfers pass through. */
const RING_BYTES = 64 * 2 ** 20;
/** A transfer is cut into so many pieces at least, so that copying one and transferring another overlap, */
const FEWEST_PIECES = 4;
/** but not into smaller ones than these bytes, since each costs the driver some time, nor into larger ones. */
const SMALLEST_PIECE = 2 * 2 ** 20;
const LARGEST_PIECE = 8 * 2 ** 20;
/** More threads than that gain nothing: the memory is busy. */
const MAX_THREADS = 16;

/** Threads of a staged transfer: more of them keep each other waiting for pieces. */
const transferThreads = (): number => Math.min(copyThreads(), 8);

/** Threads that copy at once. */
export const copyThreads = (): number => Math.min(availableParallelism(), MAX_THREADS);

function pieceOf(bytes: number): number {
  const piece = Math.ceil(bytes / FEWEST_PIECES / 4096) * 4096;
  return Math.min(Math.max(piece, SMALLEST_PIECE), LARGEST_PIECE);
}

/** Host memory that the device reaches directly (pinned memory), and its buffer. */
interface Pinned {
  readonly memory: ArrayBuffer;
  readonly buffer: Buffer;
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
  readonly #threads: number;
  readonly #allocated = new Map<ArrayBufferLike, Pinned>();
  #ring: Pinned | undefined;

  constructor(context: cl.Context, queue: Queue, threads: number = transferThreads()) {
    this.#context = context;
    this.#queue = queue;
    this.#threads = threads;
  }

  /** Copies `view` into the buffer from `offset` on, after everything that was enqueued. */
  async write(buffer: Buffer, view: ArrayBufferView, offset = 0): Promise<void> {
    await this.#transfer(cl.writeBufferAsync, 'uploading', buffer, view, offset);
  }

  /** Copies the buffer from `offset` on into `view`, after everything that was enqueued. */
  async read(buffer: Buffer, view: ArrayBufferView, offset = 0): Promise<void> {
    await this.#transfer(cl.readBufferAsync, 'downloading', buffer, view, offset);
  }

  async #transfer(
    start: typeof cl.writeBufferAsync,
    doing: string,
    { handle }: Buffer,
    view: ArrayBufferView,
    offset: number,
  ): Promise<void> {
    this.#queue.submit();
    try {
      const { memory } = this.#getRing();
      const piece = pieceOf(view.byteLength);
      await start(this.#queue.handle, handle, offset, view, memory, piece, this.#threads);
    } catch (error) {
      throw typedError(error, `${doing} ${view.byteLength} bytes`);
    }
  }

  /** Pinned memory of zeros, until `free` or `release`. @throws MemoryError */
  allocate(bytes: number): ArrayBuffer {
    const pinned = this.#pin(bytes);
    new Uint8Array(pinned.memory).fill(0); // drivers give what they have, with what it held
    this.#allocated.set(pinned.memory, pinned);
    return pinned.memory;
  }

  /** Is this memory of `allocate`? */
  has(memory: ArrayBufferLike): boolean {
    return this.#allocated.has(memory);
  }

  /** Gives pinned memory back and detaches it. @returns false for any other memory */
  free(memory: ArrayBufferLike): boolean {
    const pinned = this.#allocated.get(memory);
    if (pinned) this.#unpin(pinned);
    return this.#allocated.delete(memory);
  }

  /** Gives everything back; arrays in pinned memory are detached. */
  release(): void {
    for (const pinned of this.#allocated.values()) this.#unpin(pinned);
    this.#allocated.clear();
    if (this.#ring) this.#unpin(this.#ring);
    this.#ring = undefined;
  }

  #getRing(): Pinned {
    this.#ring ??= this.#pin(RING_BYTES);
    return this.#ring;
  }

  #pin(bytes: number): Pinned {
    const buffer = Buffer.create(this.#context, bytes, { flags: cl.MEM_ALLOC_HOST_PTR });
    try {
      const flags = cl.MAP_READ | cl.MAP_WRITE;
      return {
        buffer,
        memory: cl.enqueueMapBuffer(this.#queue.handle, buffer.handle, true, flags, 0, buffer.bytes),
      };
    } catch (error) {
      buffer.release();
      throw typedError(error, `pinning ${bytes} bytes of host memory`);
    }
  }

  #unpin({ buffer, memory }: Pinned): void {
    try {
      cl.enqueueUnmapMemObject(this.#queue.handle, buffer.handle, memory);
    } catch (error) {
      // A transfer that was given up still uses the memory: without its buffer it lasts as long as that.
      if (!(error instanceof cl.OpenCLError) || error.code !== cl.INVALID_OPERATION.code) throw error;
    }
    buffer.release();
  }
}
