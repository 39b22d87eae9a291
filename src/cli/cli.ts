import { ClsortError, UsageError } from '../util/errors.js';
import { TOO_FEW_FILES, tellsOfTooFewFiles } from '../util/open-files.js';
import { VERSION } from '../util/package.js';
import { asked } from './about.js';
import { type Console, print, say, ThreadNeeded } from './console.js';
import { EXIT, type ExitCode, exitCodeOf } from './exit-code.js';

/**
 * Runs one command line. What is loaded for it is what it uses.
 *
 * @param argv what follows the program's name
 * @returns the exit code; everything to be read went to the console
 * @throws ThreadNeeded where this thread must not do it
 */
export async function runCli(argv: readonly string[], console: Console): Promise<ExitCode> {
  try {
    const about = asked(argv);
    if (about === 'version') {
      print(console, VERSION);
      return EXIT.ok;
    }
    const [name, words] = commandOf(argv);
    if (about === 'help') {
      const { helpText } = await import('./help.js');
      print(console, await helpText(name, console.stdout.columns));
      return EXIT.ok;
    }
    if (name === undefined) throw new UsageError('name a command');
    const { runCommand } = await import('./run-command.js');
    return await runCommand(name, words, console);
  } catch (error) {
    if (error instanceof ThreadNeeded) throw error;
    return explain(error, console);
  }
}

/** The command, and the words that are for it. Only options that every command has may stand before its name. */
function commandOf(argv: readonly string[]): [name: string | undefined, words: readonly string[]] {
  const at = argv.findIndex((word) => !word.startsWith('-'));
  return at < 0 ? [undefined, argv] : [argv[at], argv.toSpliced(at, 1)];
}

/** Says what went wrong in one line, or all of it when it is a defect of ours. */
function explain(error: unknown, console: Console): ExitCode {
  const code = exitCodeOf(error);
  if (code === undefined && tellsOfTooFewFiles(String((error as NodeJS.ErrnoException)?.code))) {
    say(console, `clsort: ${TOO_FEW_FILES}`);
    return EXIT.io;
  }
  if (code === undefined) {
    say(console, `clsort: internal error: ${(error as Error)?.stack ?? String(error)}`);
    return EXIT.device;
  }
  // Nobody is left to be told that a pipe is closed, and what else befell stdout is told in the end.
  if (code === EXIT.closedPipe || console.signal.reason instanceof ClsortError) return code;
  say(console, `clsort: ${(error as ClsortError).message}`);
  if (error instanceof UsageError) say(console, "See 'clsort --help', 'clsort COMMAND --help'.");
  return code;
}
