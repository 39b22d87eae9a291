import * as cl from '../opencl/index.js';
import { allCaughtUp } from '../util/caught-up.js';
import { UnsupportedError } from '../util/errors.js';
import { promised } from '../util/soon.js';
import type { ArrivingWords } from './arriving-words.js';
import type { Buffer } from './buffer.js';
import type { Capabilities } from './capabilities.js';
import { Ferry } from './ferry.js';
import { type KernelArgument, LaunchList } from './launch-list.js';
import { Lookout } from './lookout.js';
import { Losses } from './losses.js';
import { endOf, Profile, type StageName, type StageTime } from './profile.js';
import type { Kernel } from './program.js';
import { Progress } from './progress.js';
import type { Berth, Shores } from './quay.js';
import { typedError } from './status.js';
import type { Tray } from './tray.js';

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
const LONGEST_LIST = 8;
/** While small arrays wait to cross, more launches wait with them: so many, or those of so many bytes. */
const LONGEST_GATHERING = 64;
const GATHERED_BYTES = 2 ** 20;
/** Sorts of more launches are long enough not to need it. */
const LONGEST_RECORDING = 16;

/** What small arrays and other small transfers pass through, between the host and a device with memory of its own. */
export interface SmallTransfers {
  readonly tray: Tray;
  /** Makes memory of so many bytes on both sides for those of one direction. @throws MemoryError */
  shores(bytes: number): Shores;
}

/** Launches that wait for others, to be made together with them. */
export interface Deferred {
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
  readonly #plain: cl.CommandQueue;
  /** Made when it is first wanted; `#plain` where that times its commands. */
  #timing: cl.CommandQueue | undefined;
  readonly #openTiming: () => cl.CommandQueue;
  #handle: cl.CommandQueue;
  readonly #capabilities: Capabilities;
  readonly #launches = new LaunchList();
  /** Of the launches that wait. */
  #stages: StageName[] = [];
  /** They come behind those. */
  #deferred: Deferred | undefined;
  #profile: Profile | undefined;
  #recording = false;
  #failure: unknown;
  readonly #losses = new Losses();
  readonly #progress = new Progress();
  /** The driver is to be told to start so soon. */
  #startsSoon = false;
  /** Pinned memory for small transfers; undefined where they go the driver's own way. */
  readonly #tray: Tray | undefined;
  readonly #ferries: { readonly up: Ferry; readonly down: Ferry } | undefined;
  readonly #lookout: Lookout;

