import type { DeviceTuning } from '../tuning-rows.js';

export const nvidia: DeviceTuning = {
  where: { family: 'nvidia' },
  measured: 'NVIDIA H200, driver 580.159.04, 2026-11-21',
  rows: [
    {
      algorithm: 'onesweep',
      tuning: { rank: 'ptx', histogramSize: 1024, histogramColumns: 32 },
    },
    {
      algorithm: 'onesweep',
      which: { keyBits: 64 },
      tuning: { histogramColumns: 16 },
    },
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
      algorithm: 'group',
      tuning: { rank: 'ptx', groupSize: 1024, keysPerItem: 4, maxRegisters: 64 },
    },
    {
      algorithm: 'group',
      which: { n: 1024 },
      tuning: { groupSize: 256, keysPerItem: 4 },
    },
    {
      algorithm: 'persistent',
      tuning: { rank: 'ptx', groupSize: 512, keysPerItem: 16, maxRegisters: 128, groupsPerUnit: 1 },
    },
  ],
};
