/** Comparisons of the files of a job. */
import { stat } from 'node:fs/promises';
import { UsageError } from '../../util/errors.js';
import { isStdin, isStdout } from './raw.js';

/** Whether two paths name the same file; false for stdin and stdout. */
export async function isSameFile(a: string, b: string): Promise<boolean> {
  if (isStdin(a) || isStdout(b)) return false;
  const [x, y] = await Promise.all([a, b].map((path) => stat(path).catch(() => undefined)));
  return x !== undefined && y !== undefined && x.dev === y.dev && x.ino === y.ino;
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
