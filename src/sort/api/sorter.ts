import { crossoversFor } from '../../algorithms/tuning.js';
import type { DeviceOptions } from '../../device/device.js';
import { findDevices } from '../../device/platform.js';
import { rankDevices, selectDevices } from '../../device/select-device.js';
import {
  type ClsortError,
  NoDeviceError,
  NoLoaderError,
  NoPlatformError,
  UnsupportedError,
  UsageError,
} from '../../util/errors.js';
import { DeviceSession } from '../backend/device-session.js';
import { HostBackend } from '../backend/host-backend.js';
import { DeviceGroup } from '../multi-device/device-group.js';
import { DeviceWorker } from '../multi-device/device-worker.js';
import { hostIsFaster } from './host-sorter.js';
import { type OpenOptions, parseOpenOptions } from './options.js';
import { SorterOperations } from './sorter-operations.js';

/**
 * Sorts on one device, which it owns together with a command queue, compiled programs and pooled memory.
 *
 * Every operation takes typed arrays, or device arrays of this Sorter, and gives back the same kind. Either may be
 * a promise, such as another call has returned: calls on device arrays are enqueued in the order in which they
 * are made, so that a chain waits for nothing but its result. One that takes the result of a call that fails
 * rejects with an InputError, whose `cause` is that failure. One that takes another promise, such as that of an upload,
 * is made when that has come to something. A result that is found to be wrong when others have read it already is made
 * again, and so are theirs.
 *
 * Calls on typed arrays and sharded arrays, those that sort in place, and those with `into`, `timeout` or `onReport`, run by themselves,
 * one after the other.
 * `close()` (or `await using`) waits for all calls and gives everything back.
 *
 *     const sorter = await Sorter.open({ device: 'gpu' });
 *     const prices = await sorter.upload(Float32Array.of(5, 1, 4)); // copied once
 *     const sorted = await sorter.gather(prices, sorter.argsort(prices)); // stays on the device
 *     const cheapest = await sorted.read(0, 1); // 1
 *     await sorter.close();
 */
export class Sorter extends SorterOperations {
  /**
   * Opens a device: `auto` (default: the best there is, the host engine if there is none), `cpu`, `gpu`,
   * `host`, `all`, `P:D`, or a part of a device's or platform's name, of which the best one is opened. Under
   * `auto` the host engine also takes what is on the host and too little to be worth a trip to the device.
   *
   * With `devices: ['gpu']`, all that match any of the names are opened. Device arrays lie on the best one of them, unless
   * they are uploaded with `spread`; large arrays of the host are sorted, reduced and searched for their first keys by as
   * many as it takes least time with, as the first call of each kind measures.
   *
   * @throws UsageError, NoLoaderError, NoPlatformError, NoDeviceError
   */
  static async open(options: OpenOptions = {}): Promise<Sorter> {
    const { devices, onWarning, poolBytes, ...only } = parseOpenOptions(options);
    if (devices && devices.length > 1) return Sorter.#openAll(devices, { poolBytes }, onWarning);
    const [device = only.device] = devices ?? [];
    if (devices && !['auto', 'host'].includes(device))
      return Sorter.#openAll(devices, { poolBytes }, onWarning);
    if (device === 'host') return new Sorter(new HostBackend(), onWarning);
    try {
      const session = await DeviceSession.open(device, { poolBytes }, onWarning);
      if (device !== 'auto') return new Sorter(session, onWarning);
      const below = crossoversFor(session.device).host;
      const host = new HostBackend(hostIsFaster(below));
      return new Sorter(session, onWarning, { session: host, below });
    } catch (error) {
      if (device !== 'auto' || !isNoDeviceError(error)) throw error;
      onWarning(
        new NoDeviceError(`no OpenCL device, so the host engine sorts: ${error.message}`, { cause: error }),
      );
      return new Sorter(new HostBackend(error), onWarning);
    }
  }

  /** Opens all devices that any of `specs` names. */
  static async #openAll(
    specs: readonly string[],
    options: DeviceOptions,
    onWarning: (warning: ClsortError) => void,
  ): Promise<Sorter> {
    if (specs.some((spec) => spec.trim() === 'host')) {
      throw new UsageError("'host' sorts without any device: expected it alone, or devices");
    }
    const ids = rankDevices(selectDevices(specs, findDevices())).map(({ info }) => info.id);
    const sessions: DeviceSession[] = [];
    try {
      for (const id of ids) sessions.push(await DeviceSession.open(id, options, onWarning));
    } catch (error) {
      for (const session of sessions) await session.close();
      throw error;
    }
    const [first, ...others] = sessions as [DeviceSession, ...DeviceSession[]];
    if (others.length === 0) return new Sorter(first, onWarning);
    const workers = sessions.map((session) => new DeviceWorker(session, onWarning));
    return new Sorter(first, onWarning, undefined, new DeviceGroup(workers, onWarning));
  }
}

/** There is no OpenCL here: no loader, driver or device, or no addon for this Node and system. */
const isNoDeviceError = (error: unknown): error is Error =>
  [NoLoaderError, NoPlatformError, NoDeviceError, UnsupportedError].some((type) => error instanceof type);
