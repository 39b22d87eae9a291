import type { Buffer } from '../../device/buffer.js';
import type { Device } from '../../device/device.js';
import {
  concatenateArrays,
  copyArrays,
  type FileRange,
  type FileTransferResult,
  type StagedTransferTarget,
  type TransferTarget,
} from '../../device/staging.js';
import { type ArrayOf, type MemorySource, newArray, withFixedLength } from '../../keys/array.js';
import type { Dtype } from '../../keys/dtype.js';
import { adjustExternalBytes, collectNow } from '../../opencl/external-bytes.js';
import { UnsupportedError } from '../../util/errors.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import { byteLengthOf, type Column, isOnDevice, type Place } from '../backend/column.js';
import { download, upload } from './bind-host-memory.js';

/** Bytes of device arrays and of what calls need besides; for the host engine, of device arrays alone. */
export interface MemoryUsage {
  /** In use: by arrays that are not disposed of, and by calls that are under way. */
  readonly used: number;
  /** Kept for the next calls; `trim` gives it back. */
  readonly idle: number;
  /** The most of both together that there were since the device was opened. */
  readonly peak: number;
}

/** The memory of device arrays, and of arrays that the device is to write. */
export interface ColumnMemory {
  /** Where arrays of the host for results come from: nobody sees one of which not every byte was written. */
  readonly results: MemorySource | undefined;
  /** Room for n keys, which V8 is told of, since a DeviceArray holds it. @throws MemoryError */
  take(dtype: Dtype, n: number): Place;
  /**
   * Takes room back. What is in the memory of the host need not be given: it is collected.
   *
   * @param collected whether V8 has collected what held it
   */
  give(place: Place, collected?: boolean): void;
  /** Has V8 collect now what holds such memory: it is told of it, but begins and ends a collection when it likes. */
  collectGarbage(): void;
  /** Gives back what nobody uses. */
  trim(): void;
  readonly usage: MemoryUsage;
  /** An array of the host that the device reaches directly. @throws MemoryError */
  pinned<D extends Dtype>(dtype: D, n: number): ArrayOf<D>;
  /** Gives the memory of a `pinned` array back. */
  unpin(buffer: ArrayBufferLike): void;
  /** Memory of the host that arrays pass through on their way, until the device goes, and the memory with it. @throws MemoryError */
  allocateStaging(bytes: number): ArrayBuffer;
  /** Copies arrays of the host to others of their lengths. */
  copyArrays(from: readonly Uint8Array[], to: readonly Uint8Array[]): MaybePromise<void>;
  /** Copies arrays of the host to where they lie one behind the other, of as many bytes as all of them; not where only this thread could. */
  readonly concatenateArrays?: (from: readonly ArrayBufferView[], to: ArrayBufferView) => Promise<void>;
  /** Copies `view` into the column from its element `offset` on, and waits for it. */
  store(column: Column, view: ArrayBufferView, offset: number): Promise<void>;
  /** Copies elements of the column from `offset` on into `view`, and waits for it. */
  load(column: Column, view: ArrayBufferView, offset: number): Promise<void>;
  /** Makes what files pass through, before the first one comes. @throws MemoryError */
  prepareFiles(): Promise<void>;
  /** As `store`, of a stretch of a file. @throws UnsupportedError where the memory is the host's */
  storeFile(column: Column, file: FileRange, offset: number): Promise<FileTransferResult>;
  /** As `load`, into a stretch of a file, of a column that is complete. @throws as `storeFile` */
  loadFile(column: Column, file: FileRange, offset: number): Promise<FileTransferResult>;
  /** Lends what brings bytes into a column that nobody knows of yet. @throws as `storeFile` */
  feed(column: Column, use: (feed: StagedTransferTarget) => Promise<void>): Promise<void>;
  /** The same for who brings them from memory of its own. @throws as `storeFile` */
  feedUnstaged(column: Column, use: (way: TransferTarget) => Promise<void>): Promise<void>;
  /** Lends what brings bytes away from a column that is complete. @throws as `storeFile` */
  drain(column: Column, use: (feed: StagedTransferTarget) => Promise<void>): Promise<void>;
  /** Copies `count` elements from `offset` of one column on to where they begin in another, and waits for it. */
  copy(from: Column, offset: number, to: Column, start: number, count: number): Promise<void>;
}

