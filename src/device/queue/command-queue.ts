import * as cl from '../../opencl/index.js';
import { drainMicrotasks } from '../../util/microtasks.js';
import type { Buffer } from '../memory/buffer.js';
import { StagingArena, type StagingPair } from '../memory/staging-arena.js';
import type { Capabilities } from '../platform/capabilities.js';
import { typedError } from '../platform/status.js';
import type { Kernel } from '../programs/program.js';
import { CompletionPoller } from './completion-poller.js';
import type { DeferredReadback } from './deferred-readback.js';
import { assertLaunchable, type KernelArgument, type Launch, LaunchList, listOf } from './launch-list.js';
import { MAX_COALESCED_LAUNCHES, MAX_LAUNCHES } from './policy.js';
import type { Profile, StageName } from './profile.js';
import { FailedRanges, Timeline } from './timeline.js';

/** The order of the commands of a queue: launches that wait for submission, failures, and waits. */
export abstract class CommandQueue {
  protected currentHandle: cl.CommandQueue;
  protected readonly capabilities: Capabilities;
  readonly #launches = new LaunchList();
  /** Stages of the pending launches. */
  #stages: StageName[] = [];
  protected profile: Profile | undefined;
  protected failure: unknown;
  readonly #failedRanges = new FailedRanges();
  readonly #timeline = new Timeline();
  /** Whether a flush is scheduled for the end of the current microtasks. */
  protected flushScheduled = false;
  /** Pinned memory for small transfers; undefined where they are not staged. */
  protected readonly staging: { readonly up: StagingArena; readonly down: StagingArena } | undefined;
  protected readonly poller: CompletionPoller;

