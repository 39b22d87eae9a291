import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ava from 'ava';
import { type AlgorithmShape, tunedShape } from '../../src/algorithms/algorithm.js';
import { hybridRadix } from '../../src/algorithms/hybrid-radix.js';
import { serialRadix } from '../../src/algorithms/serial-radix.js';
import { breakEvenOf, crossoversFor, tuningFor } from '../../src/algorithms/tuning.js';
import { forgetTuning, type StoredTuning, storeTuning } from '../../src/algorithms/tuning-store.js';
import { Device } from '../../src/device/device.js';
import { devicePlans } from '../../src/sort/backend/planner.js';
import { readCache, writeCacheFile } from '../../src/util/cache.js';
import { NoDeviceError } from '../../src/util/errors.js';
import { testIf } from '../each-device.js';

const test = ava.serial; // the tests change the environment

const folder = mkdtempSync(join(tmpdir(), 'clsort-tuning-'));
const file = join(folder, 'tuning.sealed');
const shape = { keyBits: 32, valueBytes: 0 } as const;
const wideShape = { keyBits: 64, valueBytes: 0 } as const;
// Runs when the file is loaded, even if none of its tests is selected or no device is a CPU.
const takesHybridRadix = await opened(undefined, (device) => hybridRadix.available(device, wideShape)).catch(
  (error) => {
    if (error instanceof NoDeviceError) return error.message;
    throw error;
  },
);

test.beforeEach(() => {
  process.env.CLSORT_CACHE_DIR = folder;
  process.env.CLSORT_TUNING = 'on';
  rmSync(file, { force: true });
});
test.after.always(() => rmSync(folder, { recursive: true }));

/** The properties of an opened device after tunings were stored for it. */
async function opened<T>(stored: StoredTuning | undefined, use: (device: Device) => T): Promise<T> {
  const first = await Device.open('cpu');
  if (stored) storeTuning(first.info, stored);
  await first.close();
  const device = await Device.open('cpu');
  try {
    return use(device);
  } finally {
    await device.close();
  }
}

const SLOW: StoredTuning = {
  rows: [
    { algorithm: 'serial', which: { keyBits: 32, over: 2 ** 16 }, tuning: { radixBits: 5, runsPerUnit: 3 } },
  ],
  crossovers: {
    host: [
      { operation: 'topK', keys: 77 },
      { keyBits: 64, keys: Number.POSITIVE_INFINITY },
    ],
    singleWorkgroup: 8,
    select: 99,
  },
};

test('stored parameters override shipped ones for the sorts that they match', async (t) => {
  const shipped = await opened(undefined, (device) => tuningFor(serialRadix, device, shape, 2 ** 20));
  await opened(SLOW, (device) => {
    t.deepEqual(tuningFor(serialRadix, device, shape, 2 ** 20), { ...shipped, radixBits: 5, runsPerUnit: 3 });
    t.is(tuningFor(serialRadix, device, shape, 2 ** 16).radixBits, 8, 'fewer keys');
    t.not(tuningFor(serialRadix, device, { ...shape, keyBits: 64 }, 2 ** 20).radixBits, 5, 'other keys');
    t.is(tuningFor(serialRadix, device, { ...shape, tuning: { radixBits: 4 } }, 2 ** 20).radixBits, 4);
  });
});

testIf(
  takesHybridRadix,
  'wide uses the parameters stored for it, and for its passes those stored for onesweep',
  async (t) => {
    const tuned = (device: Device, n: number) =>
      tunedShape(hybridRadix, device, wideShape, n) as AlgorithmShape;
    const shipped = await opened(undefined, (device) => tuned(device, 2 ** 25).tuning);
    const which = { keyBits: 64, valueBytes: 0, over: 2 ** 24, n: 2 ** 26 };
    const rows = [
      { algorithm: 'hybrid-radix', which, tuning: { finishKeys: 4, bucket: 512 } },
      { algorithm: 'onesweep', which, tuning: { keysPerItem: 3 } },
    ];
    await opened({ rows }, (device) => {
      t.deepEqual(tuned(device, 2 ** 25).tuning, { ...shipped, finishKeys: 4, bucket: 512, keysPerItem: 3 });
      t.not(tuned(device, 2 ** 24).tuning?.bucket, 512, 'fewer keys');
      t.not(tuned(device, 2 ** 27).tuning?.bucket, 512, 'more keys');
    });
  },
);

test('plans use stored parameters and crossovers', async (t) => {
  await opened(SLOW, (device) => {
    const { host, ...others } = crossoversFor(device);
    t.deepEqual(others, { singleWorkgroup: 8, select: 99 });
    t.is(breakEvenOf({ host }, { operation: 'topK', keyBits: 32 }), 77);
    t.is(
      breakEvenOf({ host }, { operation: 'topK', keyBits: 64 }),
      Number.POSITIVE_INFINITY,
      'the last row wins',
    );
    const request = { dtype: 'u32', bits: [0, 32], valueBytes: 0, algorithm: 'auto' } as const;
    const first = (n: number) => devicePlans(device, { ...request, n }).next().value;
    t.is(first(8)?.algorithm, 'single-workgroup');
    t.is(first(9)?.algorithm, 'serial');
    t.is(first(2 ** 20)?.shape?.tuning?.radixBits, 5);
  });
});

