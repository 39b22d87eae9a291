/** Measured rates of devices, host cores and job runners, as data. */
import type { DeviceRates, HostRates, RunnerRates } from './rates.js';

export const DEVICE_RATES: readonly DeviceRates[] = [
  {
    name: 'NVIDIA H200',
    driver: '580.159.04',
    date: '2026-11-21',
    source:
      'scripts/results: 2^28 u32 and u64 keys, 2^25 words of 64 bits with values of 32; the bus at 2^28 u32 keys',
    keys32: 3.57e-3 / 2 ** 28,
    keys64: 11.56e-3 / 2 ** 28,
    words: 6.83e-3 / 3 / 2 ** 25,
    bus: 55e9,
    cpu: 0,
  },
  {
    name: 'pthread-skylake-avx512-AMD EPYC',
    driver: '3.1+debian',
    date: '2026-11-23',
    source: 'PoCL on two cores, parts of 64 MiB',
    keys32: 4.2e-9,
    keys64: 1.19e-8,
    words: 1.94e-8,
    bus: undefined,
    cpu: 2,
  },
];

/**
 * A worker on two cores of an AMD EPYC in a virtual machine: Node.js 20, files in the page cache of ext4, task records
 * synced to its disk. `full` comes from sorts with two and three workers, which used 1.5 to 1.7 of the two cores.
 */
const EPYC = { name: 'AMD EPYC', cores: 2, full: 0.8, date: '2026-11-23' } as const;

export const HOST_RATES: readonly HostRates[] = [
  {
    ...EPYC,
    ...{ of: 'keys', unit: 4 },
    sample: { seconds: 2.0e-6, cpu: 3.2e-6 },
    splitters: { seconds: 0.92e-6, cpu: 1.5e-6 },
    partition: { seconds: 3.26e-9, cpu: 5.47e-9 },
    sort: { seconds: 3.46e-9, cpu: 3.79e-9 },
    verify: { seconds: 2.11e-10, cpu: 4.2e-10 },
    piece: { seconds: 8.9e-4, cpu: 9.4e-4 },
    opened: { seconds: 2.1e-4, cpu: 1e-4 },
    task: { seconds: 0.0168, cpu: 0.0268 },
  },
  {
    ...EPYC,
    ...{ of: 'keys', unit: 8 },
    sample: { seconds: 3.4e-6, cpu: 5.8e-6 },
    splitters: { seconds: 1.1e-6, cpu: 1.7e-6 },
    partition: { seconds: 3.37e-9, cpu: 5.22e-9 },
    sort: { seconds: 3.2e-9, cpu: 2.83e-9 },
    verify: { seconds: 2.25e-10, cpu: 3.4e-10 },
    piece: { seconds: 7.2e-4, cpu: 6.2e-4 },
    opened: { seconds: 0.7e-4, cpu: 0.7e-4 },
    task: { seconds: 0.0166, cpu: 0.0267 },
  },
  {
    ...EPYC,
    ...{ of: 'records', unit: 100 },
    sample: { seconds: 2.0e-6, cpu: 2.0e-6 },
    splitters: { seconds: 1.15e-6, cpu: 1.7e-6 },
    partition: { seconds: 3.77e-9, cpu: 5.17e-9 },
    sort: { seconds: 5.03e-9, cpu: 5.79e-9 },
    verify: { seconds: 1.08e-9, cpu: 1.22e-9 },
    piece: { seconds: 8.0e-4, cpu: 7.4e-4 },
    opened: { seconds: 1.8e-4, cpu: 1.2e-4 },
    task: { seconds: 0.0188, cpu: 0.0299 },
  },
];

export const RUNNER_RATES: readonly RunnerRates[] = [
  {
    ...{ name: 'local', task: 0, stage: 0, job: 0.1 },
    source: 'one process runs the tasks in sequence',
  },
  {
    ...{ name: 'bullmq', task: 0.005, stage: 0.01, job: 0.15 },
    source: 'BullMQ on Redis, on the host of the worker, 2026-11-23',
  },
  {
    ...{ name: 'slurm', task: 0.8, stage: 2.5, job: 5 },
    source: 'approximate, from a sort of 64 MiB by Slurm 22.05 on one node, sched_interval=2, 2026-11-23',
  },
  {
    ...{ name: 'kubernetes', task: 5, stage: 10, job: 10 },
    source: 'assumed, not measured: 5 s to start a pod, 10 s between Jobs',
  },
];
