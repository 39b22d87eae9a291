import test from 'ava';
import { algorithmNamed } from '../../src/algorithms/registry.js';
import { fitTile, tileBytes } from '../../src/algorithms/tile.js';
import { modelledTile, occupancyOf } from '../../src/algorithms/tile-model.js';
import { tuningFor } from '../../src/algorithms/tuning.js';
import { knownDevice, limited, PROFILES, profileNamed } from '../device/profiles.js';

process.env.CLSORT_TUNING = 'off';

const of = (key: string) => knownDevice(profileNamed(key));
const onesweep = algorithmNamed('onesweep');
const SHAPES = ([32, 64] as const).flatMap((keyBits) =>
  [0, 4, 8].map((valueBytes) => ({ keyBits, valueBytes })),
);

test('the tiles measured on the H200 score within 15 % of the best tile of the model', (t) => {
  const h200 = of('h200');
  for (const shape of SHAPES) {
    const scoreOf = (tuning: Parameters<typeof fitTile>[2]) =>
      occupancyOf(h200.capabilities, shape, fitTile(h200, shape, tuning)).score;
    const measured = scoreOf(tuningFor(onesweep, h200, shape, 2 ** 22 + 1));
    const best = scoreOf(modelledTile(h200, shape, { name: 'any', valuesAfter: true }));
    t.true(best >= measured);
    t.true(measured > 0.85 * best, `${shape.keyBits}+${shape.valueBytes}: ${measured} of ${best}`);
  }
});

test('local memory, registers or work-items limit the occupancy, whichever runs out first', (t) => {
  const { capabilities } = of('a100');
  const tile = fitTile(of('a100'), SHAPES[0] as (typeof SHAPES)[number], {
    ...{ rank: 'ptx', groupSize: 256, keysPerItem: 16, maxRegisters: 0 },
  });
  const shape = { keyBits: 32, valueBytes: 0 } as const;
  const groups = (unit: Partial<typeof capabilities.unit>) =>
    occupancyOf({ ...capabilities, unit: { ...capabilities.unit, ...unit } }, shape, tile).groups;
  const plenty = { localBytes: 2 ** 30, registers: 2 ** 30, items: 2 ** 30 };
  const bytes = tileBytes(shape, tile) + 1024;
  t.is(groups({ ...plenty, localBytes: 3 * bytes }), 3);
  t.is(groups({ ...plenty, localBytes: 3 * bytes - 1 }), 2);
  t.is(groups({ ...plenty, items: 5 * 256 }), 5);
  t.is(groups({ ...plenty, registers: 4 * 256 * 48 }), 4, '26 + 16 registers are handed out as 48');
  const groupsOf = (groupLocalBytes: number) =>
    occupancyOf(limited(of('a100'), { groupLocalBytes, localBytes: 16_384 }).capabilities, shape, tile)
      .groups;
  t.true(groupsOf(49_152) > 0);
  t.is(groupsOf(16_384), 0);
});

/** The H200 as a device whose groups have this many KiB; the memory of a compute unit is unchanged. */
function withGroupsOf(kib: number) {
  const h200 = of('h200');
  const bytes = kib * 1024;
  const localBytes = Math.min(h200.capabilities.localBytes, bytes);
  return limited(h200, { localBytes, groupLocalBytes: bytes });
}

/**
 * Onesweep of 2^28 uniform keys on the H200: speed relative to CUB, by shape. The number of resident groups follows
 * from the registers that ptxas allocates for the kernel under its limit.
 */
