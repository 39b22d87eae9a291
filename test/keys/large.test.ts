/** Arrays with more bytes than a Uint8Array can have on Node 20. */
import { freemem } from 'node:os';
import test from 'ava';
import { Sorter } from '../../src/index.js';
import { byteRange, clearBytes, copyBytes, dtypeOf, keyColumn, newBytes } from '../../src/keys/array.js';
import { deviceNames, PLATFORMS } from '../each-device.js';
import { FULL } from '../pairwise.js';
import { where } from '../where.js';

/** 4 GiB and 8 bytes. Pages that are never written take no memory. */
const N = 2 ** 29 + 1;

test('an array of 4 GiB and 8 bytes is read as keys, in parts and whole', (t) => {
  const array = new Float64Array(N);
  array[N - 1] = 1;
  const { n, view, copied } = keyColumn(array);
  t.is(n, N);
  t.is(view.length, N);
  t.is(view[N - 1], 0x3ff0_0000_0000_0000n);
  t.false(copied);
  const all = byteRange(array);
  t.is(all.byteLength, array.byteLength);
  t.is(byteRange(array, 8).byteLength, array.byteLength - 8);
  const last = byteRange(array, 8 * (N - 1));
  t.is(dtypeOf(last), 'u8');
  t.deepEqual([...(last as Uint8Array)], [0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
  copyBytes(last, byteRange(array, 8 * 12));
  t.is(array[12], 1);
  t.is(byteRange(new Uint32Array(array.buffer, 4, 2 * N - 2), 0).byteLength, array.byteLength - 8);
  t.is(newBytes(array.byteLength).byteLength, array.byteLength);
});

where(freemem() > 10 * 2 ** 30, 'needs 4 GiB')('clearBytes clears memory of 4 GiB and 8 bytes', (t) => {
  const array = new Float64Array(N);
  const places = [0, 2 ** 27 - 1, 2 ** 27, N - 2, N - 1];
  for (const at of places) array[at] = 1;
  clearBytes(array.buffer);
  t.true(places.every((at) => array[at] === 0));
});

/** Whether enough memory is free for a test to take these bytes without ending other processes. */
const enough = (bytes: number): boolean => FULL && freemem() > bytes;

for (const device of ['host', ...deviceNames()]) {
  where(
    enough(20 * 2 ** 30),
    'needs 20 GiB and CLSORT_TEST_FULL=1',
    test.serial,
  )(`${device} sorts 4 GiB and 8 bytes of keys`, async (t) => {
    await using sorter = await Sorter.open({ device: PLATFORMS[device] ?? device });
    const keys = new Float64Array(N);
    const values = [3, -1, 2, -7, 5];
    const places = [0, 17, 2 ** 28, N - 2, N - 1];
    for (const [i, at] of places.entries()) keys[at] = values[i] ?? 0;
    t.is(await sorter.reduce(keys, 'min'), -7);
    await sorter.sortInPlace(keys);
    t.deepEqual([...keys.subarray(0, 3)], [-7, -1, 0]);
    t.deepEqual([...keys.subarray(N - 4)], [0, 2, 3, 5]);
    t.is(await sorter.reduce(keys, 'sum'), 2);
  });
}
