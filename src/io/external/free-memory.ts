/** Available memory: the free memory of the system, limited by the control groups of this process. */
import { freemem } from 'node:os';
import { controlGroups } from '../../util/control-groups.js';

/** File names of a control group: limit, usage, and reclaimable memory. */
interface Files {
  readonly limit: string;
  readonly usage: string;
  /** Field of memory.stat: inactive file pages, which the kernel reclaims on demand. */
  readonly cache: string;
}

const V2: Files = { limit: 'memory.max', usage: 'memory.current', cache: 'inactive_file' };
const V1: Files = {
  limit: 'memory.limit_in_bytes',
  usage: 'memory.usage_in_bytes',
  cache: 'total_inactive_file',
};

/**
 * Returns the bytes that this process can allocate without swapping or being killed, as far as the system reports them.
 *
 * @param root parent folder of /proc and /sys, for tests; default `'/'`
 * @param free free memory of the system in bytes
 */
export function freeMemory(root = '/', free = freemem()): number {
  let minFree = free;
  for (const { version, read } of controlGroups('memory', root)) {
    const files = version === 2 ? V2 : V1;
    const limit = Number.parseInt(read(files.limit), 10);
    const usage = Number.parseInt(read(files.usage), 10);
    if (limit >= 0 && usage >= 0) {
      const cache = Number(new RegExp(`^${files.cache} (\\d+)`, 'm').exec(read('memory.stat'))?.[1] ?? 0);
      minFree = Math.min(minFree, Math.max(0, limit - usage + cache));
    }
  }
  return minFree;
}

/** Returns the default memory limit of a sort: half of the available memory. */
export const defaultMemory = (): number => Math.floor(freeMemory() / 2);
