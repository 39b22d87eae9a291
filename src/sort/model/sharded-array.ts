import { type InspectOptions, inspect } from 'node:util';
import { type ArrayOf, keyColumn, newArray } from '../../keys/array.js';
import type { Dtype, KeyArray } from '../../keys/dtype.js';
import { inspectLine } from '../../util/inspect-line.js';
import type { DeviceArray } from './device-array.js';
import { assertElements, disposedError, otherSorterError } from './element-range.js';

/** Owner of sharded arrays: a Sorter. */
export interface ShardedArrayOwner {
  /** Copies elements, from `offset` on, into `view`. */
  load(parts: readonly DeviceArray[], view: ArrayBufferView, offset: number): Promise<void>;
  /** Disposes of the parts once the calls that were made before have finished. */
  discard(parts: readonly DeviceArray[]): void;
}

/**
 * Array of one dtype that is distributed over all devices of a Sorter. Each device holds one part: the first elements
 * are on the first device, and so on.
 *
 * `Sorter.upload` with `sharded` creates it, and it belongs to that Sorter. All sharded arrays of the same length have
 * the same parts there. `sort`, `argsort`, `sortPairs`, `topK` and `reduce` accept sharded arrays; no other operation
 * does.
 *
 * @example
 * ```ts
 * const keys = await sorter.upload(Float32Array.of(5, 1, 4), { sharded: true });
 * const sorted = await sorter.sort(keys);
 * const smallest = await sorted.read(0, 1); // 1
 * ```
 */
export class ShardedArray<D extends Dtype = Dtype> implements Disposable {
  readonly dtype: D;
  /** Number of elements. */
  readonly length: number;
  readonly #owner: ShardedArrayOwner;
  #parts: readonly DeviceArray[] | undefined;

  /** @internal Created by Sorters only. */
  constructor(owner: ShardedArrayOwner, dtype: D, parts: readonly DeviceArray[]) {
    this.#owner = owner;
    this.#parts = parts;
    this.dtype = dtype;
    this.length = parts.reduce((sum, { length }) => sum + length, 0);
  }

  /** Size of the elements in bytes. */
  get byteLength(): number {
    return this.#live().reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** Number of elements of each part, in the order of `Sorter.devices`. */
  get parts(): readonly number[] {
    return this.#live().map(({ length }) => length);
  }

  /**
   * Copies elements into a new array.
   *
   * @param offset first element; default 0
   * @param length number of elements; default: all from `offset` on
   * @returns a typed array of the dtype; for f16 a Float16Array if Node has one, otherwise a Uint16Array of bits
   * @throws InputError when the range exceeds the array, or is longer than one typed array can be: read in pieces
   * @throws UsageError after `dispose()`
   * @throws DeviceLostError when a device failed and its part was lost
   * @example
   * ```ts
   * const firstTen = await sorted.read(0, 10);
   * ```
   */
  async read(offset = 0, length?: number): Promise<ArrayOf<D>> {
    const parts = this.#live();
    assertElements('sharded array', this.length, offset, length ?? 0);
    const array = newArray(this.dtype, length ?? this.length - offset);
    await this.#owner.load(parts, array, offset);
    return array;
  }

  /**
   * Copies elements into an existing array. Reusing an array, such as one of `Sorter.allocPinned`, costs less than new arrays
   * do.
   *
   * @param view array of the same dtype, of bits of its width, or of bytes; receives as many elements as it has
   * @param offset first element to copy; default 0
   * @throws InputError when the range exceeds the array
   * @throws UsageError after `dispose()`
   * @throws DeviceLostError when a device failed and its part was lost
   * @example
   * ```ts
   * await sorted.readInto(result);
   * ```
   */
  async readInto(view: KeyArray, offset = 0): Promise<void> {
    const parts = this.#live();
    const { n } = keyColumn(view, this.dtype);
    assertElements('sharded array', this.length, offset, n);
    await this.#owner.load(parts, view, offset); // `view` itself: a column of it may be a copy
  }

  /**
   * Releases the memory. May be called twice. Using the array afterwards is an error.
   *
   * @example
   * ```ts
   * keys.dispose();
   * ```
   */
  dispose(): void {
    const parts = this.#parts;
    this.#parts = undefined;
    if (parts) this.#owner.discard(parts);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Prints dtype, length, parts and state in one line: `live` or `disposed`. */
  [inspect.custom](_depth: number, options: InspectOptions): string {
    const { dtype, length } = this;
    const parts = this.#parts?.map((part) => part.length);
    return inspectLine(
      'ShardedArray',
      { dtype, length, ...(parts && { parts }), state: parts ? 'live' : 'disposed' },
      options,
    );
  }

  /**
   * @internal Returns the parts to their owner.
   *
   * @throws UsageError for another owner, and after `dispose()`
   */
  partsFor(owner: ShardedArrayOwner): readonly DeviceArray[] {
    if (owner !== this.#owner) throw otherSorterError('sharded array');
    return this.#live();
  }

  #live(): readonly DeviceArray[] {
    if (!this.#parts) throw disposedError('sharded array');
    return this.#parts;
  }
}
