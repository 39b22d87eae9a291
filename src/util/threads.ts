/** Number of threads for computations on the host. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { assertWholeNumber } from './whole-number.js';

/** Maximum threads of one computation; the addon accepts no more. */
export const MAX_THREADS = 64;

/** Returns the processors that the control group of the process may use on average; Infinity without a limit. */
function controlGroupLimit(): number {
  const read = (file: string): string => {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return '';
    }
  };
  const own = /^0::(.*)$/m.exec(read('/proc/self/cgroup'))?.[1] ?? '/';
  // A group is also limited by those that contain it.
  const groups = own.split('/').filter(Boolean);
  const limits = groups.concat('').map((_, depth) => {
    const [quota, period] = read(`/sys/fs/cgroup/${groups.slice(0, depth).join('/')}/cpu.max`).split(' ');
    return quota && quota !== 'max' ? Number(quota) / Number(period) : Number.POSITIVE_INFINITY;
  });
  const first = '/sys/fs/cgroup/cpu/cpu.cfs_'; // version 1 of control groups
  const [quota, period] = [Number(read(`${first}quota_us`)), Number(read(`${first}period_us`))];
  if (quota > 0 && period > 0) limits.push(quota / period);
  return Math.min(...limits.filter((limit) => limit > 0));
}

let limit: number | undefined;

/**
 * Returns the number of threads that a computation on the host may use: `CLSORT_THREADS` if it is set, else the
 * processors that the process may use by its affinity and its control group; at most 64.
 *
 * @throws UsageError when `CLSORT_THREADS` is not a whole number from 1 to 64
 */
export function hostThreads(): number {
  const chosen = process.env.CLSORT_THREADS;
  if (chosen) {
    assertWholeNumber('CLSORT_THREADS', Number(chosen), { max: MAX_THREADS }, chosen);
    return Number(chosen);
  }
  limit ??= Math.max(1, Math.min(availableParallelism(), Math.ceil(controlGroupLimit()), MAX_THREADS));
  return limit;
}
