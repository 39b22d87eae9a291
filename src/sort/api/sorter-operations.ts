import { type InspectOptions, inspect } from 'node:util';
import type { DeviceInfo } from '../../device/platform/platform.js';
import { type ArrayOf, type DtypeOf, dtypeOf, keyColumn } from '../../keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../../keys/dtype.js';
import type { ClsortError } from '../../util/errors.js';
import { inspectLine } from '../../util/inspect-line.js';
import { defineRenamedMethods } from '../../util/renamed.js';
import { firstPlan, type Session } from '../backend/backend.js';
import { ArrayStore } from '../calls/array-store.js';
import { callChannel, publishCall } from '../calls/call-channel.js';
import { CallScheduler, Dependency } from '../calls/call-scheduler.js';
import { type BreakEvenHost, Calls } from '../calls/calls.js';
import { FirstCalls } from '../calls/first-calls.js';
import { type ArrowVector, isVector } from '../model/arrow-vector.js';
import type { DeviceArray } from '../model/device-array.js';
import {
  bitWindow,
  chosenParameters,
  type PlanOptions,
  requireOptionsObject,
  type SortOptions,
} from '../model/options.js';
import { parseUploadOptions } from '../model/parse-options.js';
import { explainPlan, type Plan } from '../model/plan.js';
import type { ShardedArray } from '../model/sharded-array.js';
import type { DeviceGroup } from '../multi-device/device-group.js';
import { DeviceWorker } from '../multi-device/device-worker.js';
import { ShardedArrays } from '../multi-device/sharded-arrays.js';
import { assertCount, parse, readKeys } from '../operations/arguments.js';
import { createPartPool } from '../operations/many/parts.js';
import type { AnyMethod, OperationContext } from '../operations/operation.js';
import { OPERATIONS, type OperationMethods } from '../operations/operations.js';
import type { MemoryUsage } from '../transfer/column-memory.js';

/** Options of `upload` for a sharded array. */
type Sharded =
  | { readonly sharded: true }
  | {
      /** @deprecated Use `sharded`. */
      readonly spread: true;
    };

/** Options of `upload` for a device array. */
interface Whole {
  readonly sharded?: false;
  /** @deprecated Use `sharded`. */
  readonly spread?: false;
}

/** Runs an operation on a vector; loads the code for vectors at the first one. */
async function onVector(
  sorter: OperationMethods,
  name: string,
  args: readonly [ArrowVector, ...unknown[]],
): Promise<unknown> {
  const { runOnVector } = await import('../operations/vectors/vectors.js');
  return runOnVector(sorter, name, args);
}

/** A plan, and a method that returns it in words. */
export type ExplainedPlan = Plan & { explain(): string };

/** Operations of every Sorter, on the backend that it was created with. */
export interface SorterOperations extends OperationMethods {}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the static block defines the methods of the interface.
export class SorterOperations implements AsyncDisposable {
  static {
    for (const [name, run] of Object.entries<AnyMethod>(OPERATIONS)) {
      // No operation has more than four parameters. Listing them is faster than passing on a list.
      const value = function (
        this: SorterOperations,
        a: unknown,
        b: unknown,
        c: unknown,
        d: unknown,
      ): unknown {
        if (isVector(a)) return onVector(this, name, [a, b, c, d]);
        if (!callChannel.hasSubscribers) return this.#run(name, run, a, b, c, d);
        return this.#publish(name, () => this.#run(name, run, a, b, c, d) as Promise<unknown>);
      };
      Object.defineProperty(value, 'name', { value: name });
      const property = { value, writable: true, configurable: true };
      Object.defineProperty(SorterOperations.prototype, name, property);
    }
    defineRenamedMethods(SorterOperations.prototype);
  }

  readonly #session: Session;
  readonly #scheduler = new CallScheduler();
  readonly #calls: Calls;
  /** Only under `auto` with a device. */
  readonly #firstCalls: FirstCalls | undefined;
  readonly #arrays: ArrayStore;
  readonly #context: OperationContext;
  readonly #group: DeviceGroup | undefined;
  #openedShardedArrays: ShardedArrays | undefined;
  /** Buffers of `sortMany` and `argsortMany`. */
  readonly #partPool = createPartPool();
  readonly #onWarning: (warning: ClsortError) => void;

