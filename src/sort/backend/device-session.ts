import { Device, type DeviceOptions } from '../../device/device.js';
import { takeCacheWarning } from '../../util/cache.js';
import { type ClsortError, DeviceLostError, TimeoutError } from '../../util/errors.js';
import { chainOrRecover, type MaybePromise } from '../../util/maybe-promise.js';
import type { Backend, Session, SessionCall } from './backend.js';
import { DeviceBackend } from './device-backend.js';

/**
 * Keeps a device open across failures. A device that fails in a call, or that exceeds a deadline, is
 * abandoned and reopened for later calls. Repeating a call is reported as a warning.
 */
export class DeviceSession implements Session {
  #backend: DeviceBackend;
  #opening: Promise<void> | undefined;
  readonly #giveUpListeners: (() => void)[] = [];
  readonly #options: DeviceOptions;
  readonly #onWarning: (warning: ClsortError) => void;

  private constructor(device: Device, options: DeviceOptions, onWarning: (warning: ClsortError) => void) {
    this.#backend = new DeviceBackend(device);
    this.#options = options;
    this.#onWarning = onWarning;
  }

  /**
   * Opens a device.
   *
   * @throws NoLoaderError when there is no OpenCL loader
   * @throws NoPlatformError when there is no OpenCL platform
   * @throws NoDeviceError when no device matches `spec`
   */
  static async open(
    spec: string,
    options: DeviceOptions,
    onWarning: (warning: ClsortError) => void,
  ): Promise<DeviceSession> {
    return new DeviceSession(await Device.open(spec, options), options, onWarning);
  }

  get device(): Device {
    return this.#backend.device;
  }

  /** Replaced by a new object when the device is reopened. */
  get backend(): Backend {
    return this.#backend;
  }

  onGiveUp(callback: () => void): void {
    this.#giveUpListeners.push(callback);
  }

  run<T>(use: (backend: Backend) => MaybePromise<T>, call: SessionCall): MaybePromise<T> {
    if (this.#backend.lost) return this.#reopen().then(() => this.#run(use, call));
    return this.#run(use, call);
  }

  #run<T>(use: (backend: Backend) => MaybePromise<T>, call: SessionCall): MaybePromise<T> {
    const backend = this.#backend;
    return this.#runReportingCache(
      () => use(backend),
      call,
      async (error) => {
        await this.#giveUpFor(error, backend);
        if (!call.again || !(error instanceof DeviceLostError)) throw error;
        const message = `${error.message}; reopening the device and repeating the call`;
        this.#warn(new DeviceLostError(message, { cause: error }), call);
        if (this.#backend.lost) await this.#reopen();
        return this.complete(this.#backend, () => use(this.#backend), call);
      },
    );
  }

  complete<T>(backend: Backend, use: () => MaybePromise<T>, call: SessionCall): MaybePromise<T> {
    return this.#runReportingCache(use, call, async (error) => {
      await this.#giveUpFor(error, backend);
      throw error;
    });
  }

  /** Runs `use` and reports a cache warning afterwards, on success and on failure. Errors go to `onFailure`. */
  #runReportingCache<T>(
    use: () => MaybePromise<T>,
    call: SessionCall,
    onFailure: (error: unknown) => Promise<T>,
  ): MaybePromise<T> {
    const onSuccess = (made: T): T => {
      this.#reportCacheWarning(call);
      return made;
    };
    return chainOrRecover(use, onSuccess, (error) => {
      this.#reportCacheWarning(call);
      return onFailure(error);
    });
  }

  #reportCacheWarning(call: SessionCall): void {
    const warning = takeCacheWarning();
    if (warning) this.#warn(warning, call);
  }

  #warn(warning: ClsortError, { settings }: SessionCall): void {
    (settings?.onWarning ?? this.#onWarning)(warning);
  }

  close(): Promise<void> {
    return this.#backend.device.close();
  }

  /** Abandons the device if the error means that it cannot be trusted; once for all calls in flight. */
  async #giveUpFor(error: unknown, backend: Backend): Promise<void> {
    if (!(error instanceof DeviceLostError || error instanceof TimeoutError)) return;
    const { device } = this.#backend;
    if (backend !== this.#backend || device.closed) return;
    for (const notify of this.#giveUpListeners) notify();
    await device.abandon();
    await this.#reopen().catch(() => undefined); // the next call retries and reports the error
  }

  #reopen(): Promise<void> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #open(): Promise<void> {
    const { closed, info, staging } = this.#backend.device;
    if (!closed) return;
    try {
      const device = await Device.open(info.id, this.#options);
      device.staging.adoptOrphans(staging);
      this.#backend = new DeviceBackend(device);
    } catch (cause) {
      const message = `cannot reopen ${info.name} after a failure: ${(cause as Error).message}`;
      throw new DeviceLostError(message, { cause });
    }
  }
}
