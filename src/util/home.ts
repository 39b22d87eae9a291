/** The home folder of the user. */
import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';

/**
 * Returns the user's home folder: that of the environment, or that of the system if the former is empty or relative.
 * A relative one would depend on the working directory, which may belong to another user.
 *
 * @throws SystemError when HOME is not set and the system does not know the user
 */
export function homeFolder(): string {
  const fromEnvironment = homedir();
  return isAbsolute(fromEnvironment) ? fromEnvironment : userInfo().homedir;
}
