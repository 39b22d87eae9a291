/**
 * Devices that are not present: the answers of their drivers are data (profiles.json), from which capabilities, plans
 * and parameters follow as on the real device. Under the test layer PoCL answers like each of them and has the same
 * limits.
 */
import test from 'ava';
import { type AlgorithmShape, tunedShape } from '../../src/algorithms/algorithm.js';
import { ALGORITHMS, plannedOn } from '../../src/algorithms/registry.js';
import { fitTile, tileBytes } from '../../src/algorithms/tile.js';
import { basisFor, tuningFor } from '../../src/algorithms/tuning.js';
import { DTYPES, type Dtype, dtypeInfo } from '../../src/keys/dtype.js';
import { devicePlans } from '../../src/sort/backend/planner.js';
import { explainPlan } from '../../src/sort/model/plan.js';
import { testIf } from '../each-device.js';
import { pairwise } from '../pairwise.js';
import { PLATFORMS } from '../platforms.js';
import { reportsLocalMemory as measured } from '../reports-local-memory.js';
import { type Case, runProfiled } from './profiled.js';
import { constantNamed, knownDevice, PROFILES, profileNamed } from './profiles.js';

process.env.CLSORT_TUNING = 'off';
delete process.env.CLSORT_LOCAL_BYTES;

const FULL = process.env.CLSORT_TEST_FULL !== undefined;

/** Whether the driver reports the local memory that the layer compares with the limits of a profile. */
const reportsLocalMemory = await measured(PLATFORMS.pocl ?? '');

test('there are device profiles of every vendor, each with its sources and valid property names', (t) => {
  t.true(PROFILES.length >= 24);
  t.is(new Set(PROFILES.map(({ key }) => key)).size, PROFILES.length);
  const families = new Set(PROFILES.map((profile) => knownDevice(profile).capabilities.family));
  for (const family of ['nvidia', 'amd', 'intel', 'apple', 'other']) t.true(families.has(family), family);
  for (const { key, sources, device, platform, limits } of PROFILES) {
    t.true(sources.length > 0 && sources.every((source) => source.length > 20), key);
    for (const name of [...Object.keys(device), ...Object.keys(platform)]) constantNamed(name);
    t.true(limits.groupLocalBytes >= Number(device.DEVICE_LOCAL_MEM_SIZE), key);
  }
});

test('local memory per work-group and PTX features follow the hardware', (t) => {
  for (const profile of PROFILES) {
    t.is(knownDevice(profile).capabilities.groupLocalBytes, profile.limits.groupLocalBytes, profile.key);
  }
  const of = (key: string) => knownDevice(profileNamed(key)).capabilities;
  t.deepEqual(of('h200').ptx, { match: true, redux: true });
  t.deepEqual(of('t4').ptx, { match: true, redux: false });
  for (const key of ['gtx-1080', 'mi250', 'arc-a770', 'apple-m1']) t.is(of(key).ptx, undefined, key);
  t.is(of('gtx-1080').deviceScopeAtomics, false, 'scoped loads and stores need newer hardware');
  t.true(of('v100').deviceScopeAtomics);
});

test('architecture, compute units and sub-group sizes follow the vendor extensions', (t) => {
  const of = (key: string) => knownDevice(profileNamed(key)).capabilities;
  for (const [key, architecture, units, sizes] of [
    ['h200', 'sm_90', 132, [32]],
    ['rtx-5090', 'sm_120', 170, [32]],
    ['mi100', 'gfx908', 120, [64]],
    ['rx-6800', 'gfx1030', 30, [32]],
    ['arc-a770', 'xe12.55', 32, [8, 16, 32]],
    ['uhd-630', 'xe9.2', 3, [8, 16, 32]],
    ['arc-b580', 'xe20.1', 20, [16, 32]],
    ['mali-g610', undefined, 6, [16]],
    ['apple-m1', undefined, 8, []],
  ] as const) {
    t.is(of(key).architecture, architecture, key);
    t.is(of(key).computeUnits, units, key);
    t.deepEqual(of(key).subGroupSizes, sizes, key);
  }
  t.deepEqual(of('rx-6800').unit, { localBytes: 131_072, groupBytes: 0, registers: 131_072, items: 2048 });
  t.deepEqual(of('mi250').unit, { localBytes: 65_536, groupBytes: 0, registers: 65_536, items: 2048 });
  t.true(of('vega-8').unifiedMemory && of('apple-m1').unifiedMemory && !of('t4').unifiedMemory);
});

