import { UnsupportedError } from './errors.js';

/** Options of Node that grant a permission, by its name in the errors of Node's permission model. */
const OPTIONS: Readonly<Record<string, readonly [option: string, what: string]>> = {
  Addon: ['--allow-addons', 'native addons'],
  ChildProcess: ['--allow-child-process', 'child processes'],
  FileSystemRead: ['--allow-fs-read', 'reading'],
  FileSystemWrite: ['--allow-fs-write', 'writing'],
};

/**
 * Returns the message for an error of Node's permission model, which names the missing option; undefined for other
 * errors.
 */
export function permissionMessage(error: unknown): string | undefined {
  const { code, permission = '', resource } = error as NodeJS.ErrnoException & Record<string, string>;
  if (code !== 'ERR_ACCESS_DENIED') return undefined;
  const [option, what] = OPTIONS[permission] ?? ['the option for it', permission];
  const path = option.startsWith('--allow-fs') && resource ? `=${resource}` : '';
  return `cannot continue: the permission model of Node does not allow ${what}. Start Node with ${option}${path}`;
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
