/**
 * Files that are written aside until they are whole, and folders of temporary ones. Their names say who writes them, so that what a killed
 * process left can be told from what another one is still writing.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** A process, told from all others of all machines and times. */
export interface Owner {
  readonly host: string;
  /** Of the system's boot. */
  readonly boot: string;
  /** The name space that its pid is from: containers of one host have pids of their own. */
  readonly space: string;
  readonly pid: number;
  /** When it started, in the system's own count: pids are used again. */
  readonly start: string;
}

/** What stands for a fact that this system does not tell. */
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
  /** It has ended, and only its parent has not looked yet. */
  readonly hasEnded: boolean;
}

/** What /proc tells of a process; undefined where it tells nothing. */
function readProcess(pid: number | 'self'): Process | undefined {
  const stat = readOrUnknown(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  // The second field is the program's name in parentheses, which may hold anything.
  const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const start = fields[18];
  return start === undefined ? undefined : { start, hasEnded: /[ZXx]/.test(state) };
}

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

let cachedOwner: Owner | undefined;

/** This process. Where there is no /proc, boot and start are not known. */
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

/** Whether nobody writes any more what `owner` began; false where that cannot be told from here. */
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

/** Bytes that a name may have on usual file systems. */
const MAX_NAME_BYTES = 255;

/** A new name for what is to become `name`, in the same folder. */
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

/** Who writes a file of that name aside; undefined for other files. */
export function ownerOf(name: string): Owner | undefined {
  const { host, boot, space, pid, start } = TEMPORARY_NAME.exec(name)?.groups ?? {};
  if (!host || !boot || !space || !pid || !start) return undefined;
  return { host, boot, space, pid: Number(pid), start };
}

const cleanedFolders = new Map<string, Promise<void>>();

/**
 * Removes from a folder what processes of this host that are no more wrote aside, once for each process:
 * a batch writes many files to one folder. What cannot be removed stays.
 */
export function removeOrphansOnce(folder: string): Promise<void> {
  let cleanup = cleanedFolders.get(folder);
  if (!cleanup) {
    cleanup = removeOrphans(folder);
    cleanedFolders.set(folder, cleanup);
  }
  return cleanup;
}

/** The same, as often as it is asked for: for who knows that such a process has just ended. */
export async function removeOrphans(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const owner = ownerOf(name);
    if (owner && hasOwnerExited(owner))
      await rm(join(folder, name), { recursive: true }).catch(() => undefined);
  }
}
