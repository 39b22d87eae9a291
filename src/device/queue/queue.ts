import * as cl from '../../opencl/index.js';
import type { Buffer } from '../memory/buffer.js';
import type { StagingPair, StagingSlot } from '../memory/staging-arena.js';
import type { Capabilities } from '../platform/capabilities.js';
import { CommandQueue } from './command-queue.js';
import { MAX_COALESCED_BYTES } from './policy.js';
import { endTimeOf, Profile, type StageTime } from './profile.js';

export {
  f32,
  f64,
  i32,
  i64,
  type KernelArgument,
  type Launch,
  local,
  u32,
  u64,
  vector,
} from './launch-list.js';

export interface FillOptions {
  readonly offset?: number;
  readonly bytes?: number;
  readonly stage?: string;
}

export interface CopyOptions {
  readonly bytes: number;
  readonly fromOffset?: number;
  readonly toOffset?: number;
  readonly stage?: string;
}

/**
 * One in-order command queue: its transfers and measurements.
 *
 * Commands run in the order in which they were enqueued. A pipeline is a chain without wait lists, and one `finish()`
 * at its end is the only wait. Nothing here blocks the JavaScript thread.
 */
export class Queue extends CommandQueue {
  /** Receives all commands, except timed ones where a profiling queue is slow. */
  readonly #untimedQueue: cl.CommandQueue;
  /** Created on first use; the same as `#untimedQueue` if that one profiles. */
  #timedQueue: cl.CommandQueue | undefined;
  readonly #openTimedQueue: () => cl.CommandQueue;

  /**
   * @param open creates a queue of the driver, with or without profiling
   * @param allocatePair allocates memory for small transfers on both sides; omitted where they are not staged
   */
  constructor(
    open: (timed: boolean) => cl.CommandQueue,
    capabilities: Capabilities,
    allocatePair?: (bytes: number) => StagingPair,
  ) {
    const timed = !capabilities.quirks.slowProfiling;
    const handle = open(timed);
    super(handle, capabilities, allocatePair);
    this.#untimedQueue = handle;
    if (timed) this.#timedQueue = handle;
    this.#openTimedQueue = () => open(true);
  }

