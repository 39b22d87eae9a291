import { type ArrayOf, byteRange, copyBytes, copyEach, newArray } from '../../keys/array.js';
import type { Dtype } from '../../keys/dtype.js';
import { UnsupportedError } from '../../util/errors.js';
import { resultMemory } from '../host/native-module.js';
import { type Column, type Place, viewOf } from '../model/column.js';
import type { ColumnMemory, MemoryUsage } from './column-memory.js';

/** Memory of the host engine: arrays. */
export class HostMemory implements ColumnMemory {
  readonly results = resultMemory;
  #used = 0;
  #peak = 0;
  readonly #collected = new FinalizationRegistry<number>((bytes) => {
    this.#used -= bytes;
  });

  take(dtype: Dtype, n: number): Place {
    const array = newArray(dtype, n);
    this.#used += array.byteLength;
    this.#peak = Math.max(this.#peak, this.#used);
    this.#collected.register(array, array.byteLength, array);
    return array;
  }

  give(place: Place): void {
    const array = viewOf({ place });
    if (this.#collected.unregister(array)) this.#used -= array.byteLength;
  }

  collectGarbage(): void {} // V8 knows the size of these arrays

  trim(): void {}

  get usage(): MemoryUsage {
    return { used: this.#used, idle: 0, peak: this.#peak };
  }

  pinned<D extends Dtype>(dtype: D, n: number): ArrayOf<D> {
    return newArray(dtype, n);
  }

  unpin(): void {}

  allocateStaging(bytes: number): ArrayBuffer {
    return new ArrayBuffer(bytes);
  }

  copyArrays(from: readonly Uint8Array[], to: readonly Uint8Array[]): void {
    copyEach(from, to);
  }

  async store({ place, info }: Column, view: ArrayBufferView, offset: number): Promise<void> {
    copyBytes(view, byteRange(viewOf({ place }), offset * info.bytes));
  }

  async load({ place, info }: Column, view: ArrayBufferView, offset: number): Promise<void> {
    const start = offset * info.bytes;
    copyBytes(byteRange(viewOf({ place }), start, start + view.byteLength), view);
  }

  async prepareFiles(): Promise<void> {}

  async storeFile(): Promise<never> {
    throw new UnsupportedError('cannot read a file into host memory: only device memory supports this');
  }

  async loadFile(): Promise<never> {
    throw new UnsupportedError('cannot write a file from host memory: only device memory supports this');
  }
}
