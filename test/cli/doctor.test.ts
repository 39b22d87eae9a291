/** clsort doctor: what it finds on broken installations, and what it advises. */
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import ava from 'ava';
import { checkNodes, checkNvidia } from '../../src/cli/doctor-checks.js';
import { clsort, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes
const { path, remove } = scratchFolder();
ava.after.always(remove);
mkdirSync(path('no-drivers'));
mkdirSync(path('broken'));
writeFileSync(path('broken/ghost.icd'), 'libghost.so.1\n');
writeFileSync(path('broken/empty.icd'), '');

interface Finding {
  readonly area: string;
  readonly state: string;
  readonly text: string;
  readonly fix?: string;
}

/** Returns the exit code, and what is wrong. */
async function doctor(env: NodeJS.ProcessEnv = {}) {
  const { code, out, err } = await clsort(['doctor', '--json'], { env });
  const { schema, findings } = JSON.parse(out) as { schema: string; findings: Finding[] };
  const problems = findings.filter(({ state }) => state === 'problem');
  return { code, err, schema, findings, problems };
}

test('a working installation has nothing wrong, and each device passes a self-test', async (t) => {
  const { code, err, schema, findings, problems } = await doctor();
  t.is(code, 0, err);
  t.is(schema, 'clsort.doctor/1');
  t.deepEqual(problems, []);
  const areas = new Set(findings.map(({ area }) => area));
  for (const area of ['Node', 'addon', 'host engine', 'loader', 'drivers', 'platforms', 'cache', 'self-test'])
    t.true(areas.has(area), area);
  t.true(findings.some(({ area, text }) => area === 'self-test' && /million keys\/s/.test(text)));
  const { out } = await clsort(['doctor']);
  t.regex(out, /^ok +Node +Node \d/);
  t.true(out.split('\n').length < 50, 'one screen');
});

test('without drivers there is no device, and one is to be installed', async (t) => {
  const { code, problems } = await doctor({ OCL_ICD_VENDORS: path('no-drivers') });
  t.is(code, 3);
  t.is(problems[0]?.area, 'drivers');
  t.regex(problems[0]?.fix ?? '', /apt install pocl-opencl-icd/);
});

test('drivers that do not load are named', async (t) => {
  const { code, problems } = await doctor({ OCL_ICD_VENDORS: path('broken') });
  t.is(code, 3);
  const texts = problems.map(({ text }) => text).toSorted();
  t.is(texts.length, 2);
  t.regex(texts[0] ?? '', /empty\.icd is empty or cannot be read/);
  t.regex(texts[1] ?? '', /ghost\.icd: libghost\.so\.1 does not load: .*cannot open shared object/);
});

test('an addon that does not load is a failure, with the command that builds one', async (t) => {
  const { code, problems } = await doctor({ CLSORT_ADDON: path('no-addon.node') });
  t.is(code, 4);
  t.is(problems[0]?.area, 'addon');
  t.regex(problems[0]?.fix ?? '', /^(?:npm install @clsort|npx clsort build-addon)/);
});

test('a cache that cannot be written is named', async (t) => {
  const { problems } = await doctor({ CLSORT_CACHE_DIR: path('broken/empty.icd/cache') });
  t.deepEqual(
    problems.map(({ area, fix }) => [area, fix]),
    [['cache', 'export CLSORT_CACHE_DIR=/var/tmp/clsort']],
  );
});

test('errors without a device end with the advice to run clsort doctor', async (t) => {
  const noPlatform = await clsort(['devices'], { env: { OCL_ICD_VENDORS: path('no-drivers') } });
  t.is(noPlatform.code, 3);
  t.regex(noPlatform.err, /run clsort doctor\n$/i);
  const noDevice = await clsort(['devices', '--device', 'no such device']);
  t.is(noDevice.code, 3);
  t.regex(noDevice.err, /run clsort doctor\n$/i);
});

/** Creates files below a folder in place of `/`. @returns the folder */
function rootWith(name: string, files: Readonly<Record<string, string>>): string {
  const root = path(name);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(root + file), { recursive: true });
    writeFileSync(root + file, text);
  }
  return root;
}

