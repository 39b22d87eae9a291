/**
 * One coordinator for a job: a file in the job's folder says who it is, and is touched as long as that process lives, so that
 * other hosts can tell, too. Two at once would do no harm, since tasks leave the same files; but one of them is a mistake.
 */
import { open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { ioError } from '../io/raw.js';
import { hasOwnerExited, type Owner, thisProcess } from '../io/temporary-files.js';
import { UsageError } from '../util/errors.js';
import type { JobFolder } from './job-folder.js';

const NAME = 'coordinator.json';
const TOUCH_MS = 5000;
/** A coordinator on another host that has not been heard of for so long is taken for gone. */
const GONE_MS = 60_000;

interface Coordinator extends Owner {
  /** The host's name, for people. */
  readonly name: string;
}

/**
 * Becomes the coordinator of a job.
 *
 * @returns what gives the job up again
 * @throws UsageError where another process is it; IoError
 */
export async function acquireCoordinatorLock(folder: JobFolder): Promise<() => Promise<void>> {
  const path = folder.file(NAME);
  for (let tries = 0; ; tries++) {
    try {
      const handle = await open(path, 'wx');
      const me: Coordinator = { ...thisProcess(), name: hostname() };
      await handle.writeFile(JSON.stringify(me)).finally(() => handle.close());
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw ioError('write', path, error);
    }
    const other = await removeIfStale(folder, path);
    if (other || tries > 10) throw busyError(folder, other);
  }
  const timer = setInterval(() => {
    const now = new Date();
    void utimes(path, now, now).catch(() => undefined);
  }, TOUCH_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await rm(path, { force: true });
  };
}

/** Removes what a coordinator that is gone has left. @returns the one that is not */
async function removeIfStale(folder: JobFolder, path: string): Promise<Coordinator | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined; // it has just ended
  const other = parseCoordinator(text);
  // One that was killed before it said who it is has left an empty file.
  const isDead = other
    ? hasOwnerExited(other) || (await isStale(folder, path, other))
    : await isStale(folder, path);
  if (!isDead) return other ?? { ...thisProcess(), name: 'another host' };
  const temporaryPath = folder.temporaryPath(NAME);
  await rename(path, temporaryPath).catch(() => undefined);
  const taken = await readFile(temporaryPath, 'utf8').catch(() => undefined);
  if (taken !== undefined && taken !== text) {
    await rename(temporaryPath, path); // of somebody who was quicker
    return parseCoordinator(taken);
  }
  await rm(temporaryPath, { force: true });
  return undefined;
}

/** Has a coordinator not touched its file for long, by the clock of the file system? That of this host is asked here. */
async function isStale(folder: JobFolder, path: string, other?: Owner): Promise<boolean> {
  if (
    other &&
    other.host === thisProcess().host &&
    other.boot === thisProcess().boot &&
    other.space === thisProcess().space
  ) {
    return false;
  }
  const probe = folder.temporaryPath('clock');
  const handle = await open(probe, 'wx');
  await handle.writeFile('.').finally(() => handle.close());
  const [now, then] = await Promise.all([stat(probe), stat(path).catch(() => undefined)]);
  await rm(probe, { force: true });
  return then !== undefined && now.mtimeMs - then.mtimeMs > GONE_MS;
}

function parseCoordinator(text: string): Coordinator | undefined {
  try {
    return JSON.parse(text) as Coordinator;
  } catch {
    return undefined;
  }
}

function busyError({ id }: JobFolder, other: Coordinator | undefined): UsageError {
  const who = other ? `process ${other.pid} on ${other.name}` : 'another process';
  return new UsageError(
    `job ${id} has a coordinator, ${who}: 'clsort status ${id}' tells how far it is; if that process is gone, ` +
      'the same command goes on with the job within a minute',
    { details: { id, pid: other?.pid, host: other?.name } },
  );
}
