import * as cl from '../opencl/index.js';
import { TimeoutError } from '../util/errors.js';
import { MAX_TIMER_SECONDS } from '../util/timer.js';
import type { Buffer } from './buffer.js';
import type { Capabilities } from './capabilities.js';
import type { CoalescedTransfers } from './coalesced-transfers.js';
import { DeferredReadback } from './deferred-readback.js';
import { HostWordArena } from './host-word-arena.js';
import type { StagingSlot } from './staging-arena.js';
import { completeCopy, type PendingCopy, type StagingRing } from './staging-ring.js';
import { typedError } from './status.js';
import type { Timeline } from './timeline.js';
import { WaitCoalescer } from './wait-coalescer.js';

/**
 * How long this thread looks for the end of a wait in one turn of the loop: as long as a small call takes where nothing else
 * happened in the turn before, since a turn takes longer than what is left of the call, and else for a moment only.
 */
const POLL_MICROSECONDS = { quiet: 200, busy: 50 };
/** A turn that took longer was not only ours. */
const BUSY_TURN_MILLISECONDS = 0.1;
/** A program that awaits call after call leaves the loop to others at least so often. */
const MAX_MILLISECONDS_BETWEEN_YIELDS = 1;

/**
 * A program that enqueues for so long at once has what it has enqueued waited for, where waits cost little: a long chain of calls is
 * then completed piece by piece while the device works on, and not all of it when that is done.
 */
const MAX_START_DELAY_MILLISECONDS = 0.75;

/** A queue, as far as its end is looked for. */
export interface PolledQueue {
  /** What commands are given to now. */
  readonly handle: cl.CommandQueue;
  /** Hands over what waits to be. */
  trySubmit(): void;
  /** Notes that commands between two places are lost. */
  markFailed(from: number, to: number, cause: unknown): void;
}

/** What small transfers pass through, where they do. */
interface SmallReadPaths {
  readonly stagingRing: StagingRing | undefined;
  /** For what comes from the device. */
  readonly transfers: CoalescedTransfers | undefined;
}

/** What is read with a wait. */
interface BufferRead {
  readonly buffer: Buffer;
  readonly offset: number;
  readonly view: ArrayBufferView;
}

/** Words that are on their way, and where they will be. */
interface DeferredRead extends BufferRead {
  readonly readback: DeferredReadback;
}

/** Looks for the end of what a queue was given, and brings what is to be there then. */
export class CompletionPoller {
  readonly #queue: PolledQueue;
  readonly #capabilities: Capabilities;
  readonly #timeline: Timeline;
  readonly #stagingRing: StagingRing | undefined;
  readonly #transfers: CoalescedTransfers | undefined;
  readonly #waitCoalescer: WaitCoalescer;
  readonly #hostWords = new HostWordArena();
  #words: DeferredReadback[] = [];
  /** What the ferry is to bring. */
  #pendingCopies: PendingCopy[] = [];
  /** Where the queue was when it was waited for the last time. */
  #waitedAt = 0;
  /** The last wait was short: the next one may be. */
  #wasShort = true;
  /** When the loop had its last turn within a wait, and whether that was ours alone. */
  #yieldedAt = Number.NEGATIVE_INFINITY;
  #isLoopIdle = false;

