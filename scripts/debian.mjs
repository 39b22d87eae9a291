// Debian installations below .setup, in which addons are built and tests run.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './node-releases.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

const ENVIRONMENT = {
  PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LC_ALL: 'C.UTF-8',
};

/** Returns a command that runs with a clean environment. */
const clean = (folder, command, env) => {
  const variables = Object.entries({ ...ENVIRONMENT, ...env }).map(([name, value]) => `${name}=${value}`);
  return ['env', '-i', '-C', folder, ...variables, ...command];
};

/**
 * Creates a Debian installation once. An interrupted one, or one with other packages, is created again.
 *
 * @param name its folder below .setup
 * @param options further options of debootstrap, such as --foreign
 * @param prepare runs in it before the installation counts as complete
 * @returns its folder
 */
export async function makeDebian(name, { suite, packages, options = [], prepare }) {
  const folder = join(root, '.setup', name);
  const made = join(folder, '.made');
  const what = [suite, ...options, ...packages].join(' ');
  if (existsSync(made) && readFileSync(made, 'utf8') === what) return folder;
  rmSync(folder, { recursive: true, force: true });
  run('debootstrap', ['--variant=minbase', `--include=${packages}`, ...options, suite, folder]);
  mkdirSync(join(folder, 'clsort'));
  await prepare?.(folder);
  writeFileSync(made, what);
  return folder;
}

/**
 * Runs a command in a Debian installation as root.
 *
 * @throws Error when it fails
 */
export const inDebian = (folder, command, env = {}) => run('chroot', [folder, ...clean('/', command, env)]);

// No name is part of the text that a shell reads as root: all names are passed as arguments.
const WITH_MOUNTS = `
debian=$1 tree=$2
shift 2
for name in proc sys dev; do mount --rbind "/$name" "$debian/$name"; done
mount --bind "$tree" "$debian/clsort"
chroot "$debian" "$@"
exit # by the status of the command, for which this shell stays: as process 1 of a namespace it could not be killed
`;

/**
 * Runs a command as root in a Debian installation that has this tree mounted at /clsort, its working directory. The
 * mounts end with the command.
 *
 * @throws Error when it fails
 */
export function inDebianWithTree(folder, command, env = {}) {
  const inside = ['sh', '-ec', WITH_MOUNTS, 'sh', folder, root, ...clean('/clsort', command, env)];
  run('unshare', ['--mount', ...inside]);
}

const BINFMT = '/usr/lib/binfmt.d/qemu-aarch64.conf';

const WITH_EMULATOR = `
mount -t proc proc /proc
mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
cat ${BINFMT} > /proc/sys/fs/binfmt_misc/register
${WITH_MOUNTS}`;

/**
 * Waits for the user mapping, then executes the command: only a program started as root in the namespace is root there.
 */
const WHEN_MAPPED = 'echo; read mapped; exec "$@"';

/**
 * Runs a command like `inDebianWithTree`, in an arm64 Debian: the kernel passes its programs to qemu. The binfmt_misc
 * registration belongs to a user namespace that ends with the command, so the rest of the machine is unaffected.
 *
 * @param quiet whether the output is only returned and not shown
 * @returns the output
 * @throws Error when it fails, or when the kernel has no binfmt_misc for user namespaces (available since Linux 6.7)
 */
export async function inArm64Debian(folder, command, { env = {}, quiet = false } = {}) {
  if (!existsSync(BINFMT)) throw new Error(`${BINFMT} is missing: apt install qemu-user-static`);
  // With the variant lxc, debootstrap does not need the right to create devices.
  const cleanly = clean('/clsort', command, { container: 'lxc', ...env });
  const inside = ['sh', '-ec', WITH_EMULATOR, 'sh', folder, root, ...cleanly];
  const namespaces = ['--user', '--mount', '--pid', '--fork'];
  // A separate process group, so that all of it can be ended: the first process in the namespace takes the rest along.
  const child = spawn('unshare', [...namespaces, 'sh', '-c', WHEN_MAPPED, 'sh', ...inside], {
    detached: true,
  });
  let printed = '';
  for (const stream of ['stdout', 'stderr']) {
    child[stream].setEncoding('utf8').on('data', (text) => {
      printed += text;
      if (!quiet) process[stream].write(text);
    });
  }
  child.stdout.once('data', () => {
    for (const map of ['uid_map', 'gid_map']) writeFileSync(`/proc/${child.pid}/${map}`, '0 0 65536');
    child.stdin.end('\n');
  });
  const stop = () => process.kill(-child.pid, 'SIGKILL');
  for (const name of ['SIGINT', 'SIGTERM']) process.once(name, stop);
  const [status, signal] = await once(child, 'close');
  for (const name of ['SIGINT', 'SIGTERM']) process.off(name, stop);
  if (status === 0) return printed.slice(1); // without a sign that it waited
  throw new Error(
    `${command.join(' ')} for arm64 ended with ${signal ?? status}${quiet ? `\n${printed}` : ''}`,
  );
}