test('a driver without vendor extensions gets the values of standard OpenCL', (t) => {
  for (const key of ['t4', 'rx-6800', 'arc-a770']) {
    const { device, ...rest } = profileNamed(key);
    const vendorless = Object.entries(device).filter(([name]) => !/_(NV|AMD|INTEL)$/.test(name));
    const { capabilities } = knownDevice({ ...rest, device: Object.fromEntries(vendorless) });
    t.is(capabilities.groupLocalBytes, Number(device.DEVICE_LOCAL_MEM_SIZE));
    t.is(capabilities.computeUnits, Number(device.DEVICE_MAX_COMPUTE_UNITS));
    t.is(capabilities.ptx, undefined);
  }
  // A compute capability of the future.
  const t4 = profileNamed('t4');
  const future = { ...t4.device, DEVICE_COMPUTE_CAPABILITY_MAJOR_NV: 99 };
  t.is(knownDevice({ ...t4, device: future }).capabilities.groupLocalBytes, 49_152);
});

const SHAPES: readonly AlgorithmShape[] = ([8, 16, 32, 64] as const).flatMap((keyBits) =>
  [0, 4, 8].map((valueBytes) => ({ keyBits, valueBytes })),
);
const SIZES = [1, 700, 2 ** 12, 2 ** 17, 2 ** 20, 2 ** 24, 2 ** 31];

test('every tile fits its device before the build, and its parameters are marked as measured or modelled', (t) => {
  for (const profile of PROFILES) {
    const device = knownDevice(profile);
    const budget = device.capabilities.localBudget;
    t.true(budget <= profile.limits.groupLocalBytes);
    for (const factory of ALGORITHMS) {
      for (const shape of SHAPES) {
        for (const n of SIZES) {
          const what = `${profile.key}: ${factory.name} of ${n} keys ${shape.keyBits}+${shape.valueBytes}`;
          const tuned = tunedShape(factory, device, shape, n);
          if (typeof tuned === 'string' || !factory.fit) continue;
          const { tuning = {} } = tuned;
          // The plan has the parameters of the build, so they need no further reduction.
          t.deepEqual(factory.fit(device, shape, tuning), tuning, what);
          t.true(Number(tuning.groupSize) <= device.capabilities.maxWorkGroup, what);
          t.true(tileBytes(shape, fitTile(device, shape, tuning)) <= budget, what);
          t.true(Number(tuning.countColumns ?? 0) * 1024 <= budget, what);
          const digits = Math.ceil(shape.keyBits / 8);
          t.true(Number(tuning.histogramColumns ?? 0) * digits * 1024 <= budget, what);
        }
      }
    }
    const basis = profile.key === 'h200' ? 'measured' : 'modelled';
    for (const factory of plannedOn(device).filter(({ modelled }) => modelled)) {
      t.is(
        basisFor(factory, device, { keyBits: 32, valueBytes: 0 }),
        basis,
        `${profile.key}: ${factory.name}`,
      );
    }
  }
});

test('every device has a plan for every kind of sort that names the basis of its parameters', (t) => {
  for (const profile of PROFILES) {
    const device = knownDevice(profile);
    for (const dtype of DTYPES) {
      for (const valueBytes of [0, 1, 4, 8, 16]) {
        for (const n of [1, 2 ** 12, 2 ** 20]) {
          const bits = [0, dtypeInfo(dtype).width] as const;
          const plans = [...devicePlans(device, { n, dtype, bits, valueBytes, algorithm: 'auto' })];
          t.true(plans.length > 0, `${profile.key}: ${n} ${dtype}+${valueBytes}`);
          for (const plan of plans) {
            const { basis, shape } = plan;
            const tuned = Object.keys(shape?.tuning ?? {}).length > 0;
            t.is(basis !== undefined, tuned);
            if (tuned) t.regex(explainPlan(plan), new RegExp(`^tuning .*\\(${basis}\\)$`, 'm'));
          }
        }
      }
    }
  }
});

