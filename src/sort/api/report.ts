import type { Facts } from '../../algorithms/algorithm.js';
import type { DeviceInfo } from '../../device/platform.js';
import type { StageTime } from '../../device/profile.js';
import type { Dtype } from '../../keys/dtype.js';
import type { Outcome } from '../backend/backend.js';

/** Launches of one kernel (or commands of one kind) in a sort. */
export interface StageReport {
  readonly stage: string;
  /** Number of the radix pass; left out where the stage belongs to no pass. */
  readonly pass?: number;
  /** Time of all its launches; null without the option `profile`, and where the device does not measure. */
  readonly seconds: number | null;
  readonly launches: number;
}

/** Where a sort ran. */
export interface ReportDevice {
  readonly name: string;
  readonly type: 'cpu' | 'gpu' | 'accelerator' | 'other' | 'host';
  /** What follows is left out for the host engine. */
  readonly platform?: string;
  readonly driver?: string;
  /** `P:D` as `clsort devices` shows it. */
  readonly id?: string;
}

/** What a sort did, as `onReport` gets it. */
export interface SortReport {
  readonly n: number;
  readonly dtype: Dtype;
  readonly device: ReportDevice;
  /** Name of the algorithm that made the result. */
  readonly algorithm: string;
  /** Why the planner took it. */
  readonly reason: string;
  /**
   * Bits of the codes that were sorted on: those asked for, less constant ones at either end where the host was told of
   * them. `serial` leaves constant digits out on the device and tells nobody.
   */
  readonly bits: readonly [begin: number, end: number];
  /** What else the algorithm tells: of `amd` the kernels of its `scan` and the keys that it counts, `padded`. */
  readonly facts?: Facts;
  /** Pieces that the keys were cut into, where they did not fit the device whole. */
  readonly chunks?: number;
  /** What `verify` found; left out without it. */
  readonly verified?: { readonly order: boolean; readonly permutation: boolean };
  /** What each of several devices did, where the keys were spread; `device` and `algorithm` are of the largest share then. */
  readonly shares?: readonly ShareReport[];
  /** What the device did, transfers (`upload`, `download`) included, in order of first appearance. */
  readonly stages: readonly StageReport[];
  /** Wall-clock time from call to result. */
  readonly seconds: number;
}

/** What one of several devices did. */
export type ShareReport = Pick<SortReport, 'n' | 'device' | 'algorithm' | 'stages' | 'seconds' | 'verified'>;

const HOST: ReportDevice = { name: 'host', type: 'host' };

/** What is told of a sort. */
export function reportOf({
  n,
  dtype,
  started,
  outcome: { plan, stages, verified, chunks },
  info,
}: {
  readonly n: number;
  readonly dtype: Dtype;
  /** When it was asked for, as `performance.now()` tells. */
  readonly started: number;
  readonly outcome: Outcome;
  /** The device of who sorted, undefined for the host. */
  readonly info: DeviceInfo | undefined;
}): SortReport {
  return {
    n,
    dtype,
    device: plan.engine === 'host' || !info ? HOST : describe(info),
    algorithm: plan.algorithm,
    ...(plan.facts && { facts: plan.facts }),
    bits: plan.bits,
    ...(chunks && { chunks }),
    ...(verified && { verified }),
    reason: plan.reason,
    stages: summarize(stages),
    seconds: (performance.now() - started) / 1000,
  };
}

/** What is told of a sort that several devices may have shared. @param shares one or more */
export function sharedReport(
  shares: readonly SortReport[],
  whole: Pick<SortReport, 'n' | 'seconds' | 'reason'> & Partial<Pick<SortReport, 'verified'>>,
): SortReport {
  const [first, ...others] = shares.toSorted((a, b) => b.n - a.n) as [SortReport, ...SortReport[]];
  if (others.length === 0) return { ...first, ...whole, reason: `${first.reason}; ${whole.reason}` };
  const { chunks: _, facts: __, verified: ___, ...shared } = first;
  return {
    ...shared,
    ...whole,
    shares: shares.map(({ n, device, algorithm, stages, seconds, verified }) => ({
      ...{ n, device, algorithm, stages, seconds },
      ...(verified && { verified }),
    })),
    stages: shares.flatMap(({ stages }) => stages),
  };
}

const describe = ({ name, type, platform, driver, id }: DeviceInfo): ReportDevice => ({
  name,
  type,
  platform,
  driver,
  id,
});

/** Launches of the same stage together, in order of first appearance. */
function summarize(times: readonly StageTime[]): StageReport[] {
  const stages = new Map<string, { stage: string; launches: number; seconds: number | null }>();
  for (const { stage, seconds } of times) {
    const sum = stages.get(stage);
    if (!sum) stages.set(stage, { stage, launches: 1, seconds });
    else {
      sum.launches++;
      sum.seconds = sum.seconds === null || seconds === null ? null : sum.seconds + seconds;
    }
  }
  return [...stages.values()];
}
