/**
 * The lock of a job's coordinator: a file in the job folder identifies the process, which touches it while it lives, so
 * that other hosts can detect its end. Two coordinators would do no harm, since tasks leave the same files, but
 * indicate a mistake.
 */

import { open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { ioError } from '../io/streams/raw.js';
import { hasOwnerExited, type Owner, thisProcess } from '../io/streams/temporary-files.js';
import { UsageError } from '../util/errors.js';
import { parseJson } from '../util/json.js';
import type { JobFolder } from './job-folder.js';

const NAME = 'coordinator.json';
/** Milliseconds between two signs of life of the coordinator: several fit into `GONE_MS`. */
const TOUCH_MS = 5000;
/** Milliseconds of silence after which a coordinator on another host counts as gone. */
const GONE_MS = 60_000;

interface Coordinator extends Owner {
  /** Host name, for messages. */
  readonly name: string;
}

/**
 * Acquires the coordinator lock of a job.
 *
 * @returns a function that releases the lock
 * @throws UsageError when another process holds the lock
 * @throws IoError when the lock file cannot be written
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

/** Removes the lock of a coordinator that is gone; returns the coordinator that is not. */
async function removeIfStale(folder: JobFolder, path: string): Promise<Coordinator | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined; // it has just ended
  const other = parseJson(text) as Coordinator | undefined;
  // A process killed before it wrote its identity leaves an empty file.
  const isDead = other
    ? hasOwnerExited(other) || (await isStale(folder, path, other))
    : await isStale(folder, path);
  if (!isDead) return other ?? { ...thisProcess(), name: 'another host' };
  const temporaryPath = folder.temporaryPath(NAME);
  await rename(path, temporaryPath).catch(() => undefined);
  const taken = await readFile(temporaryPath, 'utf8').catch(() => undefined);
  if (taken !== undefined && taken !== text) {
    await rename(temporaryPath, path); // another process has just acquired it
    return parseJson(taken) as Coordinator | undefined;
  }
  await rm(temporaryPath, { force: true });
  return undefined;
}

/**
 * Whether a lock file is stale by the clock of its file system. Processes on this host are checked directly instead.
 */
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

function busyError({ id }: JobFolder, other: Coordinator | undefined): UsageError {
  const who = other ? `process ${other.pid} on ${other.name}` : 'another process';
  return new UsageError(
    `cannot start job ${id}: ${who} already coordinates it. 'clsort status ${id}' prints its progress. If that ` +
      'process has ended, repeat the command after a minute',
    { details: { id, pid: other?.pid, host: other?.name } },
  );
}
