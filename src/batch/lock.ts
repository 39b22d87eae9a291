/**
 * An exclusive lock on a journal. Each process creates a file whose name identifies it and looks for those of others.
 * Files of ended processes are ignored, so no process ever has to take over a lock file.
 */
import { closeSync, openSync, unlinkSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ioError } from '../io/streams/raw.js';
import { hasOwnerExited, ownerOf, temporaryName } from '../io/streams/temporary-files.js';
import { UsageError } from '../util/errors.js';

/** Two processes that start together see each other; both wait a random time up to this limit and try again. */
const STEP_BACK_MS = 100;
const TRIES = 4;

/**
 * Locks a file, which need not exist.
 *
 * @param path path of the file
 * @returns a function that releases the lock
 * @throws UsageError when another process, or another batch of this one, holds the lock
 * @throws IoError when the lock file cannot be created
 */
export async function lock(path: string): Promise<() => void> {
  const folder = dirname(path);
  const name = `${basename(path)}.lock`;
  for (let tries = 1; ; tries++) {
    const own = temporaryName(name);
    try {
      closeSync(openSync(join(folder, own), 'wx'));
    } catch (error) {
      throw ioError('write', path, error);
    }
    const release = (): void => unlinkSync(join(folder, own));
    const other = await otherOwner(folder, `.${name}.clsort-`, own).catch((error) => {
      release();
      throw ioError('read', folder, error);
    });
    if (!other) return release;
    release();
    if (tries === TRIES) {
      throw new UsageError(
        `cannot open ${path}: process ${other.pid} is running a batch with this journal. Wait for it, or pass ` +
          `another --journal. If the process has ended, remove ${join(folder, other.file)}`,
        { details: { path, pid: other.pid, lock: join(folder, other.file) } },
      );
    }
    await delay(STEP_BACK_MS * Math.random());
  }
}

async function otherOwner(
  folder: string,
  prefix: string,
  own: string,
): Promise<{ readonly pid: number; readonly file: string } | undefined> {
  for (const file of await readdir(folder)) {
    if (file === own || !file.startsWith(prefix)) continue;
    const owner = ownerOf(file);
    if (!owner) continue;
    if (!hasOwnerExited(owner)) return { pid: owner.pid, file };
    await rm(join(folder, file), { force: true });
  }
  return undefined;
}
