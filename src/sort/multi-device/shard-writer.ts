import { byteRange } from '../../keys/array.js';
import { type Column, column, type Place, type Values } from '../model/column.js';
import type { HostJob } from '../model/job.js';
import { type DeviceWorker, type PinnedSlots, SLOT_COUNT } from './device-worker.js';
import { carriedBytes, type PartitionWriter, type PieceBuffers, pieceKeys } from './partition.js';
import { tooManyKeysError } from './too-many-keys.js';

/** Keys and values of one shard, as a job takes them. */
export interface Shard {
  readonly keys: Column;
  readonly values?: Values;
}

/** Writes a shard to the memory in which its device sorts it. */
export interface ShardWriter extends PartitionWriter {
  /**
   * Returns the shard when all pieces have arrived.
   *
   * @throws MemoryError when the shard has too many keys
   * @throws DeviceLostError when its memory was lost with the device
   * @throws the error of a transfer
   */
  finish(): Promise<Shard>;
  /** Releases the memory. */
  release(): void;
}

/**
 * Creates a writer for at most `maxKeys` keys: in device memory if the device has dedicated memory and values
 * have at most 8 bytes, otherwise in host memory.
 *
 * @throws MemoryError when memory runs out
 */
export function shardWriterFor(worker: DeviceWorker, job: HostJob, maxKeys: number): ShardWriter {
  return worker.overlapsTransfers && carriedBytes(job) <= 8
    ? new DeviceShardWriter(worker, job, maxKeys)
    : new HostShardWriter(worker, job, maxKeys);
}

/** Writes a shard to host memory. */
export class HostShardWriter implements ShardWriter {
  readonly #job: HostJob;
  readonly #maxKeys: number;
  readonly #keys: ArrayBufferView;
  readonly #values: ArrayBufferView | undefined;
  #count = 0;

  constructor(worker: DeviceWorker, job: HostJob, maxKeys: number) {
    const carried = carriedBytes(job);
    this.#job = job;
    this.#maxKeys = maxKeys;
    this.#keys = worker.allocateHostMemory(maxKeys * job.keys.info.bytes);
    this.#values = carried > 0 ? worker.allocateHostMemory(maxKeys * carried) : undefined;
  }

  async reserve(): Promise<PieceBuffers | undefined> {
    if (this.#count >= this.#maxKeys) return undefined;
    const keys = byteRange(this.#keys, this.#count * this.#job.keys.info.bytes);
    const values = this.#values && byteRange(this.#values, this.#count * carriedBytes(this.#job));
    return { keys, ...(values && { values }) };
  }

  pieceWritten(count: number): void {
    this.#count += count;
  }

  async finish(): Promise<Shard> {
    if (this.#count > this.#maxKeys) throw tooManyKeysError(this.#maxKeys);
    const { info, dtype } = this.#job.keys;
    const bytes = carriedBytes(this.#job);
    const view = byteRange(this.#keys, 0, this.#count * info.bytes);
    const values = this.#values && byteRange(this.#values, 0, this.#count * bytes);
    return { keys: column(dtype, this.#count, view), ...(values && { values: { place: values, bytes } }) };
  }

  release(): void {}
}

const DTYPE_OF_BYTES = { 1: 'u8', 2: 'u16', 4: 'u32', 8: 'u64' } as const;

/** Writes a shard to a device through pinned slots, which are uploaded while the host partitions the next pieces. */
class DeviceShardWriter implements ShardWriter {
  readonly #worker: DeviceWorker;
  readonly #maxKeys: number;
  readonly #keys: Column;
  readonly #values: Column | undefined;
  /** Taken for the first piece. */
  #slots: PinnedSlots | undefined;
  /** Bytes of a slot for keys; values follow them. */
  readonly #keyBytes: number;
  readonly #slotBytes: number;
  /** Pending upload of each slot. */
  readonly #busy: Promise<void>[] = Array.from({ length: SLOT_COUNT }, () => Promise.resolve());
  readonly reservesAhead = true;
  /** Number of slots reserved, and of slots filled, so far. */
  #reserved = 0;
  #filled = 0;
  #count = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(worker: DeviceWorker, job: HostJob, maxKeys: number) {
    const carried = carriedBytes(job);
    const piece = Math.min(pieceKeys(job), job.keys.n);
    this.#worker = worker;
    this.#maxKeys = maxKeys;
    this.#keyBytes = Math.ceil((piece * job.keys.info.bytes) / 4096) * 4096;
    const taken: Column[] = [];
    try {
      this.#keys = worker.arrays.borrow(job.keys.dtype, maxKeys);
      taken.push(this.#keys);
      this.#values =
        carried > 0 ? worker.arrays.borrow(DTYPE_OF_BYTES[carried as 1 | 2 | 4 | 8], maxKeys) : undefined;
      if (this.#values) taken.push(this.#values);
    } catch (error) {
      for (const one of taken) worker.arrays.discard(one);
      throw error;
    }
    this.#slotBytes = this.#keyBytes + piece * carried;
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
  }

  /** Returns slot number i; undefined if there is no memory for slots. */
  #slot(i: number): Uint8Array | undefined {
    try {
      this.#slots ??= this.#worker.takeSlots(this.#slotBytes);
    } catch (error) {
      this.#fail(error);
    }
    return this.#slots?.all[i];
  }

  async reserve(): Promise<PieceBuffers | undefined> {
    const number = this.#reserved++ % this.#busy.length;
    await this.#busy[number];
    if (this.#failure || this.#count >= this.#maxKeys) return undefined;
    const slot = this.#slot(number);
    if (!slot) return undefined;
    return {
      keys: slot.subarray(0, this.#keyBytes),
      ...(this.#values && { values: slot.subarray(this.#keyBytes) }),
    };
  }

  pieceWritten(count: number): void {
    const [at, number] = [this.#count, this.#filled++ % this.#busy.length];
    this.#count += count;
    if (count === 0 || this.#failure || this.#count > this.#maxKeys) return;
    const slot = this.#slot(number);
    if (!slot) return;
    this.#busy[number] = this.#upload(slot, at, count).catch((error: unknown) => this.#fail(error));
  }

  async #upload(slot: Uint8Array, at: number, count: number): Promise<void> {
    const { arrays } = this.#worker;
    const [keys, values] = [this.#keys, this.#values];
    await arrays.store(keys, byteRange(slot, 0, count * keys.info.bytes), at);
    if (!values) return;
    const from = this.#keyBytes;
    await arrays.store(values, byteRange(slot, from, from + count * values.info.bytes), at);
  }

  async finish(): Promise<Shard> {
    await Promise.all(this.#busy);
    if (this.#failure) throw this.#failure.error;
    if (this.#count > this.#maxKeys) throw tooManyKeysError(this.#maxKeys);
    this.#worker.arrays.assertLive([this.#keys, this.#values ?? this.#keys], 'a shard');
    const { dtype, place } = this.#keys;
    const values: { place: Place; bytes: number } | undefined = this.#values && {
      place: this.#values.place,
      bytes: this.#values.info.bytes,
    };
    return { keys: column(dtype, this.#count, place), ...(values && { values }) };
  }

  release(): void {
    const slots = this.#slots;
    const done = Promise.all(this.#busy); // never rejects; the device may still read the slots
    if (slots) done.then(() => this.#worker.returnSlots(slots));
    this.#worker.arrays.discard(this.#keys);
    if (this.#values) this.#worker.arrays.discard(this.#values);
  }
}
