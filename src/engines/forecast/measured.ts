/**
 * What was measured, as data: of devices, of a host's cores, and of engines. `clsort plan --measure` makes such rows of the
 * machine that it runs on, `clsort sort --engine NAME --json` of a run.
 */
import type { DeviceRates, EngineRates, HostRates } from './rates.js';

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
];

export const HOST_RATES: readonly HostRates[] = [
  {
    ...{ of: 'records', unit: 100, name: 'AMD EPYC', cores: 2, date: '2026-11-23' },
    sample: { seconds: 0, cpu: 0 },
    splitters: { seconds: 0, cpu: 0 },
    partition: { seconds: 0, cpu: 0 },
    sort: { seconds: 0, cpu: 0 },
    verify: { seconds: 0, cpu: 0 },
    piece: { seconds: 0, cpu: 0 },
    opened: { seconds: 0, cpu: 0 },
    task: { seconds: 0, cpu: 0 },
  },
];

export const ENGINE_RATES: readonly EngineRates[] = [
  { name: 'local', task: 0, stage: 0, job: 0, source: 'tasks are run one after the other by one process' },
  { name: 'bullmq', task: 0, stage: 0, job: 0, source: '' },
];
