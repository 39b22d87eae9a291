import type { ClsortError } from '../../util/errors.js';
import type { SortSettings } from '../model/options.js';
import type { DeviceWorker } from './device-worker.js';
import { type Measurements, measure, type WorkKind } from './measurements.js';
import { MAX_SORTING_DEVICES, PROBE_KEYS, STREAMED_PROBE_KEYS } from './policy.js';
import { divideWork, type WorkDivision } from './rates.js';

/** Divides work among the devices of a group by their measured speeds. */
export class WorkDivider {
  readonly #workers: readonly DeviceWorker[];
  readonly #onWarning: (warning: ClsortError) => void;
  readonly #measured = new Map<string, Promise<Measurements>>();

  constructor(workers: readonly DeviceWorker[], onWarning: (warning: ClsortError) => void) {
    this.#workers = workers;
    this.#onWarning = onWarning;
  }

  /** Measures the devices if necessary, and divides n keys among them. */
  async divide(kind: WorkKind, n: number, settings: SortSettings): Promise<WorkDivision<DeviceWorker>> {
    let measured = this.#measured.get(kind.name);
    if (!measured) {
      const warn = settings.onWarning ?? this.#onWarning;
      measured = measure(candidateWorkers(this.#workers), kind, {
        n: Math.min(n, this.#probeKeys),
        settings,
        warn,
      });
      this.#measured.set(kind.name, measured);
      measured.catch(() => this.#measured.delete(kind.name));
    }
    const { rates, slowdown, splitSecondsPerKey, overrun } = await measured;
    const speeds = [...rates]
      .filter(([worker]) => !worker.lost)
      .map(([worker, own]) => ({ worker, rates: own, slowdown: slowdown.get(worker) ?? 1 }));
    if (speeds.length === 0)
      return {
        workers: candidateWorkers(this.#workers).slice(0, 1),
        weights: [1],
        seconds: 0,
        reason: 'all are lost',
      };
    // Partitioning hides the transfers, not the reverse: for 4 GiB, two H100s take 40 ms and the host takes
    // 240 ms to partition.
    const splitSeconds = splitSecondsPerKey * n;
    const { deviceCount } = settings.tuning;
    const maxDevices = kind.partition ? MAX_SORTING_DEVICES : this.#workers.length;
    return divideWork(speeds, n, { splitSeconds, overrun, deviceCount, maxDevices });
  }

  /** Records the ratio of measured to expected time with several devices. */
  async recordOverrun(kind: WorkKind, times: number): Promise<void> {
    const measured = await this.#measured.get(kind.name);
    if (measured) measured.overrun *= (1 + times) / 2;
  }

  /** Records the time of a sort by one device, alone or together with others. */
  async recordSort(
    kind: WorkKind,
    worker: DeviceWorker,
    { count, seconds, alone }: { readonly count: number; readonly seconds: number; readonly alone: boolean },
  ): Promise<void> {
    const measured = await this.#measured.get(kind.name);
    // Times of devices with dedicated memory exclude the upload, so they do not count. The times of other
    // devices include the slowdown by all at work.
    const slowdown = alone ? 1 : (measured?.slowdown.get(worker) ?? 1);
    if (alone || !worker.overlapsTransfers) measured?.rates.get(worker)?.observe(count, seconds / slowdown);
  }

  get #probeKeys(): number {
    return this.#workers.every(({ overlapsTransfers }) => overlapsTransfers)
      ? STREAMED_PROBE_KEYS
      : PROBE_KEYS;
  }
}

/** Returns the devices that are available, `first` before the others. */
export function candidateWorkers(workers: readonly DeviceWorker[], first?: DeviceWorker): DeviceWorker[] {
  const available = workers.filter((worker) => !worker.lost);
  const all = available.length > 0 ? available : workers; // sessions reopen them or throw the reason
  return first ? [first, ...all.filter((worker) => worker !== first)] : [...all];
}
