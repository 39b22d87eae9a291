import test from 'ava';
import { minKeysForDevices } from '../../../src/algorithms/tuning.js';
import { smallHostSorter } from '../../../src/sort/api/host-sorter.js';
import { Sorter } from '../../../src/sort/api/sorter.js';
import type { SorterOperations } from '../../../src/sort/api/sorter-operations.js';
import type { SortReport } from '../../../src/sort/model/report.js';
import { fakeSorter } from '../fake-backend.js';

/** The first number of keys that a Sorter's plan assigns to the device. */
function crossover(sorter: SorterOperations): number {
  let n = 1;
  while (sorter.plan(n).engine === 'host') n *= 2;
  return n;
}

const falling = (n: number) => Uint32Array.from({ length: n }, (_, i) => n - i);
const rising = (n: number) => falling(n).reverse();

/** The engine that computed the result of a call. */
async function engineOf(call: (onReport: (report: SortReport) => void) => Promise<unknown>) {
  const types: string[] = [];
  await call((report) => types.push(report.device.type));
  return types[0] === 'host' ? 'host' : 'device';
}

test('without a requested device, the host sorts few keys and reports the reason', async (t) => {
  await using sorter = await Sorter.open();
  t.truthy(sorter.device);
  const n = crossover(sorter);
  t.true(n > 1);
  let report: SortReport | undefined;
  const sorted = await sorter.sort(falling(n - 1), {
    onReport: (made) => {
      report = made;
    },
  });
  t.deepEqual(sorted, rising(n - 1));
  t.is(report?.algorithm, 'host');
  t.regex(report?.reason ?? '', new RegExp(`below ${n} keys`));
});

test('no device is opened for fewer keys than any device would sort', async (t) => {
  const minDeviceKeys = minKeysForDevices();
  t.true(minDeviceKeys > 1 && Number.isFinite(minDeviceKeys));
  const unwarned = (warning: Error) => t.fail(warning.message);
  await using few = smallHostSorter(minDeviceKeys - 1, unwarned);
  t.is(few?.device, undefined);
  t.deepEqual(await few?.sort(falling(1000)), rising(1000));
  t.regex(few?.plan(1000).reason ?? '', new RegExp(`below ${minDeviceKeys} keys`));
  t.is(smallHostSorter(minDeviceKeys, unwarned), undefined);
  await using many = await Sorter.open();
  t.true(minDeviceKeys <= crossover(many));
});

test('few keys are sorted on a device if the caller names a device, algorithm, digit width or scan, or if they are on it', async (t) => {
  const { sorter } = fakeSorter(5000);
  const keys = falling(64);
  t.is(await engineOf((onReport) => sorter.sort(keys, { onReport })), 'host');
  t.is(await engineOf((onReport) => sorter.sort(falling(5000), { onReport })), 'device');
  for (const options of [
    { algorithm: 'amd' },
    { advanced: { radixBits: 4 } },
    { advanced: { scan: 3 } },
  ] as const) {
    t.is(await engineOf((onReport) => sorter.sort(keys, { ...options, onReport })), 'device');
  }
  const onDevice = await sorter.upload(keys);
  t.is(await engineOf((onReport) => sorter.sort(onDevice, { onReport })), 'device');
  await using auto = await Sorter.open();
  t.is(auto.plan(64).engine, 'host');
  await using named = await Sorter.open({ device: auto.device?.id ?? '' });
  t.is(named.plan(64).engine, 'device');
});

test('results are correct just below and at the break-even size', async (t) => {
  const limit = 5000;
  const { sorter } = fakeSorter(limit);
  for (const n of [limit - 1, limit]) {
    const keys = Float32Array.from({ length: n }, (_, i) => (i * 7919) % 1009);
    const expected = keys.toSorted();
    t.deepEqual(await sorter.sort(keys), expected);
    const order = await sorter.argsort(keys);
    t.deepEqual(await sorter.gather(keys, order), expected);
    const pairs = await sorter.sortPairs(
      keys,
      Uint32Array.from(keys, (_, i) => i),
    );
    t.deepEqual(pairs, { keys: expected, values: order });
    t.deepEqual(await sorter.lexsort([keys]), order);
    t.deepEqual((await sorter.topK(keys, 10)).keys, expected.slice(-10).reverse());
    t.deepEqual(await sorter.segmentedSort(keys, [0, n]), expected);
    t.is((await sorter.unique(keys)).keys.length, new Set(keys).size);
    t.is(await sorter.reduce(keys, 'max'), expected.at(-1) ?? 0);
    t.is(
      (await sorter.histogram(keys, { bins: 2, range: [0, 2000] }))[0],
      expected.filter((k) => k < 1000).length,
    );
    const copy = keys.slice();
    await sorter.sortInPlace(copy);
    t.deepEqual(copy, expected);
  }
});
