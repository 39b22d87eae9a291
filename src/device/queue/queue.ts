import * as cl from '../../opencl/index.js';
import { UnsupportedError } from '../../util/errors.js';
import { drainMicrotasks } from '../../util/microtasks.js';
import type { Buffer } from '../memory/buffer.js';
import { StagingArena, type StagingPair, type StagingSlot } from '../memory/staging-arena.js';
import type { Capabilities } from '../platform/capabilities.js';
import { typedError } from '../platform/status.js';
import type { Kernel } from '../programs/program.js';
import { CompletionPoller } from './completion-poller.js';
import type { DeferredReadback } from './deferred-readback.js';
import { type KernelArgument, LaunchList } from './launch-list.js';
import {
  MAX_COALESCED_BYTES,
  MAX_COALESCED_LAUNCHES,
  MAX_LAUNCHES,
  MAX_RECORDED_LAUNCHES,
} from './policy.js';
import { endTimeOf, Profile, type StageName, type StageTime } from './profile.js';
import { FailedRanges, Timeline } from './timeline.js';

export { f32, f64, i32, i64, type KernelArgument, local, u32, u64, vector } from './launch-list.js';

export interface Launch {
  /** Work-items in each dimension. */
  readonly global: number | readonly number[];
  /** Work-items of a group in each dimension; default: chosen by the driver. */
  readonly local?: number | readonly number[];
  /** Name in the stage table; default: the kernel's name. */
  readonly stage?: string;
  /** Number of the pass that the launch belongs to. */
  readonly pass?: number;
}

/** Launches that are deferred so that later ones can be merged with them. */
export interface DeferredLaunches {
  /** Enqueues the launches with `run`. */
  emit(): void;
}

/** Launches with all their arguments, for `replay`. */
export interface Recording {
  readonly launches: cl.Launches & { forget(): void };
  readonly stages: readonly StageName[];
}

const list = (range: number | readonly number[]): readonly number[] =>
  typeof range === 'number' ? [range] : range;
const product = (range: readonly number[]): number => range.reduce((a, b) => a * b, 1);

/**
 * One in-order command queue.
 *
 * Commands run in the order in which they were enqueued. A pipeline is a chain without wait lists, and one `finish()`
 * at its end is the only wait. Nothing here blocks the JavaScript thread.
 */
export class Queue {
  /** Receives all commands, except timed ones where a profiling queue is slow. */
  readonly #untimedQueue: cl.CommandQueue;
  /** Created on first use; the same as `#untimedQueue` if that one profiles. */
  #timedQueue: cl.CommandQueue | undefined;
  readonly #openTimedQueue: () => cl.CommandQueue;
  #handle: cl.CommandQueue;
  readonly #capabilities: Capabilities;
  readonly #launches = new LaunchList();
  /** Stages of the pending launches. */
  #stages: StageName[] = [];
  /** Deferred launches, which follow the pending ones. */
  #deferred: DeferredLaunches | undefined;
  #profile: Profile | undefined;
  #recording = false;
  #failure: unknown;
  readonly #failedRanges = new FailedRanges();
  readonly #timeline = new Timeline();
  /** Whether a flush is scheduled for the end of the current microtasks. */
  #flushScheduled = false;
  /** Pinned memory for small transfers; undefined where they are not staged. */
  readonly #staging: { readonly up: StagingArena; readonly down: StagingArena } | undefined;
  readonly #poller: CompletionPoller;

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
    this.#untimedQueue = open(timed);
    if (timed) this.#timedQueue = this.#untimedQueue;
    this.#openTimedQueue = () => open(true);
    this.#handle = this.#untimedQueue;
    this.#capabilities = capabilities;
    this.#staging = allocatePair && {
      up: new StagingArena(this.#timeline, allocatePair),
      down: new StagingArena(this.#timeline, allocatePair),
    };
    this.#poller = new CompletionPoller(this, capabilities, this.#timeline, this.#staging?.down);
  }

  /** Driver queue that currently receives the commands. */
  get handle(): cl.CommandQueue {
    return this.#handle;
  }

