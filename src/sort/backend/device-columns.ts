import { crossoversFor } from '../../algorithms/tuning.js';
import type { Device } from '../../device/device.js';
import { copyBytes, newArray, part } from '../../keys/array.js';
import type { Dtype } from '../../keys/dtype.js';
import { isShortTop } from '../../primitives/top-short.js';
import { MismatchError } from '../../util/errors.js';
import { after, type Soon } from '../../util/soon.js';
import type { SortSettings } from '../api/options.js';
import type { ColumnChecks } from '../operations/column-checks.js';
import type { ColumnSteps } from '../operations/column-steps.js';
import { DeviceColumnChecks } from '../operations/device-column-checks.js';
import { HostColumnChecks } from '../operations/host-column-checks.js';
import { HostColumnSteps } from '../operations/host-column-steps.js';
import type { Copy } from '../proof/checksum.js';
import type { CheckedTransfers } from '../transfer/checked-transfers.js';
import { borrow, download, type Lent, lendInput, lendOutput, upload } from '../transfer/lent.js';
import { byteLengthOf, type Column, column, isOnDevice } from './column.js';
import type { Columns, ThereColumn } from './columns.js';

/** Columns of the device; those of the host are copied there and back. */
export class DeviceColumns implements Columns {
  readonly steps: ColumnSteps;
  #checks: ColumnChecks | undefined;
  readonly #device: Device;
  readonly #settings: SortSettings;
  readonly #transfers: CheckedTransfers;
  #lent: Lent[] | undefined;
  /** Where the queue was before this call enqueued something, or when it waited the last time. */
  #since: number;

  /** @param steps those of the device, which all calls have */
  constructor(device: Device, settings: SortSettings, transfers: CheckedTransfers, steps: ColumnSteps) {
    this.#device = device;
    this.#settings = settings;
    this.#transfers = transfers;
    this.steps = steps;
    this.#since = device.queue.position;
  }

  get checks(): ColumnChecks {
    const fetch = async (from: Column) => (await this.onHost(from)).keys;
    this.#checks ??= new DeviceColumnChecks(this.#device, fetch, this.#settings.signal);
    return this.#checks;
  }

  temporary(dtype: Dtype, n: number): Column {
    const lent = this.#keep(borrow(this.#device, byteLengthOf({ n, dtype })));
    return column(dtype, n, lent.buffer);
  }

  bring(from: Column): Soon<Column> {
    if (!isOnDevice(from.place)) return this.#brought(from, from.place);
    return from.origin === undefined ? from : column(from.dtype, from.n, from.place);
  }

  #brought(from: Column, origin: ArrayBufferView): Soon<Column> {
    return after(lendInput(this.#device, origin, from.info.bytes), (lent) => {
      const { buffer, copy } = this.#keep(lent);
      return after(this.#watched(buffer, copy), () => ({ ...from, place: buffer, origin }));
    });
  }

  into(to: Column, write: (to: Column) => Soon<void>): Soon<void> {
    return isOnDevice(to.place) ? write(to) : this.#collected(to, to.place, write);
  }

  #collected(to: Column, place: ArrayBufferView, write: (to: Column) => Soon<void>): Soon<void> {
    const lent = this.#keep(lendOutput(this.#device, place, to.info.bytes));
    const { buffer, copy } = lent;
    const collect = () => lent.collect(this.#settings.timeout);
    const written = () =>
      after(
        this.#watched(buffer, copy, () => this.#again(collect)),
        collect,
      );
    return after(write({ ...to, place: buffer }), written);
  }

  /** Has a transfer checked where that is wanted. @param copy in host memory, if there is one */
  #watched(buffer: Copy['buffer'], copy: Copy['copy'] | undefined, again?: () => Promise<void>): Soon<void> {
    return copy && this.#settings.verify ? this.#transfers.watch([{ buffer, copy }], again) : undefined;
  }

  async copy(from: Column, to: Column): Promise<void> {
    const device = this.#device;
    const bytes = byteLengthOf(to);
    if (!isOnDevice(from.place)) {
      // What onHost made, on its way back.
      const copy = part(from.place, 0, bytes);
      if (!isOnDevice(to.place)) return copyBytes(copy, to.place);
      await upload(device, to.place, copy);
      return this.#transfers.watch([{ buffer: to.place, copy }]);
    }
    if (isOnDevice(to.place)) return device.queue.copy(from.place, to.place, { bytes });
    const [buffer, copy] = [from.place, to.place];
    const fetch = () => download(device, buffer, copy, { deadlineSeconds: this.#settings.timeout });
    await this.#transfers.watch([{ buffer, copy }], () => this.#again(fetch));
    await fetch();
  }

  lacksDoubles(dtype: Dtype): boolean {
    return dtype === 'f64' && !this.#device.capabilities.fp64;
  }

  async onHost(keys: Column): Promise<ThereColumn> {
    const { signal } = this.#settings;
    const there = { steps: new HostColumnSteps(signal), checks: new HostColumnChecks(signal) };
    if (!isOnDevice(keys.place)) return { keys, ...there };
    const copy = column(keys.dtype, keys.n, newArray(keys.dtype, keys.n));
    await this.copy(keys, copy);
    await this.finish();
    return { keys: copy, ...there };
  }

  selects(n: number): boolean {
    return n > (this.#settings.tuning.select ?? crossoversFor(this.#device).select);
  }

  selectsShort(n: number, longest: number, k: number): boolean {
    if (!isShortTop(longest, k)) return false;
    const { select } = this.#settings.tuning;
    // One launch instead of many pays for any number of keys, unless the device is one that sorts segments sooner.
    return select === undefined ? Number.isFinite(crossoversFor(this.#device).select) : n > select;
  }

  flush(): void {
    this.#device.queue.flushSoon();
  }

  finish(): Promise<void> {
    const { queue } = this.#device;
    const since = this.#since;
    this.#since = queue.position;
    // Another call may have been told what was lost, of this one's commands as well.
    return queue.settle(this.#settings.timeout, since);
  }

  async check(): Promise<void> {
    if (await this.#transfers.same()) return;
    throw new MismatchError(
      'data changed on the way between the host and the device: the result is not used',
    );
  }

  release(): void {
    const lent = this.#lent;
    this.#lent = undefined;
    for (const one of lent ?? []) one.release();
  }

  #keep<L extends Lent>(lent: L): L {
    this.#lent ??= [];
    this.#lent.push(lent);
    return lent;
  }

  async #again(transfer: () => Soon<void>): Promise<void> {
    await transfer();
    await this.finish();
  }
}
