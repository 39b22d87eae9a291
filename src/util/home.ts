/** Where the user who runs this keeps what is theirs. */
import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';

/**
 * The user's own folder: what the environment says, and where that is empty or relative, what the system knows.
 * Taken at its word, it would be a folder of whoever made the one that the program runs in.
 *
 * @throws SystemError for a user that the system does not know, without HOME
 */
export function homeFolder(): string {
  const fromEnvironment = homedir();
  return isAbsolute(fromEnvironment) ? fromEnvironment : userInfo().homedir;
}
