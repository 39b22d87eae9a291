import type { Device } from '../device/device.js';
import { type ArrayOf, bytesOf, dtypeOf, emptyLike, type MemorySource, newArray } from '../keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../keys/dtype.js';
import { InputError } from '../util/errors.js';
import { byteLengthOf, type Column, column, isOnDevice, type Place } from './column.js';
import { type ArrayOwner, DeviceArray } from './device-array.js';
import type { Executor } from './executor.js';
import { download, upload } from './transfer.js';
import type { Turns } from './turns.js';

/** Keys as operations take them: an array of the host, or one that stays on the device. */
export type Keys = KeyArray | DeviceArray;

/** A result in the making: where it is to be written, and what the caller gets. */
export interface Made<R> {
  readonly place: Place;
  readonly result: R;
}

/** Makes results: on the device for device arrays, else in new arrays of the host. */
export interface Maker {
  /** Room for n keys in an array of the type of `array`, or in `into`, an array for results of an earlier call. */
  like<K extends Keys>(array: K, dtype: Dtype, n: number, into?: K): Made<K>;
  /** Room for n elements of `dtype` where `beside` is. */
  beside(beside: Keys, dtype: Dtype, n: number, into?: Keys): Made<Keys>;
}

/** The memory of a Sorter's device arrays. */
export class ArrayStore implements ArrayOwner {
  readonly #executor: Executor;
  readonly #turns: Turns;
  readonly #live = new Set<Column>();

  constructor(executor: Executor, turns: Turns) {
    this.#executor = executor;
    this.#turns = turns;
    executor.onGiveUp(() => {
      for (const { place } of this.#live) if (isOnDevice(place)) place.release();
      this.#live.clear();
    });
  }

  get #device(): Device | undefined {
    return this.#executor.device;
  }

  /** Where results on the host come from: nobody sees one of which not every byte was written. */
  get #memory(): MemorySource | undefined {
    const device = this.#device;
    return device && ((bytes) => device.hostMemory(bytes, { used: true }));
  }

  /** @throws MemoryError */
  allocate<D extends Dtype>(dtype: D, n: number): DeviceArray<D> {
    return new DeviceArray(this, dtype, this.take(dtype, n));
  }

  /** Memory for a device array. @throws MemoryError */
  take(dtype: Dtype, n: number): Column {
    const place = this.#device ? this.#device.pool.take(byteLengthOf({ dtype, n })) : newArray(dtype, n);
    const taken = column(dtype, n, place);
    this.#live.add(taken);
    return taken;
  }

  /** Takes memory back, when operations that were asked for before are done with it. */
  discard(discarded: Column): void {
    if (this.#turns.idle) this.#give(discarded);
    // Refused when the Sorter is closing, which takes everything back itself.
    else this.#turns.alone(async () => this.#give(discarded)).catch(() => undefined);
  }

  #give(discarded: Column): void {
    if (this.#live.delete(discarded) && isOnDevice(discarded.place)) this.#device?.pool.give(discarded.place);
  }

  /** Takes the memory of all arrays back. */
  clear(): void {
    for (const live of [...this.#live]) this.#give(live);
  }

  /**
   * An array of the host that the device reaches directly, so that transfers need no copies: pinned memory
   * for a device with memory of its own, else memory on pages.
   */
  pinned<D extends Dtype>(dtype: D, n: number): ArrayOf<D> {
    const device = this.#device;
    if (!device) return newArray(dtype, n);
    // Nobody else knows that small memory is there to be freed, so it is V8's.
    const pin = !device.capabilities.unifiedMemory && n > 0;
    return newArray(dtype, n, (bytes) => (pin ? device.staging.allocate(bytes) : device.hostMemory(bytes)));
  }

  /** Gives the memory of a `pinned` array back, when operations that were asked for before are done with it. */
  async unpin({ buffer }: ArrayBufferView): Promise<void> {
    await this.#turns.alone(async () => this.#device?.staging.free(buffer));
  }

  async store({ place, info }: Column, view: ArrayBufferView, offset: number): Promise<void> {
    await this.#alone(async (device) => {
      if (!isOnDevice(place)) bytesOf(place).set(bytesOf(view), offset * info.bytes);
      else if (device) await upload(device, place, view, offset * info.bytes);
    });
  }

  async load({ place, info }: Column, view: ArrayBufferView, offset: number): Promise<void> {
    const start = offset * info.bytes;
    await this.#alone(async (device) => {
      if (!isOnDevice(place)) bytesOf(view).set(bytesOf(place).subarray(start, start + view.byteLength));
      else if (device) await download(device, place, view, { offset: start });
    });
  }

  /** Runs a transfer when it is its turn, and waits for it. */
  #alone(transfer: (device: Device | undefined) => Promise<void>): Promise<void> {
    const run = async () => {
      await transfer(this.#device);
      await this.#device?.queue.finish();
    };
    return this.#turns.alone(() => this.#executor.run(run, { again: false }));
  }

  /** An array that the caller brings for a result. @throws InputError when it does not fit */
  #given(into: Keys, like: Keys, dtype: Dtype, n: number): Made<Keys> {
    const kind = (array: Keys) =>
      array instanceof DeviceArray ? `a device array of ${array.dtype}` : dtypeOf(array);
    if (kind(into) !== kind(like) || into.byteLength !== byteLengthOf({ dtype, n })) {
      throw new InputError(
        `into is ${kind(into)} of ${into.byteLength} bytes: the result is ${kind(like)} of ` +
          `${byteLengthOf({ dtype, n })} bytes`,
      );
    }
    const place = into instanceof DeviceArray ? into.columnFor(this).place : into;
    return { place, result: into };
  }

  /** Runs `use` with a maker of results; those on the device are disposed of when it fails. */
  async making<T>(use: (make: Maker) => Promise<T>): Promise<T> {
    const made: DeviceArray[] = [];
    const onDevice = (dtype: Dtype, n: number): Made<DeviceArray> => {
      const array = this.allocate(dtype, n);
      made.push(array);
      return { place: array.columnFor(this).place, result: array };
    };
    const make: Maker = {
      like: <K extends Keys>(array: K, dtype: Dtype, n: number, into?: K): Made<K> => {
        if (into) return this.#given(into, array, dtype, n) as Made<K>;
        // The kind of the array decides, which the compiler cannot follow.
        if (array instanceof DeviceArray) return onDevice(dtype, n) as unknown as Made<K>;
        const length = (n * dtypeInfo(dtype).bytes) / array.BYTES_PER_ELEMENT;
        const result = emptyLike(array as KeyArray, length, this.#memory);
        return { place: result, result } as unknown as Made<K>;
      },
      beside: (beside, dtype, n, into) => {
        if (into) {
          const kind = beside instanceof DeviceArray ? beside : new Uint32Array(0);
          return this.#given(into, kind, dtype, n);
        }
        if (beside instanceof DeviceArray) return onDevice(dtype, n);
        const result = newArray(dtype, n, this.#memory);
        return { place: result, result };
      },
    };
    try {
      return await use(make);
    } catch (error) {
      for (const array of made) array.dispose();
      throw error;
    }
  }
}
