import * as cl from '../../opencl/index.js';
import { drainMicrotasks } from '../../util/microtasks.js';
import { MAX_TIMER_MS, withDeadline } from '../../util/timer.js';
import type { Buffer } from '../memory/buffer.js';
import type { StagingArena, StagingSlot } from '../memory/staging-arena.js';
import type { Capabilities } from '../platform/capabilities.js';
import { typedError } from '../platform/status.js';
import { DeferredReadback, HostWordArena } from './deferred-readback.js';
import { BUSY_TURN_MILLISECONDS, MAX_MILLISECONDS_BETWEEN_YIELDS, POLL_MICROSECONDS } from './policy.js';
import type { Timeline } from './timeline.js';

/** The part of a queue that the poller uses. */
export interface PolledQueue {
  /** Driver queue that currently receives the commands. */
  readonly handle: cl.CommandQueue;
  /** Submits the pending launches. */
  trySubmit(): void;
  /** Records that the commands between two positions failed. */
  markFailed(from: number, to: number, cause: unknown): void;
}

/** A copy out of a slot that is due once the data has arrived. */
interface PendingCopy {
  readonly slot: StagingSlot;
  readonly to: ArrayBufferView;
  /** Whether the slot is released afterwards. */
  readonly releases: boolean;
}

/** A read that is enqueued with a wait. */
interface BufferRead {
  readonly buffer: Buffer;
  readonly offset: number;
  readonly view: ArrayBufferView;
}

/** A read of words, and the readback that receives them. */
interface DeferredRead extends BufferRead {
  readonly readback: DeferredReadback;
  /** Slot of the view, if it has one. */
  readonly slot: StagingSlot | undefined;
}

/** Waits for the commands of a queue, by polling or on another thread, and delivers the reads that are due. */
export class CompletionPoller {
  readonly #queue: PolledQueue;
  readonly #capabilities: Capabilities;
  readonly #timeline: Timeline;
  /** Staging of transfers from the device to the host, where there is any. */
  readonly #staging: StagingArena | undefined;
  readonly #waitCoalescer: WaitCoalescer;
  readonly #hostWords = new HostWordArena();
  #words: DeferredReadback[] = [];
  /** Copies out of staging slots that are due after the next wait. */
  #pendingCopies: PendingCopy[] = [];
  /** Queue position of the last wait. */
  #waitedAt = 0;
  /** Whether the last wait was short; the next one may be short again. */
  #wasShort = true;
  /** When the event loop last had a turn within a wait, and whether no other code ran in it. */
  #yieldedAt = Number.NEGATIVE_INFINITY;
  #isLoopIdle = false;

  constructor(
    queue: PolledQueue,
    capabilities: Capabilities,
    timeline: Timeline,
    staging: StagingArena | undefined,
  ) {
    this.#queue = queue;
    this.#capabilities = capabilities;
    this.#timeline = timeline;
    this.#staging = staging;
    this.#waitCoalescer = new WaitCoalescer(() => this.#waitForAll());
  }

  /**
   * Requests words of a buffer as they are at the next wait. All requests before that wait share one read.
   *
   * @param offset bytes from the buffer's start
   * @param count number of words
   * @returns the readback, filled by the next wait; it accepts further requests until that wait begins
   */
  readAtWait(buffer: Buffer, offset: number, count: number): DeferredReadback {
    for (const known of this.#words) {
      if (known.buffer !== buffer || known.offset !== offset) continue;
      known.request(count);
      return known;
    }
    const readback = new DeferredReadback(buffer, offset);
    readback.request(count);
    this.#words.push(readback);
    return readback;
  }

  /** Whether the next wait has nothing to read. */
  get hasNoReads(): boolean {
    return this.#words.length === 0 && this.#pendingCopies.length === 0;
  }

  /** Copies the contents of a slot into `view` with the next wait. */
  readSlot(slot: StagingSlot, view: ArrayBufferView): void {
    this.#staging?.enqueueSlot(slot);
    this.copySlot(slot, view, false);
  }

  /** Copies a slot, whose read was enqueued, into `view` after the next wait. @param releases whether to release it */
  copySlot(slot: StagingSlot, view: ArrayBufferView, releases = true): void {
    this.#pendingCopies.push({ slot, to: view, releases });
  }

