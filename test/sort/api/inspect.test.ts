/** `console.log` prints Sorters and their arrays in one line. */

import { inspect } from 'node:util';
import test from 'ava';
import type { Buffer } from '../../../src/device/memory/buffer.js';
import { Sorter } from '../../../src/sort/api/sorter.js';
import { column } from '../../../src/sort/model/column.js';
import { type ArrayOwner, DeviceArray } from '../../../src/sort/model/device-array.js';
import { fakeSorter } from '../fake-backend.js';

test('a Sorter shows its device and whether it is open', async (t) => {
  const { sorter } = fakeSorter();
  const name = inspect(sorter.device?.name);
  t.is(inspect(sorter), `Sorter { device: ${name}, state: 'open' }`);
  t.is(inspect({ by: [sorter] }), `{ by: [ Sorter { device: ${name}, state: 'open' } ] }`);
  await sorter.close();
  t.is(inspect(sorter), `Sorter { device: ${name}, state: 'closed' }`);
  await using host = await Sorter.open({ device: 'host' });
  t.is(inspect(host), "Sorter { device: 'host', state: 'open' }");
});

test('arrays of a Sorter show their dtype, length and state', async (t) => {
  const { sorter } = fakeSorter();
  const array = await sorter.upload(Float32Array.of(3, 1, 2));
  t.is(inspect(array), "DeviceArray { dtype: 'f32', length: 3, state: 'live' }");
  array.dispose();
  t.is(inspect(array), "DeviceArray { dtype: 'f32', length: 3, state: 'disposed' }");
  const sharded = await sorter.upload(Uint8Array.of(3, 1, 2), { sharded: true });
  t.is(inspect(sharded), "ShardedArray { dtype: 'u8', length: 3, parts: [ 3 ], state: 'live' }");
  sharded.dispose();
  t.is(inspect(sharded), "ShardedArray { dtype: 'u8', length: 3, state: 'disposed' }");
  await sorter.close();
  const released = { ...column('u8', 1, Uint8Array.of(1)), place: { released: true } as Buffer };
  const lost = new DeviceArray({ watch: () => undefined } as unknown as ArrayOwner, 'u8', released);
  t.is(inspect(lost), "DeviceArray { dtype: 'u8', length: 1, state: 'lost' }");
});