test('nodes of GPUs that may not be opened are named with their group', (t) => {
  const root = rootWith('nodes', { '/dev/dri/card0': '', '/dev/dri/renderD128': '', '/dev/kfd': '' });
  const { gid } = statSync(`${root}/dev/kfd`);
  rootWith('nodes', { '/etc/group': `root-of-tests:x:9${gid}:\nrender:x:${gid}:someone\n` });
  t.deepEqual(checkNodes({ root, mayOpen: (file) => file.endsWith('kfd') }), [
    {
      area: 'GPU nodes',
      state: 'problem',
      text: '/dev/dri/renderD128 belongs to the group render, and you may not open it',
      fix: 'sudo usermod -aG render "$USER", then log in again',
    },
    { area: 'GPU nodes', state: 'ok', text: '/dev/kfd can be opened' },
  ]);
  // In a container the group of the host has no name.
  rootWith('nodes', { '/etc/group': '' });
  t.regex(checkNodes({ root, mayOpen: () => false })[1]?.fix ?? '', new RegExp(`-aG ${gid} `));
  const none = checkNodes({ root: path('no-such-root'), mayOpen: () => true });
  t.deepEqual(
    none.map(({ state, text }) => [state, text]),
    [['note', 'no /dev/dri/render* and no /dev/kfd: no AMD or Intel GPU is visible']],
  );
});

test("NVIDIA's driver without its OpenCL library is named, and the variable of a container", (t) => {
  const before = process.env.OCL_ICD_VENDORS;
  t.teardown(() => {
    if (before === undefined) delete process.env.OCL_ICD_VENDORS;
    else process.env.OCL_ICD_VENDORS = before;
  });
  const version = 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue Oct 7\n';
  const root = rootWith('nvidia', { '/dev/nvidiactl': '', '/proc/driver/nvidia/version': version });
  process.env.OCL_ICD_VENDORS = path('no-drivers');
  const [found, ...others] = checkNvidia({ root });
  t.deepEqual(others, []);
  t.is(found?.state, 'problem');
  t.regex(found?.text ?? '', /^driver 580\.159\.04 is there, but no \.icd file/);
  t.regex(found?.fix ?? '', /^mkdir -p .*nvidia\.icd$/);
  for (const [name, marker] of [
    ['docker', '/.dockerenv'],
    ['podman', '/run/.containerenv'],
  ] as const) {
    const container = rootWith(name, { '/dev/nvidiactl': '', [marker]: '' });
    const [inside] = checkNvidia({ root: container });
    t.regex(inside?.text ?? '', /^driver of unknown version/);
    t.regex(inside?.fix ?? '', /^NVIDIA_DRIVER_CAPABILITIES=compute,utility for the container; mkdir/);
  }
  process.env.OCL_ICD_VENDORS = rootWith('nvidia-icd', { '/nvidia.icd': 'libnvidia-opencl.so.1\n' });
  t.deepEqual(checkNvidia({ root }), [{ area: 'NVIDIA', state: 'ok', text: 'driver 580.159.04' }]);
  t.deepEqual(checkNvidia({ root: path('no-such-root') }), []);
});

test('a home that cannot be written is named, with the cache folder of each driver', async (t) => {
  const vendors = rootWith('four-drivers', {
    '/pocl.icd': 'libpocl.so.9\n',
    '/rusticl.icd': 'libRusticlOpenCL.so.9\n',
    '/nvidia.icd': 'libnvidia-opencl.so.9\n',
    '/intel.icd': 'libigdrcl.so.9\n',
  });
  const HOME = path('broken/empty.icd/home'); // below a file
  const unset = ['XDG_CACHE_HOME', 'POCL_CACHE_DIR', 'CUDA_CACHE_PATH', 'MESA_SHADER_CACHE_DIR'];
  const cacheProblems = async (env: NodeJS.ProcessEnv) => {
    const { problems } = await doctor({
      OCL_ICD_VENDORS: vendors,
      ...Object.fromEntries(unset.map((name) => [name, ''])),
      HOME,
      ...env,
    });
    return problems.filter(({ area }) => area === 'cache').map(({ text }) => text);
  };
  t.deepEqual(await cacheProblems({ CLSORT_CACHE_DIR: path('cache') }), [
    `PoCL cannot write ${HOME}/.cache/pocl`,
    `Mesa cannot write ${HOME}/.cache/mesa_shader_cache`,
    `NVIDIA cannot write ${HOME}/.nv`,
    `Intel cannot write ${HOME}/.cache/neo_compiler_cache`,
  ]);
  const own = {
    POCL_CACHE_DIR: path('pocl-cache'),
    MESA_SHADER_CACHE_DIR: path('mesa-cache'),
    CUDA_CACHE_PATH: path('cuda-cache'),
  };
  t.deepEqual(await cacheProblems({ CLSORT_CACHE_DIR: path('cache'), ...own }), [
    `Intel cannot write ${HOME}/.cache/neo_compiler_cache`,
  ]);
  const [first = ''] = await cacheProblems({ CLSORT_CACHE_DIR: '' });
  t.regex(first, new RegExp(`^${HOME}.* cannot be written, so kernels are compiled in each process`));
});
