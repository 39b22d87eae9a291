import { basename, dirname, isAbsolute } from 'node:path';
import { type FileCalls, threadedCalls } from './file-calls.js';

/** Maximum number of chained links, as systems allow. */
const MAX_LINKS = 40;

/**
 * Resolves the symbolic links of a path, also when the final target does not exist.
 *
 * @throws the errors of the file system; ELOOP when there are too many links
 */
export async function resolveTarget(
  path: string,
  files: Pick<FileCalls, 'lstat' | 'readlink' | 'realpath'> = threadedCalls,
): Promise<string> {
  let at = path;
  for (let links = 0; links < MAX_LINKS; links++) {
    const stat = await files.lstat(at).catch(() => undefined);
    if (!stat?.isSymbolicLink()) return at;
    const next = await files.readlink(at);
    // Relative to the real folder of the link. Not normalised, since '..' may follow another link.
    at = isAbsolute(next) ? next : `${await files.realpath(dirname(at))}/${next}`;
  }
  throw Object.assign(new Error(`too many symbolic links: ${basename(path)}`), { code: 'ELOOP' });
}
