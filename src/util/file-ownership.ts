/** Whether a file is the user's own: what others may write is not to be trusted. */
import type { Stats } from 'node:fs';

/** Bits of a mode by which others may write; by which they may do anything. */
export const OTHERS_WRITE = 0o022;
export const OTHERS_ALL = 0o077;

/** What is wrong with a file, in words that follow its name, and what to do about it. */
export interface OwnershipProblem {
  readonly what: string;
  readonly remedy: string;
}

/** What another user owns, or may do more with than `forbidden` allows; undefined when all is well. */
export function ownershipProblem(
  path: string,
  { uid, mode }: Pick<Stats, 'uid' | 'mode'>,
  forbidden: number,
): OwnershipProblem | undefined {
  const currentUid = process.geteuid?.();
  if (currentUid === undefined) return undefined; // Windows: the folder is in the user's profile
  if (uid !== currentUid) {
    return { what: `belongs to another user (uid ${uid}, not ${currentUid})`, remedy: 'remove it' };
  }
  if ((mode & forbidden) === 0) return undefined;
  const access = forbidden === OTHERS_ALL ? 'read or written' : 'written';
  const octal = (mode & 0o777).toString(8).padStart(3, '0');
  return {
    what: `can be ${access} by other users (mode ${octal})`,
    remedy: `run 'chmod go-rwx ${path}'`,
  };
}
