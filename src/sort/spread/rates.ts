/** How long devices take, as was measured: what a planner of shares goes by. */

/** Keys of a measurement that was not asked for by somebody's call. */
export const PROBE_KEYS = 2 ** 20;
/**
 * The same on devices that all have memory of their own, which what a call costs by itself would make look ten times as slow
 * as they are: H100s that sort 2^30 keys in 0.27 s were thought to take 2.7.
 */
export const STREAMED_PROBE_KEYS = 2 ** 24;

/** Weight of the latest measurement; the ones before have the rest. */
const LATEST = 0.5;

/** Seconds that calls of one kind take on one device, by their size. */
export class Rates {
  /** Seconds a key, by the binary logarithm of the number of keys. */
  readonly #seconds = new Map<number, number>();

  get known(): boolean {
    return this.#seconds.size > 0;
  }

  observe(n: number, seconds: number): void {
    if (n === 0) return;
    const size = Math.floor(Math.log2(n));
    const [before, now] = [this.#seconds.get(size), seconds / n];
    this.#seconds.set(size, before === undefined ? now : before + (now - before) * LATEST);
  }

  /** What n keys are expected to take, by the measurement whose size is nearest. */
  secondsFor(n: number): number {
    const size = Math.log2(Math.max(n, 1));
    let [best, rate] = [Number.POSITIVE_INFINITY, 0];
    for (const [known, seconds] of this.#seconds) {
      const away = Math.abs(known + 0.5 - size);
      if (away < best) [best, rate] = [away, seconds];
    }
    return rate * n;
  }
}

/** What the planner knows of one device. */
export interface Speed<M> {
  readonly member: M;
  readonly rates: Rates;
  /** How many times longer it takes while all others work, too: they may share cores, memory or a bus. */
  readonly slowdown: number;
}

/** Who does what part of something. */
export interface Division<M> {
  readonly members: readonly M[];
  /** Part of each, of 1 in all. */
  readonly weights: readonly number[];
  /** What all is expected to take. */
  readonly seconds: number;
  /** Why, in words. */
  readonly reason: string;
}

/** Parts that are not worth a device. */
const SMALLEST_PART = 0.02;

/** With two digits that count. */
const text = (seconds: number): string => `${Number((seconds * 1000).toPrecision(2))} ms`;

/**
 * Divides n keys so that all are done at the same time, or gives all to the one that is sooner done.
 *
 * @param speeds of at least one
 * @param options.splitSeconds what splitting takes that hides behind nothing
 * @param options.overrun how many times as long it took several of them, up to now, as was expected
 * @param options.exactly so many devices, the quickest ones; default: as many as it takes least time with
 */
export function divide<M extends { readonly info: { readonly name: string } }>(
  speeds: readonly Speed<M>[],
  n: number,
  {
    splitSeconds = 0,
    overrun = 1,
    exactly,
  }: { splitSeconds?: number; overrun?: number; exactly?: number | undefined } = {},
): Division<M> {
  const alone = ({ rates }: Speed<M>) => rates.secondsFor(n);
  const quickest = speeds.toSorted((a, b) => alone(a) - alone(b));
  const [first] = quickest as [Speed<M>];
  const one = { members: [first.member], weights: [1], seconds: alone(first) };
  const several = Array.from({ length: speeds.length - 1 }, (_, i) => {
    const some = quickest.slice(0, i + 2);
    const perSecond = some.map(
      ({ rates, slowdown }) => n / some.length / (slowdown * rates.secondsFor(n / some.length)),
    );
    const sum = perSecond.reduce((total, rate) => total + rate, 0);
    const weights = perSecond.map((rate) => rate / sum);
    return {
      members: some.map(({ member }) => member),
      weights,
      seconds: (n / sum + splitSeconds) * overrun,
    };
  });
  const shared = several.toSorted((a, b) => a.seconds - b.seconds);
  if (exactly !== undefined) {
    const chosen = [one, ...several][Math.min(Math.max(exactly, 1), speeds.length) - 1] ?? one;
    return { ...chosen, reason: `${chosen.members.length} of the devices asked for` };
  }
  const [best] = shared.filter(({ weights }) => weights.every((weight) => weight >= SMALLEST_PART));
  const [reference] = shared;
  if (best && best.seconds < one.seconds) {
    return {
      ...best,
      reason: `spread over ${best.members.length} devices: ${text(best.seconds)} expected, ${text(one.seconds)} by ${first.member.info.name} alone`,
    };
  }
  const than = reference
    ? `, ${text(reference.seconds)} spread over ${reference.members.length} devices`
    : '';
  return { ...one, reason: `${first.member.info.name} alone: ${text(one.seconds)} expected${than}` };
}
