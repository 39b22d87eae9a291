import { type BreakEvenCall, breakEvenOf, crossoversFor, sortsFaster } from '../../algorithms/tuning.js';
import type { DeviceOptions } from '../../device/device.js';
import { bestKnownDevice } from '../../device/known-devices.js';
import { findDevices } from '../../device/platform/platform.js';
import { rankDevices, selectDevices } from '../../device/platform/select-device.js';
import { dtypeInfo } from '../../keys/dtype.js';
import {
  type ClsortError,
  NoDeviceError,
  NoLoaderError,
  NoPlatformError,
  UnsupportedError,
} from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { DeviceSession } from '../backend/device-session.js';
import { HostBackend } from '../backend/host-backend.js';
import type { OpenOptions } from '../model/options.js';
import { parseOpenOptions } from '../model/parse-options.js';
import type { PlanRequest } from '../model/plan.js';
import { DeviceGroup } from '../multi-device/device-group.js';
import { DeviceWorker } from '../multi-device/device-worker.js';
import { hostIsFaster } from './host-sorter.js';
import { SorterOperations } from './sorter-operations.js';

/**
 * Sorts on an OpenCL device, on several, or on the host engine. A Sorter owns its device together with a command queue,
 * compiled programs and a memory pool.
 *
 * Every operation takes typed arrays or device arrays of this Sorter, and returns the same kind. An input may also be a
 * promise of an array, such as the promise that another call returned. Calls on device arrays are enqueued in the order
 * of the calls, so a chain of calls waits for nothing but its result.
 *
 * A call that takes the result of a failed call rejects with an InputError, whose `cause` is that failure. A call that
 * takes another promise, such as that of an upload, starts when the promise has settled. If a result is found wrong
 * after later calls have read it, the Sorter repeats the call and those later calls.
 *
 * Calls on sharded arrays, calls that sort in place, and calls with `into`, `timeout` or `onReport` run exclusively,
 * one after the other. So do calls on typed arrays, except on a device with dedicated memory, where they may overlap.
 *
 * `close()` (or `await using`) waits for all calls, then releases the device and all memory.
 *
 *     const sorter = await Sorter.open({ device: 'gpu' });
 *     const prices = await sorter.upload(Float32Array.of(5, 1, 4)); // copied once
 *     const sorted = await sorter.gather(prices, sorter.argsort(prices)); // stays on the device
 *     const cheapest = await sorted.read(0, 1); // 1
 *     await sorter.close();
 */
export class Sorter extends SorterOperations {
  /**
   * Opens a device, or several that work together.
   *
   * Under `auto`, the best device is opened if it sorts faster than the host engine, as GPUs do. The host engine then
   * handles host arrays below the break-even size of the operation. Otherwise, the host engine handles all calls; if
   * there is no device, clsort warns.
   *
   * With `devices: ['gpu']`, all devices that match any of the names are opened. Device arrays are stored on the best
   * one, unless they are uploaded with `sharded`. The devices share large host arrays in `sort`, `topK` and `reduce`.
   * The number of devices that is expected to be fastest takes part; the first call of each kind measures it.
   *
   * @param options `device`: `auto` (default), `cpu`, `gpu`, `host`, `all`, `P:D`, or a part of the name of a device or
   *   platform; the best match is opened. `devices`: several such names, instead of `device`. `onWarning`: callback for
   *   warnings, by default `process.emitWarning`. `poolBytes`: maximum bytes of unused device memory that are kept, by
   *   default a quarter of the device's memory
   * @returns an open Sorter, to be closed by `close()`
   * @throws UsageError for an unknown option or an impossible value, for `device` together with `devices`, and for
   *   `host` among several `devices`
   * @throws NoLoaderError when there is no OpenCL loader, unless `device` is `auto` or `host`
   * @throws NoPlatformError when there is no OpenCL driver, unless `device` is `auto` or `host`
   * @throws NoDeviceError when no device matches, unless `device` is `auto` or `host`
   * @example
   * ```ts
   * await using sorter = await Sorter.open({ device: 'gpu' });
   * const sorted = await sorter.sort(Float32Array.of(3, 1, 2));
   * ```
   */
  static async open(options: OpenOptions = {}): Promise<Sorter> {
    const { devices, onWarning, poolBytes, ...only } = parseOpenOptions(options);
    if (devices && devices.length > 1) return Sorter.#openAll(devices, { poolBytes }, onWarning);
    const [device = only.device] = devices ?? [];
    if (devices && !['auto', 'host'].includes(device))
      return Sorter.#openAll(devices, { poolBytes }, onWarning);
    if (device === 'host') return new Sorter(new HostBackend('asked for', { onWarning }), onWarning);
    if (device !== 'auto')
      return new Sorter(await DeviceSession.open(device, { poolBytes }, onWarning), onWarning);
    try {
      return await Sorter.#openFastest({ poolBytes }, onWarning);
    } catch (error) {
      if (!isNoDeviceError(error)) throw error;
      onWarning(new NoDeviceError(`falling back to the host engine: ${error.message}`, { cause: error }));
      return new Sorter(new HostBackend(error), onWarning);
    }
  }

  /** Opens the best device for the calls that it runs faster than the host engine, if it sorts faster at any size. */
  static async #openFastest(
    options: DeviceOptions,
    onWarning: (warning: ClsortError) => void,
  ): Promise<Sorter> {
    const { info, capabilities } = bestKnownDevice();
    const crossovers = crossoversFor({ info, capabilities });
    if (!sortsFaster(crossovers)) {
      return new Sorter(new HostBackend(`the host is faster than ${info.name}`, { onWarning }), onWarning);
    }
    const below = (call: BreakEvenCall) => breakEvenOf(crossovers, call);
    const reason = ({ dtype }: PlanRequest) => hostIsFaster(below({ keyBits: dtypeInfo(dtype).width }));
    const host = new HostBackend(reason, { onWarning });
    return new Sorter(await DeviceSession.open(info.id, options, onWarning), onWarning, {
      session: host,
      below,
      whileCompiling: new HostBackend('the device compiles its programs for later calls', { onWarning }),
    });
  }

  /** Opens all devices that match any of `specs`. */
  static async #openAll(
    specs: readonly string[],
    options: DeviceOptions,
    onWarning: (warning: ClsortError) => void,
  ): Promise<Sorter> {
    if (specs.some((spec) => spec.trim() === 'host')) {
      throw invalidArgument('devices', "OpenCL devices, or 'host' alone", specs);
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

/** Whether OpenCL is missing: no loader, driver or device, or no addon for this version of Node and this system. */
const isNoDeviceError = (error: unknown): error is Error =>
  [NoLoaderError, NoPlatformError, NoDeviceError, UnsupportedError].some((type) => error instanceof type);
