import type { DeviceTuning } from '../tuning-rows.js';

export const cpu: DeviceTuning = {
  where: { type: 'cpu' },
  measured: 'PoCL 3.1 on two cores of an Intel Xeon, 2026-11-21; before that of an AMD EPYC',
  // End to end, typed array to new typed array. Host engine time over device time for u32 keys, EPYC: 0.4 for 2^12,
  // 0.9 for 2^15, 1.2 for 2^16; Xeon: 0.5 for 2^14, 0.65 for 2^15, 0.95 for 2^16.
  crossovers: { host: 2 ** 15 },
  rows: [
    {
      algorithm: 'onesweep',
      // A group that the operating system suspended may keep others waiting for long.
      tuning: {
        groupSize: 64,
        keysPerItem: 4,
        histogramSize: 64,
        histogramColumns: 1,
        lookBack: 1,
        spinLimit: 2_000_000_000,
      },
    },
    { algorithm: 'tiled', tuning: { groupSize: 64, keysPerItem: 4, countColumns: 1 } },
    { algorithm: 'single-workgroup', tuning: { groupSize: 64, keysPerItem: 16 } },
    { algorithm: 'single-workgroup', which: { n: 256 }, tuning: { keysPerItem: 4 } },
    { algorithm: 'segmented', tuning: { groupSize: 64, keysPerItem: 16 } },
    { algorithm: 'persistent', tuning: { groupSize: 64, keysPerItem: 16 } },
  ],
};
