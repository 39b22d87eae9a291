import type { Device } from '../device/device.js';
import type { Buffer } from '../device/memory/buffer.js';

/** Bytes to fill: about 0.1 ms on the fastest devices, longer than the host takes to enqueue a sort. */
const BYTES = 2 ** 28;

/**
 * Keeps a device busy while the host enqueues the commands to be timed. The device then never waits for the host, and
 * times of small sorts are reproducible.
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
   * Allocates the buffer of the busy work.
   *
   * @returns undefined for CPU devices, whose cores also run the host, and for devices without profiling times, where
   *   the host's clock would include this work
   * @throws MemoryError when the buffer cannot be allocated
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
