// Installs Debian packages without root: apt downloads them to a local folder, dpkg unpacks them, and environment
// variables locate them.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const ARCH = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' }[process.arch] ?? '';

/**
 * Downloads the packages and the dependencies that the system lacks, and unpacks them into `<state>/root`.
 *
 * @param run runs a command and throws when it fails
 */
export function unpackPackages(state, packages, run) {
  const apt = join(state, 'apt');
  const root = join(state, 'root');
  for (const folder of ['lists/partial', 'archives/partial'])
    mkdirSync(join(apt, folder), { recursive: true });
  mkdirSync(root, { recursive: true });
  const options = [
    ['Dir::State::lists', join(apt, 'lists')],
    ['Dir::Cache', apt],
    ['Dir::Cache::archives', join(apt, 'archives')],
    ['Dir::State::status', '/var/lib/dpkg/status'],
    // dpkg's own lock belongs to root; dpkg's own files are not touched here.
    ['Debug::NoLocking', '1'],
    ['APT::Sandbox::User', ''],
  ].flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  run('apt-get', [...options, 'update', '-q']);
  run('apt-get', [
    ...options,
    'install',
    '-y',
    '-q',
    '--no-install-recommends',
    '--download-only',
    ...packages,
  ]);
  const archives = join(apt, 'archives');
  for (const name of readdirSync(archives).filter((file) => file.endsWith('.deb'))) {
    run('dpkg-deb', ['-x', join(archives, name), root]);
    rmSync(join(archives, name));
  }
  correctLinkerScripts(root);
  writeEnvironment(state, root);
}

/** Makes the linker scripts among the unpacked libraries refer to unpacked files where these exist. */
function correctLinkerScripts(root) {
  const folder = join(root, 'usr/lib', ARCH);
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.so')) continue;
    const file = join(folder, entry.name);
    const text = readFileSync(file, 'latin1');
    if (!text.startsWith('/* GNU ld script')) continue;
    const path = (absolute) => (existsSync(join(root, absolute)) ? join(root, absolute) : absolute);
    const isOurs = text.includes(root);
    if (!isOurs) writeFileSync(file, text.replaceAll(/(?<=[\s(])\/[^\s)]+/g, path), 'latin1');
  }
}

/** Writes the environment variables that locate the unpacked packages. */
function writeEnvironment(state, root) {
  const below = (...paths) => paths.map((path) => join(root, path)).filter((path) => existsSync(path));
  const llvm = existsSync(join(root, 'usr/lib'))
    ? readdirSync(join(root, 'usr/lib')).filter((name) => name.startsWith('llvm-'))
    : [];
  const libraries = below(
    `usr/lib/${ARCH}`,
    `lib/${ARCH}`,
    'usr/lib',
    ...llvm.map((name) => `usr/lib/${name}/lib`),
  );
  const gcc = join('usr/lib/gcc', ARCH);
  const compilers = existsSync(join(root, gcc)) ? readdirSync(join(root, gcc)) : [];
  const variables = {
    PATH: below('usr/bin', 'bin'),
    LD_LIBRARY_PATH: libraries,
    LIBRARY_PATH: [
      ...libraries,
      ...below(...compilers.map((version) => join(gcc, version))),
      ...linkerScripts(state, root),
    ],
    // After the compiler's own folders, where the C++ headers look for the C ones.
    CXXFLAGS: below(`usr/include/${ARCH}`, 'usr/include').map((folder) => `-idirafter ${folder}`),
    OCL_ICD_VENDORS: vendors(state, root),
  };
  const used = Object.entries(variables).filter(([, folders]) => folders.length > 0);
  writeFileSync(join(state, 'env.json'), `${JSON.stringify(Object.fromEntries(used), null, 2)}\n`);
}

/** Creates a folder of .icd files that refer to the unpacked drivers by absolute paths. */
function vendors(state, root) {
  const from = join(root, 'etc/OpenCL/vendors');
  if (!existsSync(from)) return [];
  const folder = join(state, 'vendors');
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(from)) {
    const library = readFileSync(join(from, name), 'utf8').trim();
    const unpacked = [join(root, library), join(root, 'usr/lib', ARCH, library)].find((path) =>
      existsSync(path),
    );
    writeFileSync(join(folder, name), `${unpacked ?? library}\n`);
  }
  return [folder];
}

/**
 * Creates linker scripts of one line for libm, libc and libgcc. PoCL links each kernel with them by names that only
 * development packages provide.
 */
function linkerScripts(state, root) {
  const folder = join(state, 'stubs');
  mkdirSync(folder, { recursive: true });
  for (const [name, library] of [
    ['libm.so', 'libm.so.6'],
    ['libc.so', 'libc.so.6'],
    ['libgcc.so', 'libgcc_s.so.1'],
    ['libgcc_s.so', 'libgcc_s.so.1'],
  ]) {
    const folders = [`/usr/lib/${ARCH}`, `/lib/${ARCH}`];
    const real = folders.map((path) => join(path, library)).find((path) => existsSync(path));
    const there = [...folders, join(root, 'usr/lib', ARCH)].some((path) => existsSync(join(path, name)));
    if (real && !there) writeFileSync(join(folder, name), `GROUP ( ${real} )\n`);
  }
  return [folder];
}

/**
 * Returns the variables of `<state>/env.json`, prepended to those of this process; empty when there is no such file.
 */
export function rootlessEnv(state) {
  const file = join(state, 'env.json');
  if (!existsSync(file)) return {};
  return Object.fromEntries(
    Object.entries(JSON.parse(readFileSync(file, 'utf8'))).map(([name, folders]) => {
      // Drivers of the system come first only if there are any: the loader takes one folder of vendors.
      const rest = name === 'OCL_ICD_VENDORS' ? undefined : process.env[name];
      return [name, [...folders, ...(rest ? [rest] : [])].join(name === 'CXXFLAGS' ? ' ' : delimiter)];
    }),
  );
}