  /**
   * @param open makes a queue of the driver's, one that times its commands or not
   * @param small left out where small transfers go the driver's own way
   */
  constructor(open: (timed: boolean) => cl.CommandQueue, capabilities: Capabilities, small?: SmallTransfers) {
    const timed = !capabilities.quirks.timesDearly;
    this.#plain = open(timed);
    if (timed) this.#timing = this.#plain;
    this.#openTiming = () => open(true);
    this.#handle = this.#plain;
    this.#capabilities = capabilities;
    this.#tray = small?.tray;
    const ferry = (make: (bytes: number) => Shores) => new Ferry(this.#progress, make);
    this.#ferries = small && { up: ferry(small.shores), down: ferry(small.shores) };
    this.#lookout = new Lookout(this, capabilities, this.#progress, {
      tray: small?.tray,
      ferry: this.#ferries?.down,
    });
  }

  /** What commands are given to now. */
  get handle(): cl.CommandQueue {
    return this.#handle;
  }

  /** Gives the driver's queue back, without waiting. */
  release(): void {
    this.#ferries?.up.release();
    this.#ferries?.down.release();
    for (const one of new Set([this.#plain, this.#timing])) if (one) cl.releaseAsync(one);
  }

  /** Resolves when nobody waits for the queue any more, however their waits ended. */
  waitsEnded(): Promise<void> {
    return this.#lookout.waitsEnded();
  }

  /** Has commands timed from now on, or no longer; what is enqueued later comes behind all that was before. */
  #time(timed: boolean): void {
    if (timed) this.#timing ??= this.#openTiming();
    const next = timed && this.#timing ? this.#timing : this.#plain;
    if (next === this.#handle) return;
    this.submit();
    const mark = this.mark();
    this.#handle = next;
    this.waitFor(mark);
  }

  /** Ends timing; where that fails the device has, and what comes next is told. */
  #endTiming(): void {
    try {
      this.#time(false);
    } catch (error) {
      this.#handle = this.#plain;
      this.#failure ??= error;
    }
  }

  /** The place of what is enqueued next. */
  get position(): number {
    return this.#progress.enqueued;
  }

  /** Is everything in front of that place done? */
  hasPassed(position: number): boolean {
    return this.#progress.hasPassed(position);
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
    this.emit();
    this.#progress.enqueue();
    this.#launches.add(kernel, args, globalSize, localSize);
    this.#stages.push({ stage: stage ?? kernel.name, ...(pass === undefined ? {} : { pass }) });
    const longest = this.#recording ? LONGEST_RECORDING : this.gathers ? LONGEST_GATHERING : LONGEST_LIST;
    if (this.#launches.length >= longest) this.handOn();
  }

  /** How many launches are worth putting off: as many as the device has before them, so that it does not idle meanwhile. */
  get patience(): number {
    return Math.max(this.#progress.underWay, 1);
  }

  /** May launches be put off? Not where each is recorded by itself. */
  get defers(): boolean {
    return !this.#recording && this.#profile === undefined;
  }

  /**
   * Puts off launches until anything else is enqueued, or is handed over: what is behind them in the queue stays there.
   *
   * @param one that comes in place of all it was before, of which it is one more
   */
  defer(one: Deferred): void {
    if (this.#deferred !== one) this.emit();
    this.#deferred = one;
    this.#progress.enqueue();
  }

  /** Enqueues what was put off. */
  emit(): void {
    const deferred = this.#deferred;
    this.#deferred = undefined;
    deferred?.emit();
  }

  /** As `submit`, for who has enqueued as much as is worth waiting for: a device that is to start soon does so. */
  handOn(): void {
    if (this.#startsSoon) this.flush();
    else this.submit();
  }

  /**
   * Hands the launches that wait to the driver. They wait for each other, since one call for many costs
   * less than many calls; whatever else is enqueued sends them first, and so does releasing a buffer.
   *
   * @throws DeviceLostError, MemoryError, …
   */
  submit(): void {
    this.emit();
    this.#recording = false; // what was recorded so far is not all
    const from = this.#progress.handed;
    this.#cross(from);
    if (this.#launches.length === 0) return;
    const stages = this.#stages;
    this.#stages = [];
    this.#handOver(this.#launches.take(), stages, from);
  }

  /** Brings across what waits. Where that fails, what was to read it must not run. */
  #cross(from: number): void {
    if (!this.gathers) return;
    try {
      for (const { buffer, offset, memory } of this.#ferries?.up.depart() ?? []) {
        this.#progress.enqueue();
        const bytes = memory.length;
        cl.enqueueWriteBuffer(this.#handle, buffer.handle, false, offset, bytes, memory, null, false);
      }
    } catch (error) {
      this.#launches.take().forget();
      this.#stages = [];
      throw this.lose(from, this.position, typedError(error, 'uploading small arrays'));
    } finally {
      this.#progress.hand();
    }
  }

  /**
   * Notes that commands between two places are lost, for the calls that enqueued them.
   *
   * @returns why
   */
  lose(from: number, to: number, why: unknown): unknown {
    this.#losses.add(from, to, why);
    return why;
  }

  /** Has the driver start with what is enqueued, when nobody waits yet. */
  flush(): void {
    this.submit();
    this.#progress.start();
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
    if (!waiting && !this.#progress.rests) return;
    if (!waiting || this.#progress.isIdle) this.#flushForLater();
    else if (!this.#startsSoon) {
      this.#startsSoon = true;
      allCaughtUp().then(() => {
        this.#startsSoon = false;
        this.#flushForLater();
      });
    }
  }

  #flushForLater(): void {
    try {
      this.flush();
    } catch (error) {
      this.#failure ??= error;
    }
  }

  #handOver(launches: cl.Launches & { forget(): void }, stages: readonly StageName[], from: number): void {
    this.#progress.hand();
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
      throw this.lose(from, this.position, typedError(error, `enqueueing ${stage}`));
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
    this.#launches.complete = true;
    try {
      enqueue();
      if (!this.#recording || this.#launches.length === 0) return undefined;
      const recording = { launches: this.#launches.copy(), stages: [...this.#stages] };
      this.submit();
      return recording;
    } finally {
      this.#recording = false;
      this.#launches.complete = false;
    }
  }

  /** Enqueues the launches of a recording. The buffers that they use must still be there. */
  replay({ launches, stages }: Recording): void {
    this.submit();
    this.#progress.enqueue();
    this.#handOver(launches, stages, this.#progress.handed);
    launches.forget(); // the arguments are not those that the last `run` has set
  }

  /** As `submit`, but a failure is told by the next wait: for who releases what the launches use, or waits itself. */
  submitForLater(): void {
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
    this.#progress.enqueue();
    this.#progress.hand();
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
    if (this.#capabilities.version < 1.2 || !this.#capabilities.quirks.fills) {
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
    const from = this.#tray?.copyOf(view) ?? view;
    this.#record('upload', (event) =>
      cl.enqueueWriteBuffer(this.#handle, buffer.handle, false, offset, bytes, from, null, event),
    );
  }

  /** Device to host. `view` holds the data after the next `finish()`. */
  read(buffer: Buffer, view: ArrayBufferView, offset = 0): void {
    const bytes = view.byteLength;
    if (bytes === 0) return;
    const to = this.#tray?.placeFor(view) ?? view;
    this.#record('download', (event) =>
      cl.enqueueReadBuffer(this.#handle, buffer.handle, false, offset, bytes, to, null, event),
    );
  }

  /** Do small arrays wait to cross, with the launches that are to read them? */
  get gathers(): boolean {
    return (this.#ferries?.up.waitingBytes ?? 0) > 0;
  }

  /**
   * A buffer that holds a copy of a small array for whatever is enqueued from now on: it crosses with others.
   *
   * @returns undefined where it is to be written by itself: for want of room, or when each transfer is recorded
   */
  gather(view: ArrayBufferView): Berth | undefined {
    const up = this.#profile ? undefined : this.#ferries?.up;
    if (!up) return undefined;
    // Here the launches that read what waits are there as well. A refusal concerns calls before this one.
    if (up.waitingBytes >= GATHERED_BYTES) {
      if (this.#startsSoon) this.#flushForLater();
      else this.submitForLater();
    }
    return up.carry(view);
  }

  /** A buffer that small results are written to, for `bring`. @returns undefined likewise */
  berth(bytes: number): Berth | undefined {
    return this.#profile ? undefined : this.#ferries?.down.take(bytes);
  }

  /** Has a result of `berth` brought to `view` with others. `view` holds it after the next `finish()`. */
  bring(berth: Berth, view: ArrayBufferView): void {
    this.#lookout.bring(berth, view);
  }

  /** As of `Lookout`. */
  readAtWait(buffer: Buffer, offset: number, words = 1): ArrivingWords {
    return this.#lookout.readAtWait(buffer, offset, words);
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
    return this.#lookout.reached(deadlineSeconds).then(
      () => {
        const failure = this.#takeFailure();
        this.#assertKept(since, position);
        if (failure !== undefined && !(since !== undefined && this.#losses.has(failure))) throw failure;
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
  #assertKept(since: number | undefined, position: number): void {
    const why = since === undefined ? undefined : this.#losses.between(since, position);
    if (why !== undefined) throw why;
  }

  /** As `finish`, but asks nobody when all that was enqueued is known to be done. */
  settle(deadlineSeconds?: number, since?: number): Promise<void> {
    const known = this.#failure === undefined && this.#lookout.hasNothing && this.hasPassed(this.position);
    if (!known) return this.finish(deadlineSeconds, since);
    return promised(() => this.#assertKept(since, this.position));
  }

  /** A point behind all that was enqueued, for another queue of the device to wait for: once. */
  mark(): cl.Event {
    this.submit();
    try {
      const mark = this.#lookout.mark();
      cl.flush(this.#handle);
      return mark;
    } catch (error) {
      throw typedError(error, 'enqueueing a marker');
    }
  }

  /** What is enqueued from now on begins when another queue has come to a mark. */
  waitFor(mark: cl.Event): void {
    this.submit();
    this.#progress.enqueue();
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
   * @param ahead enqueues what keeps the device busy until all is enqueued: then the host's part is not in the time
   * @returns device seconds, after waiting for it; null where the device does not tell
   */
  async measure(enqueue: () => void | Promise<void>, ahead?: () => void): Promise<number | null> {
    await this.finish();
    this.#time(true);
    ahead?.();
    const begin = this.#lookout.mark();
    await enqueue();
    this.submit();
    const end = this.#lookout.mark();
    this.#endTiming();
    try {
      await this.finish();
      const [from, to] = this.#capabilities.quirks.profiles ? [endOf(begin), endOf(end)] : [null, null];
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
    if (timed) this.#time(true);
    this.#profile = new Profile(timed);
  }

  /** Adds a stage that the host timed to the profile. */
  note(stage: string, seconds: number): void {
    this.#profile?.note(stage, seconds);
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
    return () => profile?.take(this.#capabilities.quirks.profiles) ?? [];
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
