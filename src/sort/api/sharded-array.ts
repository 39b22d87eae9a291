import { type ArrayOf, keyColumn, newArray } from '../../keys/array.js';
import type { Dtype, KeyArray } from '../../keys/dtype.js';
import { UsageError } from '../../util/errors.js';
import type { DeviceArray } from './device-array.js';
import { assertElements } from './element-range.js';

/** What keeps sharded arrays; a Sorter. */
export interface ShardedArrayOwner {
  /** Copies elements from `offset` on into `view`. */
  load(parts: readonly DeviceArray[], view: ArrayBufferView, offset: number): Promise<void>;
  /** Disposes of parts when calls that were made before are done with them. */
  discard(parts: readonly DeviceArray[]): void;
}

/**
 * Elements of one dtype that lie on all devices of a Sorter, each of which has a part: the first elements on the first
 * device, and so on. Comes from `Sorter.upload` with `spread`, and belongs to that Sorter; all sharded arrays of a length
 * have the same parts there. `sort`, `argsort`, `sortPairs`, `topK` and `reduce` take it, and no other operation does.
 */
export class ShardedArray<D extends Dtype = Dtype> implements Disposable {
  readonly dtype: D;
  /** Number of elements. */
  readonly length: number;
  readonly #owner: ShardedArrayOwner;
  #parts: readonly DeviceArray[] | undefined;

  /** @internal Sorters make them. */
  constructor(owner: ShardedArrayOwner, dtype: D, parts: readonly DeviceArray[]) {
    this.#owner = owner;
    this.#parts = parts;
    this.dtype = dtype;
    this.length = parts.reduce((sum, { length }) => sum + length, 0);
  }

  /** Bytes that the elements take. */
  get byteLength(): number {
    return this.#live().reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** Elements of each part, in the order of `Sorter.devices`. */
  get parts(): readonly number[] {
    return this.#live().map(({ length }) => length);
  }

  /**
   * Copies `length` elements from `offset` on into a new array: a Float16Array for f16 where Node has it, else a
   * Uint16Array of bits.
   *
   * @throws InputError when there are no such elements, or more than one array can hold: read in pieces; UsageError
   *   after `dispose()`; DeviceLostError when a device failed, with which its part went
   */
  async read(offset = 0, length?: number): Promise<ArrayOf<D>> {
    const parts = this.#live();
    assertElements('sharded array', this.length, offset, length ?? 0);
    const array = newArray(this.dtype, length ?? this.length - offset);
    await this.#owner.load(parts, array, offset);
    return array;
  }

  /**
   * Copies as many elements as `view` has, from `offset` on, into `view`: an array of the same dtype (or of bits of its
   * width, or bytes). What is used again, such as an array of `Sorter.alloc`, costs less than new ones do.
   *
   * @throws InputError when there are no such elements; UsageError after `dispose()`; DeviceLostError as `read`
   */
  async readInto(view: KeyArray, offset = 0): Promise<void> {
    const parts = this.#live();
    const { n } = keyColumn(view, this.dtype);
    assertElements('sharded array', this.length, offset, n);
    await this.#owner.load(parts, view, offset); // which may stand anywhere
  }

  /** Gives the memory back. May be called twice; using the array afterwards is an error. */
  dispose(): void {
    const parts = this.#parts;
    this.#parts = undefined;
    if (parts) this.#owner.discard(parts);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** @internal The parts, for their owner only. */
  partsFor(owner: ShardedArrayOwner): readonly DeviceArray[] {
    if (owner !== this.#owner) {
      throw new UsageError('this sharded array belongs to another Sorter: read() it and upload it here');
    }
    return this.#live();
  }

  #live(): readonly DeviceArray[] {
    if (!this.#parts) throw new UsageError('this sharded array was disposed of');
    return this.#parts;
  }
}
