import { DtypeError, UsageError } from '../util/errors.js';
import { type Console, say } from './console.js';
import type { ExitCode } from './exit-code.js';
import { type Arguments, parseArguments } from './parse.js';
import { type Settings, settingsFor } from './settings.js';
import { assertCommand, specNamed } from './specs.js';

/** The exports of a file in `commands/`. */
interface Runner {
  readonly run: (args: never, console: Console) => Promise<ExitCode>;
}

/**
 * Runs a command with its words and the user's settings.
 *
 * @throws UsageError when the words or the settings are invalid, and the errors of the command
 */
export async function runCommand(
  name: string,
  words: readonly string[],
  console: Console,
): Promise<ExitCode> {
  assertCommand(name);
  const spec = await specNamed(name);
  const warn = (message: string) => say(console, `clsort: warning: ${message}`);
  const settings = settingsFor(spec, warn);
  const args = parseArguments(spec, words, valuesOf(settings));
  const { run }: Runner = await import(`./commands/${name}.js`);
  try {
    // The arguments have the type that the command's own options define.
    return await run(args as never, { ...console, quiet: args.quiet === true });
  } catch (error) {
    throw namingSettings(error, args, settings);
  } finally {
    const { takeCacheWarning } = await import('../util/cache.js');
    const warning = takeCacheWarning(); // from commands without a Sorter that reports it
    if (warning) warn(warning.message);
  }
}

const valuesOf = (settings: Settings): Arguments =>
  Object.fromEntries(Object.entries(settings).map(([name, { value }]) => [name, value]));

/** Returns an error that names the variable or file when it is about a configured value. */
function namingSettings(error: unknown, args: Arguments, settings: Settings): unknown {
  if (!(error instanceof UsageError || error instanceof DtypeError)) return error;
  const blamed = Object.entries(settings).find(
    ([name, { value }]) =>
      args[name] === value &&
      (error.details.option === `--${name}` ||
        [`"${value}"`, `'${value}'`].some((text) => error.message.includes(text))),
  );
  if (!blamed) return error;
  const [name, { from }] = blamed;
  return new UsageError(`cannot use --${name} from ${from}: ${error.message}`, { cause: error });
}
