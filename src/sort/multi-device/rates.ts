/** Measured speed of devices, from which work is divided. */
import { LATEST_WEIGHT, MIN_WEIGHT } from './policy.js';

/** Measured seconds of one kind of work on one device, by its size. */
export class Rates {
  /** Seconds per key, by the binary logarithm of the number of keys. */
  readonly #seconds = new Map<number, number>();

  observe(n: number, seconds: number): void {
    if (n === 0) return;
    const size = Math.floor(Math.log2(n));
    const [before, now] = [this.#seconds.get(size), seconds / n];
    this.#seconds.set(size, before === undefined ? now : before + (now - before) * LATEST_WEIGHT);
  }

  /** Returns the expected seconds for n keys, by the measurement of the nearest size. */
  secondsFor(n: number): number {
    const size = Math.log2(Math.max(n, 1));
    let [best, rate] = [Number.POSITIVE_INFINITY, 0];
    for (const [measuredSize, seconds] of this.#seconds) {
      const away = Math.abs(measuredSize + 0.5 - size);
      if (away < best) [best, rate] = [away, seconds];
    }
    return rate * n;
  }
}

/** Measured speed of one device. */
export interface DeviceSpeed<M> {
  readonly worker: M;
  readonly rates: Rates;
  /** Factor by which the device slows down while all others work: they may share cores, memory or a bus. */
  readonly slowdown: number;
}

/** A division of work over devices. */
export interface WorkDivision<M> {
  readonly workers: readonly M[];
  /** Fraction of each device, 1 in total. */
  readonly weights: readonly number[];
  /** Expected seconds for the whole. */
  readonly seconds: number;
  /** Reason for this division. */
  readonly reason: string;
}

/** Formats seconds as milliseconds with two significant digits. */
const formatMilliseconds = (seconds: number): string => `${Number((seconds * 1000).toPrecision(2))} ms`;

/**
 * Divides n keys so that all devices finish at the same time, or assigns all keys to the fastest one if that is faster.
 *
 * @param speeds speeds of at least one device
 * @param options.splitSeconds seconds that partitioning takes and that nothing hides; default: 0
 * @param options.overrun ratio of measured to expected time with several devices so far; default: 1
 * @param options.deviceCount number of devices to use, the fastest ones; default: as many as are fastest
 * @param options.maxDevices most devices to choose without `deviceCount`; default: all
 * @returns the division, with the reason for it
 */
export function divideWork<M extends { readonly info: { readonly name: string } }>(
  speeds: readonly DeviceSpeed<M>[],
  n: number,
  {
    splitSeconds = 0,
    overrun = 1,
    deviceCount,
    maxDevices = speeds.length,
  }: {
    splitSeconds?: number;
    overrun?: number;
    deviceCount?: number | undefined;
    maxDevices?: number;
  } = {},
): WorkDivision<M> {
  const secondsAlone = ({ rates }: DeviceSpeed<M>) => rates.secondsFor(n);
  const quickest = speeds.toSorted((a, b) => secondsAlone(a) - secondsAlone(b));
  const [first] = quickest as [DeviceSpeed<M>];
  const single = { workers: [first.worker], weights: [1], seconds: secondsAlone(first) };
  const several = Array.from({ length: speeds.length - 1 }, (_, i) => {
    const candidates = quickest.slice(0, i + 2);
    const perSecond = candidates.map(
      ({ rates, slowdown }) => n / candidates.length / (slowdown * rates.secondsFor(n / candidates.length)),
    );
    const sum = perSecond.reduce((total, rate) => total + rate, 0);
    const weights = perSecond.map((rate) => rate / sum);
    return {
      workers: candidates.map(({ worker }) => worker),
      weights,
      seconds: (n / sum + splitSeconds) * overrun,
    };
  });
  const shared = several.slice(0, maxDevices - 1).toSorted((a, b) => a.seconds - b.seconds);
  if (deviceCount !== undefined) {
    const chosen = [single, ...several][Math.min(Math.max(deviceCount, 1), speeds.length) - 1] ?? single;
    return { ...chosen, reason: `${chosen.workers.length} of the devices asked for` };
  }
  const [best] = shared.filter(({ weights }) => weights.every((weight) => weight >= MIN_WEIGHT));
  const [reference] = shared;
  if (best && best.seconds < single.seconds) {
    return {
      ...best,
      reason: `spread over ${best.workers.length} devices: ${formatMilliseconds(best.seconds)} expected, ${formatMilliseconds(single.seconds)} by ${first.worker.info.name} alone`,
    };
  }
  const alternative = reference
    ? `, ${formatMilliseconds(reference.seconds)} spread over ${reference.workers.length} devices`
    : '';
  return {
    ...single,
    reason: `${first.worker.info.name} alone: ${formatMilliseconds(single.seconds)} expected${alternative}`,
  };
}