  /**
   * Waits until everything enqueued so far is done.
   *
   * @param deadlineMs maximum wait in milliseconds; without limit above the maximum of a timer
   * @throws TimeoutError when the deadline passes
   * @throws OpenCLError when the driver reports a failure
   */
  wait(deadlineMs: number): Promise<void> {
    const done = this.#waitCoalescer.wait();
    // Timers cannot run longer, so a longer deadline is none.
    return deadlineMs <= MAX_TIMER_MS ? withDeadline(done, deadlineMs) : done;
  }

  /** Resolves when all waits have ended, successful or not. */
  waitsSettled(): Promise<void> {
    return this.#waitCoalescer.settled();
  }

  /** Returns an event that completes after everything enqueued so far. */
  mark(): cl.Event {
    this.#timeline.enqueue();
    return this.#capabilities.version < 1.2
      ? cl.enqueueMarker(this.#queue.handle, true)
      : cl.enqueueMarkerWithWaitList(this.#queue.handle, null, true);
  }

  /** Waits for everything enqueued. */
  async #waitForAll(): Promise<void> {
    this.#queue.trySubmit();
    const pendingCopies = this.#pendingCopies;
    this.#pendingCopies = [];
    const from = this.#waitedAt;
    const to = this.#timeline.enqueued;
    this.#waitedAt = to;
    try {
      await (this.#capabilities.quirks.pollSeconds > 0 ? this.#poll() : this.#waitOnThread());
    } catch (error) {
      // Later waiters need the failure because the next wait may succeed.
      if (pendingCopies.length > 0)
        this.#queue.markFailed(from, to, typedError(error, 'download small arrays'));
      for (const { slot, releases } of pendingCopies) if (releases) slot.release();
      throw error;
    }
    for (const pendingCopy of pendingCopies) completeCopy(pendingCopy);
  }

  /**
   * Waits on another thread, for a marker's event or, where the driver allows it, with clFinish. When another thread
   * enqueued the commands, clFinish of rusticl may return before the last of them are done.
   */
  async #waitOnThread(): Promise<void> {
    const { finishIsReliable } = this.#capabilities.quirks;
    const reads = this.#takeDeferredReads();
    const last =
      this.#enqueueReads([...this.#takeTransfers(), ...reads]) ??
      (finishIsReliable ? undefined : this.mark());
    const onPassed = this.#timeline.mark();
    try {
      await (last ? cl.waitForEventsAsync([last]) : cl.finishAsync(this.#queue.handle));
      onPassed();
      deliver(reads);
    } finally {
      if (last) cl.releaseAsync(last);
    }
  }

  /** @param staging source of slots: a driver copies to ordinary memory on its own thread, which must be woken */
  #takeDeferredReads(staging?: StagingArena): DeferredRead[] {
    return this.#words.splice(0).map((readback) => {
      const { buffer, offset, count } = readback;
      const slot = staging?.allocateHost(4 * count);
      return { readback, buffer, offset, slot, view: slot?.memory ?? this.#hostWords.allocate(count) };
    });
  }

  /** Returns the coalesced transfers that this wait reads into pinned memory. */
  #takeTransfers(): BufferRead[] {
    return (
      this.#staging?.takePending().map(({ buffer, offset, memory }) => ({ buffer, offset, view: memory })) ??
      []
    );
  }

