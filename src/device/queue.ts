import * as cl from '../opencl/index.js';
import { UnsupportedError } from '../util/errors.js';
import { toPromise } from '../util/maybe-promise.js';
import { drainMicrotasks } from '../util/microtasks.js';
import type { Buffer } from './buffer.js';
import type { Capabilities } from './capabilities.js';
import { CoalescedTransfers } from './coalesced-transfers.js';
import { CompletionPoller } from './completion-poller.js';
import type { DeferredReadback } from './deferred-readback.js';
import { FailedRanges } from './failed-ranges.js';
import { type KernelArgument, LaunchList } from './launch-list.js';
import { endTimeOf, Profile, type StageName, type StageTime } from './profile.js';
import type { Kernel } from './program.js';
import type { StagingPair, StagingSlot } from './staging-arena.js';
import type { StagingRing } from './staging-ring.js';
import { typedError } from './status.js';
import { Timeline } from './timeline.js';

export { f32, f64, i32, i64, type KernelArgument, local, u32, u64, vector } from './launch-list.js';

export interface Launch {
  /** Work-items in each dimension. */
  readonly global: number | readonly number[];
  /** Work-items of a group in each dimension. */
  readonly local?: number | readonly number[];
  /** Name in the stage table; default: the kernel's. */
  readonly stage?: string;
  /** Number of the pass that the launch belongs to. */
  readonly pass?: number;
}

/** Launches that are handed to the driver together: enough to pay, few enough for the device not to idle. */
const MAX_LAUNCHES = 8;
/** While small arrays wait to cross, more launches wait with them: so many, or those of so many bytes. */
const MAX_COALESCED_LAUNCHES = 64;
const MAX_COALESCED_BYTES = 2 ** 20;
/** Sorts of more launches are long enough not to need it. */
const MAX_RECORDED_LAUNCHES = 16;

/** What small arrays and other small transfers pass through, between the host and a device with memory of its own. */
export interface SmallTransfers {
  readonly stagingRing: StagingRing;
  /** Makes memory of so many bytes on both sides for those of one direction. @throws MemoryError */
  allocatePair(bytes: number): StagingPair;
}

/** Launches that wait for others, to be made together with them. */
export interface DeferredLaunches {
  /** Enqueues them, by `run`. */
  emit(): void;
}

/** Launches with all their arguments. */
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
 * Commands run in the order they were enqueued, so a pipeline is a chain without wait lists, and one
 * `finish()` at its end is the only wait. Nothing here blocks the JavaScript thread.
 */
export class Queue {
  /** Gets all commands but those that are timed, where that is dear. */
  readonly #untimedQueue: cl.CommandQueue;
  /** Made when it is first wanted; `#plain` where that times its commands. */
  #timedQueue: cl.CommandQueue | undefined;
  readonly #openTimedQueue: () => cl.CommandQueue;
  #handle: cl.CommandQueue;
  readonly #capabilities: Capabilities;
  readonly #launches = new LaunchList();
  /** Of the launches that wait. */
  #stages: StageName[] = [];
  /** They come behind those. */
  #deferred: DeferredLaunches | undefined;
  #profile: Profile | undefined;
  #recording = false;
  #failure: unknown;
  readonly #failedRanges = new FailedRanges();
  readonly #timeline = new Timeline();
  /** The driver is to be told to start so soon. */
  #flushScheduled = false;
  /** Pinned memory for small transfers; undefined where they go the driver's own way. */
  readonly #stagingRing: StagingRing | undefined;
  readonly #coalesced: { readonly up: CoalescedTransfers; readonly down: CoalescedTransfers } | undefined;
  readonly #poller: CompletionPoller;

