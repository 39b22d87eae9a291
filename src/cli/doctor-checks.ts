/** The checks of `clsort doctor`. Each returns findings and never throws. */
import { execFile, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { devices } from '../device/platform/platform.js';
import type { DeviceInfo } from '../index.js';
import { native } from '../opencl/binding.js';
import { type OpenCLInfo, openclInfo } from '../opencl/info.js';
import { platformName } from '../opencl/prebuilt.js';
import { cacheFolder } from '../util/cache.js';
import { isWritable } from '../util/driver-cache.js';
import { VERSION } from '../util/package.js';
import { runtime } from '../util/runtime.js';
import { hostThreads } from '../util/threads.js';
import { childName } from './device-arguments.js';

/** One line of the report. */
export interface Finding {
  readonly area: string;
  readonly state: 'ok' | 'note' | 'problem';
  readonly text: string;
  /** A command, or what else to do. */
  readonly fix?: string;
}

const ok = (area: string, text: string): Finding => ({ area, state: 'ok', text });
const note = (area: string, text: string, fix?: string): Finding => ({
  ...{ area, state: 'note', text },
  ...(fix !== undefined && { fix }),
});
const problem = (area: string, text: string, fix: string): Finding => ({ area, state: 'problem', text, fix });

const read = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};
const firstLine = (error: unknown): string => (error as Error).message.split('\n')[0] ?? '';

/** Instruction sets that matter for sorts, among those of the first processor. */
const INSTRUCTION_SETS = ['avx512f', 'avx2', 'sse4_2', 'asimd', 'sve'];

function checkAddon(): Finding[] {
  const node = ok('Node', `${runtime()} on ${platformName()}, clsort ${VERSION}`);
  const flags = /^(?:flags|Features)\s*:(.*)$/m.exec(read('/proc/cpuinfo'))?.[1]?.split(' ') ?? [];
  const sets = INSTRUCTION_SETS.filter((name) => flags.includes(name));
  const threads = `${hostThreads()} ${hostThreads() === 1 ? 'thread' : 'threads'}`;
  try {
    native();
    const processor = sets.length > 0 ? `; the processor has ${sets.join(', ')}` : '';
    return [node, ok('addon', 'loaded'), ok('host engine', `compiled code on ${threads}${processor}`)];
  } catch (error) {
    const { message } = error as Error;
    const command = /^ {2}- (?:install|build).*: (npm install .*|npx .*)$/m.exec(message)?.[1];
    const option = /Start it with (--\S+),/.exec(message)?.[1];
    const fix = command ?? (option ? `start Node with ${option}` : 'run clsort with Node.js');
    const [cause = firstLine(error)] =
      /^The addon is for .*$/m.exec(message) ?? /(?<=^ {2})[^\s-].*: .*$/m.exec(message) ?? [];
    return [
      node,
      problem('addon', `cannot be loaded: ${cause}`, fix),
      note('host engine', 'JavaScript on one thread, until the addon loads'),
    ];
  }
}

/** Loads a library in another process, which it may crash, and prints why it cannot be loaded. */
const TRY_LIBRARY = `
try { process.dlopen({ exports: {} }, process.argv[1]); } catch ({ message }) {
  if (/open shared object|no such file|undefined symbol|wrong ELF|not found/i.test(message)) console.log(message);
}`;

function checkDriver(file: string): Finding {
  const library = read(file).trim().split('\n')[0] ?? '';
  if (library === '') return problem('drivers', `${file} is empty or cannot be read`, `ls -l ${file}`);
  const tried = spawnSync(process.execPath, ['-e', TRY_LIBRARY, library], {
    encoding: 'utf8',
    timeout: 20_000,
  });
  const why =
    tried.error?.message ?? (tried.signal ? `the process ended with ${tried.signal}` : tried.stdout.trim());
  return why === ''
    ? ok('drivers', `${basename(file)}: ${library} loads`)
    : problem(
        'drivers',
        `${basename(file)}: ${library} does not load: ${why}`,
        `reinstall that driver, or remove ${file}`,
      );
}

/** Returns the files that name drivers, as the loader finds them. */
function driverFiles(): string[] {
  const { OCL_ICD_VENDORS, OPENCL_VENDOR_PATH } = process.env;
  const place = OCL_ICD_VENDORS || OPENCL_VENDOR_PATH || '/etc/OpenCL/vendors';
  if (place.endsWith('.icd')) return [place];
  try {
    return readdirSync(place)
      .filter((name) => name.endsWith('.icd'))
      .map((name) => join(place, name));
  } catch {
    return [];
  }
}

