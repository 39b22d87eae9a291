import { ClsortError, UsageError } from '../util/errors.js';
import { invalidArgument } from '../util/invalid-argument.js';
import { isOpenFilesError, OPEN_FILES_MESSAGE } from '../util/open-files.js';
import { VERSION } from '../util/package.js';
import { permissionMessage } from '../util/permission.js';
import { asked, beforeDashes } from './about.js';
import { type Console, print, say } from './console.js';
import { EXIT, type ExitCode, exitCodeOf } from './exit-code.js';

/**
 * Runs one command line. Modules are loaded on demand.
 *
 * @param argv the words after the program's name
 * @returns the exit code; all output went to the console
 */
export async function runCli(argv: readonly string[], console: Console): Promise<ExitCode> {
  const [name, words] = commandOf(argv[0] === 'help' ? argv.slice(1) : argv);
  try {
    const about = asked(argv);
    if (about === 'version') {
      print(console, VERSION);
      return EXIT.ok;
    }
    if (about === 'help') {
      const { helpText } = await import('./help.js');
      print(console, await helpText(name, console.stdout.columns, asksAll(argv)));
      return EXIT.ok;
    }
    if (name === undefined) throw await nameless(words);
    const { runCommand } = await import('./run-command.js');
    return await runCommand(name, words, console);
  } catch (error) {
    return explain(error, name, console);
  }
}

/**
 * Returns whether the command line asks for the help with all options.
 *
 * @throws UsageError for another value of --help
 */
function asksAll(argv: readonly string[]): boolean {
  const value = beforeDashes(argv)
    .find((word) => word.startsWith('--help='))
    ?.slice('--help='.length);
  if (value !== undefined && value !== 'all') throw invalidArgument('--help', 'no value or all', value);
  return value === 'all';
}

/** Builds the error for a command line without a command name. An unknown option, if present, is the likely mistake. */
async function nameless(words: readonly string[]): Promise<UsageError> {
  const [{ ABOUT_OPTIONS, GLOBAL_OPTIONS }, { didYouMean }] = await Promise.all([
    import('./spec.js'),
    import('../util/suggest.js'),
  ]);
  const known = Object.entries({ ...GLOBAL_OPTIONS, ...ABOUT_OPTIONS }).flatMap(([option, { alias }]) => [
    `--${option}`,
    `-${alias}`,
  ]);
  const unknown = words.find((word) => !known.includes(word));
  return unknown === undefined
    ? new UsageError('cannot run clsort: the command is missing. Name one, as in clsort sort')
    : invalidArgument('clsort', 'a command or a known option', unknown, {
        advice: didYouMean(unknown, known),
      });
}

/** Splits the command line into the command name and its words. Only global options may precede the name. */
function commandOf(argv: readonly string[]): [name: string | undefined, words: readonly string[]] {
  const at = argv.findIndex((word) => !word.startsWith('-'));
  return at < 0 ? [undefined, argv] : [argv[at], argv.toSpliced(at, 1)];
}

/** Prints an error as one line, or as a full stack trace when it is an internal error, and returns its exit code. */
async function explain(error: unknown, name: string | undefined, console: Console): Promise<ExitCode> {
  const code = exitCodeOf(error);
  if (code === undefined && isOpenFilesError(String((error as NodeJS.ErrnoException)?.code))) {
    say(console, `clsort: ${OPEN_FILES_MESSAGE}`);
    return EXIT.io;
  }
  if (code === undefined) {
    const denied = permissionMessage(error);
    say(
      console,
      denied ? `clsort: ${denied}` : `clsort: internal error: ${(error as Error)?.stack ?? String(error)}`,
    );
    return EXIT.device;
  }
  // A closed pipe has no reader to inform; other stdout failures are reported at the end, by process.ts.
  if (code === EXIT.closedPipe || console.signal.reason instanceof ClsortError) return code;
  say(console, `clsort: ${(error as ClsortError).message}`);
  if (error instanceof UsageError) {
    const { COMMAND_NAMES } = await import('./specs.js');
    const verb = name !== undefined && COMMAND_NAMES.includes(name) ? `${name} ` : '';
    say(console, `See 'clsort ${verb}--help'.`);
  }
  return code;
}