const MEASURED = [
  {
    what: '32-bit keys',
    shape: { keyBits: 32, valueBytes: 0 },
    tiles: [
      { groupSize: 384, keysPerItem: 30, groups: 3, timesCub: 1.53 },
      { groupSize: 384, keysPerItem: 26, groups: 3, timesCub: 1.46 },
      { groupSize: 384, keysPerItem: 22, groups: 2, timesCub: 1.25 },
      { groupSize: 256, keysPerItem: 22, groups: 4, timesCub: 1.19 },
      { groupSize: 256, keysPerItem: 14, groups: 4, timesCub: 0.96 },
    ],
    maxRatio: 1.15,
  },
  {
    what: '64-bit keys',
    shape: { keyBits: 64, valueBytes: 0 },
    tiles: [
      { groupSize: 384, keysPerItem: 26, groups: 2, timesCub: 1.43 },
      { groupSize: 384, keysPerItem: 22, groups: 2, timesCub: 1.38 },
      { groupSize: 384, keysPerItem: 16, groups: 2, timesCub: 1.24 },
      { groupSize: 256, keysPerItem: 18, groups: 2, timesCub: 1.22 },
      { groupSize: 384, keysPerItem: 11, groups: 2, timesCub: 1.16 },
      { groupSize: 256, keysPerItem: 10, groups: 4, timesCub: 0.99 },
      { groupSize: 512, keysPerItem: 6, groups: 2, timesCub: 0.88 },
    ],
    maxRatio: 1.15,
  },
  {
    // 256 x 32 is omitted: it does not fit the registers that it was given.
    what: '32-bit keys with 4 bytes',
    shape: { keyBits: 32, valueBytes: 4 },
    tiles: [
      { groupSize: 448, keysPerItem: 28, groups: 2, timesCub: 1.13 },
      { groupSize: 384, keysPerItem: 30, groups: 2, timesCub: 1.08 },
      { groupSize: 256, keysPerItem: 36, groups: 2, timesCub: 1.043 },
      { groupSize: 320, keysPerItem: 28, groups: 2, timesCub: 1.026 },
      { groupSize: 384, keysPerItem: 22, groups: 2, timesCub: 1.026 },
      { groupSize: 448, keysPerItem: 18, groups: 2, timesCub: 0.99 },
      { groupSize: 512, keysPerItem: 14, groups: 2, timesCub: 0.974 },
      { groupSize: 256, keysPerItem: 30, groups: 3, timesCub: 0.957 },
      { groupSize: 384, keysPerItem: 18, groups: 3, timesCub: 0.932 },
    ],
    maxRatio: 1.12,
  },
] as const;

for (const { what, shape, tiles, maxRatio } of MEASURED) {
  test(`scores follow the measured speeds of ${what} with less local memory`, (t) => {
    const h200 = of('h200');
    const { capabilities } = h200;
    const speedsOverScores = tiles.map(({ groups, timesCub, ...own }) => {
      const tile = fitTile(h200, shape, { rank: 'ptx', valuesAfter: true, ...own });
      const unit = {
        ...capabilities.unit,
        localBytes: groups * (tileBytes(shape, tile) + capabilities.unit.groupBytes),
        registers: 2 ** 30,
      };
      const occupancy = occupancyOf({ ...capabilities, unit }, shape, tile);
      t.is(occupancy.groups, groups);
      return timesCub / occupancy.score;
    });
    const [lowest, highest] = [Math.min(...speedsOverScores), Math.max(...speedsOverScores)];
    t.true(highest < maxRatio * lowest, speedsOverScores.map((one) => one.toFixed(3)).join(' '));
  });
}

test('the model predicts the registers that ptxas allocates', (t) => {
  const h200 = of('h200');
  const registers = (keyBits: 32 | 64, valueBytes: number, groupSize: number, keysPerItem: number) => {
    const shape = { keyBits, valueBytes };
    const tuning = { rank: 'ptx', groupSize, keysPerItem, valuesAfter: true };
    return occupancyOf(h200.capabilities, shape, fitTile(h200, shape, tuning)).registers;
  };
  t.is(registers(32, 0, 384, 30), 56);
  t.is(registers(32, 0, 384, 22), 48);
  t.is(registers(64, 0, 384, 26), 80);
  t.is(registers(64, 0, 384, 11), 48);
  t.is(registers(64, 0, 512, 6), 40, '36 of them, in steps of 8');
  t.is(registers(32, 4, 384, 20), 64);
});

