import type { DeviceTuning } from '../tuning-rows.js';

export const cpu: DeviceTuning = {
  where: { type: 'cpu' },
  measured: 'PoCL 3.1 on two cores of an Intel Xeon, 2026-11-21; before that of an AMD EPYC',
  // Host engine time over that of PoCL on the EPYC, typed array to new typed array: 0.2 to 0.4 for 2^12 to 2^16 keys of
  // most dtypes, 0.5 for 2^20, 1.0 to 1.3 for 2^24 4-byte keys and 0.5 for 8-byte keys (`epyc-2-break-even.json`).
  crossovers: { host: [{ keys: Number.POSITIVE_INFINITY }] },
  rows: [
    {
      algorithm: 'onesweep',
      tuning: { groupSize: 64, keysPerItem: 4, histogramSize: 64, histogramColumns: 1, lookBack: 1 },
    },
    { algorithm: 'tiled', tuning: { groupSize: 64, keysPerItem: 4, countColumns: 1 } },
    { algorithm: 'single-workgroup', tuning: { groupSize: 64, keysPerItem: 16 } },
    { algorithm: 'single-workgroup', which: { n: 256 }, tuning: { keysPerItem: 4 } },
    { algorithm: 'segmented', tuning: { groupSize: 64, keysPerItem: 16 } },
    { algorithm: 'persistent', tuning: { groupSize: 64, keysPerItem: 16 } },
  ],
};
