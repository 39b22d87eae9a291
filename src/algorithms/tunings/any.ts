import type { DeviceTuning } from '../tuning-rows.js';

/** Defaults for any device. The other files override them with measurements. */
export const anywhere: DeviceTuning = {
  where: {},
  measured: 'first guesses, and what suits devices of several makers',
  // rusticl selects 1 and 100 of 2^12 to 2^16 keys in 0.4 to 0.9 of the time of a sort, except 2^12 of f64.
  crossovers: { host: [{ keys: 2 ** 16 }], singleWorkgroup: Number.POSITIVE_INFINITY, select: 2 ** 12 },
  rows: [
    {
      algorithm: 'onesweep',
      tuning: {
        rank: 'masks',
        groupSize: 256,
        keysPerItem: 16,
        histogramSize: 256,
        histogramColumns: 4,
        lookBack: 4,
        spinLimit: 2_000_000,
      },
    },
    {
      algorithm: 'hybrid-radix',
      tuning: {
        minDigits: 3,
        maxDigits: 5,
        sample: 8192,
        crowd: 8,
        bucket: 1024,
        finishSize: 256,
        finishKeys: 8,
        finishGroups: 16,
      },
    },
    // With values a pass costs more, but counting does not.
    { algorithm: 'hybrid-radix', which: { valueBytes: 4 }, tuning: { crowd: 16 } },
    { algorithm: 'hybrid-radix', which: { valueBytes: 8 }, tuning: { crowd: 16 } },
    // Among so many keys, a sample detects keys that are 16 times as frequent as it would see by chance.
    { algorithm: 'hybrid-radix', which: { n: 2 ** 24 }, tuning: { sample: 4096 } },
    { algorithm: 'hybrid-radix', which: { over: 2 ** 26 }, tuning: { sample: 16384 } },
    {
      algorithm: 'tiled',
      tuning: {
        rank: 'masks',
        radixBits: 8,
        groupSize: 256,
        keysPerItem: 20,
        countColumns: 8,
        groupsPerUnit: 4,
      },
    },
    {
      algorithm: 'single-workgroup',
      tuning: { rank: 'masks', radixBits: 8, groupSize: 256, keysPerItem: 16 },
    },
    { algorithm: 'single-workgroup', which: { n: 1024 }, tuning: { keysPerItem: 4 } },
    {
      algorithm: 'persistent',
      tuning: {
        rank: 'masks',
        radixBits: 8,
        groupSize: 256,
        keysPerItem: 16,
        // The meaning of a compute unit, and the groups that it holds, depend on the vendor: nothing is assumed
        // untested.
        groupsPerUnit: 0,
        spinLimit: 2_000_000,
      },
    },
    { algorithm: 'segmented', tuning: { rank: 'masks', radixBits: 8, groupSize: 256, keysPerItem: 16 } },
    { algorithm: 'serial', tuning: { radixBits: 8, runsPerUnit: 2, lines: true } },
    { algorithm: 'serial', which: { keyBits: 32 }, tuning: { radixBits: 11 } },
    { algorithm: 'serial', which: { keyBits: 64 }, tuning: { radixBits: 11 } },
    { algorithm: 'serial', which: { n: 2 ** 18 }, tuning: { runsPerUnit: 1 } },
    // The array fits a core's cache: lines would be flushed half full.
    { algorithm: 'serial', which: { n: 2 ** 16 }, tuning: { radixBits: 8, lines: false } },
    {
      algorithm: 'serial',
      which: { keyBits: 64, valueBytes: 0, over: 2 ** 14, n: 2 ** 16 },
      tuning: { radixBits: 11 },
    },
  ],
};
