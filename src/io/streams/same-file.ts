/** Comparisons of the files of a job. */
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { UsageError } from '../../util/errors.js';
import { isStdin, isStdout } from './raw.js';
import { resolveTarget } from './resolve-target.js';

/** Whether two paths name the same file, which need not exist; false for stdin and stdout. */
export async function isSameFile(a: string, b: string): Promise<boolean> {
  if (isStdin(a) || isStdout(b)) return false;
  const [x, y] = await Promise.all([a, b].map((path) => identify(path).catch(() => undefined)));
  return x !== undefined && x === y;
}

/** Returns the identity of a file; one that does not exist has its name in the folder where it would be created. */
async function identify(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  if (found) return `${found.dev}:${found.ino}`;
  const target = await resolveTarget(path);
  const folder = await stat(dirname(target), { bigint: true });
  return `${folder.dev}:${folder.ino}/${basename(target)}`;
}

/**
 * Rejects an output that is also another file of the job.
 *
 * @param contents what the output holds
 * @throws UsageError
 */
export async function assertSeparate(
  contents: string,
  path: string,
  others: readonly string[],
): Promise<void> {
  for (const other of others) {
    if ((other !== path || isStdout(path)) && !(await isSameFile(other, path))) continue;
    throw new UsageError(
      `cannot write ${contents} to ${path}: the job uses that file for other data. Name another output`,
    );
  }
}
