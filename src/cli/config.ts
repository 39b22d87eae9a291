/** The configuration file of the user, with default options per command. */

import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { UsageError } from '../util/errors.js';
import { OTHERS_WRITE, ownershipProblem } from '../util/file-ownership.js';
import { homeFolder } from '../util/home.js';
import { invalidArgument } from '../util/invalid-argument.js';
import { isObject } from '../util/json.js';
import { didYouMean } from '../util/suggest.js';
import { COMMAND_NAMES } from './specs.js';

/** Options by command name. */
export interface Config {
  readonly file: string;
  readonly commands: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/**
 * Returns the path of `clsort/config.json` in the configuration folder of the platform; undefined without a home
 * folder.
 */
function configFile(): string | undefined {
  const { XDG_CONFIG_HOME, APPDATA } = process.env;
  const folder = (): string => {
    if (XDG_CONFIG_HOME && isAbsolute(XDG_CONFIG_HOME)) return XDG_CONFIG_HOME;
    if (process.platform === 'win32' && APPDATA) return APPDATA;
    if (process.platform === 'darwin') return join(homeFolder(), 'Library', 'Application Support');
    return join(homeFolder(), '.config');
  };
  try {
    return join(folder(), 'clsort', 'config.json');
  } catch {
    return undefined; // a user unknown to the system, without HOME
  }
}

/**
 * Reads the user's configuration file; returns no options when it does not exist.
 *
 * @param warn receives the reason when the file is ignored: others may write it, or this user may not read it
 * @throws UsageError when the file is malformed
 */
export function readConfig(warn: (message: string) => void): Config {
  const file = configFile();
  const text = file === undefined ? undefined : readOwnFile(file, warn);
  if (file === undefined || text === undefined) return { file: '', commands: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`cannot read ${file} as JSON: ${(cause as Error).message}`, { cause });
  }
  if (!isObject(value)) {
    throw invalidArgument(file, 'an object such as { "sort": { "device": "gpu" } }', value);
  }
  for (const [command, options] of Object.entries(value)) {
    if (!COMMAND_NAMES.includes(command)) {
      throw invalidArgument(file, 'commands as keys', command, {
        advice: didYouMean(command, COMMAND_NAMES),
      });
    }
    if (!isObject(options)) throw invalidArgument(`${command} in ${file}`, 'an object of options', options);
  }
  return { file, commands: value as Config['commands'] };
}

/** Opens a named pipe without blocking. Windows has no such flag. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * Returns the text of a file; undefined when it does not exist. A file that others may write, or whose folder they may
 * write, is ignored with a warning.
 *
 * @throws UsageError when the path is no regular file
 */
function readOwnFile(file: string, warn: (message: string) => void): string | undefined {
  let fd: number;
  try {
    fd = openSync(file, READ);
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    if (!['ENOENT', 'ENOTDIR'].includes(code)) warn(`cannot use the settings in ${file}: ${message}`);
    return undefined;
  }
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile())
      throw new UsageError(`cannot use the settings in ${file}: it is not a regular file. Remove it`);
    const paths = [[file, stats] as const, [dirname(file), statSync(dirname(file))] as const];
    for (const [path, one] of paths) {
      const problem = ownershipProblem(path, one, OTHERS_WRITE);
      if (!problem) continue;
      warn(`cannot use the settings in ${file}: ${path} ${problem.what}. ${problem.remedy}`);
      return undefined;
    }
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}
