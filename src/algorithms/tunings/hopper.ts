import type { DeviceTuning } from '../tuning-rows.js';

export const hopper: DeviceTuning = {
  where: { architecture: 'sm_90' },
  measured: 'NVIDIA H200, driver 580.159.04, 2026-11-21',
  // End to end: eight of nine runs of `clsort tune` give 2^14, one 2^13. `single-workgroup` takes less time than
  // one group of `persistent` for sizes that both hold.
  // The host engine selects and reduces at memory speed, which copies to the device do not reach: `topK` of 100 keys
  // takes 0.71 ms from host arrays of 2^18 keys, a sum 1.2 ms for 2^22 keys (`h200-calls.json`).
  crossovers: {
    host: [
      { keys: 2 ** 14 },
      { operation: 'topK', keys: 2 ** 18 },
      { operation: 'reduce', keyBits: 32, keys: Number.POSITIVE_INFINITY },
    ],
  },
  rows: [
    { algorithm: 'onesweep', tuning: { rank: 'ptx', histogramSize: 1024, histogramColumns: 32 } },
    { algorithm: 'onesweep', which: { keyBits: 64 }, tuning: { histogramColumns: 16 } },
    {
      algorithm: 'tiled',
      tuning: {
        rank: 'ptx',
        groupSize: 512,
        keysPerItem: 20,
        maxRegisters: 64,
        countColumns: 32,
        groupsPerUnit: 4,
      },
    },
    { algorithm: 'tiled', which: { keyBits: 64 }, tuning: { keysPerItem: 12 } },
    {
      algorithm: 'tiled',
      which: { valueBytes: 4 },
      tuning: { groupSize: 384, keysPerItem: 20, maxRegisters: 80 },
    },
    {
      algorithm: 'tiled',
      which: { valueBytes: 8 },
      tuning: { groupSize: 384, keysPerItem: 12, maxRegisters: 80 },
    },
    {
      algorithm: 'single-workgroup',
      tuning: { rank: 'ptx', groupSize: 1024, keysPerItem: 4, maxRegisters: 64 },
    },
    { algorithm: 'single-workgroup', which: { n: 1024 }, tuning: { groupSize: 256, keysPerItem: 4 } },
    {
      algorithm: 'persistent',
      tuning: { rank: 'ptx', groupSize: 512, keysPerItem: 16, maxRegisters: 128, groupsPerUnit: 1 },
    },
    {
      algorithm: 'onesweep',
      tuning: { groupSize: 384, keysPerItem: 28, maxRegisters: 56, checkedLanes: true },
    },
    // 32 keys per item are 1 % faster for uniform keys. With evenly spaced keys, each digit then has 48 keys of a
    // tile, whose first keys share two banks of local memory; with 45 they use all banks.
    {
      algorithm: 'onesweep',
      which: { keyBits: 32, valueBytes: 0, over: 2 ** 24 },
      tuning: { keysPerItem: 30 },
    },
    {
      algorithm: 'onesweep',
      which: { valueBytes: 4 },
      tuning: { groupSize: 448, keysPerItem: 28, maxRegisters: 72, lookBack: 2, valuesAfter: true },
    },
    {
      algorithm: 'onesweep',
      which: { valueBytes: 8 },
      tuning: { groupSize: 384, keysPerItem: 20, maxRegisters: 80, lookBack: 2, valuesAfter: true },
    },
    {
      algorithm: 'onesweep',
      which: { keyBits: 64 },
      tuning: { groupSize: 384, keysPerItem: 26, maxRegisters: 80 },
    },
    {
      algorithm: 'onesweep',
      which: { keyBits: 64, valueBytes: 4 },
      tuning: { groupSize: 512, keysPerItem: 16, maxRegisters: 64, lookBack: 2 },
    },
    {
      algorithm: 'onesweep',
      which: { keyBits: 64, valueBytes: 8 },
      tuning: { groupSize: 384, keysPerItem: 20, maxRegisters: 80, lookBack: 2 },
    },
    {
      algorithm: 'onesweep',
      which: { keyBits: 64, valueBytes: 0, n: 2 ** 22 },
      tuning: { groupSize: 512, keysPerItem: 16, maxRegisters: 64 },
    },
    {
      algorithm: 'onesweep',
      which: { n: 2 ** 18 },
      tuning: {
        groupSize: 256,
        keysPerItem: 8,
        maxRegisters: 64,
        histogramSize: 256,
        histogramColumns: 4,
        lookBack: 8,
        checkedLanes: false,
        valuesAfter: false,
      },
    },
    { algorithm: 'hybrid-radix', tuning: { finishSize: 256, finishKeys: 8, finishGroups: 16 } },
    // Measured on 2026-11-24 for keys alone; with values a sweep has about the registers that it needs.
    {
      algorithm: 'segmented',
      tuning: {
        rank: 'ptx',
        groupSize: 256,
        keysPerItem: 16,
        maxRegisters: 80,
        sweepGroupSize: 384,
        sweepKeysPerItem: 22,
      },
    },
    { algorithm: 'segmented', which: { valueBytes: 8 }, tuning: { sweepKeysPerItem: 16 } },
    { algorithm: 'segmented', which: { keyBits: 64, valueBytes: 8 }, tuning: { maxRegisters: 96 } },
    {
      algorithm: 'segmented',
      which: { keyBits: 32, valueBytes: 0 },
      tuning: { maxRegisters: 64, sweepGroupSize: 512, sweepKeysPerItem: 16 },
    },
    { algorithm: 'tiled', which: { keyBits: 32, valueBytes: 0 }, tuning: { keysPerItem: 22 } },
    {
      algorithm: 'tiled',
      which: { keyBits: 32, valueBytes: 4 },
      tuning: { groupSize: 640, keysPerItem: 26 },
    },
    {
      algorithm: 'tiled',
      which: { keyBits: 32, valueBytes: 8 },
      tuning: { groupSize: 512, keysPerItem: 22, maxRegisters: 80 },
    },
    {
      algorithm: 'tiled',
      which: { keyBits: 64, valueBytes: 0 },
      tuning: { groupSize: 384, keysPerItem: 21, maxRegisters: 80 },
    },
    {
      algorithm: 'tiled',
      which: { keyBits: 64, valueBytes: 4 },
      tuning: { groupSize: 768, keysPerItem: 21 },
    },
    // The later a row, the smaller the tile, so that as many units as possible have one. Tiles for 2^21 keys are
    // the largest, except for narrow keys. Above that, onesweep is slower by 9 % (u32) or 15 % (u64) for uniform
    // keys, and faster by up to 28 % or 60 % for skewed ones.
    {
      algorithm: 'persistent',
      tuning: { groupSize: 512, keysPerItem: 32, maxRegisters: 128, checkedLanes: true },
    },
    {
      algorithm: 'persistent',
      which: { keyBits: 8, over: 2 ** 21 },
      tuning: { groupSize: 640, keysPerItem: 50, maxRegisters: 96 },
    },
    {
      algorithm: 'persistent',
      which: { keyBits: 16, over: 2 ** 21 },
      tuning: { groupSize: 640, keysPerItem: 50, maxRegisters: 96 },
    },
    // 512 x 32 is 4 % faster for uniform keys and a third slower for evenly spaced ones: each digit then has 64
    // keys of a tile, whose first keys are all in one bank of local memory.
    {
      algorithm: 'persistent',
      which: { keyBits: 32 },
      tuning: { groupSize: 640, keysPerItem: 25, maxRegisters: 96 },
    },
    { algorithm: 'persistent', which: { keyBits: 32, valueBytes: 4 }, tuning: { valuesAfter: true } },
    {
      algorithm: 'persistent',
      which: { keyBits: 32, valueBytes: 8, n: 1.5 * 2 ** 20 },
      tuning: { groupSize: 512, keysPerItem: 24, maxRegisters: 128, valuesAfter: true },
    },
    {
      algorithm: 'persistent',
      which: { n: 2 ** 20 },
      tuning: { groupSize: 512, keysPerItem: 16, maxRegisters: 128 },
    },
    {
      algorithm: 'persistent',
      which: { n: 2 ** 19 },
      tuning: { groupSize: 512, keysPerItem: 8, maxRegisters: 128 },
    },
    {
      algorithm: 'persistent',
      which: { n: 2 ** 18 },
      tuning: { groupSize: 512, keysPerItem: 4, maxRegisters: 128 },
    },
    {
      algorithm: 'persistent',
      which: { keyBits: 16, valueBytes: 0, n: 2 ** 18 },
      tuning: { keysPerItem: 8 },
    },
    {
      algorithm: 'persistent',
      which: { keyBits: 32, valueBytes: 0, n: 2 ** 18 },
      tuning: { keysPerItem: 8 },
    },
    {
      algorithm: 'persistent',
      which: { n: 2 ** 17 },
      tuning: { groupSize: 512, keysPerItem: 2, maxRegisters: 128 },
    },
    // No more groups than are resident together: the last ones would run alone.
    { algorithm: 'reduce', tuning: { groupsPerUnit: 5 } },
    {
      algorithm: 'reduce',
      which: { keyBits: 32, over: 2 ** 22 },
      tuning: { groupSize: 512, groupsPerUnit: 3 },
    },
    { algorithm: 'histogram', tuning: { groupSize: 1024, rounds: 4, groupsPerUnit: 1 } },
    { algorithm: 'histogram', which: { keyBits: 32, over: 2 ** 22 }, tuning: { rounds: 8 } },
    { algorithm: 'histogram', which: { keyBits: 64, over: 2 ** 22 }, tuning: { rounds: 8 } },
  ],
};
