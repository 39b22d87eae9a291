import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'ava';
import { transformSync } from 'esbuild';
import type { DeviceTuning } from '../../src/algorithms/tuning-rows.js';
import { TUNINGS } from '../../src/algorithms/tunings/all.js';
import { tuningSource, whereOf } from '../../src/bench/tuning-source.js';
import { packageRoot } from '../../src/util/paths.js';
import { knownDevice, profileNamed } from '../device/profiles.js';

/** The exports of a file with this source. */
const exported = (source: string): Promise<Record<string, DeviceTuning>> => {
  const { code } = transformSync(source, { loader: 'ts', format: 'esm' });
  return import(`data:text/javascript,${encodeURIComponent(code)}`);
};

const ODD: DeviceTuning = {
  where: { device: "The \\ maker's device" },
  measured: 'on a "device" of the maker\'s, '.repeat(6),
  crossovers: { host: [{ operation: 'scan', keyBits: 32, keys: 2 ** 15 }], select: Number.POSITIVE_INFINITY },
  rows: [{ algorithm: 'serial', which: {}, tuning: { radixBits: 11, lines: false } }],
};

test('a generated tuning file exports the tuning that it was generated from', async (t) => {
  for (const tuning of [...TUNINGS, ODD]) {
    const { ofADevice } = await exported(tuningSource(tuning, 'src/algorithms/tunings/of-a-device.ts'));
    t.deepEqual(ofADevice, tuning);
  }
  t.deepEqual(Object.keys(await exported(tuningSource(ODD, '9000.ts'))), ['device9000']);
});

test('a generated tuning file has the layout that the formatter expects', (t) => {
  for (const tuning of [...TUNINGS, ODD]) {
    const source = tuningSource(tuning, 'one.ts');
    const biome = join(packageRoot, 'node_modules/@biomejs/biome/bin/biome');
    const args = [biome, 'format', '--stdin-file-path=src/algorithms/tunings/one.ts'];
    const options = { cwd: packageRoot, input: source, encoding: 'utf8' } as const;
    t.is(execFileSync(process.execPath, args, options), source);
  }
});

test('a measured tuning applies to the architecture of the device, if known, and otherwise to the device', (t) => {
  t.deepEqual(whereOf(knownDevice(profileNamed('h200'))), { architecture: 'sm_90' });
  t.deepEqual(whereOf(knownDevice(profileNamed('mi250'))), { architecture: 'gfx90a' });
  t.deepEqual(whereOf(knownDevice(profileNamed('mali-g610'))), { device: 'Mali-G610 MC6 r0p0' });
});
