import { newBytes } from '../../keys/array.js';
import { type ClsortError, errorOfCode } from '../../util/errors.js';
import type { HostJob } from '../model/job.js';
import { type SortSettings, throwIfAborted } from '../model/options.js';
import type { DeviceWorker } from './device-worker.js';
import { carriedBytes, Partitioner } from './partition.js';
import { Rates } from './rates.js';
import { isRetryableElsewhere } from './retryable-elsewhere.js';
import { HostShardWriter } from './shard-writer.js';

/** A kind of work that is measured to divide it. */
export interface WorkKind {
  readonly name: string;
  /** Runs the work on the first n keys, to be timed. */
  probe(worker: DeviceWorker, n: number): Promise<unknown>;
  /** Does what the host must do for n keys before any device can begin. */
  partition?(n: number): Promise<unknown>;
}

/** Measurements of one kind of work. */
export interface Measurements {
  readonly rates: ReadonlyMap<DeviceWorker, Rates>;
  readonly slowdown: ReadonlyMap<DeviceWorker, number>;
  readonly splitSecondsPerKey: number;
  /** Ratio of measured to expected time with several devices. */
  overrun: number;
}

/**
 * Measures each device, alone and with all others at work. A device that fails takes no part.
 *
 * @param options.n number of keys to measure with
 * @param options.warn called for each device that takes no part
 * @throws the error of the last device when all fail
 * @throws an error that would occur on any device
 * @throws AbortedError when the signal is aborted
 */
export async function measure(
  workers: readonly DeviceWorker[],
  kind: WorkKind,
  { n, settings, warn }: { n: number; settings: SortSettings; warn: (warning: ClsortError) => void },
): Promise<Measurements> {
  const rates = new Map<DeviceWorker, Rates>();
  const slowdown = new Map<DeviceWorker, number>();
  const secondsOf = async (operation: () => Promise<unknown>): Promise<number> => {
    throwIfAborted(settings.signal);
    const started = performance.now();
    await operation();
    return Math.max((performance.now() - started) / 1000, 1e-6);
  };
  let failure: unknown;
  for (const worker of workers) {
    try {
      await kind.probe(worker, n); // warm-up: compiles and self-tests the programs
      const own = new Rates();
      own.observe(n, await secondsOf(() => kind.probe(worker, n)));
      rates.set(worker, own);
    } catch (error) {
      if (!isRetryableElsewhere(error, settings)) throw error;
      failure = error;
      const message = `cannot use ${worker.info.name}: ${error.message}; using the other devices`;
      warn(errorOfCode(error.code, message, { cause: error }));
    }
  }
  if (rates.size === 0) throw failure;
  const together = await Promise.allSettled(
    [...rates].map(async ([worker, own]) => {
      const seconds = await secondsOf(() => kind.probe(worker, n));
      slowdown.set(worker, Math.max(1, seconds / own.secondsFor(n)));
    }),
  );
  for (const one of together) {
    if (one.status === 'rejected' && !isRetryableElsewhere(one.reason, settings)) throw one.reason;
  }
  await kind.partition?.(n);
  const splitSeconds = kind.partition ? await secondsOf(async () => kind.partition?.(n)) : 0;
  return { rates, slowdown, splitSecondsPerKey: splitSeconds / n, overrun: 1 };
}

/** Returns the kind of work of sorting jobs like this one. */
export function sortWorkKind(job: HostJob, [firstWorker]: readonly DeviceWorker[]): WorkKind {
  const { keys, values, sorted, moved } = job;
  const { onProgress: _, onReport: __, ...own } = job.settings;
  const settings = { ...own, verify: false };
  const carried = carriedBytes(job);
  const { bytes } = keys.info;
  const makeJob = (n: number): HostJob => ({
    keys: { ...keys, n },
    settings,
    ...(sorted && { sorted: newBytes(n * bytes) }),
    ...(values && { values }),
    ...(moved && { moved: newBytes(n * carried) }),
  });
  /** Outputs are reused: the page faults of new memory take several times as long as a device. */
  const jobs = new Map<DeviceWorker, HostJob>();
  const jobFor = (worker: DeviceWorker, n: number): HostJob => {
    const known = jobs.get(worker);
    const job = known?.keys.n === n ? known : makeJob(n);
    jobs.set(worker, job);
    return job;
  };
  return {
    name: `sort ${bytes} ${carried} ${sorted ? 'keys' : ''} ${settings.algorithm}`,
    probe: (worker, n) => worker.sort(jobFor(worker, n)),
    partition: async (n) => {
      if (!firstWorker) return;
      const two = makeJob(n);
      await new Partitioner(two, [1, 1]).partitionInto([
        new HostShardWriter(firstWorker, two, n),
        new HostShardWriter(firstWorker, two, n),
      ]);
    },
  };
}
