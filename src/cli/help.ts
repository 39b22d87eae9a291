/** Builds the text of `--help`, laid out by yargs. */
import yargs, { type Argv } from 'yargs';
import { allSpecs, specNamed } from './commands.js';
import { EXIT_CODES } from './exit-code.js';
import { ABOUT_OPTIONS, GLOBAL_OPTIONS } from './spec.js';

/** Columns of output that is not a terminal. */
const WIDTH = 80;
/** Wider lines are hard to read; narrower ones cannot hold an option beside its description. */
const [MIN_WIDTH, MAX_WIDTH] = [60, 100];

const base = (width: number): Argv =>
  yargs([])
    .scriptName('clsort')
    .help(false)
    .version(false)
    .options({ ...GLOBAL_OPTIONS, ...ABOUT_OPTIONS })
    .wrap(Math.min(Math.max(width, MIN_WIDTH), MAX_WIDTH));

/**
 * Returns the help text of a command, or of the program.
 *
 * @param name of a command; undefined for the overview of all commands
 * @param columns of the terminal; undefined or 0 when unknown
 */
export async function helpText(name: string | undefined, columns?: number): Promise<string> {
  const parser = base(columns || WIDTH);
  if (name !== undefined) {
    const { command, describe, builder } = await specNamed(name);
    return (builder(parser) as Argv).usage(`$0 ${command}\n\n${describe}`).getHelp();
  }
  parser
    .usage('$0 <command>\n\nSorts large numeric files on any OpenCL device, and proves the result.')
    .epilogue(
      `Exit codes: ${EXIT_CODES.map((one) => one.join(' ')).join(', ')}\n'clsort COMMAND --help' has options and examples; 'clsort man' has all of it.`,
    );
  for (const { command, describe } of await allSpecs()) parser.command(command, describe);
  return parser.getHelp();
}
