/** Number of threads for computations on the host. */
import { availableParallelism } from 'node:os';
import { controlGroups } from './control-groups.js';
import { assertWholeNumber } from './whole-number.js';

/** Maximum threads of one computation; the addon accepts no more. */
export const MAX_THREADS = 64;

/**
 * Returns the processors that the control groups of the process let it use on average; Infinity without a limit.
 *
 * @param root parent folder of /proc and /sys, for tests
 */
export function processorLimit(root = '/'): number {
  const limits = controlGroups('cpu', root).map(({ version, read }) => {
    const [quota, period] =
      version === 2 ? read('cpu.max').split(' ') : [read('cpu.cfs_quota_us'), read('cpu.cfs_period_us')];
    return Number(quota) / Number(period);
  });
  // A quota of "max" or -1 is none.
  return Math.min(...limits.filter((processors) => processors > 0));
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
  limit ??= Math.max(1, Math.min(availableParallelism(), Math.ceil(processorLimit()), MAX_THREADS));
  return limit;
}
