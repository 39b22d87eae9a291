/** Whether a file is the user's own: what others may write is not to be trusted. */
import type { Stats } from 'node:fs';

/** Bits of a mode by which others may write; by which they may do anything. */
export const OTHERS_WRITE = 0o022;
export const OTHERS_ALL = 0o077;

/** What is wrong with a file, in words that follow its name, and what to do about it. */
export interface Foreign {
  readonly what: string;
  readonly remedy: string;
}

/** What another user owns, or may do more with than `forbidden` allows; undefined when all is well. */
export function foreignness(
  path: string,
  { uid, mode }: Pick<Stats, 'uid' | 'mode'>,
  forbidden: number,
): Foreign | undefined {
  const own = process.geteuid?.();
  if (own === undefined) return undefined; // Windows: the folder is in the user's profile
  if (uid !== own) {
    return { what: `belongs to another user (uid ${uid}, not ${own})`, remedy: 'remove it' };
  }
  if ((mode & forbidden) === 0) return undefined;
  const how = forbidden === OTHERS_ALL ? 'read or written' : 'written';
  const octal = (mode & 0o777).toString(8).padStart(3, '0');
  return {
    what: `can be ${how} by other users (mode ${octal})`,
    remedy: `run 'chmod go-rwx ${path}'`,
  };
}
