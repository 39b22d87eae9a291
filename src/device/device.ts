import { setImmediate } from 'node:timers/promises';
import * as cl from '../opencl/index.js';
import { behaviourOf } from './driver-probe.js';
import { Buffer, type BufferOptions, BufferPool } from './memory/buffer.js';
import { STAGED_BYTES } from './memory/policy.js';
import { COPY_THREADS, Staging, type TransferQueues } from './memory/staging.js';
import type { StagingPair } from './memory/staging-arena.js';
import { type Capabilities, capabilitiesOf } from './platform/capabilities.js';
import { type DeviceInfo, type FoundDevice, findDevices, queryOf } from './platform/platform.js';
import { AS_SPECIFIED, type DriverBehaviour } from './platform/quirks.js';
import { type DeviceSpec, selectDevice } from './platform/select-device.js';
import { typedError } from './platform/status.js';
import { LARGE_BYTES, LARGE_RESULT_BYTES, POOL_SHARE } from './policy.js';
import { Program } from './programs/program.js';
import { ProgramCache } from './programs/program-cache.js';
import { programOptions, programSource } from './programs/program-source.js';
import { Queue } from './queue/queue.js';

const createQueue = (
  context: cl.Context,
  handle: cl.Device,
  capabilities: Capabilities,
  allocatePair?: (bytes: number) => StagingPair,
): Queue =>
  new Queue(
    (timed) => cl.createCommandQueue(context, handle, timed ? cl.QUEUE_PROFILING_ENABLE : 0),
    capabilities,
    allocatePair,
  );

/** The part of a device that plans and parameters depend on. The device need not be open. */
export type KnownDevice = Pick<Device, 'capabilities' | 'info'>;

/** A program that a device has built. */
export interface BuiltProgram {
  /** File below `cl/`. */
  readonly file: string;
  readonly options: string;
  /** `cached`: loaded from the cache; `driver`: the driver has a cache, and does not report whether it compiled. */
  readonly origin: 'compiled' | 'cached' | 'driver';
  readonly milliseconds: number;
}

/** Options for opening a device. */
export interface DeviceOptions {
  /** Maximum bytes of idle device memory. Default: a quarter of the device's memory. */
  readonly poolBytes?: number | undefined;
  /** Receives each program once it is built. */
  readonly onProgram?: ((program: BuiltProgram) => void) | undefined;
}

/** An opened device: context, queue, compiled programs, pooled memory. */
export class Device {
  readonly info: DeviceInfo;
  readonly capabilities: Capabilities;
  readonly queue: Queue;
  readonly pool: BufferPool;
  readonly staging: Staging;
  readonly handle: cl.Device;
  readonly context: cl.Context;
  #transferQueues: TransferQueues<Queue> | undefined;
  readonly #persistentBuffers: Buffer[] = [];
  readonly #programCache: ProgramCache | undefined;
  readonly #programs = new Map<string, Promise<Program>>();
  readonly #onProgram: DeviceOptions['onProgram'];
  #closed = false;

  private constructor(
    { info, handle, platform }: FoundDevice,
    behaviour: DriverBehaviour,
    { poolBytes, onProgram }: DeviceOptions = {},
  ) {
    this.info = info;
    this.#onProgram = onProgram;
    this.handle = handle;
    let context: cl.Context | undefined;
    try {
      this.capabilities = capabilitiesOf(info, queryOf(handle), behaviour);
      if (this.capabilities.quirks.singleThreaded) cl.setSingleThreaded(platform, true);
      context = cl.createContext([cl.CONTEXT_PLATFORM, platform], [handle], null, null);
      const allocatePair = (bytes: number) => this.#allocatePair(bytes);
      const isStaged = this.overlaps;
      this.queue = createQueue(context, handle, this.capabilities, isStaged ? allocatePair : undefined);
    } catch (error) {
      if (context) cl.releaseAsync(context);
      throw typedError(error, `open ${info.name}`);
    }
    this.context = context;
    this.#programCache = ProgramCache.of(info, this.capabilities.quirks);
    this.staging = new Staging(this.context, this.queue, () => this.transferQueues);
    const budget = poolBytes ?? info.globalBytes * POOL_SHARE;
    this.pool = new BufferPool((bytes) => this.buffer(bytes), budget, this.queue);
  }

  /**
   * Opens the device that `spec` selects (see `selectDevice`). The first time, a probe finds out how its driver behaves.
   *
   * @param spec device spec; default: `'auto'`
   * @throws NoLoaderError when there is no OpenCL loader
   * @throws NoPlatformError when no driver is installed
   * @throws NoDeviceError when no device matches
   * @throws UsageError when `spec` is empty or `'host'`
   */
  static async open(spec: DeviceSpec = 'auto', options: DeviceOptions = {}): Promise<Device> {
    const found = selectDevice(spec, findDevices());
    const behaviour = await behaviourOf(found.info, () => new Device(found, AS_SPECIFIED));
    return new Device(found, behaviour, options);
  }

