/** Builds the text of `--help`. Only `--help=all` is laid out by yargs. */
import { COMMANDS } from './command-list.js';
import { EXIT_CODES } from './exit-code.js';
import { type HelpRow, type HelpSection, layOut } from './help-layout.js';
import { ABOUT_OPTIONS, type CommandSpec, GLOBAL_OPTIONS, type OptionSpec, optionSpec } from './spec.js';
import { specNamed } from './specs.js';

/** Columns of output that is not a terminal. */
const WIDTH = 80;
/** Wider lines are hard to read; narrower ones cannot hold an option beside its description. */
const [MIN_WIDTH, MAX_WIDTH] = [60, 100];
/** Examples in the short help, which fits on a screen. */
const MAX_EXAMPLES = 3;

/**
 * Returns the help text of a command, or of the program.
 *
 * @param name of a command; undefined for the overview of all commands
 * @param columns of the terminal; undefined or 0 when unknown
 * @param all whether the help of a command has all options instead of the most common ones
 */
export async function helpText(name: string | undefined, columns?: number, all = false): Promise<string> {
  const width = Math.min(Math.max(columns || WIDTH, MIN_WIDTH), MAX_WIDTH);
  if (name === undefined) return overview(width);
  const spec = await specNamed(name);
  return all ? allHelp(spec, width) : commonHelp(spec, width);
}

function overview(width: number): string {
  const options = Object.entries({ ...GLOBAL_OPTIONS, ...ABOUT_OPTIONS }).map(([name, one]) =>
    optionSpec(name, one),
  );
  return layOut(
    'clsort <command>\n\nSort large numeric files on any OpenCL device and verify the result.',
    [
      [
        'Commands:',
        Object.values(COMMANDS).map(({ command, describe }): HelpRow => [`clsort ${command}`, describe]),
      ],
      [
        'Options:',
        options.map(
          (option): HelpRow => [termOf(option, true), option.describe, notesOf(option, '[boolean]')],
        ),
      ],
    ],
    `Exit codes: ${EXIT_CODES.map((one) => one.join(' ')).join(', ')}\n'clsort COMMAND --help' shows options and examples; 'clsort man' prints the manual page.`,
    width,
  );
}

/** Returns the help with the most common options of a command, which fits on one screen. */
function commonHelp(spec: CommandSpec, width: number): string {
  const groups = spec.groups.map(([title, names]) => ({
    title,
    options: names.flatMap((name) => spec.options.find((option) => option.name === name) ?? []),
  }));
  const hasShort = groups.some(({ options }) =>
    options.some(({ alias, name }) => alias || name.length === 1),
  );
  // No types: they take up a line of most options.
  const rowOf = (option: OptionSpec): HelpRow => [
    termOf(option, hasShort),
    option.describe,
    notesOf({ ...option, default: option.default === false ? undefined : option.default }),
  ];
  const example = ([line, what]: CommandSpec['examples'][number]): HelpRow => [
    line.replaceAll('$0', 'clsort'),
    what,
  ];
  return layOut(
    `clsort ${spec.command}\n\n${spec.describe}`,
    [
      ['Positionals:', spec.arguments.map(({ name, describe }): HelpRow => [name, describe])],
      ...groups.map(({ title, options }): HelpSection => [title, options.map(rowOf)]),
      ['Examples:', spec.examples.slice(0, MAX_EXAMPLES).map(example)],
    ],
    `All options: clsort ${spec.name} --help=all`,
    width,
  );
}

/** @param hasShort whether options without a short form are indented to align with those that have one */
function termOf({ name, alias }: OptionSpec, hasShort: boolean): string {
  if (name.length === 1) return `-${name}`;
  return `${alias ? `-${alias}, ` : hasShort ? '    ' : ''}--${name}`;
}

const notesOf = ({ required, choices, default: value }: OptionSpec, type = ''): string =>
  [
    type,
    required && '[required]',
    choices && `[choices: ${choices.map((one) => JSON.stringify(one)).join(', ')}]`,
    value !== undefined && `[default: ${JSON.stringify(value)}]`,
  ]
    .filter(Boolean)
    .join(' ');

async function allHelp({ command, describe, builder }: CommandSpec, width: number): Promise<string> {
  const { default: yargs } = await import('yargs');
  const parser = yargs([])
    .scriptName('clsort')
    .help(false)
    .version(false)
    .wrap(width)
    .options({ ...GLOBAL_OPTIONS, ...ABOUT_OPTIONS });
  return builder(parser).usage(`$0 ${command}\n\n${describe}`).getHelp();
}
