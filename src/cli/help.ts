/** Builds the text of `--help`, laid out by yargs. */
import yargs, { type Argv } from 'yargs';
import { EXIT_CODES } from './exit-code.js';
import { ABOUT_OPTIONS, type CommandSpec, GLOBAL_OPTIONS } from './spec.js';
import { allSpecs, specNamed } from './specs.js';

/** Columns of output that is not a terminal. */
const WIDTH = 80;
/** Wider lines are hard to read; narrower ones cannot hold an option beside its description. */
const [MIN_WIDTH, MAX_WIDTH] = [60, 100];
/** Examples in the short help, which fits on a screen. */
const MAX_EXAMPLES = 3;

const base = (width: number): Argv =>
  yargs([])
    .scriptName('clsort')
    .help(false)
    .version(false)
    .wrap(Math.min(Math.max(width, MIN_WIDTH), MAX_WIDTH));

/**
 * Returns the help text of a command, or of the program.
 *
 * @param name of a command; undefined for the overview of all commands
 * @param columns of the terminal; undefined or 0 when unknown
 * @param all whether the help of a command has all options instead of the most common ones
 */
export async function helpText(name: string | undefined, columns?: number, all = false): Promise<string> {
  const plain = base(columns || WIDTH);
  if (name !== undefined && !all) return commonHelp(await specNamed(name), plain);
  const parser = plain.options({ ...GLOBAL_OPTIONS, ...ABOUT_OPTIONS });
  if (name !== undefined) {
    const { command, describe, builder } = await specNamed(name);
    return (builder(parser) as Argv).usage(`$0 ${command}\n\n${describe}`).getHelp();
  }
  parser
    .usage('$0 <command>\n\nSort large numeric files on any OpenCL device and verify the result.')
    .epilogue(
      `Exit codes: ${EXIT_CODES.map((one) => one.join(' ')).join(', ')}\n'clsort COMMAND --help' shows options and examples; 'clsort man' prints the manual page.`,
    );
  for (const { command, describe } of await allSpecs()) parser.command(command, describe);
  return parser.getHelp();
}

/** Returns the help with the most common options of a command, which fits on one screen. */
function commonHelp(spec: CommandSpec, parser: Argv): Promise<string> {
  parser.usage(`$0 ${spec.command}\n\n${spec.describe}`);
  for (const one of spec.arguments) parser.positional(one.name, { describe: one.describe });
  for (const [title, names] of spec.groups) {
    parser.group(names, title);
    // No types: they take up a line of most options.
    for (const { name, alias, describe, choices, required, default: value } of spec.options) {
      if (!names.includes(name)) continue;
      parser.option(name, {
        describe,
        ...(alias && { alias }),
        ...(choices && { choices }),
        ...(value !== false && { default: value }),
        demandOption: required,
      });
    }
  }
  for (const [line, what] of spec.examples.slice(0, MAX_EXAMPLES)) parser.example(line, what);
  return parser.epilogue(`All options: clsort ${spec.name} --help=all`).getHelp();
}