  /** @param allocatePair allocates memory for small transfers on both sides; omitted where they are not staged */
  constructor(
    handle: cl.CommandQueue,
    capabilities: Capabilities,
    allocatePair?: (bytes: number) => StagingPair,
  ) {
    this.currentHandle = handle;
    this.capabilities = capabilities;
    this.staging = allocatePair && {
      up: new StagingArena(this.#timeline, allocatePair),
      down: new StagingArena(this.#timeline, allocatePair),
    };
    this.poller = new CompletionPoller(this, capabilities, this.#timeline, this.staging?.down);
  }

  /** Driver queue that currently receives the commands. */
  get handle(): cl.CommandQueue {
    return this.currentHandle;
  }

  /** Resolves when all waits for the queue have ended, successful or not. */
  waitsSettled(): Promise<void> {
    return this.poller.waitsSettled();
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
    const globalSize = listOf(global);
    const localSize = local === undefined ? null : listOf(local);
    assertLaunchable(this.capabilities, kernel, args, localSize);
    if (globalSize.includes(0)) return;
    this.#timeline.enqueue();
    this.#launches.add(kernel, args, globalSize, localSize);
    this.#stages.push({ stage: stage ?? kernel.name, ...(pass === undefined ? {} : { pass }) });
    const maxLaunches = this.hasPendingUploads ? MAX_COALESCED_LAUNCHES : MAX_LAUNCHES;
    if (this.#launches.length < maxLaunches) return;
    if (this.flushScheduled) this.flush();
    else this.submit();
  }

  /**
   * Submits the pending launches to the driver. They are collected because one call for many launches costs less than
   * many calls. Any other command, and the release of a buffer, submits them first.
   *
   * @throws DeviceLostError, MemoryError or another error of the driver
   */
  submit(): void {
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
      for (const { buffer, offset, memory } of this.staging?.up.takePending() ?? []) {
        this.#timeline.enqueue();
        const bytes = memory.length;
        cl.enqueueWriteBuffer(this.currentHandle, buffer.handle, false, offset, bytes, memory, null, false);
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
      cl.flush(this.currentHandle);
    } catch (error) {
      throw typedError(error, 'submit commands to the device');
    }
  }

  /**
   * Flushes at once if nothing is pending or the device is idle. Otherwise it flushes after the current microtasks,
   * so that consecutive calls submit their launches together. The next wait reports a failure.
   */
  flushSoon(): void {
    const waiting = this.#launches.length > 0;
    if (!waiting && !this.#timeline.hasUnflushed) return;
    if (!waiting || this.#timeline.isIdle) this.tryFlush();
    else if (!this.flushScheduled) {
      this.flushScheduled = true;
      drainMicrotasks().then(() => {
        this.flushScheduled = false;
        this.tryFlush();
      });
    }
  }

  protected tryFlush(): void {
    try {
      this.flush();
    } catch (error) {
      this.failure ??= error;
    }
  }

  #enqueueLaunches(
    launches: cl.Launches & { forget(): void },
    stages: readonly StageName[],
    from: number,
  ): void {
    this.#timeline.submit();
    try {
      const profile = this.profile;
      if (!profile?.timed) {
        cl.enqueueKernels(this.currentHandle, launches);
        if (profile) for (const stage of stages) profile.add(stage);
      } else {
        const events = cl.enqueueKernels(this.currentHandle, launches, true);
        for (const [i, event] of events.entries()) profile.add(stages[i] ?? { stage: '' }, event);
      }
    } catch (error) {
      launches.forget();
      const stage = stages[launches.words[0] ?? 0]?.stage ?? 'kernels';
      throw this.markFailed(from, this.position, typedError(error, `enqueue ${stage}`));
    }
  }

  /**
   * Like `submit`, but the next wait reports a failure. For code that waits, or that releases buffers of the launches.
   */
  trySubmit(): void {
    try {
      this.submit();
    } catch (error) {
      this.failure ??= error;
    }
  }

  protected enqueueCommand(stage: string, enqueue: (event: boolean) => unknown): void {
    this.submit();
    this.#timeline.enqueue();
    this.#timeline.submit();
    const profile = this.profile;
    const timed = profile?.timed ?? false;
    let event: unknown;
    try {
      event = enqueue(timed);
    } catch (error) {
      throw typedError(error, `enqueue ${stage}`);
    }
    profile?.add({ stage }, timed ? (event as cl.Event) : undefined);
  }

  /** Whether coalesced uploads are pending, with the launches that read them. */
  get hasPendingUploads(): boolean {
    return (this.staging?.up.pendingBytes ?? 0) > 0;
  }

  /** Requests words of a buffer for the next wait (see `CompletionPoller.readAtWait`). */
  readAtWait(buffer: Buffer, offset: number): DeferredReadback {
    return this.poller.readAtWait(buffer, offset, 1);
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
      await this.poller.wait(deadlineMs);
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
    const failure = this.failure;
    this.failure = undefined;
    return failure;
  }

  /** @throws the cause of a failure between two positions */
  #assertNotFailed(since: number | undefined, position: number): void {
    const cause = since === undefined ? undefined : this.#failedRanges.causeBetween(since, position);
    if (cause !== undefined) throw cause;
  }

  /** Like `finish`, but does not query the driver if everything enqueued is known to be done. */
  settle(deadlineMs?: number, since?: number): Promise<void> {
    const isDone = this.failure === undefined && this.poller.hasNoReads && this.hasPassed(this.position);
    return isDone ? this.#checkFailure(since) : this.finish(deadlineMs, since);
  }

  async #checkFailure(since: number | undefined): Promise<void> {
    this.#assertNotFailed(since, this.position);
  }

  /** Returns a mark behind everything enqueued, for a single `waitFor` of another queue of the device. */
  mark(): cl.Event {
    this.submit();
    try {
      const mark = this.poller.mark();
      cl.flush(this.currentHandle);
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
      if (this.capabilities.version < 1.2) cl.enqueueWaitForEvents(this.currentHandle, [mark]);
      else cl.enqueueBarrierWithWaitList(this.currentHandle, [mark]);
    } catch (error) {
      throw typedError(error, 'wait for another queue');
    } finally {
      cl.releaseAsync(mark);
    }
  }
}
