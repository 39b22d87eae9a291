/**
 * Temporary files and folders. Their names identify the owning process, so that leftovers of a killed process can be
 * distinguished from files in use.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** Identifies a process across machines and reboots. */
export interface Owner {
  readonly host: string;
  /** Boot ID of the system. */
  readonly boot: string;
  /** PID namespace; containers of one host have separate ones. */
  readonly space: string;
  readonly pid: number;
  /** Start time in the system's own unit, since PIDs are reused. */
  readonly start: string;
}

/** Placeholder for a value that the system does not provide. */
const UNKNOWN = '0';

function readOrUnknown(ask: () => string): string {
  try {
    return ask().trim() || UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}

interface Process {
  readonly start: string;
  /** Whether it is a zombie or dead. */
  readonly hasEnded: boolean;
}

/** Reads the state of a process from /proc; returns undefined when it is not available. */
function readProcess(pid: number | 'self'): Process | undefined {
  const stat = readOrUnknown(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  // The second field is the program name in parentheses, which may contain anything.
  const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const start = fields[18];
  return start === undefined ? undefined : { start, hasEnded: /[ZXx]/.test(state) };
}

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

let cachedOwner: Owner | undefined;

/** Returns the owner for this process. Without /proc, boot and start are unknown. */
export function thisProcess(): Owner {
  cachedOwner ??= {
    host: shortHash(`${readOrUnknown(() => readFileSync('/etc/machine-id', 'utf8'))}\n${hostname()}`),
    boot: readOrUnknown(() =>
      readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').replaceAll('-', '').slice(0, 12),
    ),
    space: readOrUnknown(() => readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '')),
    pid: process.pid,
    start: readProcess('self')?.start ?? UNKNOWN,
  };
  return cachedOwner;
}

/** Whether the owning process has ended; false when this cannot be determined from here. */
export function hasOwnerExited(owner: Owner): boolean {
  const { host, boot, space } = thisProcess();
  if (owner.host !== host) return false;
  if (owner.boot !== boot) return true;
  if (owner.space !== space) return false;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return true;
  }
  const found = readProcess(owner.pid);
  return found !== undefined && (found.hasEnded || found.start !== owner.start);
}

/** Maximum length of a file name in bytes on common file systems. */
const MAX_NAME_BYTES = 255;

/** Returns a new temporary name for a file that will become `name` in the same folder. */
export function temporaryName(
  name: string,
  { host, boot, space, pid, start }: Owner = thisProcess(),
): string {
  const suffix = `.clsort-${host}-${boot}-${space}-${pid}-${start}-${randomBytes(6).toString('hex')}.tmp`;
  const letters = [...name];
  while (Buffer.byteLength(`.${letters.join('')}${suffix}`) > MAX_NAME_BYTES) letters.pop();
  return `.${letters.join('')}${suffix}`;
}

const TEMPORARY_NAME =
  /^\..*\.clsort-(?<host>\w+)-(?<boot>\w+)-(?<space>\d+)-(?<pid>[1-9]\d{0,9})-(?<start>\d+)-[0-9a-f]{12}\.tmp$/s;

/** Returns the owner of a temporary file; undefined for other names. */
export function ownerOf(name: string): Owner | undefined {
  const { host, boot, space, pid, start } = TEMPORARY_NAME.exec(name)?.groups ?? {};
  if (!host || !boot || !space || !pid || !start) return undefined;
  return { host, boot, space, pid: Number(pid), start };
}

const cleanedFolders = new Map<string, Promise<void>>();

/**
 * Removes the temporary files in a folder that ended processes of this host left behind. Runs once per folder and
 * process, since a batch writes many files to one folder. Files that cannot be removed stay.
 */
export function removeOrphansOnce(folder: string): Promise<void> {
  let cleanup = cleanedFolders.get(folder);
  if (!cleanup) {
    cleanup = removeOrphans(folder);
    cleanedFolders.set(folder, cleanup);
  }
  return cleanup;
}

/** Removes orphaned temporary files on every call, for callers that know of a process that just ended. */
export async function removeOrphans(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const owner = ownerOf(name);
    if (owner && hasOwnerExited(owner))
      await rm(join(folder, name), { recursive: true }).catch(() => undefined);
  }
}
