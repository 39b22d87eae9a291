/** Temporary folders that are removed with the sort that created them. */
import { rmSync } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { IoError } from '../../util/errors.js';
import type { TemporaryFiles } from '../streams/output.js';
import { ioError, isStdout } from '../streams/raw.js';
import { removeOrphansOnce, temporaryName } from '../streams/temporary-files.js';

/** Determines the location of a folder. */
export interface TemporaryPlace {
  /** Name of the input, from which the folder name is derived. */
  readonly name: string;
  /** The output; the folder is next to it unless `tmp` is set. */
  readonly out: string;
  readonly tmp: string | undefined;
}

/** @throws IoError when the folder does not exist */
export async function assertFolder(tmp: string | undefined): Promise<void> {
  if (tmp === undefined || ((await stat(tmp).catch(() => undefined))?.isDirectory() ?? false)) return;
  throw new IoError(`cannot write temporary files to ${tmp}: there is no such folder`, {
    details: { path: tmp },
  });
}

/**
 * Creates a folder, and removes what killed processes left in its parent.
 *
 * @throws IoError when it cannot be created
 */
export async function temporaryFolder(
  { name, out, tmp }: TemporaryPlace,
  temporaryFiles: TemporaryFiles | undefined,
): Promise<string> {
  await assertFolder(tmp);
  const parent = tmp ?? (isStdout(out) || !(await isFile(out)) ? tmpdir() : dirname(resolve(out)));
  const folder = join(parent, temporaryName(basename(name)));
  await removeOrphansOnce(parent);
  temporaryFiles?.add(folder);
  await mkdir(folder).catch((error) => {
    throw ioError('write', folder, error);
  });
  return folder;
}

/** Removes a folder with its contents. */
export async function removeFolder(
  folder: string,
  temporaryFiles: TemporaryFiles | undefined,
): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  temporaryFiles?.delete(folder);
}

/** Removes a folder synchronously, for when the process is about to exit. */
export const removeFolderNow = (folder: string): void => rmSync(folder, { recursive: true, force: true });

const isFile = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined);
  return found === undefined || found.isFile();
};