  /** @returns the event of the last command, which completes after all others; undefined without reads */
  #enqueueReads(reads: readonly BufferRead[]): cl.Event | undefined {
    let last: cl.Event | undefined;
    const { handle } = this.#queue;
    for (const [i, { buffer, offset, view }] of reads.entries()) {
      this.#timeline.enqueue();
      const ends = i === reads.length - 1;
      const bytes = view.byteLength;
      const event = cl.enqueueReadBuffer(handle, buffer.handle, false, offset, bytes, view, null, ends);
      if (ends) last = event as cl.Event;
    }
    return last;
  }

  /**
   * Polls for completion on this thread, for a while in each turn of the event loop: waking it from another thread
   * may take longer than small work. After a long wait, the next one goes to another thread at once.
   */
  async #poll(): Promise<void> {
    const deferredReads = this.#takeDeferredReads(this.#staging);
    const reads: BufferRead[] = [...this.#takeTransfers(), ...deferredReads];
    this.#timeline.enqueue(Math.max(1, reads.length));
    const onPassed = this.#timeline.mark();
    const start = performance.now();
    const maxMilliseconds = this.#wasShort ? this.#capabilities.quirks.pollSeconds * 1e3 : 0;
    const mustYield = start - this.#yieldedAt > MAX_MILLISECONDS_BETWEEN_YIELDS;
    let event: cl.Event | undefined;
    try {
      const buffers = reads.map(({ buffer }) => buffer.handle);
      const offsets = reads.map(({ offset }) => offset);
      const views = reads.map(({ view }) => view);
      const first = maxMilliseconds > 0 && !mustYield ? this.#pollMicroseconds : 0;
      event = cl.readAndLook(this.#queue.handle, buffers, offsets, views, first);
      if (mustYield) await this.#yieldToEventLoop();
      for (let poll = !mustYield; event; poll = true) {
        const isLate = performance.now() - start >= maxMilliseconds;
        if (poll && !isLate) await this.#yieldToEventLoop();
        const state = cl.lookAt(event, isLate ? 0 : this.#pollMicroseconds);
        if (state === cl.COMPLETE) {
          cl.releaseEvent(event); // at once: not worth another thread
          event = undefined;
        } else if (state < cl.COMPLETE || isLate) {
          await cl.waitForEventsAsync([event]); // rejects with the cause if the command failed
          break;
        }
      }
      onPassed();
      deliver(deferredReads);
    } finally {
      if (event) cl.releaseAsync(event);
      this.#wasShort = performance.now() - start < 2e3 * this.#capabilities.quirks.pollSeconds;
      for (const { slot } of deferredReads) slot?.release();
    }
  }

  /** Microseconds to poll in this turn of the event loop. */
  get #pollMicroseconds(): number {
    return this.#isLoopIdle ? POLL_MICROSECONDS.quiet : POLL_MICROSECONDS.busy;
  }

  async #yieldToEventLoop(): Promise<void> {
    const yieldStart = performance.now();
    await new Promise((resolve) => setImmediate(resolve));
    this.#yieldedAt = performance.now();
    this.#isLoopIdle = this.#yieldedAt - yieldStart < BUSY_TURN_MILLISECONDS;
  }
}

function completeCopy({ slot, to, releases }: PendingCopy): void {
  const { buffer, byteOffset, byteLength } = to;
  // If the memory was detached or resized meanwhile, the call that returns the result reports it.
  const from = slot.memory;
  if (byteLength === from.length) new Uint8Array(buffer, byteOffset, byteLength).set(from);
  if (releases) slot.release();
}

function deliver(reads: readonly DeferredRead[]): void {
  for (const { readback, view } of reads) readback.deliver(view);
}

/**
 * Merges the waits for a queue. The driver is asked for one wait at a time, after the current microtasks. All requests
 * until then share that wait, which covers everything enqueued by then. So any number of waits costs few events.
 */
export class WaitCoalescer {
  readonly #startWait: () => Promise<void>;
  /** The wait that the driver was asked for, and the next one. */
  #current: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  /** @param startWait waits until everything enqueued so far is done */
  constructor(startWait: () => Promise<void>) {
    this.#startWait = startWait;
  }

  /** Resolves when everything enqueued so far is done, and possibly later commands. */
  wait(): Promise<void> {
    this.#next ??= this.#waitAfter(this.#current);
    return this.#next;
  }

  /** Resolves when no wait is in progress. Failed waits do not reject it. */
  async settled(): Promise<void> {
    for (let last = this.#last; last; last = this.#last) await last.catch(() => undefined);
  }

  get #last(): Promise<void> | undefined {
    return this.#next ?? this.#current;
  }

  async #waitAfter(before: Promise<void> | undefined): Promise<void> {
    await before?.catch(() => undefined); // its own waiters get the error
    await drainMicrotasks();
    this.#current = this.#next;
    this.#next = undefined;
    try {
      await this.#startWait();
    } finally {
      this.#current = undefined;
    }
  }
}
