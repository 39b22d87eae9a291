/** Whether a file belongs to the user alone: files that others can write are not trusted. */
import type { Stats } from 'node:fs';

/** Mode bits with which others may write, and with which they may do anything. */
export const OTHERS_WRITE = 0o022;
export const OTHERS_ALL = 0o077;

/** What is wrong with a file, as a phrase that follows its name, and the remedy, which begins a sentence. */
export interface OwnershipProblem {
  readonly what: string;
  readonly remedy: string;
}

/**
 * Returns the problem of a file that another user owns, or whose mode has a bit of `forbidden`; undefined without one.
 */
export function ownershipProblem(
  path: string,
  { uid, mode }: Pick<Stats, 'uid' | 'mode'>,
  forbidden: number,
): OwnershipProblem | undefined {
  const currentUid = process.geteuid?.();
  if (currentUid === undefined) return undefined; // Windows: the folder is in the user's profile
  if (uid !== currentUid) {
    return { what: `belongs to another user (uid ${uid}, not ${currentUid})`, remedy: 'Remove it' };
  }
  if ((mode & forbidden) === 0) return undefined;
  const access = forbidden === OTHERS_ALL ? 'read or written' : 'written';
  const octal = (mode & 0o777).toString(8).padStart(3, '0');
  return { what: `can be ${access} by other users (mode ${octal})`, remedy: `Run 'chmod go-rwx ${path}'` };
}