test('the planner chooses wide for 2^24 or more 64-bit keys, but not for 2^30', (t) => {
  const device = knownDevice(profileNamed('h200'));
  const first = (dtype: 'u32' | 'u64', n: number) => {
    const bits = [0, dtypeInfo(dtype).width] as const;
    return [...devicePlans(device, { n, dtype, bits, valueBytes: 0, algorithm: 'auto' })][0]?.algorithm;
  };
  t.is(first('u64', 2 ** 24), 'hybrid-radix');
  t.is(first('u64', 2 ** 24 - 1), 'onesweep');
  t.is(first('u64', 2 ** 30), 'onesweep');
  t.is(first('u32', 2 ** 24), 'onesweep');
});

test('segments are planned with the smallest tile that holds the longest, then with any length', (t) => {
  const request = { n: 2 ** 20, bits: [0, 32], valueBytes: 0, algorithm: 'auto', segments: 1000 } as const;
  for (const profile of PROFILES) {
    const device = knownDevice(profile);
    const bounds = (longest?: number) =>
      [...devicePlans(device, { ...request, dtype: 'u32', ...(longest && { longest }) })].map(
        ({ shape }) => shape?.tuning?.longest,
      );
    const isGpu = device.capabilities.type === 'gpu';
    for (const longest of [64, 128, 256, 512, 1024, 2048]) {
      const expected = isGpu ? [Math.max(128, longest), undefined] : [undefined];
      t.deepEqual(bounds(longest), expected, `${profile.key}: ${longest}`);
    }
    t.deepEqual(bounds(4096), [undefined], profile.key);
    t.deepEqual(bounds(), [undefined], profile.key);
  }
});

test.serial('CLSORT_LOCAL_BYTES lowers the local memory but never raises it', (t) => {
  const h200 = profileNamed('h200');
  const shape = { keyBits: 32, valueBytes: 0 } as const;
  const onesweep = ALGORITHMS.find(({ name }) => name === 'onesweep');
  if (!onesweep) return t.fail();
  try {
    for (const kib of [48, 64, 99, 163, 500]) {
      process.env.CLSORT_LOCAL_BYTES = String(kib * 1024);
      const device = knownDevice(h200);
      const { groupLocalBytes, unit } = device.capabilities;
      t.is(groupLocalBytes, Math.min(kib, 227) * 1024);
      t.is(unit.localBytes, 228 * 1024, 'the memory of a compute unit is unchanged');
      const tuning = tuningFor(onesweep, device, shape, 2 ** 24);
      // The compiler takes 1 KiB in addition, even where a group has no more than the driver reports.
      t.true(tileBytes(shape, fitTile(device, shape, tuning)) <= groupLocalBytes - 1024);
      t.is(tuning.groupSize, 384, 'measured parameters, made smaller');
      t.is(tuning.keysPerItem, kib === 48 ? 22 : 28);
    }
    for (const wrong of ['0', '-1', '1.5', 'much']) {
      process.env.CLSORT_LOCAL_BYTES = wrong;
      t.throws(() => knownDevice(h200), { code: 'ERR_CLSORT_USAGE', message: /CLSORT_LOCAL_BYTES/ });
    }
  } finally {
    delete process.env.CLSORT_LOCAL_BYTES;
  }
});

/** Maximum number of keys for the algorithms that have a limit. */
const KEYS: Readonly<Record<string, number>> = {
  ...{ row: 40, 'odd-even': 300, 'single-workgroup': 600, persistent: 500, bitonic: 1500, split: 2000 },
};
const OPERATIONS = [
  ...['sort few', 'argsort', 'sortPairs', 'topK', 'unique', 'segmentedSort'],
  ...['lexsort', 'reduce', 'scan', 'histogram', 'gather'],
];
const WIDTHS: readonly Dtype[] = ['u32', 'f64', 'i16', 'f32', 'u8'];
/** Dtypes of the algorithms that support only some. */
const ONLY: Readonly<Record<string, Dtype>> = { 'hybrid-radix': 'f64' };

