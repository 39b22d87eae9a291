import type { DeviceTuning } from '../tuning-rows.js';

export const pocl: DeviceTuning = {
  where: { family: 'pocl' },
  measured: 'PoCL 3.1 on two cores of an Intel Xeon, 2026-11-21',
  // PoCL runs a selection's atomics and barriers for one work-item after the other. Processor time over that of a
  // full sort, keys on the device: 1.6 to 2.9 for 1, 100, 2^16 and n / 4 of 2^12 to 2^24 u32 or f64 keys.
  crossovers: { select: Number.POSITIVE_INFINITY },
  rows: [],
};
