import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ioError } from './raw.js';

/**
 * Makes a folder, and those above it that are not there.
 *
 * @param file  that is to be written there, for messages
 * @throws IoError
 */
export async function makeFolder(folder: string, file = folder): Promise<void> {
  await makeWithParents(folder).catch((error) => {
    throw ioError('write', file, error);
  });
}

/** Node's own way (`recursive`) never ends under /proc, and tells of a read-only disk that a folder is not there. */
async function makeWithParents(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const above = dirname(folder);
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && above !== folder) {
      await makeWithParents(above);
      await mkdir(folder).catch((again) => assertFolder(folder, again)); // another one may have been first
    } else await assertFolder(folder, error);
  }
}

/** @throws the error of who could not make it, where it is not there */
async function assertFolder(folder: string, error: unknown): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (!found?.isDirectory()) throw error;
}