test('with less local memory the model chooses tiles at least as good as shrunk measured tiles', (t) => {
  const chosen = ([32, 64] as const).map((keyBits) =>
    [227, 163, 99, 64, 48].map((kib) => {
      const device = withGroupsOf(kib);
      const shape = { keyBits, valueBytes: 0 };
      const tuning = modelledTile(device, shape, { name: 'any' });
      const tile = fitTile(device, shape, tuning);
      const its = occupancyOf(device.capabilities, shape, tile);
      const smaller = fitTile(device, shape, tuningFor(onesweep, device, shape, 2 ** 28));
      const other = occupancyOf(device.capabilities, shape, smaller);
      t.true(
        its.groups >= other.groups,
        `${kib} KiB: ${its.groups} groups, ${other.groups} of the smaller one`,
      );
      t.true(its.score >= other.score, `${kib} KiB: ${its.score} against ${other.score}`);
      return `${tile.groupSize} x ${tile.keysPerItem}, ${tile.maxRegisters}`;
    }),
  );
  t.deepEqual(chosen, [
    ['384 x 30, 56', '384 x 30, 56', '384 x 30, 56', '384 x 30, 56', '256 x 30, 64'],
    ['384 x 26, 80', '384 x 26, 80', '384 x 26, 80', '256 x 26, 80', '256 x 18, 64'],
  ]);
});

test('the model chooses the fastest measured tile for pairs at each local memory size', (t) => {
  // 2^28 u32 keys with 4 bytes on the H200, ms: 448 x 28 6.47, 384 x 30 6.84, and 7.17 with values beside the keys.
  // With 48 KiB per group: 256 x 36 7.10, 384 x 22 7.22, 448 x 18 7.48, 256 x 30 7.74.
  const chosen = [227, 163, 99, 64, 48].map((kib) => {
    const tuning = modelledTile(
      withGroupsOf(kib),
      { keyBits: 32, valueBytes: 4 },
      { name: 'any', valuesAfter: true },
    );
    return `${tuning.groupSize} x ${tuning.keysPerItem}, ${tuning.valuesAfter}`;
  });
  t.deepEqual(chosen, [...Array(3).fill('448 x 28, true'), '384 x 30, true', '256 x 36, true']);
});

test('the model finds a tile for every GPU, with two resident work-groups if local memory allows', (t) => {
  for (const profile of PROFILES) {
    const device = knownDevice(profile);
    for (const shape of SHAPES) {
      const tuning = modelledTile(device, shape, { name: 'any', valuesAfter: true });
      const tile = fitTile(device, shape, { ...tuning, radixBits: 8 });
      t.is(tile.groupSize, Number(tuning.groupSize), 'nothing is left to shrink');
      t.is(tile.keysPerItem, Number(tuning.keysPerItem));
      const { groups } = occupancyOf(device.capabilities, shape, tile);
      const hasLargeLocalMemory = device.capabilities.unit.localBytes >= 98_304;
      t.true(
        groups >= (hasLargeLocalMemory ? 2 : 1),
        `${profile.key} ${shape.keyBits}+${shape.valueBytes}: ${groups}`,
      );
    }
  }
});

test('less local memory never leads to a larger tile', (t) => {
  const a10 = of('a10');
  const shape = { keyBits: 32, valueBytes: 0 } as const;
  let before = Number.POSITIVE_INFINITY;
  for (const kib of [99, 64, 48, 32, 16]) {
    const bytes = kib * 1024;
    const unit = { ...a10.capabilities.unit, localBytes: bytes + 1024 };
    const localBytes = Math.min(bytes, 49_152);
    const device = limited(a10, { unit, localBytes, groupLocalBytes: bytes });
    const { groupSize, keysPerItem } = modelledTile(device, shape, { name: 'keys' });
    const keys = Number(groupSize) * Number(keysPerItem);
    t.true(keys <= before, `${kib} KiB: ${keys} keys`);
    before = keys;
  }
});

test('few keys get small tiles, so that more compute units have work', (t) => {
  const t4 = of('t4');
  const shape = { keyBits: 32, valueBytes: 0 } as const;
  const keys = (n: number) => {
    const { groupSize, keysPerItem } = tuningFor(onesweep, t4, shape, n);
    return Number(groupSize) * Number(keysPerItem);
  };
  t.true(keys(2 ** 17) < keys(2 ** 24));
  t.is(keys(2 ** 24), keys(2 ** 28), 'so that there are few programs');
});