test('a break-even size without an operation or a width applies to all of them', (t) => {
  const host = [
    { keys: 100 },
    { operation: 'scan', keys: 200 },
    { operation: 'scan', keyBits: 64, keys: 300 },
  ] as const;
  t.is(breakEvenOf({ host }), 100);
  t.is(breakEvenOf({ host }, { operation: 'gather', keyBits: 64 }), 100);
  t.is(breakEvenOf({ host }, { operation: 'scan', keyBits: 32 }), 200);
  t.is(breakEvenOf({ host }, { operation: 'scan', keyBits: 64 }), 300);
  t.is(breakEvenOf({ host: [] }), Number.POSITIVE_INFINITY);
});

test('one number that earlier versions stored applies to all operations', async (t) => {
  const key = await opened(SLOW, () => Object.keys(readCache('tuning.sealed'))[0] ?? '');
  const stored = { schema: 'clsort.tuning/2', rows: [], crossovers: { host: 88 } };
  writeCacheFile('tuning.sealed', JSON.stringify({ [key]: stored }));
  await opened(undefined, (device) => {
    t.is(breakEvenOf(crossoversFor(device), { operation: 'topK', keyBits: 16 }), 88);
  });
});

test('stored parameters apply to one device and driver only', async (t) => {
  await opened(SLOW, () => undefined);
  const [[key, value] = ['', undefined]] = Object.entries(readCache('tuning.sealed'));
  writeCacheFile('tuning.sealed', JSON.stringify({ [key.replace(/[^|]+$/, ' another driver')]: value }));
  await opened(undefined, (device) => t.not(tuningFor(serialRadix, device, shape, 2 ** 20).radixBits, 5));
});

test('a damaged or malformed tuning file is ignored', async (t) => {
  const key = await opened(SLOW, () => Object.keys(readCache('tuning.sealed'))[0] ?? '');
  const row = { algorithm: 'serial', which: {}, tuning: { radixBits: 5 } };
  for (const contents of [
    '{',
    '[]',
    JSON.stringify({ [key]: 7 }),
    JSON.stringify({ [key]: { schema: 'clsort.tuning/1', rows: [row] } }), // with former names of parameters
    JSON.stringify({ [key]: { schema: 'clsort.tuning/99', rows: [row] } }),
    JSON.stringify({
      [key]: { schema: 'clsort.tuning/2', rows: [{ ...row, tuning: { radixBits: {} } }, null] },
    }),
    JSON.stringify({ [key]: { schema: 'clsort.tuning/2', rows: [], crossovers: { host: 'many' } } }),
    JSON.stringify({
      [key]: {
        schema: 'clsort.tuning/2',
        rows: [],
        crossovers: { host: [{ keys: 'many' }, { operation: 'x', keys: 1 }, 5] },
      },
    }),
  ]) {
    writeCacheFile('tuning.sealed', contents);
    await opened(undefined, (device) => {
      t.not(tuningFor(serialRadix, device, shape, 2 ** 20).radixBits, 5, contents);
      t.is(breakEvenOf(crossoversFor(device)), Number.POSITIVE_INFINITY, contents);
    });
  }
});

test('a stored row with an unknown parameter or an invalid value is ignored', async (t) => {
  for (const tuning of [{ radixBits: 5, radixBitz: 5 }, { radixBits: 13 }]) {
    await opened({ rows: [{ algorithm: 'serial', which: {}, tuning }] }, (device) =>
      t.is(tuningFor(serialRadix, device, shape, 2 ** 20).radixBits, 11),
    );
  }
});

test('a tuning file that clsort did not write is ignored', async (t) => {
  const key = await opened(SLOW, () => Object.keys(readCache('tuning.sealed'))[0] ?? '');
  writeFileSync(file, JSON.stringify({ [key]: { schema: 'clsort.tuning/2', ...SLOW } }), { mode: 0o600 });
  await opened(undefined, (device) => t.not(tuningFor(serialRadix, device, shape, 2 ** 20).radixBits, 5));
});

test('CLSORT_TUNING=off and forgetTuning restore the shipped parameters', async (t) => {
  const radixBits = (device: Device) => tuningFor(serialRadix, device, shape, 2 ** 20).radixBits;
  t.is(await opened(SLOW, radixBits), 5);
  process.env.CLSORT_TUNING = 'off';
  t.not(await opened(undefined, radixBits), 5);
  process.env.CLSORT_TUNING = 'on';
  t.is(await opened(undefined, radixBits), 5);
  await opened(undefined, ({ info }) => t.true(forgetTuning(info)));
  t.not(await opened(undefined, radixBits), 5);
});
