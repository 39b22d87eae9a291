import test from 'ava';
import { freeMemory } from '../../../src/io/external/free-memory.js';
import { scratchFolder } from '../../cli/cli.js';
import { systemFolder } from '../../util/system-folder.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

/** The root folder of a system with these files. */
const system = (name: string, files: Record<string, string>) => systemFolder(path(name), files);

test('without control groups, the free memory of the system counts', (t) => {
  t.is(freeMemory(system('none', { 'proc/version': '' }), 12_345), 12_345);
  t.true(freeMemory() > 0);
});

test('cgroup v2: the tightest group counts, without its page cache', (t) => {
  const root = system('v2', {
    'proc/self/cgroup': '0::/user/job\n',
    'sys/fs/cgroup/user/job/memory.max': 'max\n',
    'sys/fs/cgroup/user/job/memory.current': '500\n',
    'sys/fs/cgroup/user/memory.max': '1000\n',
    'sys/fs/cgroup/user/memory.current': '900\n',
    'sys/fs/cgroup/user/memory.stat': 'anon 600\ninactive_file 250\nactive_file 9\n',
  });
  t.is(freeMemory(root, 10_000), 350);
  t.is(freeMemory(root, 100), 100);
});

test('cgroup v1: the limit counts, also when the path is one of the host', (t) => {
  const root = system('v1', {
    'proc/self/cgroup': '9:cpu,cpuacct:/\n7:memory:/docker/abc\n',
    'sys/fs/cgroup/memory/memory.limit_in_bytes': '4096\n',
    'sys/fs/cgroup/memory/memory.usage_in_bytes': '5000\n',
    'sys/fs/cgroup/memory/memory.stat': 'inactive_file 7\ntotal_inactive_file 1000\n',
  });
  t.is(freeMemory(root, 10_000), 96);
  const unlimited = system('v1 unlimited', {
    'proc/self/cgroup': '7:memory:/\n',
    'sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
    'sys/fs/cgroup/memory/memory.usage_in_bytes': '5000\n',
  });
  t.is(freeMemory(unlimited, 10_000), 10_000);
});
