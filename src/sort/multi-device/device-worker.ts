import type { DeviceInfo } from '../../device/platform/platform.js';
import { byteRange, newBytes } from '../../keys/array.js';
import type { ClsortError } from '../../util/errors.js';
import type { Backend, Session } from '../backend/backend.js';
import { ArrayStore } from '../calls/array-store.js';
import type { ExecutionBody } from '../calls/call.js';
import { CallScheduler, Dependency } from '../calls/call-scheduler.js';
import { Calls, type Task } from '../calls/calls.js';
import type { SortJob } from '../model/job.js';
import { MAX_CONCURRENT_PIECES } from './policy.js';

/** Number of slots: those being filled, one in transfer, and the next one. */
export const SLOT_COUNT = MAX_CONCURRENT_PIECES + 2;

/** Pinned slots for pieces, and the backend that they belong to. */
export interface PinnedSlots {
  readonly backend: Backend;
  readonly bytes: number;
  readonly all: readonly Uint8Array[];
}

/** One of several devices, with its own order of calls. */
export class DeviceWorker {
  readonly session: Session;
  readonly arrays: ArrayStore;
  readonly #scheduler = new CallScheduler();
  readonly #calls: Calls;
  /** Idle slots; one set at most. */
  #idle: PinnedSlots[] = [];

  constructor(session: Session, onWarning: (warning: ClsortError) => void) {
    this.session = session;
    this.#calls = new Calls(session, undefined, this.#scheduler, onWarning);
    this.arrays = new ArrayStore(session, this.#scheduler);
  }

  get info(): DeviceInfo {
    return this.session.backend.info as DeviceInfo; // a worker always has a device
  }

  /** Whether the device was abandoned and has not been reopened. */
  get lost(): boolean {
    return this.session.backend.lost;
  }

  /** Whether the device has dedicated memory, which is filled while the host continues. */
  get overlapsTransfers(): boolean {
    return this.session.backend.overlaps;
  }

  /** Sorts a job on this device, with all the policies of a call. */
  sort(job: SortJob): Promise<void> {
    return this.#calls.runWithInputs([], (dependency) => this.#calls.sort(job, dependency, undefined, true));
  }

  /** Runs a call on this device. */
  operate<T>(task: Omit<Task, 'dependency'>, use: ExecutionBody<T>): Promise<T> {
    return this.#calls.execute({ ...task, dependency: new Dependency() }, use);
  }

  /** Allocates host memory with undefined contents. */
  allocateHostMemory(bytes: number): ArrayBufferView {
    const { results } = this.session.backend.memory;
    return results ? byteRange(new DataView(results(bytes))) : newBytes(bytes);
  }

  /**
   * Takes pinned slots of at least `bytes` bytes each; return them with `returnSlots`.
   *
   * @throws MemoryError when memory runs out
   */
  takeSlots(bytes: number): PinnedSlots {
    const { backend } = this.session;
    for (const slots of this.#idle.splice(0)) this.returnSlots(slots);
    const at = this.#idle.findIndex((slots) => slots.bytes >= bytes);
    const [retained] = at < 0 ? [] : this.#idle.splice(at, 1);
    if (retained) return retained;
    const all: Uint8Array[] = [];
    try {
      while (all.length < SLOT_COUNT) all.push(backend.memory.pinned('u8', bytes));
    } catch (error) {
      this.#unpin(all);
      throw error;
    }
    return { backend, bytes, all };
  }

  /** Keeps the larger set of slots for later, unless their device was lost, and unpins the other one. */
  returnSlots(slots: PinnedSlots): void {
    const [other] = this.#idle.splice(0);
    const isLost = slots.backend !== this.session.backend;
    const [retained, spare] =
      (other && slots.bytes < other.bytes) || isLost ? [other, slots] : [slots, other];
    if (retained) this.#idle.push(retained);
    if (spare) this.#unpin(spare.all);
  }

  /** The current device has taken over the pinned memory of its predecessor. */
  #unpin(all: readonly Uint8Array[]): void {
    for (const { buffer } of all) this.session.backend.memory.unpin(buffer);
  }

  /** Waits for pending calls and releases arrays. The session is closed by its opener. */
  async close(): Promise<void> {
    await this.#scheduler.close();
    this.arrays.clear();
  }
}
