import type { Buffer } from '../device/buffer.js';
import type { Device } from '../device/device.js';

/** Filled in some 0.1 ms by the fastest devices: longer than the host takes for the launches of a sort. */
const BYTES = 2 ** 28;

/**
 * Work that a device does while the host enqueues what is to be timed: the device then never waits for the host, and
 * times of small sorts repeat.
 */
export class BusyWork {
  readonly #device: Device;
  readonly #buffer: Buffer;
  #word = 0;

  private constructor(device: Device, buffer: Buffer) {
    this.#device = device;
    this.#buffer = buffer;
  }

  /**
   * @returns undefined for CPU devices, where the host's part runs on the same cores, and for those that tell no times:
   *   the host's clock would count this work too
   * @throws MemoryError
   */
  static open(device: Device): BusyWork | undefined {
    const { type, maxAllocation, quirks } = device.capabilities;
    return type === 'cpu' || !quirks.reportsTimes
      ? undefined
      : new BusyWork(device, device.buffer(Math.min(BYTES, maxAllocation - (maxAllocation % 4))));
  }

  enqueue(): void {
    this.#device.queue.fill(this.#buffer, this.#word++);
  }

  close(): void {
    this.#buffer.release();
  }
}
