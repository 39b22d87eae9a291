/** Builds the manual page, as roff, from the command specifications. */
import { VERSION } from '../util/package.js';
import { formsOf, visibleOptions } from './completion/candidates.js';
import { EXIT_CODES } from './exit-code.js';
import { variableOf } from './settings.js';
import type { ArgumentSpec, CommandSpec, OptionSpec } from './spec.js';

/** Escapes any text for roff. */
const text = (plain: string): string =>
  plain
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replaceAll(/[^\x20-\x7e\n]/g, (sign) => `\\[u${hex(sign)}]`)
    .replaceAll(/^\./gm, '\\&.');

const hex = (sign: string): string => (sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');

const bold = (plain: string): string => `\\fB${text(plain)}\\fR`;
const italic = (plain: string): string => `\\fI${text(plain)}\\fR`;

/** Formats a term with its indented description. */
const item = (term: string, meaning: string): string => `.TP\n${term}\n${text(meaning)}`;

const section = (title: string, ...parts: string[]): string => [`.SH ${title}`, ...parts].join('\n');

function optionItem(option: OptionSpec): string {
  const { name, type, describe, default: value, choices, array } = option;
  const forms = formsOf(option).map(bold).join(', ');
  const operand = type === 'boolean' ? '' : ` ${italic(name.toUpperCase())}${array ? ' ...' : ''}`;
  const facts = [
    ...(choices ? [`one of ${choices.join(', ')}`] : []),
    ...(value === undefined || value === false ? [] : [`default ${String(value)}`]),
  ];
  return item(forms + operand, facts.length > 0 ? `${describe} (${facts.join('; ')})` : describe);
}

const argumentItem = ({ name, describe, variadic }: ArgumentSpec): string =>
  item(`${italic(name)}${variadic ? ' ...' : ''}`, describe);

function commandPart(spec: CommandSpec): string {
  const { command, describe, examples, epilogue } = spec;
  return [
    `.SS ${bold(`clsort ${command}`)}`,
    text(`${describe}.`),
    ...spec.arguments.map(argumentItem),
    ...visibleOptions(spec)
      .filter(({ name }) => !EVERYWHERE.includes(name))
      .map(optionItem),
    ...(epilogue ? [`.PP\n${text(epilogue)}`] : []),
    ...examples.map(
      ([line, what]) => `.PP\n${text(what)}:\n.RS\n.nf\n${text(line.replaceAll('$0', 'clsort'))}\n.fi\n.RE`,
    ),
  ].join('\n');
}

/** Options of every command, listed once. */
const EVERYWHERE = ['quiet', 'help', 'version'];

/** Environment variables with their meaning. */
export const VARIABLES: readonly (readonly [name: string, what: string])[] = [
  ['CLSORT_CACHE_DIR', 'folder for compiled programs, self-test records and tuning'],
  [
    'CLSORT_PROGRAM_CACHE',
    "'never' stores no compiled programs there; 'always' also stores those of drivers with their own cache",
  ],
  ['CLSORT_TUNING', "'off' ignores the parameters saved by 'clsort tune'"],
  ['CLSORT_LOCAL_BYTES', 'limit of the local memory that kernels use, in bytes; default that of the device'],
  ['CLSORT_THREADS', 'threads of the host engine, 1 to 64; default the processors that the process may use'],
  ['CLSORT_HOST_ENGINE', "'javascript' sorts on the host without the addon, on one thread"],
  ['CLSORT_INLINE_PTX', "'off' compiles portable code on every device"],
  ['CLSORT_ROOT', 'folder of the package, for bundles'],
  ['CLSORT_ADDON', 'path of the native addon'],
  ['CLSORT_OPENCL_LIBRARY', 'path of the OpenCL library'],
  ['CLSORT_REDIS_URL', 'URL of Redis, for sorts over many machines'],
  ['NO_COLOR, FORCE_COLOR', 'have no effect: clsort prints no colours'],
];

/**
 * Returns the manual page.
 *
 * @param specs all commands
 */
export function manPage(specs: readonly CommandSpec[]): string {
  const [first] = specs;
  const everywhere = (first ? visibleOptions(first) : []).filter(({ name }) => EVERYWHERE.includes(name));
  return [
    `.TH CLSORT 1 "" "clsort ${VERSION}" "User Commands"`,
    section('NAME', text('clsort - sort large numeric files on any OpenCL device')),
    section('SYNOPSIS', specs.map(({ command }) => `${bold('clsort')} ${text(command)}`).join('\n.br\n')),
    section(
      'DESCRIPTION',
      text(
        'Sorts large numeric files on any OpenCL device, or on the host if there is none, and verifies the result.',
      ),
    ),
    section('OPTIONS OF EVERY COMMAND', ...everywhere.map(optionItem)),
    section('COMMANDS', ...specs.map(commandPart)),
    section('CONFIGURATION', configuration()),
    section('ENVIRONMENT', ...VARIABLES.map(([name, what]) => item(bold(name), what))),
    section('EXIT STATUS', ...EXIT_CODES.map(([code, what]) => item(bold(code), what))),
  ].join('\n');
}

function configuration(): string {
  const example = JSON.stringify({ sort: { device: 'gpu', verify: true } });
  const variable = variableOf('sort', 'radix-bits');
  return [
    text(
      'Options that are not on the command line are read from environment variables, then from a configuration file of the ' +
        `user. A variable is named after the command and the option: ${variable} is --radix-bits of ` +
        "'clsort sort'. Switches are true or false, and commas separate several values.",
    ),
    `.PP\n${text(`The file is ${HOME_FILE} (on macOS ~/Library/Application Support/clsort/config.json, on Windows %APPDATA%\\clsort\\config.json), and contains options by command:`)}`,
    `.RS\n.nf\n${text(example)}\n.fi\n.RE`,
    `.PP\n${text('A file or folder that other users can write is ignored with a warning.')}`,
  ].join('\n');
}

const HOME_FILE = '$XDG_CONFIG_HOME/clsort/config.json or ~/.config/clsort/config.json';
