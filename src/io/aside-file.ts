/** Small files, written as a whole or not at all. */
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { asideName } from './aside.js';
import { ioError } from './raw.js';

/** Writes a file aside, and renames it when it is on disk. @throws IoError */
export async function writeAside(
  path: string,
  contents: string | Uint8Array,
  aside: string = join(dirname(path), asideName(basename(path))),
): Promise<void> {
  try {
    const handle = await open(aside, 'wx');
    try {
      await handle.writeFile(contents);
      await handle.datasync(); // before anybody relies on it
    } finally {
      await handle.close();
    }
    await rename(aside, path);
  } catch (error) {
    await rm(aside, { force: true }).catch(() => undefined);
    throw ioError('write', path, error);
  }
}
