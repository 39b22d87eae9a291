import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ava from 'ava';
import {
  type BreakEvenCall,
  crossoversFor,
  minKeysForDevices,
  sortsFaster,
} from '../../../src/algorithms/tuning.js';
import { storeTuning } from '../../../src/algorithms/tuning-store.js';
import { knownDevices } from '../../../src/device/known-devices.js';
import type { DeviceInfo } from '../../../src/device/platform/platform.js';
import { rankDevices } from '../../../src/device/platform/select-device.js';
import { sort } from '../../../src/index.js';
import { smallHostSorter, startingHostSorter } from '../../../src/sort/api/host-sorter.js';
import { Sorter } from '../../../src/sort/api/sorter.js';
import { MIN_KEYS_TO_OPEN_DEVICE } from '../../../src/sort/backend/policy.js';
import type { SortOptions } from '../../../src/sort/model/options.js';
import type { SortReport } from '../../../src/sort/model/report.js';
import { testIf } from '../../each-device.js';
import { fakeSorter } from '../fake-backend.js';

const test = ava.serial; // the tests change the environment

const folder = mkdtempSync(join(tmpdir(), 'clsort-crossover-'));
test.after.always(() => rmSync(folder, { recursive: true }));

const falling = (n: number) => Uint32Array.from({ length: n }, (_, i) => n - i);
const rising = (n: number) => falling(n).reverse();

/** The engine that computed the result of a call. */
async function engineOf(call: (onReport: (report: SortReport) => void) => Promise<unknown>) {
  const types: string[] = [];
  await call((report) => types.push(report.device.type));
  return types[0] === 'host' ? 'host' : 'device';
}

const [device, ...others] = rankDevices(knownDevices());
const slower = (device && !sortsFaster(crossoversFor(device))) || 'no device is slower at all sizes';
testIf(
  slower,
  'without a requested device, the host engine handles all calls if no device is faster',
  async (t) => {
    await using sorter = await Sorter.open({ onWarning: (warning) => t.fail(warning.message) });
    t.is(sorter.device, undefined);
    let report: SortReport | undefined;
    const sorted = await sorter.sort(falling(2 ** 18), {
      onReport: (made) => {
        report = made;
      },
    });
    t.deepEqual(sorted, rising(2 ** 18));
    t.is(report?.algorithm, 'host');
    t.is(report?.reason, `the host is faster than ${device?.info.name}`);
    t.true(others.every(({ info }) => info.type !== 'gpu'));
  },
);

const exists = device !== undefined || 'there is no device';
testIf(
  exists,
  'without a requested device, the best device is opened if it is faster at some size',
  async (t) => {
    const info = device?.info as DeviceInfo;
    process.env.CLSORT_CACHE_DIR = folder;
    process.env.CLSORT_TUNING = 'on';
    storeTuning(info, { rows: [], crossovers: { host: [{ keyBits: 32, keys: 1000 }] } });
    await using sorter = await Sorter.open();
    t.is(sorter.device?.id, info.id);
    const { engine, reason } = sorter.plan(999);
    t.is(engine, 'host');
    t.is(reason, 'the host is faster below 1000 keys');
    t.is(sorter.plan(1000).engine, 'device');
  },
);

test('each operation has its own break-even size', async (t) => {
  const below = ({ operation, keyBits }: BreakEvenCall) =>
    operation === 'argsort' && keyBits === 32 ? 100 : 10;
  const { sorter } = fakeSorter(below);
  const keys = falling(50);
  t.is(await engineOf((onReport) => sorter.argsort(keys, { onReport })), 'host');
  t.is(await engineOf((onReport) => sorter.sort(keys, { onReport })), 'device');
  t.is(await engineOf((onReport) => sorter.argsort(Float64Array.from(keys), { onReport })), 'device');
});

testIf(exists, 'an algorithm of devices opens the best device', async (t) => {
  const run = (options: SortOptions) => engineOf((onReport) => sort(falling(64), { ...options, onReport }));
  t.is(await run({ algorithm: 'merge' }), 'device');
  t.is(await run({ advanced: { radixBits: 4 }, algorithm: 'tiled' }), 'device');
  t.is(await run({ algorithm: 'host' }), 'host');
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
});

test('a process that sorts once opens no device for keys that the host sorts sooner', async (t) => {
  const unwarned = (warning: Error) => t.fail(warning.message);
  await using host = startingHostSorter(MIN_KEYS_TO_OPEN_DEVICE - 1, unwarned);
  t.is(host?.device, undefined);
  t.deepEqual(await host?.sort(falling(100_000)), rising(100_000));
  t.regex(host?.plan(100_000).reason ?? '', /before a device is open/);
  t.is(startingHostSorter(MIN_KEYS_TO_OPEN_DEVICE, unwarned), undefined);
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
  await using named = await Sorter.open({ device: 'all' });
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
