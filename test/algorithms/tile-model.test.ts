import test from 'ava';
import { algorithmNamed } from '../../src/algorithms/registry.js';
import { fitTile, tileBytes } from '../../src/algorithms/tile.js';
import { modelledTile, occupancyOf } from '../../src/algorithms/tile-model.js';
import { tuningFor } from '../../src/algorithms/tuning.js';
import { knownDevice, PROFILES, profileNamed } from '../device/profiles.js';

process.env.CLSORT_TUNING = 'off';

const of = (key: string) => knownDevice(profileNamed(key));
const onesweep = algorithmNamed('onesweep');
const SHAPES = ([32, 64] as const).flatMap((keyBits) =>
  [0, 4, 8].map((valueBytes) => ({ keyBits, valueBytes })),
);

test('what was measured on the H200 is close to what the model finds best there', (t) => {
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

test('occupancy counts groups by local memory, registers and work-items, whichever gives out first', (t) => {
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
  t.is(groups({ ...plenty, registers: 4 * 256 * 40 }), 4, '23 + 16 registers are handed out as 40');
  t.is(
    occupancyOf({ ...capabilities, groupLocalBytes: 49_152, localBytes: 16_384 }, shape, tile).groups > 0,
    true,
  );
  t.is(occupancyOf({ ...capabilities, groupLocalBytes: 16_384, localBytes: 16_384 }, shape, tile).groups, 0);
});

test('every GPU that can hold a tile has one by the model, in two groups where there is room', (t) => {
  for (const profile of PROFILES) {
    const device = knownDevice(profile);
    for (const shape of SHAPES) {
      const tuning = modelledTile(device, shape, { name: 'any', valuesAfter: true });
      const tile = fitTile(device, shape, { ...tuning, radixBits: 8 });
      t.is(tile.groupSize, Number(tuning.groupSize), 'nothing is left to shrink');
      t.is(tile.keysPerItem, Number(tuning.keysPerItem));
      const { groups } = occupancyOf(device.capabilities, shape, tile);
      const roomy = device.capabilities.unit.localBytes >= 98_304;
      t.true(groups >= (roomy ? 2 : 1), `${profile.key} ${shape.keyBits}+${shape.valueBytes}: ${groups}`);
    }
  }
});

test('less local memory never makes a larger tile', (t) => {
  const { info, capabilities } = of('a10');
  const shape = { keyBits: 32, valueBytes: 0 } as const;
  let before = Number.POSITIVE_INFINITY;
  for (const kib of [99, 64, 48, 32, 16]) {
    const bytes = kib * 1024;
    const unit = { ...capabilities.unit, localBytes: bytes + 1024 };
    const localBytes = Math.min(bytes, 49_152);
    const device = { info, capabilities: { ...capabilities, unit, localBytes, groupLocalBytes: bytes } };
    const { groupSize, keysPerItem } = modelledTile(device, shape, { name: 'keys' });
    const keys = Number(groupSize) * Number(keysPerItem);
    t.true(keys <= before, `${kib} KiB: ${keys} keys`);
    before = keys;
  }
});

test('few keys get small tiles, so that more units have one', (t) => {
  const t4 = of('t4');
  const shape = { keyBits: 32, valueBytes: 0 } as const;
  const keys = (n: number) => {
    const { groupSize, keysPerItem } = tuningFor(onesweep, t4, shape, n);
    return Number(groupSize) * Number(keysPerItem);
  };
  t.true(keys(2 ** 17) < keys(2 ** 24));
  t.is(keys(2 ** 24), keys(2 ** 28), 'so that there are few programs');
});
