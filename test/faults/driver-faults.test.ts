/** Faults of drivers that were seen on devices which are not present: PoCL plays them under the test layer. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { type Case as ProfiledCase, runProfiled } from '../device/profiled.js';
import { type Profile, profileNamed } from '../device/profiles.js';
import { tellingFixture } from '../layer/fixture.js';
import { layerEnvironment } from '../layer/layer.js';
import { profileFile } from '../layer/profile-file.js';
import { type Case, problemOf, type Run, runCases } from './faults.js';

const folder = mkdtempSync(join(tmpdir(), 'clsort-drivers-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

/** The variables with which PoCL plays a device. The layer counts no objects of a child process. */
function playing(profile: Profile, variables: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const file = join(folder, `${profile.key}-${Object.keys(variables).join()}`);
  writeFileSync(file, profileFile(profile));
  return {
    CLSORT_LAYER_PROFILE: file,
    CLSORT_INLINE_PTX: 'off',
    CLSORT_POLICY: 'firstBuild=off',
    ...variables,
  };
}

const OPERATIONS = ['sort', 'argsort', 'sortPairs', 'topK', 'segmentedSort', 'reduce', 'scan', 'gather'];

const ofOperation = (operation: string): ProfiledCase => ({
  ...{ operation, dtype: 'u32', n: 0, valueBytes: 0, descending: false },
});

/** Runs operations on the device that a profile describes. @returns results that are not right, and warnings */
async function wrongOn(
  profile: Profile,
  variables = {},
  more: readonly ProfiledCase[] = [],
): Promise<string[]> {
  const cases = [...OPERATIONS.map(ofOperation), ...more];
  const { outcomes, ended } = await runProfiled(profile, cases, variables);
  return [
    ...cases.flatMap((one, i) => {
      const { result = 'missing', warnings = [] } = outcomes[i] ?? {};
      return result === 'right' && warnings.length === 0
        ? []
        : [`${JSON.stringify(one)}: ${result} ${warnings}`];
    }),
    ...(ended === undefined ? [] : [ended]),
  ];
}

test.serial('an Adreno with 896 work-items in a group and no sub-group shuffles sorts', async (t) => {
  const adreno = profileNamed('adreno-630');
  const device: Profile['device'] = {
    ...adreno.device,
    DEVICE_MAX_WORK_GROUP_SIZE: 896,
    DEVICE_MAX_WORK_ITEM_SIZES: [896, 896, 896],
  };
  t.false(String(device.DEVICE_EXTENSIONS).includes('cl_khr_subgroup_shuffle'));
  t.deepEqual(await wrongOn({ ...adreno, device }), []);
});

test.serial('an Intel GPU whose 64-bit atomic additions count fourfold sorts', async (t) => {
  const intel = profileNamed('uhd-630');
  const variables = { CLSORT_LAYER_FOURFOLD: '1' };
  const control = join(folder, 'control');
  writeFileSync(control, '');
  const env = { ...process.env, ...layerEnvironment(control), ...playing(intel, variables) };
  const fixture = fileURLToPath(new URL('./fixtures/fourfold.js', import.meta.url));
  const added = await tellingFixture(fixture, {}, { env, silenceSeconds: 60 });
  t.deepEqual(added, { outcomes: [{ word: 4 }] });
  // States of 64 bits, which only arrays of 2^30 keys need.
  const wide = {
    n: 3001,
    dtype: 'u32',
    valueBytes: 0,
    descending: false,
    tuning: { offsetBits: 64 },
  } as const;
  t.deepEqual(await wrongOn(intel, variables, [{ algorithm: 'onesweep', ...wide }]), []);
});

interface Played {
  readonly operation: string;
  readonly cases?: readonly Case[];
}

const run = (variables: NodeJS.ProcessEnv, { operation, cases = [{}] }: Played): Promise<Run> =>
  runCases({ device: 'gpu', operation, options: {}, cases }, { variables });

test.serial('an Apple GPU that answers CL_INVALID_KERNEL once sorts, or raises a typed error', async (t) => {
  const variables = playing(profileNamed('apple-m1'));
  const cases = ['clCreateKernel', 'clEnqueueNDRangeKernel'].flatMap((name) =>
    [1, 2, 3, 5].map((at) => ({ fail: { at, function: name, status: -48 } })),
  );
  for (const operation of ['sort', 'argsort', 'sortPairs']) {
    const made = await run(variables, { operation, cases });
    t.is(made.ended, undefined);
    t.is(made.outcomes.length, cases.length);
    t.deepEqual(made.outcomes.map(problemOf).filter(Boolean), []);
    t.true(made.outcomes.some(({ failed }) => failed === 'clEnqueueNDRangeKernel'));
    t.true(made.outcomes.some(({ failed }) => failed === 'clCreateKernel'));
  }
});

test.serial('an Apple GPU that never runs a kernel sorts by another algorithm, or on the host', async (t) => {
  for (const kernel of ['driver_probe', 'onesweep_histogram', 'onesweep_pass', 'row_sort']) {
    const variables = playing(profileNamed('apple-m1'), { CLSORT_LAYER_INVALID: kernel });
    const { outcomes, ended } = await run(variables, { operation: 'sort' });
    t.is(ended, undefined);
    t.deepEqual(
      outcomes.map((outcome) => problemOf(outcome) ?? outcome.result),
      ['right'],
      kernel,
    );
  }
});