/**
 * PoCL 3.1 miscompiles the `persistent` kernel with 13 keys of 16 bits per work-item, the parameters of the smallest
 * devices. It is correct without optimisation, with POCL_WORK_GROUP_METHOD=loops, and with 9, 11, 12, 14 or 15 keys.
 * Its self-test detects the fault.
 */
const isMiscompiled = (algorithm: string, dtype: Dtype): boolean =>
  algorithm === 'persistent' && dtype === 'i16';

const ofAlgorithm = (algorithm: string, dtype: Dtype, valueBytes: 0 | 4 | 8, descending: boolean): Case => {
  const sorted = ONLY[algorithm] ?? (isMiscompiled(algorithm, dtype) ? 'u8' : dtype);
  return { algorithm, dtype: sorted, n: KEYS[algorithm] ?? 6001, valueBytes, descending };
};
const ofOperation = (operation: string): Case => {
  return { operation, dtype: 'u32', n: 0, valueBytes: 0, descending: false };
};

/** With CLSORT_TEST_FULL every algorithm in every form on every device; otherwise a fixed part of the pairs. */
function casesOf(number: number): Case[] {
  if (FULL) {
    const forms = pairwise([ALGORITHMS.length, WIDTHS.length, 3, 2], BigInt(number));
    return [
      ...['sort', ...OPERATIONS].map(ofOperation),
      ...forms.map(([a = 0, d = 0, v = 0, o = 0]) =>
        ofAlgorithm(ALGORITHMS[a]?.name ?? '', WIDTHS[d] ?? 'u32', ([0, 4, 8] as const)[v] ?? 0, o === 1),
      ),
    ];
  }
  const turn = <T>(all: readonly T[], at: number): T => all[at % all.length] as T;
  return [
    ofOperation('sort'),
    ofOperation(turn(OPERATIONS, number)),
    ...[0, 4].map((step) =>
      ofAlgorithm(
        turn(ALGORITHMS, number + step).name,
        turn(WIDTHS, number + step),
        turn([0, 4, 8] as const, number + step),
        number % 2 === 0,
      ),
    ),
  ];
}

/** Algorithms that run on some devices only. */
const OPTIONAL = /^unavailable: needs the device-scope atomics of OpenCL C 2.0$/;

for (const [number, profile] of PROFILES.entries()) {
  test.serial(
    `${profile.key}: kernels fit the limits of the device and sort correctly without warnings`,
    async (t) => {
      t.timeout(60 * 60_000);
      const cases = casesOf(number);
      const { outcomes, local, ended } = await runProfiled(profile, cases);
      t.is(ended, undefined);
      for (const [i, { result, warnings }] of outcomes.entries()) {
        const what = JSON.stringify(cases[i]);
        t.true(
          result === 'right' || (cases[i]?.algorithm === 'persistent' && OPTIONAL.test(result)),
          `${what}: ${result}`,
        );
        t.deepEqual(warnings, [], what);
      }
      t.is(outcomes.length, cases.length);
      t.true(local.maxBytes <= profile.limits.groupLocalBytes, `${local.maxBytes} bytes of local memory`);
      t.is(local.maxBytes > 0, reportsLocalMemory === true, `${reportsLocalMemory}`);
      t.is(local.refused, 0);
    },
  );
}

testIf(
  reportsLocalMemory,
  'a kernel that needs more local memory than the device has fails to build and is counted',
  async (t) => {
    t.timeout(60 * 60_000);
    const t4 = profileNamed('t4');
    const less = { ...t4, limits: { groupLocalBytes: 2048 } }; // the driver reports more
    const { outcomes, local } = await runProfiled(less, [ofAlgorithm('merge', 'u32', 0, false)]);
    t.regex(outcomes[0]?.result ?? '', /^BuildError/);
    t.true(local.refused > 0 && local.maxBytes > 2048);
  },
);
