/** Atomic writes of small files. */

import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncFileData } from '../../util/sync-file.js';
import { ioError } from './raw.js';
import { temporaryName } from './temporary-files.js';

/**
 * Writes a temporary file, syncs it and renames it.
 *
 * @throws IoError when writing fails
 */
export async function writeFileAtomic(
  path: string,
  contents: string | Uint8Array,
  temporary: string = join(dirname(path), temporaryName(basename(path))),
): Promise<void> {
  try {
    const handle = await open(temporary, 'wx');
    try {
      await handle.writeFile(contents);
      await syncFileData(handle); // durable before it is visible
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw ioError('write', path, error);
  }
}
