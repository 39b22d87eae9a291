import { DtypeError, UsageError } from '../util/errors.js';
import { commandNamed } from './commands.js';
import { type Console, say } from './console.js';
import type { ExitCode } from './exit-code.js';
import { type Arguments, parseArguments } from './parse.js';
import { type Settings, settingsFor } from './settings.js';
import { specOf } from './spec.js';

/**
 * Runs a command by its words, and by what is set where they say nothing.
 *
 * @throws UsageError, and what the command throws
 */
export async function runCommand(
  name: string,
  words: readonly string[],
  console: Console,
): Promise<ExitCode> {
  const { options, load } = commandNamed(name);
  const spec = specOf(await options());
  const warn = (message: string) => say(console, `clsort: warning: ${message}`);
  const settings = settingsFor(spec, warn);
  const args = parseArguments(spec, words, valuesOf(settings));
  const { run } = await load();
  try {
    // The arguments are of the type that the command's own options make.
    return await run(args as never, { ...console, quiet: args.quiet === true });
  } catch (error) {
    throw namingSettings(error, args, settings);
  } finally {
    const { takeCacheWarning } = await import('../util/cache.js');
    const warning = takeCacheWarning(); // of commands without a Sorter to hand it on
    if (warning) warn(warning.message);
  }
}

const valuesOf = (settings: Settings): Arguments =>
  Object.fromEntries(Object.entries(settings).map(([name, { value }]) => [name, value]));

/** An error about a value that was set says where. */
function namingSettings(error: unknown, args: Arguments, settings: Settings): unknown {
  if (!(error instanceof UsageError || error instanceof DtypeError)) return error;
  const blamed = Object.entries(settings).find(
    ([name, { value }]) => args[name] === value && error.message.includes(`'${value}'`),
  );
  if (!blamed) return error;
  const [name, { from }] = blamed;
  return new UsageError(`${from} sets --${name}: ${error.message}`, { cause: error });
}