const INSTALL_LOADER = 'apt install ocl-icd-libopencl1 (Debian, Ubuntu)';
const INSTALL_DRIVER = 'apt install pocl-opencl-icd (CPU; docs/guides/drivers.md lists those of GPUs)';

/** What another process finds, which a driver may end. */
interface OpenCLFacts {
  readonly info: OpenCLInfo;
  readonly devices: readonly DeviceInfo[];
}

/** Lists platforms and devices in this process. */
export function openclFacts(): OpenCLFacts {
  const info = openclInfo();
  try {
    return { info, devices: devices() };
  } catch {
    return { info, devices: [] }; // openclInfo reports the cause
  }
}

const TEST_SECONDS = 60;

/** Runs `clsort doctor` for one check in another process. */
const inChild = async (what: string): Promise<string> => {
  const args = [...process.execArgv, process.argv[1] ?? '', 'doctor', '--child', what];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: TEST_SECONDS * 1000 });
  return stdout;
};

/** Returns why another process failed. */
function causeOf(error: unknown): string {
  const {
    killed,
    stderr = '',
    signal,
    code,
  } = error as Record<'stderr' | 'signal' | 'code', string> & { killed?: boolean };
  if (killed) return `no result in ${TEST_SECONDS} s`;
  const said = stderr.trim().split('\n').at(-1);
  return `it ended with ${signal ?? code}${said ? `: ${said}` : ''}`;
}

/** Name of the check that lists platforms and devices. */
export const LIST = 'list';

function checkPlatforms({ info: { loader, platforms, problems } }: OpenCLFacts): Finding[] {
  const found = [
    loader === null
      ? problem('loader', `none: ${problems[0] ?? 'libOpenCL is not installed'}`, INSTALL_LOADER)
      : ok('loader', loader),
  ];
  const files = process.platform === 'linux' ? driverFiles() : [];
  if (files.length === 0 && process.platform === 'linux')
    found.push(problem('drivers', 'no .icd file names a driver', INSTALL_DRIVER));
  found.push(...files.map(checkDriver));
  for (const { name, version, devices: names } of platforms) {
    const advice = /rusticl/i.test(name) ? 'export RUSTICL_ENABLE=radeonsi, iris or llvmpipe' : undefined;
    found.push(
      names.length > 0
        ? ok('platforms', `${name} (${version}): ${names.join(', ')}`)
        : note('platforms', `${name} (${version}): no device`, advice),
    );
  }
  const others = problems.filter((text) => !platforms.some(({ name }) => text.startsWith(`${name}:`)));
  if (loader !== null && files.length > 0) found.push(...others.map((text) => note('platforms', text)));
  return found;
}

