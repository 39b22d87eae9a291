import { part } from '../../keys/array.js';
import { type Column, column, type Place, type Values } from '../backend/column.js';
import type { HostJob } from '../backend/job.js';
import { type Member, SLOTS, type Slots } from './member.js';
import { carriedBytes, type Direct, pieceKeys, type Room, type Sink } from './split.js';
import { tooMany } from './too-many.js';

/** What a member is to sort, as jobs have it. */
export interface Share {
  readonly keys: Column;
  readonly values?: Values;
}

/** Gathers a share where its member sorts it. */
export interface ShareSink extends Sink {
  /** All that has come. @throws what went wrong on the way */
  share(): Promise<Share>;
  /** Gives its memory back. */
  release(): void;
}

/**
 * Gathers at most so many keys for a member: in memory of the host for a device that works there, else on the device.
 *
 * @throws MemoryError
 */
export function sinkFor(member: Member, job: HostJob, most: number): ShareSink {
  return member.streams && carriedBytes(job) <= 8
    ? new DeviceSink(member, job, most)
    : new HostSink(member, job, most);
}

/** In memory of the host. */
export class HostSink implements ShareSink {
  readonly #job: HostJob;
  readonly #most: number;
  readonly #keys: ArrayBufferView;
  readonly #values: ArrayBufferView | undefined;
  #count = 0;

  constructor(member: Member, job: HostJob, most: number) {
    const carried = carriedBytes(job);
    this.#job = job;
    this.#most = most;
    this.#keys = member.hostMemory(most * job.keys.info.bytes);
    this.#values = carried > 0 ? member.hostMemory(most * carried) : undefined;
  }

  async room(): Promise<Room | undefined> {
    if (this.#count >= this.#most) return undefined;
    const keys = part(this.#keys, this.#count * this.#job.keys.info.bytes);
    const values = this.#values && part(this.#values, this.#count * carriedBytes(this.#job));
    return { keys, ...(values && { values }) };
  }

  took(count: number): void {
    this.#count += count;
  }

  async share(): Promise<Share> {
    if (this.#count > this.#most) throw tooMany(this.#most);
    const { info, dtype } = this.#job.keys;
    const bytes = carriedBytes(this.#job);
    const view = part(this.#keys, 0, this.#count * info.bytes);
    const values = this.#values && part(this.#values, 0, this.#count * bytes);
    return { keys: column(dtype, this.#count, view), ...(values && { values: { place: values, bytes } }) };
  }

  release(): void {}
}

const DTYPE_OF_BYTES = { 1: 'u8', 2: 'u16', 4: 'u32', 8: 'u64' } as const;

/** On a device, through pinned memory that it takes pieces from while the host splits the next ones. */
class DeviceSink implements ShareSink {
  readonly #member: Member;
  readonly #most: number;
  readonly #keys: Column;
  readonly #values: Column | undefined;
  /** Made when a piece is to come. */
  #slots: Slots | undefined;
  /** Bytes of a slot that are for keys; what travels with them comes behind. */
  readonly #keyBytes: number;
  readonly #slotBytes: number;
  /** What became of each slot's pieces. */
  readonly #busy: Promise<void>[] = Array.from({ length: SLOTS }, () => Promise.resolve());
  readonly ahead = true;
  /** Slots that room was given in, and that something came in, so far. */
  #given = 0;
  #filled = 0;
  #count = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(member: Member, job: HostJob, most: number) {
    const carried = carriedBytes(job);
    const piece = Math.min(pieceKeys(job), job.keys.n);
    this.#member = member;
    this.#most = most;
    this.#keyBytes = Math.ceil((piece * job.keys.info.bytes) / 4096) * 4096;
    const taken: Column[] = [];
    try {
      this.#keys = member.arrays.borrow(job.keys.dtype, most);
      taken.push(this.#keys);
      this.#values =
        carried > 0 ? member.arrays.borrow(DTYPE_OF_BYTES[carried as 1 | 2 | 4 | 8], most) : undefined;
      if (this.#values) taken.push(this.#values);
    } catch (error) {
      for (const one of taken) member.arrays.discard(one);
      throw error;
    }
    this.#slotBytes = this.#keyBytes + piece * carried;
  }

  get direct(): Direct | undefined {
    if (this.#values) return undefined;
    const member = this.#member;
    return {
      member,
      keys: this.#keys,
      most: this.#most,
      feed: async (use) => {
        await member.arrays.feed(this.#keys, use).catch((error: unknown) => this.#fail(error));
      },
      came: (count) => {
        this.#count += count;
      },
    };
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
  }

  /** Slot number i, if there is room for slots. */
  #slot(i: number): Uint8Array | undefined {
    try {
      this.#slots ??= this.#member.takeSlots(this.#slotBytes);
    } catch (error) {
      this.#fail(error);
    }
    return this.#slots?.all[i];
  }

  async room(): Promise<Room | undefined> {
    const number = this.#given++ % this.#busy.length;
    await this.#busy[number];
    if (this.#failure || this.#count >= this.#most) return undefined;
    const slot = this.#slot(number);
    if (!slot) return undefined;
    return {
      keys: slot.subarray(0, this.#keyBytes),
      ...(this.#values && { values: slot.subarray(this.#keyBytes) }),
    };
  }

  took(count: number): void {
    const [at, number] = [this.#count, this.#filled++ % this.#busy.length];
    this.#count += count;
    if (count === 0 || this.#failure || this.#count > this.#most) return;
    const slot = this.#slot(number);
    if (!slot) return;
    this.#busy[number] = this.#bring(slot, at, count).catch((error: unknown) => this.#fail(error));
  }

  async #bring(slot: Uint8Array, at: number, count: number): Promise<void> {
    const { arrays } = this.#member;
    const [keys, values] = [this.#keys, this.#values];
    await arrays.store(keys, part(slot, 0, count * keys.info.bytes), at);
    if (!values) return;
    const from = this.#keyBytes;
    await arrays.store(values, part(slot, from, from + count * values.info.bytes), at);
  }

  async share(): Promise<Share> {
    await Promise.all(this.#busy);
    if (this.#failure) throw this.#failure.error;
    if (this.#count > this.#most) throw tooMany(this.#most);
    this.#member.arrays.assertLive([this.#keys, this.#values ?? this.#keys], 'a share');
    const { dtype, place } = this.#keys;
    const values: { place: Place; bytes: number } | undefined = this.#values && {
      place: this.#values.place,
      bytes: this.#values.info.bytes,
    };
    return { keys: column(dtype, this.#count, place), ...(values && { values }) };
  }

  release(): void {
    const slots = this.#slots;
    const done = Promise.all(this.#busy); // which never rejects: the device may still read the slots
    if (slots) done.then(() => this.#member.give(slots));
    this.#member.arrays.discard(this.#keys);
    if (this.#values) this.#member.arrays.discard(this.#values);
  }
}
