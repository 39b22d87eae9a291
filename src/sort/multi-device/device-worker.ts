import type { DeviceInfo } from '../../device/platform.js';
import { byteRange, newBytes } from '../../keys/array.js';
import type { ClsortError } from '../../util/errors.js';
import type { Backend, Session } from '../backend/backend.js';
import type { SortJob } from '../backend/job.js';
import { ArrayStore } from '../calls/array-store.js';
import type { ExecutionBody } from '../calls/call.js';
import { CallScheduler } from '../calls/call-scheduler.js';
import { Calls, type Task } from '../calls/calls.js';
import { Dependency } from '../calls/dependency.js';

/** Pieces that are split at once where all sinks have room ahead, so that threads need not wait for what is between pieces. */
export const MAX_CONCURRENT_PIECES = 2;

/** Slots: those that are filled, one that is on its way, and one that is next. */
export const SLOT_COUNT = MAX_CONCURRENT_PIECES + 2;

/** Pinned memory that pieces pass through, and whose it is. */
export interface PinnedSlots {
  readonly backend: Backend;
  readonly bytes: number;
  readonly all: readonly Uint8Array[];
}

/** One of several devices, with an order of calls of its own. */
export class DeviceWorker {
  static #count = 0;
  /** Of all that were made. */
  readonly number = DeviceWorker.#count++;
  readonly session: Session;
  readonly arrays: ArrayStore;
  readonly #scheduler = new CallScheduler();
  readonly #calls: Calls;
  /** Slots that nobody uses; one at most. */
  #idle: PinnedSlots[] = [];

  constructor(session: Session, onWarning: (warning: ClsortError) => void) {
    this.session = session;
    this.#calls = new Calls(session, undefined, this.#scheduler, onWarning);
    this.arrays = new ArrayStore(session, this.#scheduler);
  }

  get info(): DeviceInfo {
    return this.session.backend.info as DeviceInfo; // a host engine is no member
  }

  /** It was given up, and could not be opened again. */
  get lost(): boolean {
    return this.session.backend.lost;
  }

  /** Has it memory of its own, which is filled while the host goes on? */
  get overlapsTransfers(): boolean {
    return this.session.backend.overlaps;
  }

  /** Does the other one reach what this one has pinned? */
  sharesPinnedWith(other: DeviceWorker): boolean {
    return this.info.platform === other.info.platform && this.session.backend.sharesPinned;
  }

  /** Sorts with all the policy of a call, by itself. */
  sort(job: SortJob): Promise<void> {
    return this.#calls.runWithInputs([], (dependency) => this.#calls.sort(job, dependency, undefined, true));
  }

  /** Makes a call. */
  operate<T>(task: Omit<Task, 'dependency'>, use: ExecutionBody<T>): Promise<T> {
    return this.#calls.execute({ ...task, dependency: new Dependency() }, use);
  }

  /** Host memory that is to be written before it is read. */
  allocateHostMemory(bytes: number): ArrayBufferView {
    const { results } = this.session.backend.memory;
    return results ? byteRange(new DataView(results(bytes))) : newBytes(bytes);
  }

  /** Pinned memory for who feeds the device, in slots of at least so many bytes: `give` it back. @throws MemoryError */
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

  /** Keeps slots for the next time; smaller ones than those that there are go, as do those of a device that was given up. */
  returnSlots(slots: PinnedSlots): void {
    const [other] = this.#idle.splice(0);
    const isLost = slots.backend !== this.session.backend;
    const [retained, spare] =
      (other && slots.bytes < other.bytes) || isLost ? [other, slots] : [slots, other];
    if (retained) this.#idle.push(retained);
    if (spare) this.#unpin(spare.all);
  }

  /** The device that is there now has what was pinned for the one before. */
  #unpin(all: readonly Uint8Array[]): void {
    for (const { buffer } of all) this.session.backend.memory.unpin(buffer);
  }

  /** Waits for what is running; the keeper is closed by who opened it. */
  async close(): Promise<void> {
    await this.#scheduler.close();
    this.arrays.clear();
  }
}
