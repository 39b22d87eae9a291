import { mkdirSync } from 'node:fs';
import ava from 'ava';
import { profileEnvironment } from '../device/profiled.js';
import { profileNamed } from '../device/profiles.js';
import { clsort, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes
const { path, remove } = scratchFolder();
ava.after.always(remove);

/** The output of `clsort devices --json` for the device of a profile. */
async function devicesOf(key: string) {
  const folder = path(key);
  mkdirSync(folder);
  const env = profileEnvironment(profileNamed(key), folder);
  const ran = await clsort(['devices', '--json', '--device', 'gpu'], { env });
  const { devices } = ran.code === 0 ? JSON.parse(ran.out) : { devices: [] };
  return { ...ran, devices };
}

for (const [key, expected] of [
  ['t4', { architecture: 'sm_75', groupLocalBytes: 65_536, subGroupSizes: [32], unifiedMemory: false }],
  ['mi250', { architecture: 'gfx90a', groupLocalBytes: 65_536, subGroupSizes: [64], unifiedMemory: false }],
  ['arc-a770', { architecture: 'xe12.55', subGroupSizes: [8, 16, 32], unifiedMemory: false }],
  ['apple-m1', { architecture: null, groupLocalBytes: 32_768, subGroupSizes: [], unifiedMemory: true }],
] as const) {
  test(`devices --json reports the hardware of ${key} with modelled parameters`, async (t) => {
    const { code, err, devices } = await devicesOf(key);
    t.is(code, 0, err);
    t.is(devices.length, 1);
    t.like(devices[0], expected);
    const { parameters, unit } = devices[0];
    for (const name of ['single-workgroup', 'onesweep', 'tiled']) t.is(parameters[name], 'modelled', name);
    t.true(unit.count > 0 && unit.localBytes > 0 && unit.registers > 0 && unit.items > 0);
  });
}

test('devices --json reports measured parameters for an H200', async (t) => {
  const { code, err, devices } = await devicesOf('h200');
  t.is(code, 0, err);
  t.like(devices[0], { architecture: 'sm_90', groupLocalBytes: 227 * 1024 });
  t.deepEqual(
    new Set(['single-workgroup', 'onesweep', 'tiled'].map((name) => devices[0].parameters[name])),
    new Set(['measured']),
  );
});

test('a CLSORT_LOCAL_BYTES that is not a number of bytes is refused', async (t) => {
  const ran = await clsort(['devices', '--json'], { env: { CLSORT_LOCAL_BYTES: '48Ki' } });
  t.is(ran.code, 2, ran.err);
  t.regex(ran.err, /for CLSORT_LOCAL_BYTES but got "48Ki"/);
});