  /** Releases the driver's queues without waiting. */
  release(): void {
    this.staging?.up.release();
    this.staging?.down.release();
    for (const one of new Set([this.#untimedQueue, this.#timedQueue])) if (one) cl.releaseAsync(one);
  }

  /**
   * Fills `bytes` bytes from `offset` on with a repeated 32-bit word. Both are multiples of 4. Defaults: offset 0,
   * and the rest of the buffer.
   */
  fill(buffer: Buffer, word: number, options: FillOptions = {}): void {
    const { offset = 0, bytes = buffer.bytes - offset, stage = 'fill' } = options;
    if (bytes === 0) return;
    // OpenCL 1.1 has no fill.
    if (this.capabilities.version < 1.2 || !this.capabilities.quirks.supportsFill) {
      const words = new Uint32Array(bytes / 4).fill(word);
      this.enqueueCommand(stage, (event) =>
        cl.enqueueWriteBuffer(this.currentHandle, buffer.handle, false, offset, bytes, words, null, event),
      );
      return;
    }
    this.enqueueCommand(stage, (event) =>
      cl.enqueueFillBuffer(this.currentHandle, buffer.handle, word, offset, bytes, null, event),
    );
  }

  /** Copies `bytes` bytes on the device. */
  copy(from: Buffer, to: Buffer, { bytes, fromOffset = 0, toOffset = 0, stage = 'copy' }: CopyOptions): void {
    if (bytes === 0) return;
    this.enqueueCommand(stage, (event) =>
      cl.enqueueCopyBuffer(
        this.currentHandle,
        from.handle,
        to.handle,
        fromOffset,
        toOffset,
        bytes,
        null,
        event,
      ),
    );
  }

  /** Copies host memory to the device. `view` must not change before the next `finish()`. */
  write(buffer: Buffer, view: ArrayBufferView, offset = 0): void {
    const bytes = view.byteLength;
    if (bytes === 0) return;
    const slot = this.staging?.up.copyOnHost(view);
    const from = slot?.memory ?? view;
    try {
      this.enqueueCommand('upload', (event) =>
        cl.enqueueWriteBuffer(this.currentHandle, buffer.handle, false, offset, bytes, from, null, event),
      );
    } finally {
      slot?.release();
    }
  }

  /** Copies device memory to the host. `view` holds the data after the next `finish()`. */
  read(buffer: Buffer, view: ArrayBufferView, offset = 0): void {
    const bytes = view.byteLength;
    if (bytes === 0) return;
    const slot = this.staging?.down.allocateHost(bytes);
    const to = slot?.memory ?? view;
    try {
      this.enqueueCommand('download', (event) =>
        cl.enqueueReadBuffer(this.currentHandle, buffer.handle, false, offset, bytes, to, null, event),
      );
    } catch (error) {
      slot?.release();
      throw error;
    }
    if (slot) this.poller.copySlot(slot, view);
  }

  /**
   * Returns a slot whose buffer holds a copy of a small array for all later commands. Its upload is coalesced with
   * others.
   *
   * @returns undefined if the array must be uploaded separately: without a free slot, or while a profile is recorded
   */
  coalesceUpload(view: ArrayBufferView): StagingSlot | undefined {
    const up = this.profile ? undefined : this.staging?.up;
    if (!up) return undefined;
    // All launches that read the pending uploads are pending here. A failure belongs to earlier calls.
    if (up.pendingBytes >= MAX_COALESCED_BYTES) {
      if (this.flushScheduled) this.tryFlush();
      else this.trySubmit();
    }
    return up.enqueue(view);
  }

  /** Returns a slot whose buffer receives a small result for `readSlot`; undefined as for `coalesceUpload`. */
  readbackSlot(bytes: number): StagingSlot | undefined {
    return this.profile ? undefined : this.staging?.down.allocate(bytes);
  }

  /** Copies the result in a slot to `view`, coalesced with others. `view` holds it after the next `finish()`. */
  readSlot(readbackSlot: StagingSlot, view: ArrayBufferView): void {
    this.poller.readSlot(readbackSlot, view);
  }

  /** Switches the timing of commands on or off. Later commands run after everything that was enqueued before. */
  #setTiming(timed: boolean): void {
    if (timed) this.#timedQueue ??= this.#openTimedQueue();
    const next = timed && this.#timedQueue ? this.#timedQueue : this.#untimedQueue;
    if (next === this.currentHandle) return;
    this.submit();
    const mark = this.mark();
    this.currentHandle = next;
    this.waitFor(mark);
  }

  /** Switches timing off. If that fails, the device has failed, which the next wait reports. */
  #endTiming(): void {
    try {
      this.#setTiming(false);
    } catch (error) {
      this.currentHandle = this.#untimedQueue;
      this.failure ??= error;
    }
  }

  /**
   * Times everything that `enqueue` enqueues as a whole, between two markers. A profile needs an event for each
   * command, which makes short commands take longer.
   *
   * @param enqueueBefore enqueues work that keeps the device busy until `enqueue` is done, to exclude the host's time
   * @returns device seconds, once everything is done; null if the device reports no times
   */
  async measure(enqueue: () => void | Promise<void>, enqueueBefore?: () => void): Promise<number | null> {
    await this.finish();
    this.#setTiming(true);
    enqueueBefore?.();
    const begin = this.poller.mark();
    await enqueue();
    this.submit();
    const end = this.poller.mark();
    this.#endTiming();
    try {
      await this.finish();
      const [from, to] = this.capabilities.quirks.reportsTimes
        ? [endTimeOf(begin), endTimeOf(end)]
        : [null, null];
      return from === null || to === null || to <= from ? null : (to - from) * 1e-9;
    } finally {
      cl.releaseAsync(begin);
      cl.releaseAsync(end);
    }
  }

  /**
   * Records commands from now on, until `takeProfile` or `endProfile`.
   *
   * @param timed whether each command keeps an event, which makes short commands take longer. Without events only
   *   names are recorded. Default: true
   */
  startProfile(timed = true): void {
    this.submit();
    if (timed) this.#setTiming(true);
    this.profile = new Profile(timed);
  }

  /** Adds a stage that the host timed to the profile. */
  addHostStage(stage: string, seconds: number): void {
    this.profile?.addHostStage(stage, seconds);
  }

  /**
   * Ends the profile.
   *
   * @returns function that returns the times of the commands in order, to be called once after `finish()`; empty
   *   without a profile
   */
  takeProfile(): () => StageTime[] {
    const profile = this.profile;
    if (profile) this.submit();
    this.profile = undefined;
    this.#endTiming();
    return () => profile?.take(this.capabilities.quirks.reportsTimes) ?? [];
  }

  /**
   * Ends the profile, after `finish()`.
   *
   * @returns the times of its commands, in order
   */
  endProfile(): StageTime[] {
    return this.takeProfile()();
  }
}
