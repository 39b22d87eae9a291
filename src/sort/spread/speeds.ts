import { part, room } from '../../keys/array.js';
import { type ClsortError, errorOfCode } from '../../util/errors.js';
import { type SortSettings, throwIfAborted } from '../api/options.js';
import { type HostJob, sortJob } from '../backend/job.js';
import type { Member } from './member.js';
import { isMovable } from './movable.js';
import { Rates } from './rates.js';
import { HostSink } from './sinks.js';
import { carriedBytes, Split } from './split.js';

/** Something that is measured, to know who does how much of it. */
export interface Kind {
  readonly name: string;
  /** Does it for the first n keys, to be measured. */
  probe(member: Member, n: number): Promise<unknown>;
  /** Does what the host does for n keys before any device can begin. */
  split?(n: number): Promise<unknown>;
}

/** What was measured of a kind. */
export interface Measured {
  readonly rates: ReadonlyMap<Member, Rates>;
  readonly slowdown: ReadonlyMap<Member, number>;
  readonly splitSecondsPerKey: number;
  /** How many times as long it took several members as was expected of them. */
  overrun: number;
}

/**
 * Measures each member, alone and with all others at work. A member that fails takes no part.
 *
 * @throws what the last one failed with, when all do; what would fail on any
 */
export async function measure(
  members: readonly Member[],
  kind: Kind,
  { n, settings, warn }: { n: number; settings: SortSettings; warn: (warning: ClsortError) => void },
): Promise<Measured> {
  const rates = new Map<Member, Rates>();
  const slowdown = new Map<Member, number>();
  const timed = async (what: () => Promise<unknown>): Promise<number> => {
    throwIfAborted(settings.signal);
    const started = performance.now();
    await what();
    return Math.max((performance.now() - started) / 1000, 1e-6);
  };
  let failure: unknown;
  for (const member of members) {
    try {
      await kind.probe(member, n); // programs are compiled and checked
      const own = new Rates();
      own.observe(n, await timed(() => kind.probe(member, n)));
      rates.set(member, own);
    } catch (error) {
      if (!isMovable(error, settings)) throw error;
      failure = error;
      const message = `${member.info.name} takes no part: ${error.message}`;
      warn(errorOfCode(error.code, message, { cause: error }));
    }
  }
  if (rates.size === 0) throw failure;
  const together = await Promise.allSettled(
    [...rates].map(async ([member, own]) => {
      const seconds = await timed(() => kind.probe(member, n));
      slowdown.set(member, Math.max(1, seconds / own.secondsFor(n)));
    }),
  );
  for (const one of together) {
    if (one.status === 'rejected' && !isMovable(one.reason, settings)) throw one.reason;
  }
  await kind.split?.(n);
  const splitSeconds = kind.split ? await timed(async () => kind.split?.(n)) : 0;
  return { rates, slowdown, splitSecondsPerKey: splitSeconds / n, overrun: 1 };
}

/** Sorting jobs of this shape. */
export function sortKind(job: HostJob, [some]: readonly Member[]): Kind {
  const { keys, values, sorted, moved } = job;
  const { onProgress: _, onReport: __, ...own } = job.settings;
  const settings = { ...own, verify: false };
  const carried = carriedBytes(job);
  const { bytes } = keys.info;
  const make = (n: number): HostJob => ({
    keys: { ...keys, n, view: keys.view.subarray(0, n) },
    settings,
    ...(sorted && { sorted: room(n * bytes) }),
    ...(values && { values: { ...values, view: part(values.view, 0, n * values.bytes) } }),
    ...(moved && { moved: room(n * carried) }),
  });
  /** Results go where those of the first time went: the pages of new memory take several times as long as a device. */
  const made = new Map<Member, HostJob>();
  const first = (member: Member, n: number): HostJob => {
    const known = made.get(member);
    const job = known?.keys.n === n ? known : make(n);
    made.set(member, job);
    return job;
  };
  return {
    name: `sort ${bytes} ${carried} ${sorted ? 'keys' : ''} ${settings.algorithm}`,
    probe: (member, n) => member.sort(sortJob(first(member, n))),
    split: async (n) => {
      if (!some) return;
      const two = make(n);
      await new Split(two, [1, 1]).into([new HostSink(some, two, n), new HostSink(some, two, n)]);
    },
  };
}