  /**
   * @param open makes a queue of the driver's, one that times its commands or not
   * @param smallTransfers left out where small transfers go the driver's own way
   */
  constructor(
    open: (timed: boolean) => cl.CommandQueue,
    capabilities: Capabilities,
    smallTransfers?: SmallTransfers,
  ) {
    const timed = !capabilities.quirks.slowProfiling;
    this.#untimedQueue = open(timed);
    if (timed) this.#timedQueue = this.#untimedQueue;
    this.#openTimedQueue = () => open(true);
    this.#handle = this.#untimedQueue;
    this.#capabilities = capabilities;
    this.#stagingRing = smallTransfers?.stagingRing;
    const transfers = (make: (bytes: number) => StagingPair) => new CoalescedTransfers(this.#timeline, make);
    this.#coalesced = smallTransfers && {
      up: transfers(smallTransfers.allocatePair),
      down: transfers(smallTransfers.allocatePair),
    };
    this.#poller = new CompletionPoller(this, capabilities, this.#timeline, {
      stagingRing: smallTransfers?.stagingRing,
      transfers: this.#coalesced?.down,
    });
  }

  /** What commands are given to now. */
  get handle(): cl.CommandQueue {
    return this.#handle;
  }

  /** Gives the driver's queue back, without waiting. */
  release(): void {
    this.#coalesced?.up.release();
    this.#coalesced?.down.release();
    for (const one of new Set([this.#untimedQueue, this.#timedQueue])) if (one) cl.releaseAsync(one);
  }

  /** Resolves when nobody waits for the queue any more, however their waits ended. */
  waitsSettled(): Promise<void> {
    return this.#poller.waitsSettled();
  }

  /** Has commands timed from now on, or no longer; what is enqueued later comes behind all that was before. */
  #setTiming(timed: boolean): void {
    if (timed) this.#timedQueue ??= this.#openTimedQueue();
    const next = timed && this.#timedQueue ? this.#timedQueue : this.#untimedQueue;
    if (next === this.#handle) return;
    this.submit();
    const mark = this.mark();
    this.#handle = next;
    this.waitFor(mark);
  }

  /** Ends timing; where that fails the device has, and what comes next is told. */
  #endTiming(): void {
    try {
      this.#setTiming(false);
    } catch (error) {
      this.#handle = this.#untimedQueue;
      this.#failure ??= error;
    }
  }

  /** The place of what is enqueued next. */
  get position(): number {
    return this.#timeline.enqueued;
  }

  /** Is everything in front of that place done? */
  hasPassed(position: number): boolean {
    return this.#timeline.hasPassed(position);
  }

  /**
   * Enqueues a kernel.
   *
   * @throws UnsupportedError when the group or its local memory is larger than the device can hold:
   *   some drivers abort the process instead of returning an error
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

  /** How many launches are worth putting off: as many as the device has before them, so that it does not idle meanwhile. */
  get maxDeferredLaunches(): number {
    return Math.max(this.#timeline.inFlight, 1);
  }

  /** May launches be put off? Not where each is recorded by itself. */
  get canDefer(): boolean {
    return !this.#recording && this.#profile === undefined;
  }

  /**
   * Puts off launches until anything else is enqueued, or is handed over: what is behind them in the queue stays there.
   *
   * @param launches that comes in place of all it was before, of which it is one more
   */
  defer(launches: DeferredLaunches): void {
    if (this.#deferred !== launches) this.enqueueDeferred();
    this.#deferred = launches;
    this.#timeline.enqueue();
  }

  /** Enqueues what was put off. */
  enqueueDeferred(): void {
    const deferred = this.#deferred;
    this.#deferred = undefined;
    deferred?.emit();
  }

  /** As `submit`, for who has enqueued as much as is worth waiting for: a device that is to start soon does so. */
  submitOrFlush(): void {
    if (this.#flushScheduled) this.flush();
    else this.submit();
  }

  /**
   * Hands the launches that wait to the driver. They wait for each other, since one call for many costs
   * less than many calls; whatever else is enqueued sends them first, and so does releasing a buffer.
   *
   * @throws DeviceLostError, MemoryError, …
   */
  submit(): void {
    this.enqueueDeferred();
    this.#recording = false; // what was recorded so far is not all
    const from = this.#timeline.submitted;
    this.#enqueueUploads(from);
    if (this.#launches.length === 0) return;
    const stages = this.#stages;
    this.#stages = [];
    this.#enqueueLaunches(this.#launches.take(), stages, from);
  }

  /** Brings across what waits. Where that fails, what was to read it must not run. */
  #enqueueUploads(from: number): void {
    if (!this.hasPendingUploads) return;
    try {
      for (const { buffer, offset, memory } of this.#coalesced?.up.takePending() ?? []) {
        this.#timeline.enqueue();
        const bytes = memory.length;
        cl.enqueueWriteBuffer(this.#handle, buffer.handle, false, offset, bytes, memory, null, false);
      }
    } catch (error) {
      this.#launches.take().forget();
      this.#stages = [];
      throw this.markFailed(from, this.position, typedError(error, 'uploading small arrays'));
    } finally {
      this.#timeline.submit();
    }
  }

  /**
   * Notes that commands between two places are lost, for the calls that enqueued them.
   *
   * @returns why
   */
  markFailed(from: number, to: number, cause: unknown): unknown {
    this.#failedRanges.add(from, to, cause);
    return cause;
  }

  /** Has the driver start with what is enqueued, when nobody waits yet. */
  flush(): void {
    this.submit();
    this.#timeline.flush();
    try {
      cl.flush(this.#handle);
    } catch (error) {
      throw typedError(error, 'handing commands to the device');
    }
  }

  /**
   * The same at once where nothing is known to be under way, else when nothing else is to be done at once: launches of calls that are
   * made one behind the other are handed over together. A failure is told by the next wait.
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
      throw this.markFailed(from, this.position, typedError(error, `enqueueing ${stage}`));
    }
  }

  /**
   * Runs `enqueue` and keeps what it launches, to be launched again by `replay`.
   *
   * @returns undefined when it enqueued anything but launches, or too many
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

  /** Enqueues the launches of a recording. The buffers that they use must still be there. */
  replay({ launches, stages }: Recording): void {
    this.submit();
    this.#timeline.enqueue();
    this.#enqueueLaunches(launches, stages, this.#timeline.submitted);
    launches.forget(); // the arguments are not those that the last `run` has set
  }

  /** As `submit`, but a failure is told by the next wait: for who releases what the launches use, or waits itself. */
  trySubmit(): void {
    try {
      this.submit();
    } catch (error) {
      this.#failure ??= error;
    }
  }

  #check(kernel: Kernel, args: readonly KernelArgument[], localSize: readonly number[] | null): void {
    const items = localSize === null ? 1 : product(localSize);
    // NVIDIA's driver tells 256 for every kernel of open group size and runs larger groups all the same.
    const limit = this.#capabilities.quirks.inlinePtx
      ? this.#capabilities.maxWorkGroup
      : kernel.workGroupLimit;
    if (items > limit) {
      throw new UnsupportedError(
        `kernel ${kernel.name} takes groups of at most ${limit} work-items on this device, not ${items}`,
      );
    }
    const bytes = args.reduce(
      (sum, arg) => sum + ('localBytes' in arg ? arg.localBytes : 0),
      kernel.localBytes,
    );
    const { groupLocalBytes } = this.#capabilities;
    if (bytes > groupLocalBytes) {
      throw new UnsupportedError(
        `kernel ${kernel.name} needs ${bytes} bytes of local memory; a group of the device has ${groupLocalBytes}`,
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
      throw typedError(error, `enqueueing ${stage}`);
    }
    profile?.add({ stage }, timed ? (event as cl.Event) : undefined);
  }

  /** Sets `bytes` bytes from `offset` on to repetitions of one 32-bit word; both are multiples of 4. */
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

  /** Host to device. `view` must not change before the next `finish()`. */
  write(buffer: Buffer, view: ArrayBufferView, offset = 0): void {
    const bytes = view.byteLength;
    if (bytes === 0) return;
    const from = this.#stagingRing?.stageCopy(view) ?? view;
    this.#record('upload', (event) =>
      cl.enqueueWriteBuffer(this.#handle, buffer.handle, false, offset, bytes, from, null, event),
    );
  }

  /** Device to host. `view` holds the data after the next `finish()`. */
  read(buffer: Buffer, view: ArrayBufferView, offset = 0): void {
    const bytes = view.byteLength;
    if (bytes === 0) return;
    const to = this.#stagingRing?.reserve(view) ?? view;
    this.#record('download', (event) =>
      cl.enqueueReadBuffer(this.#handle, buffer.handle, false, offset, bytes, to, null, event),
    );
  }

  /** Do small arrays wait to cross, with the launches that are to read them? */
  get hasPendingUploads(): boolean {
    return (this.#coalesced?.up.pendingBytes ?? 0) > 0;
  }

  /**
   * A buffer that holds a copy of a small array for whatever is enqueued from now on: it crosses with others.
   *
   * @returns undefined where it is to be written by itself: for want of room, or when each transfer is recorded
   */
  coalesceUpload(view: ArrayBufferView): StagingSlot | undefined {
    const up = this.#profile ? undefined : this.#coalesced?.up;
    if (!up) return undefined;
    // Here the launches that read what waits are there as well. A refusal concerns calls before this one.
    if (up.pendingBytes >= MAX_COALESCED_BYTES) {
      if (this.#flushScheduled) this.#tryFlush();
      else this.trySubmit();
    }
    return up.enqueue(view);
  }

  /** A buffer that small results are written to, for `bring`. @returns undefined likewise */
  readbackSlot(bytes: number): StagingSlot | undefined {
    return this.#profile ? undefined : this.#coalesced?.down.allocate(bytes);
  }

  /** Has a result of `berth` brought to `view` with others. `view` holds it after the next `finish()`. */
  readSlot(readbackSlot: StagingSlot, view: ArrayBufferView): void {
    this.#poller.readSlot(readbackSlot, view);
  }

  /** As of `Lookout`. */
  readAtWait(buffer: Buffer, offset: number, words = 1): DeferredReadback {
    return this.#poller.readAtWait(buffer, offset, words);
  }

  /**
   * Waits, off the JavaScript thread, until everything enqueued so far is done.
   *
   * @param deadlineSeconds gives the device up after that time
   * @param since a place: of what was lost, only what is behind it concerns the caller; undefined where all does
   * @throws TimeoutError, DeviceLostError, MemoryError, once all that the driver took is done
   */
  finish(deadlineSeconds = Number.POSITIVE_INFINITY, since?: number): Promise<void> {
    this.flushSoon();
    const position = this.position;
    // A refusal is told after the wait: what the driver took before still uses memory that the caller has back then.
    return this.#poller.wait(deadlineSeconds).then(
      () => {
        const failure = this.#takeFailure();
        this.#assertNotFailed(since, position);
        if (failure !== undefined && !(since !== undefined && this.#failedRanges.hasCause(failure)))
          throw failure;
      },
      (error) => {
        this.#takeFailure();
        throw typedError(error, 'waiting for the device');
      },
    );
  }

  #takeFailure(): unknown {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  /** @throws why commands between two places were lost */
  #assertNotFailed(since: number | undefined, position: number): void {
    const cause = since === undefined ? undefined : this.#failedRanges.causeBetween(since, position);
    if (cause !== undefined) throw cause;
  }

  /** As `finish`, but asks nobody when all that was enqueued is known to be done. */
  settle(deadlineSeconds?: number, since?: number): Promise<void> {
    const known = this.#failure === undefined && this.#poller.hasNoReads && this.hasPassed(this.position);
    if (!known) return this.finish(deadlineSeconds, since);
    return toPromise(() => this.#assertNotFailed(since, this.position));
  }

  /** A point behind all that was enqueued, for another queue of the device to wait for: once. */
  mark(): cl.Event {
    this.submit();
    try {
      const mark = this.#poller.mark();
      cl.flush(this.#handle);
      return mark;
    } catch (error) {
      throw typedError(error, 'enqueueing a marker');
    }
  }

  /** What is enqueued from now on begins when another queue has come to a mark. */
  waitFor(mark: cl.Event): void {
    this.submit();
    this.#timeline.enqueue();
    try {
      if (this.#capabilities.version < 1.2) cl.enqueueWaitForEvents(this.#handle, [mark]);
      else cl.enqueueBarrierWithWaitList(this.#handle, [mark]);
    } catch (error) {
      throw typedError(error, 'waiting for another queue');
    } finally {
      cl.releaseAsync(mark);
    }
  }

  /**
   * Times what `enqueue` enqueues as a whole, between two markers: an event for each command, as a profile
   * takes them, makes short commands take longer.
   *
   * @param enqueueBefore enqueues what keeps the device busy until all is enqueued: then the host's part is not in the time
   * @returns device seconds, after waiting for it; null where the device does not tell
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
   * From now on commands are recorded, until `takeProfile` or `endProfile`.
   *
   * @param timed whether each keeps an event, which makes short commands take longer; else only their names
   *   are recorded
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
   * Ends the record.
   *
   * @returns the times of its commands in order, to be asked once, after `finish()`; none without a record
   */
  takeProfile(): () => StageTime[] {
    const profile = this.#profile;
    if (profile) this.submit();
    this.#profile = undefined;
    this.#endTiming();
    return () => profile?.take(this.#capabilities.quirks.reportsTimes) ?? [];
  }

  /** Ends the record after `finish()`. @returns the times of its commands, in order */
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
