import { availableParallelism } from 'node:os';
import * as cl from '../opencl/index.js';
import type { Buffer } from './buffer.js';
import { type Pinned, pin, unpin } from './pinned.js';
import type { Queue } from './queue.js';
import { RING_BYTES, Ring } from './ring.js';
import { typedError } from './status.js';

/** Transfers of fewer bytes go the driver's own way, which costs a thread less. */
export const STAGED_BYTES = 2 ** 20;

/** A transfer is cut into so many pieces at least, so that copying one and transferring another overlap, */
const FEWEST_PIECES = 4;
/** but not into smaller ones than these bytes, since each costs the driver some time, nor into larger ones. */
const SMALLEST_PIECE = 2 * 2 ** 20;
const LARGEST_PIECE = 8 * 2 ** 20;
/** More threads than that gain nothing: the memory is busy. */
const MAX_THREADS = 16;
/** Threads that copy at once. */
export const copyThreads = (): number => Math.min(availableParallelism(), MAX_THREADS);

function pieceOf(bytes: number): number {
  const piece = Math.ceil(bytes / FEWEST_PIECES / 4096) * 4096;
  return Math.min(Math.max(piece, SMALLEST_PIECE), LARGEST_PIECE);
}

/** The queues of large transfers: those in one direction pass those in the other. */
export interface Ways {
  readonly up: Queue;
  readonly down: Queue;
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
  readonly #ways: () => Ways;
  readonly #threads: number;
  readonly #allocated = new Map<ArrayBufferLike, Pinned>();
  readonly #rings: { up?: Ring; down?: Ring } = {};

  /**
   * @param queue on which the device works
   * @param ways whose commands run beside its own
   * @param threads most that copy at once
   */
  constructor(context: cl.Context, queue: Queue, ways: () => Ways, threads = copyThreads()) {
    this.#context = context;
    this.#queue = queue;
    this.#ways = ways;
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
    way: 'up' | 'down',
    { handle }: Buffer,
    view: ArrayBufferView,
    offset: number,
  ): Promise<void> {
    const bytes = view.byteLength;
    const [start, doing] =
      way === 'up'
        ? ([cl.writeBufferAsync, 'uploading'] as const)
        : ([cl.readBufferAsync, 'downloading'] as const);
    try {
      this.#rings[way] ??= new Ring(this.#pin(RING_BYTES));
      await this.#rings[way].run(bytes, (memory, most) => {
        const { handle: queue } = this.#ways()[way];
        return start(queue, handle, offset, view, memory, pieceOf(bytes), Math.min(most, this.#threads));
      });
    } catch (error) {
      throw typedError(error, `${doing} ${bytes} bytes`);
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
    for (const way of ['up', 'down'] as const) {
      const ring = this.#rings[way];
      if (ring) this.#unpin(ring.pinned);
      delete this.#rings[way];
    }
  }

  #pin(bytes: number): Pinned {
    return pin(this.#context, this.#queue.handle, bytes);
  }

  #unpin(pinned: Pinned): void {
    unpin(this.#queue.handle, pinned);
  }
}
