/** Control groups of Linux, which limit the memory and the processors of a process. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface ControlGroup {
  readonly version: 1 | 2;
  /** Returns the text of a file of the group; empty if there is none. */
  readonly read: (file: string) => string;
}

/**
 * Returns the control groups of this process, and the groups that contain them.
 *
 * @param controller `cpu` or `memory`
 * @param root parent folder of /proc and /sys, for tests
 */
export function controlGroups(controller: string, root: string): readonly ControlGroup[] {
  const read = (...path: string[]): string => {
    try {
      return readFileSync(join(root, ...path), 'utf8');
    } catch {
      return '';
    }
  };
  const groups: ControlGroup[] = [];
  for (const line of read('proc/self/cgroup').split('\n')) {
    const [, hierarchy, controllers = '', path = ''] = /^(\d+):([^:]*):(.*)$/.exec(line) ?? [];
    const version = hierarchy === '0' && controllers === '' ? 2 : 1;
    if (version === 1 && !controllers.split(',').includes(controller)) continue;
    for (const mount of version === 2 ? ['', 'unified'] : [controller]) {
      // Parent groups also have limits. In a container the path may be the host's, of which only the root is visible.
      for (let group = path; ; group = dirname(group)) {
        groups.push({ version, read: (file) => read('sys/fs/cgroup', mount, group, file) });
        if (group === dirname(group)) break;
      }
    }
  }
  return groups;
}
