import { mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFile } from '../../util/sync-file.js';
import { type FileCalls, threadedCalls } from './file-calls.js';
import { ioError } from './raw.js';

/**
 * Creates a folder and its missing parents.
 *
 * @param folder path of the folder
 * @param file path of the file to be written there, for messages; default the folder
 * @throws IoError when the folder cannot be created
 */
export async function makeFolder(folder: string, file = folder): Promise<void> {
  await makeWithParents(folder).catch((error) => {
    throw ioError('write', file, error);
  });
}

/** Node's `recursive` option never ends under /proc, and reports a read-only disk as a missing folder. */
async function makeWithParents(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const above = dirname(folder);
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && above !== folder) {
      await makeWithParents(above);
      await mkdir(folder).catch((again) => assertFolder(folder, again)); // another process may have created it
    } else await assertFolder(folder, error);
  }
}

/** @throws `error` when the folder does not exist */
async function assertFolder(folder: string, error: unknown): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (!found?.isDirectory()) throw error;
}

/** Returns the free bytes on the disk of a folder; undefined when the system does not report them. */
export async function freeBytes(
  folder: string,
  files: Pick<FileCalls, 'statfs'> = threadedCalls,
): Promise<number | undefined> {
  const disk = await files.statfs(folder).catch(() => undefined);
  if (!disk || disk.blocks === 0) return undefined; // the file system does not report its size
  return (process.getuid?.() === 0 ? disk.bfree : disk.bavail) * disk.bsize;
}

/** Syncs of folders that have not begun. */
const waitingSyncs = new Map<string, Promise<void>>();
const runningSyncs = new Map<string, Promise<void>>();

/** Makes a rename durable, where the system can sync folders. Renames during one sync share the next. */
export function syncFolder(path: string): Promise<void> {
  const waiting = waitingSyncs.get(path);
  if (waiting) return waiting;
  const next = async (): Promise<void> => {
    await runningSyncs.get(path);
    waitingSyncs.delete(path);
    const running = syncNow(path);
    runningSyncs.set(path, running);
    await running.finally(() => {
      if (runningSyncs.get(path) === running) runningSyncs.delete(path);
    });
  };
  const added = next();
  waitingSyncs.set(path, added);
  return added;
}

async function syncNow(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined);
  if (folder) await syncFile(folder).catch(() => undefined);
  await folder?.close();
}
