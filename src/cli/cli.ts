import yargs, { type Argv } from 'yargs';
import { takeCacheWarning } from '../util/cache.js';
import { ClsortError, UsageError } from '../util/errors.js';
import { VERSION } from '../util/package.js';
import { nearest, suggestion } from '../util/suggest.js';
import * as batch from './commands/batch.js';
import * as bench from './commands/bench.js';
import * as check from './commands/check.js';
import * as concat from './commands/concat.js';
import * as convert from './commands/convert.js';
import * as devices from './commands/devices.js';
import * as explainCommand from './commands/explain.js';
import * as gen from './commands/gen.js';
import * as info from './commands/info.js';
import * as matrix from './commands/matrix.js';
import * as sort from './commands/sort.js';
import * as tune from './commands/tune.js';
import { type Console, print, say } from './console.js';
import { EXIT, type ExitCode, exitCodeOf } from './exit-code.js';
import { listOf, wordsOf } from './words.js';

/** What a file in commands/ exports. */
interface Command {
  readonly command: string;
  readonly describe: string;
  readonly builder: (yargs: Argv) => Argv<unknown>;
  readonly run: (args: never, console: Console) => Promise<ExitCode>;
}

/**
 * Runs one command line.
 *
 * @param argv what follows the program's name
 * @returns the exit code; everything to be read went to the console
 */
export async function runCli(argv: readonly string[], console: Console): Promise<ExitCode> {
  let exit: ExitCode = EXIT.ok;
  const parser = yargs([...argv])
    .scriptName('clsort')
    .usage('$0 <command>\n\nSorts large numeric files on any OpenCL device, and proves the result.')
    .parserConfiguration({ 'duplicate-arguments-array': false, 'dot-notation': false })
    .strict()
    .demandCommand(1, 'name a command')
    .help()
    .alias('help', 'h')
    .version(VERSION)
    .wrap(100)
    .epilogue(
      'Exit codes: 0 ok, 1 not sorted or slower, 2 usage, 3 no device, 4 device failure, 5 I/O or another format, 128 + n ended by signal n',
    )
    .exitProcess(false)
    .fail((message, error) => {
      throw error ?? new UsageError(message);
    });
  for (const { command, describe, builder, run } of COMMANDS) {
    parser.command(command, describe, builder, async (args) => {
      const list = listOf(command);
      const words = list === undefined ? {} : { [list]: wordsOf(argv, builder) };
      exit = await run({ ...args, ...words } as never, console); // of the type that its own builder makes
    });
  }
  try {
    // The callback keeps yargs from writing help and version by itself.
    await parser.parseAsync([...argv], {}, (_error, _args, output) => {
      if (output) print(console, output);
    });
    return exit;
  } catch (error) {
    return explain(error, argv, console);
  } finally {
    const warning = takeCacheWarning(); // of commands without a Sorter to hand it on
    if (warning) say(console, `clsort: warning: ${warning.message}`);
  }
}

/** Says what went wrong in one line, or all of it when it is a defect of ours. */
function explain(error: unknown, argv: readonly string[], console: Console): ExitCode {
  const code = exitCodeOf(error);
  if (code === undefined) {
    if (isYargsError(error)) return explain(new UsageError(error.message), argv, console);
    say(console, `clsort: internal error: ${(error as Error)?.stack ?? String(error)}`);
    return EXIT.device;
  }
  // Nobody is left to be told that a pipe is closed, and what else befell stdout is told in the end.
  if (code === EXIT.closedPipe || console.signal.reason instanceof ClsortError) return code;
  const { message } = error as ClsortError;
  const isUsage = error instanceof UsageError;
  say(console, `clsort: ${isUsage ? withHint(message, argv) : message}`);
  if (isUsage) say(console, "See 'clsort --help', 'clsort COMMAND --help'.");
  return code;
}

const isYargsError = (error: unknown): error is Error => (error as Error)?.name === 'YError';

const COMMANDS: readonly Command[] = [
  devices,
  sort,
  batch,
  check,
  info,
  convert,
  concat,
  gen,
  bench,
  explainCommand,
  matrix,
  tune,
];

const nameOf = ({ command }: Command): string => command.split(' ')[0] ?? '';

/** The options of a command, as its builder makes them. */
function optionsOf({ builder }: Command): string[] {
  const built = builder(yargs()) as unknown as { getOptions(): { key: Record<string, unknown> } };
  return Object.keys(built.getOptions().key);
}

/** Adds the command or option that was probably meant. */
function withHint(message: string, [first = '', ...rest]: readonly string[]): string {
  const named = COMMANDS.find((one) => nameOf(one) === first);
  if (!named) return `${message}${suggestion(first, COMMANDS.map(nameOf))}`;
  const options = optionsOf(named);
  const unknown = rest
    .map((word) => /^--(?:no-)?([\w-]+)/.exec(word)?.[1])
    .find((name) => name !== undefined && !options.includes(name));
  const meant = unknown && nearest(unknown, options);
  return meant ? `${message}; did you mean '--${meant}' by '--${unknown}'?` : message;
}
