import { crossoversFor } from '../../algorithms/tuning.js';
import type { Device } from '../../device/device.js';
import { byteRange, copyBytes, newArray } from '../../keys/array.js';
import type { Dtype } from '../../keys/dtype.js';
import { isShortTop } from '../../primitives/top-short.js';
import { MismatchError } from '../../util/errors.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import { byteLengthOf, type Column, column, isOnDevice } from '../model/column.js';
import type { SortSettings } from '../model/options.js';
import type { CheckedTransfers } from '../transfer/checked-transfers.js';
import {
  type BoundMemory,
  bindInput,
  bindOutput,
  download,
  takeFromPool,
  upload,
} from '../transfer/column-memory.js';
import type { CopiedBuffer } from '../verification/checksum.js';
import type { ColumnKernels } from './column-kernels.js';
import type { ColumnVerifier } from './column-verifier.js';
import type { Columns, HostColumnAccess } from './columns.js';
import { DeviceColumnVerifier } from './device-column-verifier.js';
import { NativeColumnKernels } from './native-column-kernels.js';
import { NativeColumnVerifier } from './native-column-verifier.js';

/** Columns of a device. Host columns are copied to the device and back. */
export class DeviceColumns implements Columns {
  readonly kernels: ColumnKernels;
  #verifier: ColumnVerifier | undefined;
  readonly #device: Device;
  readonly #settings: SortSettings;
  readonly #transfers: CheckedTransfers;
  #bound: BoundMemory[] | undefined;
  /** Queue position before this call enqueued anything, or at its last wait. */
  #since: number;

  /** @param kernels column kernels of the device, shared by all calls */
  constructor(device: Device, settings: SortSettings, transfers: CheckedTransfers, kernels: ColumnKernels) {
    this.#device = device;
    this.#settings = settings;
    this.#transfers = transfers;
    this.kernels = kernels;
    this.#since = device.queue.position;
  }

  get verifier(): ColumnVerifier {
    if (!this.#verifier) {
      const fetch = async (from: Column) => (await this.copyToHost(from)).keys;
      this.#verifier = new DeviceColumnVerifier(this.#device, fetch, this.#settings.signal);
      this.#transfers.prepare().catch(() => undefined); // an error recurs when a transfer is checked
    }
    return this.#verifier;
  }

  temporary(dtype: Dtype, n: number): Column {
    const bound = this.#track(takeFromPool(this.#device, byteLengthOf({ n, dtype })));
    return column(dtype, n, bound.buffer);
  }

  bindInput(from: Column): MaybePromise<Column> {
    return isOnDevice(from.place) ? from : this.#bindHostInput(from, from.place);
  }

  async #bindHostInput(from: Column, place: ArrayBufferView): Promise<Column> {
    const { buffer, copy } = this.#track(await bindInput(this.#device, place, from.info.bytes));
    await this.#watchTransfer(buffer, copy);
    return { ...from, place: buffer };
  }

  bindOutput(to: Column, write: (to: Column) => MaybePromise<void>): MaybePromise<void> {
    return isOnDevice(to.place) ? write(to) : this.#bindHostOutput(to, to.place, write);
  }

  async #bindHostOutput(
    to: Column,
    place: ArrayBufferView,
    write: (to: Column) => MaybePromise<void>,
  ): Promise<void> {
    const bound = this.#track(bindOutput(this.#device, place, to.info.bytes));
    const { buffer, copy } = bound;
    const copyBack = () => bound.copyBack(this.#settings.timeout);
    await write({ ...to, place: buffer });
    await this.#watchTransfer(buffer, copy, () => this.#retry(copyBack));
    await copyBack();
  }

  /**
   * Checks a transfer if `verify` is set.
   *
   * @param copy the data in host memory, if there is a copy
   * @param retry repeats the transfer and waits for it
   */
  async #watchTransfer(
    buffer: CopiedBuffer['buffer'],
    copy: CopiedBuffer['copy'] | undefined,
    retry?: () => Promise<void>,
  ): Promise<void> {
    if (copy && this.#settings.verify) await this.#transfers.watch([{ buffer, copy }], retry);
  }

  async copy(from: Column, to: Column): Promise<void> {
    const device = this.#device;
    const bytes = byteLengthOf(to);
    if (!isOnDevice(from.place)) {
      // A result that the host computed, on its way back to the device.
      const copy = byteRange(from.place, 0, bytes);
      if (!isOnDevice(to.place)) return copyBytes(copy, to.place);
      await upload(device, to.place, copy);
      return this.#transfers.watch([{ buffer: to.place, copy }]);
    }
    if (isOnDevice(to.place)) return device.queue.copy(from.place, to.place, { bytes });
    const [buffer, copy] = [from.place, to.place];
    const fetch = () => download(device, buffer, copy, { deadlineMs: this.#settings.timeout });
    await this.#transfers.watch([{ buffer, copy }], () => this.#retry(fetch));
    await fetch();
  }

  lacksDoubles(dtype: Dtype): boolean {
    return dtype === 'f64' && !this.#device.capabilities.fp64;
  }

  async copyToHost(keys: Column): Promise<HostColumnAccess> {
    const { signal } = this.#settings;
    const host = { kernels: new NativeColumnKernels(signal), verifier: new NativeColumnVerifier(signal) };
    if (!isOnDevice(keys.place)) return { keys, ...host };
    const copy = column(keys.dtype, keys.n, newArray(keys.dtype, keys.n));
    await this.copy(keys, copy);
    await this.finish();
    return { keys: copy, ...host };
  }

  prefersSelect(n: number): boolean {
    return n > (this.#settings.tuning.select ?? crossoversFor(this.#device).select);
  }

  prefersShortSelect(n: number, longest: number, k: number): boolean {
    if (!isShortTop(longest, k)) return false;
    const { select } = this.#settings.tuning;
    // One launch instead of many pays for any number of keys, unless the device is faster at sorting
    // segments.
    return select === undefined ? Number.isFinite(crossoversFor(this.#device).select) : n > select;
  }

  flush(): void {
    this.#device.queue.flushSoon();
  }

  finish(): Promise<void> {
    const { queue } = this.#device;
    const since = this.#since;
    this.#since = queue.position;
    // Another call may have received the failure, including that of commands of this call.
    return queue.settle(this.#settings.timeout, since);
  }

  async check(): Promise<void> {
    if (await this.#transfers.same()) return;
    throw new MismatchError('cannot use the result: data changed in a transfer between host and device');
  }

  release(): void {
    const bound = this.#bound;
    this.#bound = undefined;
    for (const one of bound ?? []) one.release();
  }

  #track<L extends BoundMemory>(bound: L): L {
    this.#bound ??= [];
    this.#bound.push(bound);
    return bound;
  }

  async #retry(transfer: () => MaybePromise<void>): Promise<void> {
    await transfer();
    await this.finish();
  }
}