  /** Releases the driver's queues without waiting. */
  release(): void {
    this.#staging?.up.release();
    this.#staging?.down.release();
    for (const one of new Set([this.#untimedQueue, this.#timedQueue])) if (one) cl.releaseAsync(one);
  }

  /** Resolves when all waits for the queue have ended, successful or not. */
  waitsSettled(): Promise<void> {
    return this.#poller.waitsSettled();
  }

  /** Switches the timing of commands on or off. Later commands run after everything that was enqueued before. */
  #setTiming(timed: boolean): void {
    if (timed) this.#timedQueue ??= this.#openTimedQueue();
    const next = timed && this.#timedQueue ? this.#timedQueue : this.#untimedQueue;
    if (next === this.#handle) return;
    this.submit();
    const mark = this.mark();
    this.#handle = next;
    this.waitFor(mark);
  }

  /** Switches timing off. If that fails, the device has failed, which the next wait reports. */
  #endTiming(): void {
    try {
      this.#setTiming(false);
    } catch (error) {
      this.#handle = this.#untimedQueue;
      this.#failure ??= error;
    }
  }

  /** Position of the next command: the number of commands enqueued so far. */
  get position(): number {
    return this.#timeline.enqueued;
  }

  /** Whether everything before that position is done. */
  hasPassed(position: number): boolean {
    return this.#timeline.hasPassed(position);
  }

  /**
   * Enqueues a kernel.
   *
   * @throws UnsupportedError when the group or its local memory exceeds the device's limit: some drivers abort the
   *   process instead of returning an error
   */
  run(kernel: Kernel, args: readonly KernelArgument[], { global, local, stage, pass }: Launch): void {
    const globalSize = list(global);
    const localSize = local === undefined ? null : list(local);
    this.#check(kernel, args, localSize);
    if (globalSize.includes(0)) return;
    this.enqueueDeferred();
    this.#timeline.enqueue();
    this.#launches.add(kernel, args, globalSize, localSize);
    this.#stages.push({ stage: stage ?? kernel.name, ...(pass === undefined ? {} : { pass }) });
    const maxLaunches = this.#recording
      ? MAX_RECORDED_LAUNCHES
      : this.hasPendingUploads
        ? MAX_COALESCED_LAUNCHES
        : MAX_LAUNCHES;
    if (this.#launches.length >= maxLaunches) this.submitOrFlush();
  }

  /**
   * How many launches are worth deferring: as many as there are commands in flight, so that the device does not idle.
   */
  get maxDeferredLaunches(): number {
    return Math.max(this.#timeline.inFlight, 1);
  }

  /** Whether launches may be deferred: not while they are recorded or profiled. */
  get canDefer(): boolean {
    return !this.#recording && this.#profile === undefined;
  }

  /**
   * Defers launches until another command is enqueued or the queue is submitted. The order of the queue stays the
   * same.
   *
   * @param launches all deferred launches; the same object as before counts as one launch more
   */
  defer(launches: DeferredLaunches): void {
    if (this.#deferred !== launches) this.enqueueDeferred();
    this.#deferred = launches;
    this.#timeline.enqueue();
  }

  /** Enqueues the deferred launches. */
  enqueueDeferred(): void {
    const deferred = this.#deferred;
    this.#deferred = undefined;
    deferred?.emit();
  }

  /** Submits a full batch of launches, and flushes it if a flush is scheduled. */
  submitOrFlush(): void {
    if (this.#flushScheduled) this.flush();
    else this.submit();
  }

  /**
   * Submits the pending launches to the driver. They are collected because one call for many launches costs less than
   * many calls. Any other command, and the release of a buffer, submits them first.
   *
   * @throws DeviceLostError, MemoryError or another error of the driver
   */
  submit(): void {
    this.enqueueDeferred();
    this.#recording = false; // the recording is incomplete
    const from = this.#timeline.submitted;
    this.#enqueueUploads(from);
    if (this.#launches.length === 0) return;
    const stages = this.#stages;
    this.#stages = [];
    this.#enqueueLaunches(this.#launches.take(), stages, from);
  }

  /** Enqueues the pending uploads. If that fails, the launches that read them must not run. */
  #enqueueUploads(from: number): void {
    if (!this.hasPendingUploads) return;
    try {
      for (const { buffer, offset, memory } of this.#staging?.up.takePending() ?? []) {
        this.#timeline.enqueue();
        const bytes = memory.length;
        cl.enqueueWriteBuffer(this.#handle, buffer.handle, false, offset, bytes, memory, null, false);
      }
    } catch (error) {
      this.#launches.take().forget();
      this.#stages = [];
      throw this.markFailed(from, this.position, typedError(error, 'upload small arrays'));
    } finally {
      this.#timeline.submit();
    }
  }

  /**
   * Records that the commands between two positions failed, for the calls that enqueued them.
   *
   * @returns `cause`
   */
  markFailed(from: number, to: number, cause: unknown): unknown {
    this.#failedRanges.add(from, to, cause);
    return cause;
  }

  /** Submits the pending launches and makes the driver start them, without waiting. */
  flush(): void {
    this.submit();
    this.#timeline.flush();
    try {
      cl.flush(this.#handle);
    } catch (error) {
      throw typedError(error, 'submit commands to the device');
    }
  }

  /**
   * Flushes at once if nothing is pending or the device is idle. Otherwise it flushes after the current microtasks,
   * so that consecutive calls submit their launches together. The next wait reports a failure.
   */
  flushSoon(): void {
    const waiting = this.#launches.length > 0 || this.#deferred !== undefined;
    if (!waiting && !this.#timeline.hasUnflushed) return;
    if (!waiting || this.#timeline.isIdle) this.#tryFlush();
    else if (!this.#flushScheduled) {
      this.#flushScheduled = true;
      drainMicrotasks().then(() => {
        this.#flushScheduled = false;
        this.#tryFlush();
      });
    }
  }

  #tryFlush(): void {
    try {
      this.flush();
    } catch (error) {
      this.#failure ??= error;
    }
  }

  #enqueueLaunches(
    launches: cl.Launches & { forget(): void },
    stages: readonly StageName[],
    from: number,
  ): void {
    this.#timeline.submit();
    try {
      const profile = this.#profile;
      if (!profile?.timed) {
        cl.enqueueKernels(this.#handle, launches);
        if (profile) for (const stage of stages) profile.add(stage);
      } else {
        const events = cl.enqueueKernels(this.#handle, launches, true);
        for (const [i, event] of events.entries()) profile.add(stages[i] ?? { stage: '' }, event);
      }
    } catch (error) {
      launches.forget();
      const stage = stages[launches.words[0] ?? 0]?.stage ?? 'kernels';
      throw this.markFailed(from, this.position, typedError(error, `enqueue ${stage}`));
    }
  }

  /**
   * Runs `enqueue` and records its launches for `replay`.
   *
   * @returns undefined if it enqueued other commands than launches, or too many launches
   */
  record(enqueue: () => void): Recording | undefined {
    this.submit();
    this.#recording = true;
    this.#launches.setsAllArguments = true;
    try {
      enqueue();
      if (!this.#recording || this.#launches.length === 0) return undefined;
      const recording = { launches: this.#launches.copy(), stages: [...this.#stages] };
      this.submit();
      return recording;
    } finally {
      this.#recording = false;
      this.#launches.setsAllArguments = false;
    }
  }

  /** Enqueues the launches of a recording. Their buffers must still exist. */
  replay({ launches, stages }: Recording): void {
    this.submit();
    this.#timeline.enqueue();
    this.#enqueueLaunches(launches, stages, this.#timeline.submitted);
    launches.forget(); // the arguments differ from those of the last `run`
  }

  /**
   * Like `submit`, but the next wait reports a failure. For code that waits, or that releases buffers of the
   * launches.
   */
  trySubmit(): void {
    try {
      this.submit();
    } catch (error) {
      this.#failure ??= error;
    }
  }

  #check(kernel: Kernel, args: readonly KernelArgument[], localSize: readonly number[] | null): void {
    const items = localSize === null ? 1 : product(localSize);
    const { reportsGroupLimit, maxWorkGroup } = this.#capabilities;
    const limit = reportsGroupLimit ? kernel.workGroupLimit : maxWorkGroup;
    if (items > limit) {
      throw new UnsupportedError(
        `cannot launch kernel ${kernel.name}: its work-groups have ${items} work-items, and the device allows ${limit}`,
      );
    }
    const bytes = args.reduce(
      (sum, arg) => sum + ('localBytes' in arg ? arg.localBytes : 0),
      kernel.localBytes,
    );
    const { groupLocalBytes } = this.#capabilities;
    if (bytes > groupLocalBytes) {
      throw new UnsupportedError(
        `cannot launch kernel ${kernel.name}: it needs ${bytes} bytes of local memory, and a work-group has ${groupLocalBytes}`,
      );
    }
  }

  #record(stage: string, enqueue: (event: boolean) => unknown): void {
    this.submit();
    this.#timeline.enqueue();
    this.#timeline.submit();
    const profile = this.#profile;
    const timed = profile?.timed ?? false;
    let event: unknown;
    try {
      event = enqueue(timed);
    } catch (error) {
      throw typedError(error, `enqueue ${stage}`);
    }
    profile?.add({ stage }, timed ? (event as cl.Event) : undefined);
  }

  /**
   * Fills `bytes` bytes from `offset` on with a repeated 32-bit word. Both are multiples of 4. Defaults: offset 0,
   * and the rest of the buffer.
   */
  fill(buffer: Buffer, word: number, options: FillOptions = {}): void {
    const { offset = 0, bytes = buffer.bytes - offset, stage = 'fill' } = options;
    if (bytes === 0) return;
    // OpenCL 1.1 has no fill.
    if (this.#capabilities.version < 1.2 || !this.#capabilities.quirks.supportsFill) {
      const words = new Uint32Array(bytes / 4).fill(word);
      this.#record(stage, (event) =>
        cl.enqueueWriteBuffer(this.#handle, buffer.handle, false, offset, bytes, words, null, event),
      );
      return;
    }
    this.#record(stage, (event) =>
      cl.enqueueFillBuffer(this.#handle, buffer.handle, word, offset, bytes, null, event),
    );
  }

  /** Copies `bytes` bytes on the device. */
  copy(from: Buffer, to: Buffer, { bytes, fromOffset = 0, toOffset = 0, stage = 'copy' }: CopyOptions): void {
    if (bytes === 0) return;
    this.#record(stage, (event) =>
      cl.enqueueCopyBuffer(this.#handle, from.handle, to.handle, fromOffset, toOffset, bytes, null, event),
    );
  }

  /** Copies host memory to the device. `view` must not change before the next `finish()`. */
  write(buffer: Buffer, view: ArrayBufferView, offset = 0): void {
    const bytes = view.byteLength;
    if (bytes === 0) return;
    const slot = this.#staging?.up.copyOnHost(view);
    const from = slot?.memory ?? view;
    try {
      this.#record('upload', (event) =>
        cl.enqueueWriteBuffer(this.#handle, buffer.handle, false, offset, bytes, from, null, event),
      );
    } finally {
      slot?.release();
    }
  }

  /** Copies device memory to the host. `view` holds the data after the next `finish()`. */
  read(buffer: Buffer, view: ArrayBufferView, offset = 0): void {
    const bytes = view.byteLength;
    if (bytes === 0) return;
    const slot = this.#staging?.down.allocateHost(bytes);
    const to = slot?.memory ?? view;
    try {
      this.#record('download', (event) =>
        cl.enqueueReadBuffer(this.#handle, buffer.handle, false, offset, bytes, to, null, event),
      );
    } catch (error) {
      slot?.release();
      throw error;
    }
    if (slot) this.#poller.copySlot(slot, view);
  }

  /** Whether coalesced uploads are pending, with the launches that read them. */
  get hasPendingUploads(): boolean {
    return (this.#staging?.up.pendingBytes ?? 0) > 0;
  }

  /**
   * Returns a slot whose buffer holds a copy of a small array for all later commands. Its upload is coalesced with
   * others.
   *
   * @returns undefined if the array must be uploaded separately: without a free slot, or while a profile is recorded
   */
  coalesceUpload(view: ArrayBufferView): StagingSlot | undefined {
    const up = this.#profile ? undefined : this.#staging?.up;
    if (!up) return undefined;
    // All launches that read the pending uploads are pending here. A failure belongs to earlier calls.
    if (up.pendingBytes >= MAX_COALESCED_BYTES) {
      if (this.#flushScheduled) this.#tryFlush();
      else this.trySubmit();
    }
    return up.enqueue(view);
  }

  /** Returns a slot whose buffer receives a small result for `readSlot`; undefined as for `coalesceUpload`. */
  readbackSlot(bytes: number): StagingSlot | undefined {
    return this.#profile ? undefined : this.#staging?.down.allocate(bytes);
  }

  /** Copies the result in a slot to `view`, coalesced with others. `view` holds it after the next `finish()`. */
  readSlot(readbackSlot: StagingSlot, view: ArrayBufferView): void {
    this.#poller.readSlot(readbackSlot, view);
  }

  /** Requests words of a buffer for the next wait (see `CompletionPoller.readAtWait`). */
  readAtWait(buffer: Buffer, offset: number): DeferredReadback {
    return this.#poller.readAtWait(buffer, offset, 1);
  }

  /**
   * Waits, off the JavaScript thread, until everything enqueued so far is done.
   *
   * @param deadlineMs maximum wait in milliseconds; default: none
   * @param since queue position: only failures after it are reported; default: all failures are reported
   * @throws TimeoutError when the deadline passes
   * @throws DeviceLostError or MemoryError once everything that the driver accepted is done
   */
  async finish(deadlineMs = Number.POSITIVE_INFINITY, since?: number): Promise<void> {
    this.flushSoon();
    const position = this.position;
    try {
      await this.#poller.wait(deadlineMs);
    } catch (error) {
      this.#takeFailure();
      throw typedError(error, 'wait for the device');
    }
    // Failures are reported after the wait: commands that the driver accepted still use memory that the caller reuses
    // then.
    const failure = this.#takeFailure();
    this.#assertNotFailed(since, position);
    if (failure !== undefined && !(since !== undefined && this.#failedRanges.hasCause(failure)))
      throw failure;
  }

  #takeFailure(): unknown {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  /** @throws the cause of a failure between two positions */
  #assertNotFailed(since: number | undefined, position: number): void {
    const cause = since === undefined ? undefined : this.#failedRanges.causeBetween(since, position);
    if (cause !== undefined) throw cause;
  }

  /** Like `finish`, but does not query the driver if everything enqueued is known to be done. */
  settle(deadlineMs?: number, since?: number): Promise<void> {
    const isDone = this.#failure === undefined && this.#poller.hasNoReads && this.hasPassed(this.position);
    return isDone ? this.#checkFailure(since) : this.finish(deadlineMs, since);
  }

  async #checkFailure(since: number | undefined): Promise<void> {
    this.#assertNotFailed(since, this.position);
  }

  /** Returns a mark behind everything enqueued, for a single `waitFor` of another queue of the device. */
  mark(): cl.Event {
    this.submit();
    try {
      const mark = this.#poller.mark();
      cl.flush(this.#handle);
      return mark;
    } catch (error) {
      throw typedError(error, 'enqueue a marker');
    }
  }

  /** Makes later commands wait for the mark of another queue. Releases the mark. */
  waitFor(mark: cl.Event): void {
    this.submit();
    this.#timeline.enqueue();
    try {
      if (this.#capabilities.version < 1.2) cl.enqueueWaitForEvents(this.#handle, [mark]);
      else cl.enqueueBarrierWithWaitList(this.#handle, [mark]);
    } catch (error) {
      throw typedError(error, 'wait for another queue');
    } finally {
      cl.releaseAsync(mark);
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
    const begin = this.#poller.mark();
    await enqueue();
    this.submit();
    const end = this.#poller.mark();
    this.#endTiming();
    try {
      await this.finish();
      const [from, to] = this.#capabilities.quirks.reportsTimes
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
    this.#profile = new Profile(timed);
  }

  /** Adds a stage that the host timed to the profile. */
  addHostStage(stage: string, seconds: number): void {
    this.#profile?.addHostStage(stage, seconds);
  }

  /**
   * Ends the profile.
   *
   * @returns function that returns the times of the commands in order, to be called once after `finish()`; empty
   *   without a profile
   */
  takeProfile(): () => StageTime[] {
    const profile = this.#profile;
    if (profile) this.submit();
    this.#profile = undefined;
    this.#endTiming();
    return () => profile?.take(this.#capabilities.quirks.reportsTimes) ?? [];
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
