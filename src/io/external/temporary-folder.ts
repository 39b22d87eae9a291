/** Folders for temporary files that go with the sort that made them, whatever becomes of it. */
import { rmSync } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { IoError } from '../../util/errors.js';
import type { TemporaryFiles } from '../output.js';
import { ioError, isStdout } from '../raw.js';
import { removeOrphansOnce, temporaryName } from '../temporary-files.js';

/** What a folder is for. */
export interface TemporaryPlace {
  /** Of what is sorted; the folder is called after it. */
  readonly name: string;
  /** The output, beside which it is where nothing else is said. */
  readonly out: string;
  readonly tmp: string | undefined;
}

/** @throws IoError where there is no such folder */
export async function assertFolder(tmp: string | undefined): Promise<void> {
  if (tmp === undefined || ((await stat(tmp).catch(() => undefined))?.isDirectory() ?? false)) return;
  throw new IoError(`cannot write ${tmp}: there is no such folder for temporary files`, {
    details: { path: tmp },
  });
}

/** Makes a folder; what killed processes left in its place is removed. @throws IoError */
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

/** Removes a folder with all there is in it. */
export async function removeFolder(
  folder: string,
  temporaryFiles: TemporaryFiles | undefined,
): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  temporaryFiles?.delete(folder);
}

/** Removes it at once: for when the process is about to end. */
export const removeFolderNow = (folder: string): void => rmSync(folder, { recursive: true, force: true });

const isFile = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined);
  return found === undefined || found.isFile();
};
