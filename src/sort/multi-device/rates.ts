/** How long devices take, as was measured: what a planner of shares goes by. */

/** Keys of a measurement that was not asked for by somebody's call. */
export const PROBE_KEYS = 2 ** 20;
/**
 * The same on devices that all have memory of their own, which what a call costs by itself would make look ten times as slow
 * as they are: H100s that sort 2^30 keys in 0.27 s were thought to take 2.7.
 */
export const STREAMED_PROBE_KEYS = 2 ** 24;

/** Weight of the latest measurement; the ones before have the rest. */
const LATEST_WEIGHT = 0.5;

/** Seconds that calls of one kind take on one device, by their size. */
export class Rates {
  /** Seconds a key, by the binary logarithm of the number of keys. */
  readonly #seconds = new Map<number, number>();

  get hasMeasurements(): boolean {
    return this.#seconds.size > 0;
  }

  observe(n: number, seconds: number): void {
    if (n === 0) return;
    const size = Math.floor(Math.log2(n));
    const [before, now] = [this.#seconds.get(size), seconds / n];
    this.#seconds.set(size, before === undefined ? now : before + (now - before) * LATEST_WEIGHT);
  }

  /** What n keys are expected to take, by the measurement whose size is nearest. */
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

/** What the planner knows of one device. */
export interface DeviceSpeed<M> {
  readonly worker: M;
  readonly rates: Rates;
  /** How many times longer it takes while all others work, too: they may share cores, memory or a bus. */
  readonly slowdown: number;
}

/** Who does what part of something. */
export interface WorkDivision<M> {
  readonly workers: readonly M[];
  /** Part of each, of 1 in all. */
  readonly weights: readonly number[];
  /** What all is expected to take. */
  readonly seconds: number;
  /** Why, in words. */
  readonly reason: string;
}

/** Parts that are not worth a device. */
const MIN_WEIGHT = 0.02;

/** With two digits that count. */
const formatMilliseconds = (seconds: number): string => `${Number((seconds * 1000).toPrecision(2))} ms`;

/**
 * Divides n keys so that all are done at the same time, or gives all to the one that is sooner done.
 *
 * @param speeds of at least one
 * @param options.splitSeconds what splitting takes that hides behind nothing
 * @param options.overrun how many times as long it took several of them, up to now, as was expected
 * @param options.exactly so many devices, the quickest ones; default: as many as it takes least time with
 */
export function divideWork<M extends { readonly info: { readonly name: string } }>(
  speeds: readonly DeviceSpeed<M>[],
  n: number,
  {
    splitSeconds = 0,
    overrun = 1,
    deviceCount,
  }: { splitSeconds?: number; overrun?: number; deviceCount?: number | undefined } = {},
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
  const shared = several.toSorted((a, b) => a.seconds - b.seconds);
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
