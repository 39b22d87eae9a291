/** Compilers give no warnings about the kernels: PoCL prints a line to stderr for each program with a warning. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { packageRoot } from '../../../src/util/paths.js';
import { deviceNames, PLATFORMS } from '../../each-device.js';

const run = promisify(execFile);

/** Remarks that Clover makes about every program. */
const OWN_REMARKS = /Ignoring the following link options:[^\n]*|Parsing SPIR-V from OpenCL C \d+ source file/;

/** Prints each program whose build log is not empty, and how many programs there were. */
const BUILD = `
import { Device } from ${JSON.stringify(pathToFileURL(join(packageRoot, 'dist/src/device/device.js')))};
import { Sorter } from ${JSON.stringify(pathToFileURL(join(packageRoot, 'dist/src/sort/api/sorter.js')))};
import { keyCodec } from ${JSON.stringify(pathToFileURL(join(packageRoot, 'dist/src/keys/key-codec.js')))};
import { enqueueRankSelect } from ${JSON.stringify(pathToFileURL(join(packageRoot, 'dist/src/primitives/rank-select.js')))};
import { ALGORITHMS } from ${JSON.stringify(pathToFileURL(join(packageRoot, 'dist/src/algorithms/registry.js')))};

const files = new Set();
const logs = [];
const { program } = Device.prototype;
Device.prototype.program = async function (...args) {
  const built = await program.apply(this, args);
  files.add(args[0]);
  const said = built.log.replaceAll(/${OWN_REMARKS.source}/g, '').trim();
  if (said !== '') logs.push(args[0] + ' ' + JSON.stringify(args[1]) + ': ' + said);
  return built;
};
const [, spec] = process.argv;
const device = await Device.open(spec);
for (const factory of ALGORITHMS) {
  for (const shape of [{ keyBits: 8, valueBytes: 0 }, { keyBits: 32, valueBytes: 4 }, { keyBits: 64, valueBytes: 0 }]) {
    if (factory.available(device, shape) === true) await factory.create(device, shape);
  }
}
await enqueueRankSelect(device, { n: 0, codec: keyCodec('f32'), ranks: [], capacity: 1, groups: 1 }); // compiles
await device.close();
const sorter = await Sorter.open({ device: spec });
const keys = Float32Array.from({ length: 5000 }, (_, i) => (i * 7919) % 5000);
await sorter.sortPairs(keys, keys.slice(), { algorithm: 'serial', verify: true });
await sorter.topK(keys, 5, { algorithm: 'serial', advanced: { tuning: { select: 0 } } });
await sorter.topK(keys, 5, { advanced: { tuning: { select: 0 } } });
await sorter.topKSegments(keys, 100, 5, { advanced: { tuning: { select: 0 } } });
await sorter.unique(keys, { algorithm: 'serial' });
await sorter.segmentedSort(keys, [0, 9, 5000], { algorithm: 'serial' });
await sorter.scan(keys);
await sorter.reduce(keys, 'sum');
await sorter.histogram(keys, { bins: 5, range: [0, 9] });
await sorter.gather(keys, Uint32Array.of(0));
await sorter.isIn(Uint8Array.of(0), Uint8Array.of(0));
await sorter.close();
console.log(JSON.stringify({ files: [...files], logs }));
`;

for (const name of deviceNames()) {
  test(`${name} compiles all kernels without warnings`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'clsort-build-log-'));
    // Caches are disabled: a cached program has no build log.
    const env = {
      ...process.env,
      CLSORT_PROGRAM_CACHE: 'never',
      POCL_CACHE_DIR: folder,
      MESA_SHADER_CACHE_DISABLE: 'true',
    };
    try {
      const args = ['--input-type=module', '--eval', BUILD, PLATFORMS[name] ?? name];
      const { stdout, stderr } = await run(process.execPath, args, { env });
      const { files, logs } = JSON.parse(stdout) as { files: string[]; logs: string[] };
      // NVIDIA's compiler remarks for each kernel that it may be inlined into callers, but no kernel is called.
      const inlined = /Warning: Function \w+ is a kernel, so overriding noinline attribute\./;
      const warnings = logs.filter((log) => !log.split('\n').every((line) => inlined.test(line)));
      t.deepEqual(warnings, []);
      t.notRegex(stderr, /warning/);
      for (const file of [
        'single_workgroup_radix.cl',
        'serial_radix.cl',
        'verify.cl',
        'member_table.cl',
        'rank_select.cl',
        'top_few.cl',
        'top_k.cl',
        name === 'rusticl' ? 'reduce_runs.cl' : 'reduce_once.cl', // its driver ends long loops
        'prefix_scan.cl',
      ]) {
        t.true(files.includes(file), `${file} of ${files}`);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