const mayOpen = (file: string): boolean => {
  try {
    accessSync(file, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

/** The file system that the checks of GPUs read. */
export interface FileSystem {
  /** Folder in place of `/`; `''` for `/` itself. */
  readonly root: string;
  /** Whether the user may read and write a file. */
  readonly mayOpen: (file: string) => boolean;
}

const FILES: FileSystem = { root: '', mayOpen };

/** Checks whether the user may open the nodes of AMD's and Intel's GPUs. */
export function checkNodes({ root, mayOpen }: FileSystem = FILES): Finding[] {
  if (process.platform !== 'linux') return [];
  const has = (file: string): boolean => existsSync(root + file);
  const dri = has('/dev/dri')
    ? readdirSync(`${root}/dev/dri`).filter((name) => name.startsWith('render'))
    : [];
  const nodes = [...dri.map((name) => `/dev/dri/${name}`), ...(has('/dev/kfd') ? ['/dev/kfd'] : [])];
  if (nodes.length === 0)
    return [note('GPU nodes', 'no /dev/dri/render* and no /dev/kfd: no AMD or Intel GPU is visible')];
  return nodes.map((node) => {
    if (mayOpen(root + node)) return ok('GPU nodes', `${node} can be opened`);
    const { gid } = statSync(root + node);
    const group =
      new RegExp(`^([^:]+):[^:]*:${gid}:`, 'm').exec(read(`${root}/etc/group`))?.[1] ?? String(gid);
    return problem(
      'GPU nodes',
      `${node} belongs to the group ${group}, and you may not open it`,
      `sudo usermod -aG ${group} "$USER", then log in again`,
    );
  });
}

/** Checks whether the OpenCL loader finds NVIDIA's driver, which containers may lack. */
export function checkNvidia({ root }: Pick<FileSystem, 'root'> = FILES): Finding[] {
  const has = (file: string): boolean => existsSync(root + file);
  const versionFile = '/proc/driver/nvidia/version';
  if (!has('/dev/nvidiactl') && !has(versionFile)) return [];
  const version = /\d+\.\d+(\.\d+)?/.exec(read(root + versionFile))?.[0] ?? 'of unknown version';
  if (driverFiles().some((file) => read(file).includes('nvidia'))) return [ok('NVIDIA', `driver ${version}`)];
  const isContainer = has('/.dockerenv') || has('/run/.containerenv');
  const register =
    'mkdir -p /etc/OpenCL/vendors && echo libnvidia-opencl.so.1 > /etc/OpenCL/vendors/nvidia.icd';
  return [
    problem(
      'NVIDIA',
      `driver ${version} is there, but no .icd file names its OpenCL library`,
      isContainer ? `NVIDIA_DRIVER_CAPABILITIES=compute,utility for the container; ${register}` : register,
    ),
  ];
}

/** Folders in which drivers cache compiled kernels, and the names of the drivers in .icd files. */
function driverCaches(): (readonly [driver: string, folder: string, inFile: RegExp])[] {
  const {
    HOME = homedir(),
    XDG_CACHE_HOME,
    POCL_CACHE_DIR,
    CUDA_CACHE_PATH,
    MESA_SHADER_CACHE_DIR,
  } = process.env;
  const cache = XDG_CACHE_HOME || join(HOME, '.cache');
  return [
    ['PoCL', POCL_CACHE_DIR || join(cache, 'pocl'), /pocl/],
    ['Mesa', MESA_SHADER_CACHE_DIR || join(cache, 'mesa_shader_cache'), /mesa|rusticl/],
    ['NVIDIA', CUDA_CACHE_PATH || join(HOME, '.nv'), /nvidia/],
    ['Intel', join(cache, 'neo_compiler_cache'), /intel/],
  ];
}

function checkCaches(): Finding[] {
  const own = cacheFolder();
  const canWrite = (folder: string): boolean => {
    try {
      return isWritable(folder);
    } catch {
      return false; // a part of the path is no folder
    }
  };
  const kept = canWrite(own)
    ? ok('cache', own)
    : problem(
        'cache',
        `${own} cannot be written, so kernels are compiled in each process`,
        'export CLSORT_CACHE_DIR=/var/tmp/clsort',
      );
  const names = driverFiles().map((file) => `${basename(file)} ${read(file)}`.toLowerCase());
  const others = driverCaches().filter(
    ([, folder, inFile]) => names.some((name) => inFile.test(name)) && !canWrite(folder),
  );
  return [
    kept,
    ...others.map(([driver, folder]) =>
      problem(
        'cache',
        `${driver} cannot write ${folder}`,
        `a home that can be written: export HOME=…, or XDG_CACHE_HOME=…`,
      ),
    ),
  ];
}

/** Sorts on a device in another process, which its driver may crash. */
async function checkDevice(device: DeviceInfo): Promise<Finding> {
  try {
    return ok('self-test', `${device.name}: ${(await inChild(childName(device))).trim()}`);
  } catch (error) {
    const fix = `clsort devices --self-test --device '${device.name}'`;
    return problem('self-test', `${device.name}: ${causeOf(error)}`, fix);
  }
}

/** Checks the loader, the platforms and each device. */
async function checkOpenCL(): Promise<Finding[]> {
  let facts: OpenCLFacts;
  try {
    facts = JSON.parse(await inChild(LIST)) as OpenCLFacts;
  } catch (error) {
    const fix = 'set OCL_ICD_VENDORS to one .icd file after another, and remove the driver that fails';
    return [
      ...driverFiles().map(checkDriver),
      problem('platforms', `a driver ends the process that lists devices: ${causeOf(error)}`, fix),
    ];
  }
  const found = checkPlatforms(facts);
  if (facts.devices.length === 0) found.push(note('self-test', 'no OpenCL device: the host engine sorts'));
  for (const device of facts.devices) found.push(await checkDevice(device));
  return found;
}

/** Runs all checks. */
export async function examine(): Promise<Finding[]> {
  const addon = checkAddon();
  const hasAddon = addon.every(({ state }) => state !== 'problem');
  const opencl = hasAddon ? await checkOpenCL() : [];
  return [...addon, ...opencl, ...checkNodes(), ...checkNvidia(), ...checkCaches()];
}