/** Memory of a device: buffers of its pool. */
export class DeviceMemory implements ColumnMemory {
  readonly results: MemorySource;
  readonly #device: Device;
  /**
   * Bytes that V8 was told of and that were given back: it hears of the next arrays only beyond them. Else
   * a program that makes and disposes of large arrays would have it collect at each of them.
   */
  #slackBytes = 0;

  constructor(device: Device) {
    this.#device = device;
    this.results = (bytes) => device.hostMemory(bytes, { used: true });
  }

  take(dtype: Dtype, n: number): Place {
    const buffer = this.#device.pool.take(byteLengthOf({ dtype, n }));
    const known = Math.min(buffer.bytes, this.#slackBytes);
    this.#slackBytes -= known;
    if (known < buffer.bytes) adjustExternalBytes(buffer.bytes - known);
    return buffer;
  }

  give(place: Place, collected = false): void {
    const buffer = bufferOf(place);
    this.#device.pool.give(buffer);
    if (collected) adjustExternalBytes(-buffer.bytes);
    else this.#slackBytes += buffer.bytes;
  }

  collectGarbage(): void {
    collectNow();
  }

  trim(): void {
    this.#device.pool.clear();
    adjustExternalBytes(-this.#slackBytes);
    this.#slackBytes = 0;
  }

  get usage(): MemoryUsage {
    const { used: lent, idle, peak } = this.#device.pool.usage;
    return { used: lent, idle, peak };
  }

  /** Pinned memory for a device with memory of its own, else memory on pages. */
  pinned<D extends Dtype>(dtype: D, n: number): ArrayOf<D> {
    const device = this.#device;
    // Nobody else knows that small memory is there to be freed, so it is V8's.
    const pin = !device.capabilities.unifiedMemory && n > 0;
    return newArray(dtype, n, (bytes) => (pin ? device.staging.allocate(bytes) : device.hostMemory(bytes)));
  }

  unpin(buffer: ArrayBufferLike): void {
    this.#device.staging.free(buffer);
  }

  allocateStaging(bytes: number): ArrayBuffer {
    return this.#device.staging.allocateStaging(bytes);
  }

  copyArrays(from: readonly Uint8Array[], to: readonly Uint8Array[]): MaybePromise<void> {
    return copyArrays(from, to);
  }

  readonly concatenateArrays = concatenateArrays;

  async store({ place, info }: Column, view: ArrayBufferView, offset: number): Promise<void> {
    await upload(this.#device, bufferOf(place), withFixedLength(view), { offset: offset * info.bytes });
    await this.#device.queue.finish();
  }

  async load({ place, info }: Column, view: ArrayBufferView, offset: number): Promise<void> {
    await download(this.#device, bufferOf(place), view, { offset: offset * info.bytes });
    await this.#device.queue.finish();
  }

  prepareFiles(): Promise<void> {
    return this.#device.staging.prepareFileRings();
  }

  async storeFile({ place, info }: Column, file: FileRange, offset: number): Promise<FileTransferResult> {
    await this.#device.queue.settle(); // whoever had the memory before may still use it
    return this.#device.staging.writeFromFile(bufferOf(place), file, offset * info.bytes);
  }

  async loadFile({ place, info }: Column, file: FileRange, offset: number): Promise<FileTransferResult> {
    return this.#device.staging.readToFile(bufferOf(place), file, offset * info.bytes);
  }

  async feed({ place }: Column, use: (feed: StagedTransferTarget) => Promise<void>): Promise<void> {
    await this.#device.queue.settle(); // as for a file
    await this.#device.staging.feed(bufferOf(place), use);
  }

  async feedUnstaged({ place }: Column, use: (way: TransferTarget) => Promise<void>): Promise<void> {
    await this.#device.queue.settle(); // as for a file
    await this.#device.staging.feedUnstaged(bufferOf(place), use);
  }

  async drain({ place }: Column, use: (feed: StagedTransferTarget) => Promise<void>): Promise<void> {
    await this.#device.staging.drain(bufferOf(place), use);
  }

  async copy(from: Column, offset: number, to: Column, start: number, count: number): Promise<void> {
    const { bytes } = from.info;
    const { queue } = this.#device;
    queue.copy(bufferOf(from.place), bufferOf(to.place), {
      bytes: count * bytes,
      fromOffset: offset * bytes,
      toOffset: start * bytes,
    });
    await queue.finish();
  }
}

function bufferOf(place: Place): Buffer {
  if (!isOnDevice(place)) throw new UnsupportedError('memory of the host, among that of a device');
  return place;
}