  /**
   * @internal Called by `Sorter.open`.
   *
   * @param few host engine that handles calls of few keys, if the device does not
   * @param group devices that share large arrays; the first is that of `session`
   */
  constructor(
    session: Session,
    onWarning: (warning: ClsortError) => void,
    few?: BreakEvenHost,
    group?: DeviceGroup,
  ) {
    this.#session = session;
    this.#group = group;
    this.#onWarning = onWarning;
    this.#calls = new Calls(session, few, this.#scheduler, onWarning, group);
    if (few) this.#firstCalls = new FirstCalls(session, this.#calls);
    this.#arrays = new ArrayStore(session, this.#scheduler);
    this.#context = {
      session,
      calls: this.#calls,
      arrays: this.#arrays,
      group,
      shardedArrays: () => this.#shardedArrays,
      partPool: this.#partPool,
    };
  }

  #run(name: string, run: AnyMethod, a: unknown, b: unknown, c: unknown, d: unknown): unknown {
    const first = this.#firstCalls;
    if (!first) return run(this.#context, a, b, c, d);
    return first.run(name, [a, b, c, d], (args) => run(this.#context, ...args));
  }

  /** Runs a call and publishes its message. Other calls may take the returned promise as an input. */
  #publish(operation: string, run: () => Promise<unknown>): Promise<unknown> {
    let call: Promise<unknown> | undefined;
    const published = publishCall(operation, () => {
      call = run();
      return call;
    });
    if (call) this.#calls.alias(published, call);
    return published;
  }

  /** The opened device, or the best of several; undefined when the host engine sorts. */
  get device(): DeviceInfo | undefined {
    return this.#session.backend.info;
  }

  /** @internal Whether the device has dedicated memory, separate from that of the host. */
  get hasDedicatedMemory(): boolean {
    return this.#session.backend.hasDedicatedMemory;
  }

  /**
   * @internal Allocates the staging memory for files ahead of the first transfer.
   *
   * @throws MemoryError
   */
  async prepareFiles(): Promise<void> {
    if (this.hasDedicatedMemory)
      await this.#session.run(({ memory }) => memory.prepareFiles(), { again: false });
  }

  /** @internal Compiles the kernels of a sort of `keys` ahead of time, while the caller still fills the array. */
  async prepareSort(
    keys: DeviceArray,
    options: SortOptions,
    { positions }: { positions: boolean },
  ): Promise<void> {
    const settings = parse(options);
    const input = readKeys(this.#arrays, keys, settings);
    const result = positions ? { moved: input.place } : { sorted: input.place };
    const task = { n: input.n, settings, dependency: new Dependency(), onHost: false, again: false };
    await this.#calls.execute(task, async (call) => {
      await call.canSort({ keys: input, ...result });
      return () => undefined;
    });
  }

  /** All opened devices, the best one first; empty when the host engine sorts. */
  get devices(): readonly DeviceInfo[] {
    const { device } = this;
    return this.#group ? this.#group.workers.map(({ info }) => info) : device ? [device] : [];
  }

  /**
   * Copies `keys` into a device array, which operations then use without another transfer.
   *
   * With `sharded`, the result is a sharded array on all devices of the Sorter. The parts follow the speed of the
   * devices, as measured when the first sharded array was created.
   *
   * @param keys typed array
   * @param options `dtype` of the elements, by default that of the array's type; `sharded` (default `false`) for a
   *   `ShardedArray`; `spread` is a deprecated alias
   * @returns a device array or sharded array of this Sorter
   * @throws UsageError for an unknown option, an impossible value or a closed Sorter
   * @throws DtypeError when `dtype` does not fit the array
   * @throws InputError when `keys` is not an array or is detached
   * @throws MemoryError when device memory is insufficient
   * @example
   * ```ts
   * const prices = await sorter.upload(Float32Array.of(5, 1, 4));
   * ```
   */
  async upload<K extends KeyArray>(keys: K, options: Sharded): Promise<ShardedArray<DtypeOf<K>>>;
  async upload<D extends Dtype>(
    keys: KeyArray,
    options: { readonly dtype: D } & Sharded,
  ): Promise<ShardedArray<D>>;
  async upload<K extends KeyArray>(keys: K, options?: Whole): Promise<DeviceArray<DtypeOf<K>>>;
  async upload<D extends Dtype>(
    keys: KeyArray,
    options: { readonly dtype: D } & Whole,
  ): Promise<DeviceArray<D>>;
  async upload(
    keys: KeyArray,
    options?: { readonly dtype?: Dtype; readonly sharded?: boolean; readonly spread?: boolean },
  ): Promise<DeviceArray | ShardedArray> {
    const { spread, sharded = spread, dtype = dtypeOf(keys) } = parseUploadOptions(options);
    const host = keyColumn(keys, dtype);
    const { n } = host;
    if (sharded) {
      this.#scheduler.assertOpen();
      const group = this.#group;
      return this.#shardedArrays.upload(host, dtype, async () => group?.weigh(host, parse()) ?? [1]);
    }
    const array = this.createArray(dtype, n);
    try {
      await array.write(keys);
      return array;
    } catch (error) {
      array.dispose();
      throw error;
    }
  }

  /**
   * Allocates a device array whose contents are undefined. `DeviceArray.write` fills it in pieces.
   *
   * @param dtype dtype of the elements
   * @param length number of elements
   * @returns a device array of this Sorter
   * @throws DtypeError for an unknown dtype
   * @throws UsageError for an impossible length or a closed Sorter
   * @throws MemoryError when device memory is insufficient
   * @example
   * ```ts
   * const keys = sorter.createArray('f32', 1000);
   * ```
   */
  createArray<D extends Dtype>(dtype: D, length: number): DeviceArray<D> {
    assertLength(dtype, length);
    this.#scheduler.assertOpen();
    return this.#arrays.allocate(dtype, length);
  }

  /**
   * Allocates a typed array of zeros that is transferred to and from the device without intermediate copies.
   *
   * The memory is pinned if the device has dedicated memory, and page-aligned host memory otherwise. The allocation
   * takes longer than that of other arrays, so it suits arrays that are reused (option `into`, `sortInPlace`). Pinned
   * memory is not garbage collected: it stays allocated until `freePinned`, or until the Sorter closes.
   *
   * @param dtype dtype of the elements
   * @param length number of elements
   * @returns a typed array of the dtype
   * @throws DtypeError for an unknown dtype
   * @throws UsageError for an impossible length or a closed Sorter
   * @throws MemoryError when memory is insufficient
   * @example
   * ```ts
   * const keys = sorter.allocPinned('f32', 1000);
   * ```
   */
  allocPinned<D extends Dtype>(dtype: D, length: number): ArrayOf<D> {
    assertLength(dtype, length);
    this.#scheduler.assertOpen();
    return this.#arrays.pinned(dtype, length);
  }

  /**
   * Frees an array of `allocPinned`. A pinned array is detached; any other array is left alone. Does nothing after `close()`,
   * which has freed all arrays.
   *
   * @param array array that `allocPinned` returned
   * @throws InputError when `array` is not a typed array
   * @example
   * ```ts
   * await sorter.freePinned(keys);
   * ```
   */
  async freePinned(array: KeyArray): Promise<void> {
    dtypeOf(array);
    await this.#arrays.unpin(array);
  }

  /**
   * Returns the bytes of memory in use by device arrays and calls, pooled for later calls, and at peak, for all devices
   * together.
   *
   * @returns `used`, `idle` and `peak` in bytes
   * @example
   * ```ts
   * const { used, idle, peak } = sorter.memory();
   * ```
   */
  memory(): MemoryUsage {
    const { usage } = this.#session.backend.memory;
    return this.#group?.usage ?? usage;
  }

  /**
   * Releases the memory that is pooled for later calls; the pool keeps at most `poolBytes`.
   *
   * @example
   * ```ts
   * sorter.trim();
   * ```
   */
  trim(): void {
    this.#session.backend.memory.trim();
    this.#partPool.clear();
    this.#group?.trim();
  }

  /**
   * Returns the plan of a `sort` of n keys: algorithm, parameters and chunks. Compiles and runs nothing, so the plan
   * may name a variant that does not work on the device.
   *
   * @param n number of keys
   * @param options the options of `sort`; `dtype` (default `'u32'`) and `valueBytes` (default 0) describe the elements
   * @returns the plan as data; its method `explain` returns it in words
   * @throws UsageError for an unknown option or an impossible value
   * @throws UnsupportedError when the algorithm or the device cannot sort these keys
   * @example
   * ```ts
   * console.log(sorter.plan(1_000_000, { dtype: 'f32' }).explain());
   * ```
   */
  plan(n: number, options?: PlanOptions): ExplainedPlan {
    const { valueBytes = 0, ...rest } = requireOptionsObject(options);
    const settings = parse(rest);
    const info = dtypeInfo(settings.dtype ?? 'u32');
    assertCount('n', n);
    const bits = bitWindow(settings.bits, info);
    const { algorithm, tuning } = settings;
    const parameters = chosenParameters(settings);
    const request = { n, dtype: info.name, bits, valueBytes, algorithm, parameters };
    const { backend } = this.#calls.sessionFor({ n, settings, onHost: true, keyBits: info.width });
    const plan = firstPlan(backend, request, tuning.chunk);
    // Plans are compared and printed as data, without the method.
    return Object.defineProperty({ ...plan }, 'explain', { value: () => explainPlan(plan) }) as ExplainedPlan;
  }

  /**
   * Waits for all calls, then releases the device and all device arrays. It does not wait for programs that are compiled for
   * later calls. May be called twice.
   *
   * @example
   * ```ts
   * await sorter.close();
   * ```
   */
  async close(): Promise<void> {
    await this.#scheduler.close();
    await this.#openedShardedArrays?.close();
    await this.#group?.close();
    this.#arrays.clear();
    await this.#session.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Prints the device, or several, and the state in one line: `open` or `closed`. */
  [inspect.custom](_depth: number, options: InspectOptions): string {
    const [name = 'host', ...others] = this.devices.map((device) => device.name);
    const where = others.length > 0 ? { devices: [name, ...others] } : { device: name };
    return inspectLine('Sorter', { ...where, state: this.#scheduler.isClosed ? 'closed' : 'open' }, options);
  }

  /** Operations on sharded arrays; on one device if there are no others. */
  get #shardedArrays(): ShardedArrays {
    const workers = () => this.#group?.workers ?? [new DeviceWorker(this.#session, this.#onWarning)];
    this.#openedShardedArrays ??= new ShardedArrays(workers(), this.#scheduler, this.#group);
    return this.#openedShardedArrays;
  }
}

/** @throws DtypeError for an unknown dtype; UsageError for an impossible length */
function assertLength(dtype: Dtype, length: number): void {
  dtypeInfo(dtype);
  assertCount('length', length);
}
