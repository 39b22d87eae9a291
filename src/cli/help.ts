/** What `--help` prints, laid out by yargs. */
import yargs, { type Argv } from 'yargs';
import { allSpecs, specNamed } from './commands.js';
import { EXIT_CODES } from './exit-code.js';
import { ABOUT_OPTIONS, GLOBAL_OPTIONS } from './spec.js';

const WIDTH = 100;

const base = (): Argv =>
  yargs([])
    .scriptName('clsort')
    .help(false)
    .version(false)
    .options({ ...GLOBAL_OPTIONS, ...ABOUT_OPTIONS })
    .wrap(WIDTH);

/** @param name of a command; undefined for what there is to say of all */
export async function helpText(name: string | undefined): Promise<string> {
  if (name !== undefined) {
    const { command, describe, builder } = await specNamed(name);
    return (builder(base()) as Argv).usage(`$0 ${command}\n\n${describe}`).getHelp();
  }
  const parser = base()
    .usage('$0 <command>\n\nSorts large numeric files on any OpenCL device, and proves the result.')
    .epilogue(
      `Exit codes: ${EXIT_CODES.map((one) => one.join(' ')).join(', ')}\n'clsort COMMAND --help' has options and examples; 'clsort man' has all of it.`,
    );
  for (const { command, describe } of await allSpecs()) parser.command(command, describe);
  return parser.getHelp();
}
