import test from 'ava';
import { onesweep } from '../../src/algorithms/onesweep.js';
import type { Tuning } from '../../src/algorithms/parameters.js';
import { fitTile, tileBytes, tileDefines, usesLanes } from '../../src/algorithms/tile.js';
import { tiledRadix } from '../../src/algorithms/tiled-radix.js';
import { tuningFor } from '../../src/algorithms/tuning.js';
import type { KnownDevice } from '../../src/device/device.js';
import { knownDevice, limited, profileNamed } from '../device/profiles.js';

const h200 = knownDevice(profileNamed('h200'));

/** A device of unknown kind. */
const deviceLike = (limits: { maxWorkGroup: number; localBytes: number }): KnownDevice => {
  const device = knownDevice(profileNamed('apple-m1'));
  const { localBytes } = limits;
  const unit = { ...device.capabilities.unit, localBytes };
  return limited(device, { ...limits, groupLocalBytes: localBytes, unit });
};
const small = deviceLike({ maxWorkGroup: 128, localBytes: 16_384 });
const u32 = { keyBits: 32, valueBytes: 0 } as const;

test('tuning falls back from the architecture to a model and then to the default', (t) => {
  t.is(tuningFor(onesweep, h200, u32).groupSize, 384, 'architecture');
  t.is(tuningFor(tiledRadix, knownDevice(profileNamed('t4')), u32).rank, 'ptx', 'model');
  t.is(tuningFor(tiledRadix, small, u32).rank, 'masks', 'model');
  t.is(tuningFor(onesweep, small, u32).spinLimit, 2_000_000, 'default');
});

test('small arrays get small tiles, and the tuning of the shape takes precedence', (t) => {
  t.is(tuningFor(onesweep, h200, u32, 2 ** 16).keysPerItem, 8);
  t.is(tuningFor(onesweep, h200, u32, 2 ** 24).keysPerItem, 28);
  t.is(tuningFor(onesweep, h200, u32, 2 ** 28).keysPerItem, 30);
  t.is(tuningFor(onesweep, h200, { ...u32, tuning: { keysPerItem: 3 } }, 2 ** 16).keysPerItem, 3);
});

test('values of 1 and 2 bytes use the parameters measured for values of 4 bytes', (t) => {
  for (const algorithm of [onesweep, tiledRadix]) {
    for (const keyBits of [8, 16, 32, 64] as const) {
      for (const n of [2 ** 16, 2 ** 24, 2 ** 28]) {
        const of = (valueBytes: number) => tuningFor(algorithm, h200, { keyBits, valueBytes }, n);
        for (const valueBytes of [1, 2]) t.deepEqual(of(valueBytes), of(4), `${keyBits}+${valueBytes}`);
        if (n > 2 ** 18) t.notDeepEqual(of(4), of(0));
      }
    }
  }
});

test('a tile shrinks until the device can hold it', (t) => {
  for (const valueBytes of [0, 4, 8]) {
    for (const keyBits of [8, 32, 64] as const) {
      const shape = { keyBits, valueBytes };
      const tile = fitTile(small, shape, tuningFor(tiledRadix, small, shape));
      t.true(tile.groupSize <= 128);
      t.true(tileBytes(shape, tile) <= 16_384, `${keyBits} bits, ${valueBytes} bytes`);
    }
  }
});

test('a device without inline PTX ranks by masks instead', (t) => {
  const tuning: Tuning = { rank: 'ptx', groupSize: 64, keysPerItem: 4, maxRegisters: 56 };
  const defines = tileDefines(u32, fitTile(small, u32, tuning));
  t.is(defines.INLINE_PTX, 0);
  t.is(defines.RANK, 0);
  t.is(defines.FIXED_GROUP, 1);
  t.is(tileDefines(u32, fitTile(h200, u32, tuning)).INLINE_PTX, 1);
});

test('values that reuse the local memory of the keys need none of their own', (t) => {
  const shape = { keyBits: 32, valueBytes: 4 } as const;
  const tuning: Tuning = { rank: 'ptx', groupSize: 512, keysPerItem: 24 };
  const [own, shared] = [false, true].map((valuesAfter) => fitTile(h200, shape, { ...tuning, valuesAfter }));
  if (!own || !shared) return t.fail();
  t.is(tileBytes(shape, own) - tileBytes(shape, shared), 512 * 24 * 4);
  t.false(fitTile(h200, u32, { ...tuning, valuesAfter: true }).valuesAfter, 'there are none');
});

test('a tile has at most 2^16 keys', (t) => {
  const large = deviceLike({ maxWorkGroup: 4096, localBytes: 2 ** 30 });
  const { groupSize, keysPerItem } = fitTile(large, u32, { rank: 'masks', groupSize: 4096, keysPerItem: 64 });
  t.true(groupSize * keysPerItem <= 2 ** 16);
});

test('lanes rank keys without values, on devices with inline PTX or on request', (t) => {
  const tuning: Tuning = { rank: 'ptx', groupSize: 64, keysPerItem: 4, checkedLanes: true };
  t.true(usesLanes(u32, fitTile(h200, u32, tuning), tuning));
  t.false(usesLanes(u32, fitTile(small, u32, tuning), tuning));
  t.true(usesLanes(u32, fitTile(small, u32, tuning), { ...tuning, checkedLanes: 'always' }));
  const pairs = { ...u32, valueBytes: 4 };
  t.false(usesLanes(pairs, fitTile(h200, pairs, tuning), { ...tuning, checkedLanes: 'always' }));
  t.throws(() => fitTile(h200, u32, { ...tuning, rank: 'lanes' }), { message: /lanes/ });
});

test('invalid tuning values throw', (t) => {
  t.throws(() => fitTile(small, u32, { rank: 'magic', groupSize: 64, keysPerItem: 4 }), { message: /magic/ });
  t.throws(() => fitTile(small, u32, { rank: 'masks', groupSize: 'many', keysPerItem: 4 }), {
    message: /many/,
  });
});
