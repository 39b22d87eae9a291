import type { Facts } from '../../algorithms/algorithm.js';
import type { DeviceInfo } from '../../device/platform/platform.js';
import type { StageTime } from '../../device/queue/profile.js';
import type { Dtype } from '../../keys/dtype.js';
import type { Plan } from './plan.js';

/** All launches of one kernel, or commands of one kind, in a sort. */
export interface StageReport {
  readonly stage: string;
  /** Number of the radix pass; missing if the stage belongs to no pass. */
  readonly pass?: number;
  /** Total time of the launches; null without option `profile`, and if the device does not measure. */
  readonly seconds: number | null;
  readonly launches: number;
}

/** Device that a sort ran on. */
export interface ReportDevice {
  readonly name: string;
  readonly type: 'cpu' | 'gpu' | 'accelerator' | 'other' | 'host';
  /** Missing for the host engine, as are the following properties. */
  readonly platform?: string;
  readonly driver?: string;
  /** `P:D` (platform and device number), as `clsort devices` shows it. */
  readonly id?: string;
}

/** Result of the verification of a sort. */
export interface Verified {
  /** Whether no key comes before a smaller one, and for an argsort, whether equal keys keep their input order. */
  readonly order: boolean;
  /** Whether the output holds exactly the elements of the input, with each value next to its key. */
  readonly permutation: boolean;
}

/** Result report of one sort. */
export interface Outcome {
  readonly plan: Plan;
  readonly stages: readonly StageTime[];
  readonly verified?: Verified;
  /** Number of pieces that were sorted separately. */
  readonly chunks?: number;
}

/** Report of a sort, as `onReport` receives it. */
export interface SortReport {
  readonly n: number;
  readonly dtype: Dtype;
  readonly device: ReportDevice;
  /** Name of the algorithm that computed the result. */
  readonly algorithm: string;
  /** Reason why the planner selected the algorithm. */
  readonly reason: string;
  /** Bits of the codes that the sort compares: those requested. */
  readonly bitRange: readonly [begin: number, end: number];
  /**
   * Further facts about the algorithm. For `amd`: the number of kernels of its `scan`, and the number of keys that it
   * counts, `padded`.
   */
  readonly facts?: Facts;
  /** Number of chunks, if the keys did not fit the device as a whole. */
  readonly chunks?: number;
  /** Result of the verification; missing without `verify`. */
  readonly verified?: { readonly order: boolean; readonly permutation: boolean };
  /**
   * Report of each device, if several devices shared the keys. `device` and `algorithm` are then those of the largest
   * share.
   */
  readonly shares?: readonly ShareReport[];
  /** Work of the device, including transfers (`upload`, `download`), in order of first appearance. */
  readonly stages: readonly StageReport[];
  /** Wall-clock seconds from the call to its result. */
  readonly seconds: number;
}

/** Report of one of several devices. */
export type ShareReport = Pick<SortReport, 'n' | 'device' | 'algorithm' | 'stages' | 'seconds' | 'verified'>;

const HOST: ReportDevice = { name: 'host', type: 'host' };

/** Returns the report of a sort. */
export function reportOf({
  n,
  dtype,
  started,
  outcome: { plan, stages, verified, chunks },
  info,
}: {
  readonly n: number;
  readonly dtype: Dtype;
  /** Time of the call, from `performance.now()`. */
  readonly started: number;
  readonly outcome: Outcome;
  /** Device of the sort; undefined for the host engine. */
  readonly info: DeviceInfo | undefined;
}): SortReport {
  return {
    n,
    dtype,
    device: reportDevice(plan.engine === 'host' ? undefined : info),
    algorithm: plan.algorithm,
    ...(plan.facts && { facts: plan.facts }),
    bitRange: plan.bitRange,
    ...(chunks && { chunks }),
    ...(verified && { verified }),
    reason: plan.reason,
    stages: summarize(stages),
    seconds: (performance.now() - started) / 1000,
  };
}

/**
 * Returns the report of a sort that several devices may have shared.
 *
 * @param shares one report or more
 * @param whole facts of the whole sort
 */
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

/** Returns the device of a report: the host engine if there is no device. */
export const reportDevice = (info: DeviceInfo | undefined): ReportDevice => {
  if (!info) return HOST;
  const { name, type, platform, driver, id } = info;
  return { name, type, platform, driver, id };
};

/** Combines launches of the same stage, in order of first appearance. */
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
