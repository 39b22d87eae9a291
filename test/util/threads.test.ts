import test from 'ava';
import { processorLimit } from '../../src/util/threads.js';
import { scratchFolder } from '../cli/cli.js';
import { systemFolder } from './system-folder.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

/** The limit of a system with these files. */
const limitOf = (t: { title: string }, files: Record<string, string>) =>
  processorLimit(systemFolder(path(t.title), files));

test('without control groups there is no limit', (t) => {
  t.is(limitOf(t, { 'proc/version': '' }), Number.POSITIVE_INFINITY);
});

test('cgroup v2 the limit is the quota in periods, also a fraction', (t) => {
  t.is(limitOf(t, { 'proc/self/cgroup': '0::/\n', 'sys/fs/cgroup/cpu.max': '150000 100000\n' }), 1.5);
});

test('cgroup v2 max is no limit', (t) => {
  const files = { 'proc/self/cgroup': '0::/\n', 'sys/fs/cgroup/cpu.max': 'max 100000\n' };
  t.is(limitOf(t, files), Number.POSITIVE_INFINITY);
});

test('cgroup v2 the tightest of nested groups counts', (t) => {
  const files = {
    'proc/self/cgroup': '0::/user/job\n',
    'sys/fs/cgroup/cpu.max': 'max 100000\n',
    'sys/fs/cgroup/user/cpu.max': '200000 100000\n',
    'sys/fs/cgroup/user/job/cpu.max': '30000 10000\n',
    'sys/fs/cgroup/other/cpu.max': '10000 100000\n',
  };
  t.is(limitOf(t, files), 2);
});

test('cgroup v2 beside v1 has its own mount', (t) => {
  const files = {
    'proc/self/cgroup': '2:cpuset:/\n0::/job\n',
    'sys/fs/cgroup/unified/job/cpu.max': '400000 100000\n',
  };
  t.is(limitOf(t, files), 4);
});

test('cgroup v1 the tightest of nested groups counts, and -1 is no limit', (t) => {
  const files = {
    'proc/self/cgroup': '4:memory:/\n3:cpu,cpuacct:/user/job\n',
    'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n',
    'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
    'sys/fs/cgroup/cpu/user/cpu.cfs_quota_us': '800000\n',
    'sys/fs/cgroup/cpu/user/cpu.cfs_period_us': '100000\n',
    'sys/fs/cgroup/cpu/user/job/cpu.cfs_quota_us': '125000\n',
    'sys/fs/cgroup/cpu/user/job/cpu.cfs_period_us': '50000\n',
  };
  t.is(limitOf(t, files), 2.5);
});

test('cgroup v1 the root counts where the path is one of the host', (t) => {
  const files = {
    'proc/self/cgroup': '3:cpu,cpuacct:/docker/abc\n',
    'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '50000\n',
    'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
  };
  t.is(limitOf(t, files), 0.5);
});
