import { crossoversFor } from '../../algorithms/tuning.js';
import { NoDeviceError, NoLoaderError, NoPlatformError, UnsupportedError } from '../../util/errors.js';
import { DeviceKeeper } from '../backend/device-keeper.js';
import { HostBackend } from '../backend/host-backend.js';
import { sooner } from './host-sorter.js';
import { type OpenOptions, parseOpenOptions } from './options.js';
import { SorterOperations } from './sorter-operations.js';

/**
 * Sorts on one device, which it owns together with a command queue, compiled programs and pooled memory.
 *
 * Every operation takes typed arrays, or device arrays of this Sorter, and gives back the same kind. Either may be
 * a promise, such as another call has returned: calls on device arrays are enqueued in the order in which they
 * are made, so that a chain waits for nothing but its result. One that takes the result of a call that fails
 * rejects with an InputError, whose `cause` is that failure. A result that is found to be wrong when others
 * have read it already is made again, and so are theirs.
 *
 * Calls on typed arrays, and those with `into`, `timeout` or `onReport`, run by themselves, one after the other.
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
   * `host`, `P:D`, or a part of a device's or platform's name. Under `auto` the host engine also takes what
   * is on the host and too little to be worth a trip to the device.
   *
   * @throws UsageError, NoLoaderError, NoPlatformError, NoDeviceError
   */
  static async open(options: OpenOptions = {}): Promise<Sorter> {
    const { device, onWarning, poolBytes } = parseOpenOptions(options);
    if (device === 'host') return new Sorter(new HostBackend(), onWarning);
    try {
      const keeper = await DeviceKeeper.open(device, { poolBytes }, onWarning);
      if (device !== 'auto') return new Sorter(keeper, onWarning);
      const below = crossoversFor(keeper.device).host;
      const host = new HostBackend(sooner(below));
      return new Sorter(keeper, onWarning, { keeper: host, below });
    } catch (error) {
      if (device !== 'auto' || !isAbsence(error)) throw error;
      onWarning(
        new NoDeviceError(`no OpenCL device, so the host engine sorts: ${error.message}`, { cause: error }),
      );
      return new Sorter(new HostBackend(error), onWarning);
    }
  }
}

/** There is no OpenCL here: no loader, driver or device, or no addon for this Node and system. */
const isAbsence = (error: unknown): error is Error =>
  [NoLoaderError, NoPlatformError, NoDeviceError, UnsupportedError].some((type) => error instanceof type);
