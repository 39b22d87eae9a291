import test from 'ava';
import { devicePlans, Planner } from '../../../src/sort/backend/planner.js';
import type { PlanRequest } from '../../../src/sort/model/plan.js';
import { UnsupportedError } from '../../../src/util/errors.js';
import { knownDevice, profileNamed } from '../../device/profiles.js';

const REQUEST: PlanRequest = {
  n: 1000,
  dtype: 'u32',
  bits: [0, 32],
  valueBytes: 0,
  algorithm: 'auto',
};

const device = knownDevice(profileNamed('a10'));

test('plans are computed once for each request, complete and in order', (t) => {
  const planner = new Planner(device);
  const [first] = planner.plans(REQUEST);
  const all = [...planner.plans(REQUEST)];
  t.is(all[0], first, 'left off after the first one before');
  t.deepEqual(all, [...devicePlans(device, REQUEST)]);
  for (const other of [
    { n: 1001 },
    { dtype: 'i32' },
    { bits: [0, 8] },
    { bits: [8, 32] },
    { valueBytes: 4 },
    { algorithm: 'tiled' },
    { algorithm: 'tiled', parameters: { radixBits: 4 } },
    { segments: 3 },
  ] as const) {
    const request = { ...REQUEST, ...other };
    t.is([...planner.plans(REQUEST)][0], first, 'what was asked for last is another');
    const [plan] = planner.plans(request);
    t.deepEqual(plan, devicePlans(device, request).next().value ?? undefined);
  }
  const [small] = planner.plans({ ...REQUEST, n: 1 });
  for (let n = 2; n < 60; n++) [...planner.plans({ ...REQUEST, n })]; // the capacity of the cache
  t.is([...planner.plans(REQUEST)][0], first);
  t.is([...planner.plans({ ...REQUEST, n: 1 })][0], small, 'one that is known pushes no other out');
  for (let n = 1; n < 200; n++) [...planner.plans({ ...REQUEST, n })];
  t.deepEqual([...planner.plans(REQUEST)], all, 'forgotten and made again');
});

test('rows and segments of the same length have their own plans', (t) => {
  const planner = new Planner(device);
  const tuningOf = (request: Partial<PlanRequest>) => {
    const [plan] = planner.plans({ ...REQUEST, n: 10_000, segments: 10, ...request });
    return plan?.shape?.tuning;
  };
  t.deepEqual(tuningOf({ longest: 1024 }), { longest: 1024 });
  t.deepEqual(tuningOf({ longest: 1024, areRows: true }), { longest: 1024, rows: 'none' });
  t.deepEqual(tuningOf({ longest: 64, areRows: true }), { longest: 128 }, 'cl/segment_rows.cl sorts them');
  t.is(tuningOf({ longest: 4096, areRows: true })?.rows, undefined, 'no tile is as large');
});

test('a request that cannot be planned throws every time', (t) => {
  const planner = new Planner(device);
  for (let i = 0; i < 2; i++) {
    t.throws(() => [...planner.plans({ ...REQUEST, algorithm: 'tiled', valueBytes: 3 })], {
      instanceOf: UnsupportedError,
    });
  }
});
