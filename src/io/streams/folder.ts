import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
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
