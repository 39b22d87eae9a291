import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import yargs, { type Argv } from 'yargs';
import { type ClsortError, UsageError } from '../util/errors.js';
import { packageRoot } from '../util/paths.js';
import { nearest, suggestion } from '../util/suggest.js';
import * as batch from './commands/batch.js';
import * as bench from './commands/bench.js';
import * as check from './commands/check.js';
import * as devices from './commands/devices.js';
import * as explainCommand from './commands/explain.js';
import * as gen from './commands/gen.js';
import * as matrix from './commands/matrix.js';
import * as sort from './commands/sort.js';
import * as tune from './commands/tune.js';
import { type Console, print, say } from './console.js';
import { EXIT, type ExitCode, exitCodeOf } from './exit-code.js';

/** What a file in commands/ exports. */
interface Command<A> {
  readonly command: string;
  readonly describe: string;
  readonly builder: (yargs: Argv) => Argv<A>;
  readonly run: (args: A, console: Console) => Promise<ExitCode>;
}

const version = (): string =>
  (JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string }).version;

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
    .parserConfiguration({ 'duplicate-arguments-array': false })
    .strict()
    .demandCommand(1, 'name a command')
    .help()
    .alias('help', 'h')
    .version(version())
    .wrap(100)
    .epilogue(
      'Exit codes: 0 ok, 1 not sorted or slower, 2 usage, 3 no device, 4 device failure, 5 I/O, 130 interrupted',
    )
    .exitProcess(false)
    .fail((message, error) => {
      throw error ?? new UsageError(message);
    });
  const add = <A>(one: Command<A>): void => {
    parser.command(one.command, one.describe, one.builder, async (args) => {
      exit = await one.run(args as unknown as A, console);
    });
  };
  add(devices);
  add(sort as Command<sort.SortArguments>);
  add(batch as Command<batch.BatchArguments>);
  add(bench as Command<bench.BenchArguments>);
  add(check as Command<check.CheckArguments>);
  add(gen as Command<gen.GenArguments>);
  add(explainCommand as Command<explainCommand.ExplainArguments>);
  add(matrix as Command<matrix.MatrixArguments>);
  add(tune as Command<tune.TuneArguments>);
  try {
    // The callback keeps yargs from writing help and version by itself.
    await parser.parseAsync([...argv], {}, (_error, _args, output) => {
      if (output) print(console, output);
    });
    return exit;
  } catch (error) {
    return explain(error, argv, console);
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
  const { message } = error as ClsortError;
  const isUsage = error instanceof UsageError;
  say(console, `clsort: ${isUsage ? withHint(message, argv) : message}`);
  if (isUsage) say(console, "See 'clsort --help', 'clsort COMMAND --help'.");
  return code;
}

const isYargsError = (error: unknown): error is Error => (error as Error)?.name === 'YError';

const COMMANDS = ['devices', 'sort', 'batch', 'bench', 'check', 'gen', 'explain', 'matrix', 'tune'];
const OPTIONS = [
  ...['dtype', 'descending', 'nan', 'bits', 'argsort', 'algorithm', 'scan', 'device', 'verify', 'json'],
  ...['out', 'against', 'count', 'distribution', 'seed', 'radix-bits', 'html', 'help', 'version'],
  ...['mode', 'repeats', 'csv', 'markdown', 'svg', 'baseline', 'certify', 'time', 'dry-run', 'reset'],
];

/** Adds the command or option that was probably meant. */
function withHint(message: string, [first = '', ...rest]: readonly string[]): string {
  if (!COMMANDS.includes(first)) return `${message}${suggestion(first, COMMANDS)}`;
  const unknown = rest
    .map((word) => /^--(?:no-)?([\w-]+)/.exec(word)?.[1])
    .find((name) => name !== undefined && !OPTIONS.includes(name));
  const meant = unknown && nearest(unknown, OPTIONS);
  return meant ? `${message}; did you mean '--${meant}' by '--${unknown}'?` : message;
}
