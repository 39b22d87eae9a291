import { dirname } from 'node:path';
import { UnsupportedError } from './errors.js';

/** Options of Node that grant a permission, by its name in the errors of Node's permission model. */
const OPTIONS: Readonly<Record<string, readonly [option: string, what: string]>> = {
  Addon: ['--allow-addons', 'native addons'],
  ChildProcess: ['--allow-child-process', 'child processes'],
  FileSystemRead: ['--allow-fs-read', 'reading'],
  FileSystemWrite: ['--allow-fs-write', 'writing'],
  Net: ['--allow-net', 'network connections'],
  WorkerThreads: ['--allow-worker', 'worker threads'],
};

/**
 * Returns what Node's permission model denied, and the option that allows it; undefined for other errors. For a file to
 * write, the option names its folder: outputs are written to temporary files first.
 */
export function deniedPermission(error: unknown): string | undefined {
  const { code, permission = '', resource } = error as NodeJS.ErrnoException & Record<string, string>;
  if (code !== 'ERR_ACCESS_DENIED') return undefined;
  const [option, what] = OPTIONS[permission] ?? ['the option for it', permission];
  const path = permission === 'FileSystemWrite' && resource ? `${dirname(resource)}/*` : resource;
  const value = option.startsWith('--allow-fs') && path ? `=${path}` : '';
  return `the permission model of Node does not allow ${what}. Start Node with ${option}${value}`;
}

/** Returns the message for an error of Node's permission model; undefined for other errors. */
export function permissionMessage(error: unknown): string | undefined {
  const denied = deniedPermission(error);
  return denied && `cannot continue: ${denied}`;
}

/**
 * Starts a child process, or does other work that needs a permission.
 *
 * @throws UnsupportedError when Node's permission model denies it; the message names the missing option
 */
export function permitted<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const message = permissionMessage(cause);
    throw message === undefined ? cause : new UnsupportedError(message, { cause });
  }
}
