/** How much memory there is to be had: what the system has free, and what the control groups of this process leave. */
import { readFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { dirname, join } from 'node:path';

/** Names of the files of a control group that tell its limit, its use, and what it could do without. */
interface Files {
  readonly limit: string;
  readonly usage: string;
  /** In memory.stat: pages of files, which go when memory is wanted. */
  readonly cache: string;
}

const V2: Files = { limit: 'memory.max', usage: 'memory.current', cache: 'inactive_file' };
const V1: Files = {
  limit: 'memory.limit_in_bytes',
  usage: 'memory.usage_in_bytes',
  cache: 'total_inactive_file',
};

/**
 * Bytes that this process may take without anything being swapped or killed, as far as the system tells.
 *
 * @param root where /proc and /sys are, for tests
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
      // Each group above has its limit too; in a container the path may be one of the host's, and only the root is there.
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

/** What a sort takes where nothing else is said: half of what is free. */
export const defaultMemory = (): number => Math.floor(freeMemory() / 2);