  constructor(
    queue: PolledQueue,
    capabilities: Capabilities,
    timeline: Timeline,
    { stagingRing, transfers }: SmallReadPaths,
  ) {
    this.#queue = queue;
    this.#capabilities = capabilities;
    this.#timeline = timeline;
    this.#stagingRing = stagingRing;
    this.#transfers = transfers;
    this.#waitCoalescer = new WaitCoalescer(
      (before) => this.#waitForAll(before),
      capabilities.quirks.pollSeconds > 0 ? MAX_START_DELAY_MILLISECONDS : undefined,
    );
  }

  /**
   * Words as they are when somebody waits: however often they are asked for before, they are read once.
   *
   * @returns has them after the next wait; until that begins more may be asked for
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

  /** Is there nothing to be read with the next wait? */
  get hasNoReads(): boolean {
    return this.#words.length === 0 && this.#pendingCopies.length === 0;
  }

  /** Has what is in a berth of the ferry brought to `view` with the next wait. */
  readSlot(slot: StagingSlot, view: ArrayBufferView): void {
    this.#transfers?.enqueueSlot(slot);
    this.#pendingCopies.push({ from: slot.memory, to: view });
  }

  /** Waits until everything enqueued so far is done. @throws TimeoutError after so many seconds; what the driver says */
  wait(deadlineSeconds: number): Promise<void> {
    const done = this.#waitCoalescer.wait();
    // Who would wait for longer than a timer runs just waits.
    return deadlineSeconds <= MAX_TIMER_SECONDS ? withDeadline(done, deadlineSeconds) : done;
  }

  /** Resolves when nobody waits any more, however their waits ended. */
  waitsSettled(): Promise<void> {
    return this.#waitCoalescer.settled();
  }

  /** An event for all that was enqueued so far. */
  mark(): cl.Event {
    this.#timeline.enqueue();
    return this.#capabilities.version < 1.2
      ? cl.enqueueMarker(this.#queue.handle, true)
      : cl.enqueueMarkerWithWaitList(this.#queue.handle, null, true);
  }

  /** Waits for all that is enqueued. @param before a wait that is to end first */
  async #waitForAll(before: Promise<void> | undefined): Promise<void> {
    this.#queue.trySubmit();
    const pendingCopies = this.#pendingCopies;
    this.#pendingCopies = [];
    const from = this.#waitedAt;
    const to = this.#timeline.enqueued;
    this.#waitedAt = to;
    try {
      await (this.#capabilities.quirks.pollSeconds > 0 ? this.#poll(before) : this.#waitOnThread());
    } catch (error) {
      // Who waits for it later is told as well: the next wait may succeed.
      if (pendingCopies.length > 0)
        this.#queue.markFailed(from, to, typedError(error, 'downloading small arrays'));
      throw error;
    }
    for (const pendingCopy of pendingCopies) completeCopy(pendingCopy);
  }

  /**
   * A wait for the event of a marker rather than clFinish, but for drivers known for better: rusticl's may
   * return, when it is called from another thread than the enqueues, before the last commands are done.
   */
  async #waitOnThread(): Promise<void> {
    const { finishIsReliable: finishTells } = this.#capabilities.quirks;
    const reads = this.#takeDeferredReads(undefined);
    const last =
      this.#enqueueReads([...this.#takeTransfers(), ...reads]) ?? (finishTells ? undefined : this.mark());
    const onPassed = this.#markPosition();
    let succeeded = false;
    try {
      await (last ? cl.waitForEventsAsync([last]) : cl.finishAsync(this.#queue.handle));
      deliver(reads);
      succeeded = true;
    } finally {
      if (last) cl.releaseAsync(last);
      onPassed(succeeded);
    }
  }

  /** @param stagingRing what they are to pass through: into ordinary memory a driver copies by a thread of its own, which has to be woken */
  #takeDeferredReads(stagingRing: StagingRing | undefined): DeferredRead[] {
    return this.#words.splice(0).map((readback) => {
      const { buffer, offset, count } = readback;
      return {
        readback,
        buffer,
        offset,
        view: stagingRing?.allocate(4 * count) ?? this.#hostWords.allocate(count),
      };
    });
  }

  /** What the ferry brings with this wait, to pinned memory of its own. */
  #takeTransfers(): BufferRead[] {
    return (
      this.#transfers
        ?.takePending()
        .map(({ buffer, offset, memory }) => ({ buffer, offset, view: memory })) ?? []
    );
  }

  /** @returns the event of the last command, behind all others, if there is one */
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
   * A wait that looks for the end by itself at first, in each turn of the loop for a while, since waking this thread
   * may take longer than small work. After a wait that was not small the next one is left to another thread at once.
   */
  async #poll(before: Promise<void> | undefined): Promise<void> {
    const deferredReads = this.#takeDeferredReads(this.#stagingRing);
    const reads: BufferRead[] = [...this.#takeTransfers(), ...deferredReads];
    this.#timeline.enqueue(Math.max(1, reads.length));
    const onPassed = this.#markPosition();
    let start = performance.now();
    const maxMilliseconds = this.#wasShort ? this.#capabilities.quirks.pollSeconds * 1e3 : 0;
    const mustYield = start - this.#yieldedAt > MAX_MILLISECONDS_BETWEEN_YIELDS;
    const pollsAtOnce = !mustYield && !before;
    let succeeded = false;
    let event: cl.Event | undefined;
    try {
      const buffers = reads.map(({ buffer }) => buffer.handle);
      const offsets = reads.map(({ offset }) => offset);
      const views = reads.map(({ view }) => view);
      const first = maxMilliseconds > 0 && pollsAtOnce ? this.#pollMicroseconds : 0;
      try {
        event = cl.readAndLook(this.#queue.handle, buffers, offsets, views, first);
      } finally {
        if (before) await before.catch(() => undefined); // the ring is emptied in order
      }
      if (before) start = performance.now();
      else if (mustYield) await this.#yieldToEventLoop();
      for (let poll = pollsAtOnce; event; poll = true) {
        const isLate = performance.now() - start >= maxMilliseconds;
        if (poll && !isLate) await this.#yieldToEventLoop();
        const state = cl.lookAt(event, isLate ? 0 : this.#pollMicroseconds);
        if (state === cl.COMPLETE) {
          cl.releaseEvent(event); // at once: it is no work for another thread
          event = undefined;
        } else if (state < cl.COMPLETE || isLate) {
          await cl.waitForEventsAsync([event]); // which says why, if it has failed
          break;
        }
      }
      deliver(deferredReads); // before their places in the tray are free
      succeeded = true;
    } finally {
      if (event) cl.releaseAsync(event);
      this.#wasShort = performance.now() - start < 2e3 * this.#capabilities.quirks.pollSeconds;
      onPassed(succeeded);
    }
  }

  /** Microseconds to look for in this turn of the loop. */
  get #pollMicroseconds(): number {
    return this.#isLoopIdle ? POLL_MICROSECONDS.quiet : POLL_MICROSECONDS.busy;
  }

  /** Leaves the loop to others for a turn. */
  async #yieldToEventLoop(): Promise<void> {
    const yieldStart = performance.now();
    await new Promise((resolve) => setImmediate(resolve));
    this.#yieldedAt = performance.now();
    this.#isLoopIdle = this.#yieldedAt - yieldStart < BUSY_TURN_MILLISECONDS;
  }

  /** Notes where the queue is. @returns to be called when it has come to that point, or has failed to */
  #markPosition(): (succeeded: boolean) => void {
    const onPassed = this.#timeline.mark();
    const releaseRing = this.#stagingRing?.mark();
    return (succeeded) => {
      if (succeeded) onPassed();
      releaseRing?.(succeeded);
    };
  }
}

function deliver(reads: readonly DeferredRead[]): void {
  for (const { readback, view } of reads) readback.deliver(view);
}

async function withDeadline(done: Promise<void>, seconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new TimeoutError(`the device did not finish within ${seconds} s; it is given up`)),
      seconds * 1000,
    );
  });
  try {
    await Promise.race([done, deadline]);
  } finally {
    clearTimeout(timer);
    done.catch(() => undefined); // a late failure of a device that was given up concerns nobody any more
  }
}
