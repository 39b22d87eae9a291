import { lstat, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute } from 'node:path';

/** Links in a row that systems follow before they call it a circle. */
const MAX_LINKS = 40;

/**
 * The file that a name stands for: what it is linked to, also where that does not exist (yet).
 *
 * @throws what the system throws; ELOOP for links in a circle
 */
export async function resolveTarget(path: string): Promise<string> {
  let at = path;
  for (let links = 0; links < MAX_LINKS; links++) {
    const stat = await lstat(at).catch(() => undefined);
    if (!stat?.isSymbolicLink()) return at;
    const next = await readlink(at);
    // Relative to the folder that really holds the link; joined by hand, since '..' may follow another link.
    at = isAbsolute(next) ? next : `${await realpath(dirname(at))}/${next}`;
  }
  throw Object.assign(new Error(`too many links: ${basename(path)}`), { code: 'ELOOP' });
}