  /**
   * Compiles `cl/<file>` with `defines`, or returns the program that was compiled before.
   *
   * @param file file name below `cl/`
   * @param defines values of macros
   * @param options further compiler options; `-cl-std` is added where the driver accepts it
   * @throws BuildError with `details.log` when the program does not compile
   */
  program(
    file: string,
    defines: Readonly<Record<string, string | number>> = {},
    options: readonly string[] = [],
  ): Promise<Program> {
    const all = programOptions(this.capabilities.quirks, defines, options);
    const key = `${file} ${all}`;
    let program = this.#programs.get(key);
    if (!program) {
      const target = { context: this.context, device: this.handle, cache: this.#programCache };
      const started = performance.now();
      program = Program.build(target, { source: programSource(file), options: all }, `cl/${file}`);
      program.then(
        (built) => {
          const origin = built.origin === 'binary' ? 'cached' : this.#programCache ? 'compiled' : 'driver';
          this.#onProgram?.({ file, options: all, origin, milliseconds: performance.now() - started });
        },
        () => this.#programs.delete(key), // a failure is reported to its caller, not cached
      );
      this.#programs.set(key, program);
    }
    return program;
  }

  /** Queues for transfers that run beside the commands of `queue`. Callers wait for them. */
  get transferQueues(): TransferQueues<Queue> {
    const open = () => createQueue(this.context, this.handle, this.capabilities);
    this.#transferQueues ??= { up: open(), down: open() };
    return this.#transferQueues;
  }

  /** Whether the device has memory of its own, so that host arrays are transferred. */
  get hasDedicatedMemory(): boolean {
    return !this.capabilities.unifiedMemory;
  }

  /** Whether transfers and sorts of different calls are worth overlapping. */
  get overlaps(): boolean {
    return this.hasDedicatedMemory && !this.capabilities.quirks.singleThreaded;
  }

  /** Allocates memory for small transfers on both sides. */
  #allocatePair(bytes: number): StagingPair {
    const device = this.buffer(bytes);
    try {
      const host = this.staging.allocateStaging(bytes);
      return { host, device, beforeRelease: () => this.queue.trySubmit() };
    } catch (error) {
      device.release();
      throw error;
    }
  }

  /** Runs `use` with a second queue, whose commands run beside those of `queue`. `use` waits for them. */
  async withSecondQueue<T>(use: (second: Queue) => Promise<T>): Promise<T> {
    const second = createQueue(this.context, this.handle, this.capabilities);
    try {
      return await use(second);
    } finally {
      second.release();
    }
  }

  /**
   * Allocates device memory that the caller releases.
   *
   * @throws MemoryError when the device is out of memory
   */
  buffer(bytes: number, options?: BufferOptions): Buffer {
    // Launches that use the buffer may still wait for submission.
    return Buffer.create(this.context, bytes, { beforeRelease: () => this.queue.trySubmit(), ...options });
  }

  /** Whether the memory is pinned, so that a device with dedicated memory accesses it directly. */
  isPinned({ buffer }: ArrayBufferView): boolean {
    return this.staging.has(buffer) || this.staging.isStaging(buffer);
  }

  /** Whether this is the pinned memory that coalesced transfers of small arrays use. */
  isStaging({ buffer }: ArrayBufferView): boolean {
    return this.staging.isStaging(buffer);
  }

  /** Whether a transfer of this array is staged: copied through pinned memory by several threads. */
  needsStaging(view: ArrayBufferView): boolean {
    return view.byteLength >= STAGED_BYTES && this.overlaps && !this.isPinned(view);
  }

  /**
   * Allocates host memory that the device will write. Large memory is prepared for fast first access; for a device
   * with dedicated memory, threads start creating its pages at once.
   *
   * @param bytes size
   * @param used whether memory with old contents suffices; else all bytes are zero. Default: false
   * @throws MemoryError when the host is out of memory
   */
  hostMemory(bytes: number, { used: mayReuse = false } = {}): ArrayBuffer {
    if (bytes < (mayReuse ? LARGE_RESULT_BYTES : LARGE_BYTES)) return new ArrayBuffer(bytes);
    try {
      return cl.allocateHostMemory(bytes, this.hasDedicatedMemory ? COPY_THREADS : 0, mayReuse);
    } catch (error) {
      throw typedError(error, `allocate ${bytes} bytes of host memory`);
    }
  }

  /**
   * Allocates a few bytes of zeroed device memory that live as long as the device.
   *
   * @throws MemoryError when the device is out of memory
   */
  allocatePersistent(bytes: number): Buffer {
    const buffer = this.buffer(bytes);
    this.#persistentBuffers.push(buffer);
    this.queue.fill(buffer, 0);
    return buffer;
  }

  get closed(): boolean {
    return this.#closed;
  }

  get #queues(): Queue[] {
    return [
      this.queue,
      ...(this.#transferQueues ? [this.#transferQueues.up, this.#transferQueues.down] : []),
    ];
  }

  /** Waits for the queues, then releases everything of this device. May be called twice, and after `abandon`. */
  async close(): Promise<void> {
    if (this.#closed) return this.staging.freeAll();
    this.#closed = true;
    for (const queue of this.#queues) {
      await queue.finish().catch(() => undefined); // a lost device can be closed
    }
    this.staging.release();
    await this.#release();
  }

  /**
   * Releases the device without waiting, after a failure or a timeout. Arrays in pinned memory keep their data until
   * they are freed or the device is closed.
   */
  async abandon(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.staging.orphan();
    await this.#release();
    // Pending waits may still copy results out of staging memory, so it is released after them. If a wait never ends,
    // the memory stays allocated.
    Promise.all(this.#queues.map((queue) => queue.waitsSettled())).then(() => this.staging.abandon());
  }

  async #release(): Promise<void> {
    for (const buffer of this.#persistentBuffers.splice(0)) buffer.release();
    this.pool.close();
    // Programs that are being compiled are released when the compiler ends, which cannot be stopped.
    const released = [...this.#programs.values()].map((program) =>
      program.then(
        (built) => built.release(),
        () => undefined,
      ),
    );
    await Promise.race([Promise.all(released), setImmediate()]);
    this.#programs.clear();
    for (const queue of this.#queues) queue.release();
    cl.releaseAsync(this.context);
  }
}
