/** Available memory: the free memory of the system, limited by the control groups of this process. */
import { readFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { dirname, join } from 'node:path';

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
  const readText = (...path: string[]): string => {
    try {
      return readFileSync(join(root, ...path), 'utf8');
    } catch {
      return '';
    }
  };
  let minFree = free;
  for (const line of readText('proc/self/cgroup').split('\n')) {
    const [, hierarchy, controllers = '', path = ''] = /^(\d+):([^:]*):(.*)$/.exec(line) ?? [];
    const isV2 = hierarchy === '0' && controllers === '';
    if (!isV2 && !controllers.split(',').includes('memory')) continue;
    const mounts = isV2 ? ['sys/fs/cgroup', 'sys/fs/cgroup/unified'] : ['sys/fs/cgroup/memory'];
    const files = isV2 ? V2 : V1;
    for (const mount of mounts) {
      // Parent groups also have limits. In a container the path may be the host's, of which only the root is visible.
      for (let group = path; ; group = dirname(group)) {
        const number = (name: string): number => Number.parseInt(readText(mount, group, name), 10);
        const limit = number(files.limit);
        const usage = number(files.usage);
        if (limit >= 0 && usage >= 0) {
          const stat = readText(mount, group, 'memory.stat');
          const cache = Number(new RegExp(`^${files.cache} (\\d+)`, 'm').exec(stat)?.[1] ?? 0);
          minFree = Math.min(minFree, Math.max(0, limit - usage + cache));
        }
        if (group === dirname(group)) break;
      }
    }
  }
  return minFree;
}

/** Returns the default memory limit of a sort: half of the available memory. */
export const defaultMemory = (): number => Math.floor(freeMemory() / 2);
