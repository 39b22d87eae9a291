/** Parses the words after a command's name into its arguments. */
import Parser from 'yargs-parser';
import { UsageError } from '../util/errors.js';
import { invalidArgument } from '../util/invalid-argument.js';
import { didYouMean, invalidName } from '../util/suggest.js';
import { beforeDashes } from './about.js';
import { missingOption } from './option-errors.js';
import { ABOUT_OPTIONS, type CommandSpec, type OptionSpec } from './spec.js';

/** Arguments by name: the given value, the setting or the default; undefined without any of them. */
export type Arguments = Readonly<Record<string, unknown>>;

/**
 * Parses a command line.
 *
 * @param typed the words after the command's name
 * @param settings values of options that the command line does not give
 * @throws UsageError when an option is unknown, missing or malformed
 */
export function parseArguments(
  spec: CommandSpec,
  typed: readonly string[],
  settings: Arguments = {},
): Arguments {
  const words = separateLetters(spec, typed);
  // The parser's types lack this option.
  const options = { ...parserOptions(spec.options), configObjects: [settings] };
  const { argv, error } = Parser.detailed([...words], options);
  if (error) throw new UsageError(missingValue(words, error));
  assertKnown(spec, words, argv);
  assertSwitches(spec, words);
  const given = Object.fromEntries(spec.options.map((option) => [option.name, givenOf(option, argv)]));
  for (const option of spec.options) assertValue(spec.name, option, given[option.name]);
  return { ...given, ...argumentsOf(spec, argv._.map(String)) };
}

/** Separates options of one letter that share a word, and their values: `-rnk2,2` becomes `-r`, `-n`, `-k`, `2,2`. */
function separateLetters({ options }: CommandSpec, words: readonly string[]): string[] {
  const end = beforeDashes(words).length;
  return words.flatMap((word, i) => {
    if (i >= end || !/^-[A-Za-z]./.test(word)) return [word];
    const separate: string[] = [];
    for (let at = 1; at < word.length; at++) {
      const option = options.find(({ alias }) => alias === word[at]);
      if (!option || word[at + 1] === '=') return [word];
      separate.push(`-${word[at]}`);
      if (option.type === 'boolean') continue;
      if (at + 1 < word.length) separate.push(word.slice(at + 1));
      break;
    }
    return separate;
  });
}

/** Returns the given value; the last one for an option that takes a single value. */
function givenOf(option: OptionSpec, argv: Arguments): unknown {
  const value = argv[option.name];
  const last = Array.isArray(value) && !option.array ? value.at(-1) : value;
  return option.type === 'number' && typeof last === 'string' ? numberOf(option, last) : last;
}

/**
 * Converts text to a number.
 *
 * @throws UsageError that quotes the text as typed
 */
function numberOf({ name }: OptionSpec, text: string): number {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isNaN(number)) throw invalidArgument(formOf(name), 'a number', text);
  return number;
}

/** Builds the message for a missing value. The parser's own message omits the dashes of the option. */
function missingValue(words: readonly string[], { message }: Error): string {
  const [, name = ''] = /following: (\S+)/.exec(message) ?? [];
  const word = words.find((one) => one.startsWith('-') && one.endsWith(name) && name !== '');
  return word === undefined ? message : `expected a value for ${word} but got none`;
}

function parserOptions(options: readonly OptionSpec[]): Parser.Options {
  const names = (isOne: (option: OptionSpec) => boolean): string[] =>
    options.filter(isOne).map(({ name }) => name);
  const values = <T>(of: (option: OptionSpec) => T | undefined): Record<string, T> =>
    Object.fromEntries(
      options.flatMap((option): [string, T][] => {
        const value = of(option);
        return value === undefined ? [] : [[option.name, value]];
      }),
    );
  return {
    boolean: names(({ type }) => type === 'boolean'),
    // Numbers are parsed from their text, which error messages quote.
    string: names(({ type }) => type !== 'boolean'),
    array: names(({ array }) => array),
    alias: values(({ alias }) => alias),
    narg: values(({ nargs }) => nargs),
    default: values((option) => option.default),
    configuration: {
      'camel-case-expansion': false,
      'dot-notation': false,
      'parse-positional-numbers': false, // '-0' is a different key than '0'
    },
  };
}

/**
 * Rejects unknown options.
 *
 * @throws UsageError that suggests the closest option
 */
function assertKnown({ name: command, options }: CommandSpec, words: readonly string[], argv: object): void {
  const known = new Set(['_', ...options.flatMap(({ name, alias }) => (alias ? [name, alias] : [name]))]);
  const unknown = Object.keys(argv).find((name) => !known.has(name));
  if (unknown === undefined) return;
  const names = options.filter(({ hidden }) => !hidden).map(({ name }) => name);
  const visible = [...names, ...Object.keys(ABOUT_OPTIONS)].map(formOf);
  const written = beforeDashes(words).find((word) => /^--?(no-)?([^=]+)/.exec(word)?.[2] === unknown);
  const [word = ''] = written?.split('=') ?? [unknown.length > 1 ? `--${unknown}` : `-${unknown}`];
  throw invalidArgument(`clsort ${command}`, 'a known option', word, { advice: didYouMean(word, visible) });
}

/**
 * Rejects switch values other than true and false, which the parser would treat as false.
 *
 * @throws UsageError when there is such a value
 */
function assertSwitches({ options }: CommandSpec, words: readonly string[]): void {
  for (const word of beforeDashes(words)) {
    const [, name, value = ''] = /^--([^=]+)=(.*)$/.exec(word) ?? [];
    const option = options.find((one) => one.name === name);
    if (option?.type === 'boolean' && !['true', 'false'].includes(value)) {
      throw invalidArgument(`--${name}`, 'true or false', value);
    }
  }
}

/**
 * Asserts that a value has the type of an option and is one of its choices.
 *
 * @param name name of the option or argument for the message
 * @throws UsageError when it does not
 */
export function assertMatches(name: string, { type, array, choices }: OptionSpec, value: unknown): void {
  const values = Array.isArray(value) && array ? value : [value];
  if (values.some((one) => typeof one !== type)) {
    throw invalidArgument(name, type === 'boolean' ? 'true or false' : `a ${type}`, value);
  }
  const other = values.find((one) => choices && !choices.includes(String(one)));
  if (other !== undefined && choices) throw invalidName(name, String(other), choices);
}

/** Returns an option as typed: one dash for single letters, two otherwise. */
const formOf = (name: string): string => (name.length === 1 ? `-${name}` : `--${name}`);

function assertValue(command: string, option: OptionSpec, value: unknown): void {
  const { name, describe, required } = option;
  if (value === undefined) {
    if (required)
      throw missingOption(`run clsort ${command}`, formOf(name), `Pass ${formOf(name)} (${describe})`);
    return;
  }
  assertMatches(formOf(name), option, value);
}

/**
 * Assigns the words that are no options to the arguments of the command.
 *
 * @throws UsageError when an argument is missing or invalid, or when there are too many
 */
function argumentsOf({ name, arguments: specs }: CommandSpec, words: readonly string[]): Arguments {
  const left = [...words];
  const found: Record<string, unknown> = {};
  for (const { name: argument, variadic, required, ...spec } of specs) {
    if (required && left.length === 0) {
      throw missingOption(`run clsort ${name}`, `<${argument}>`, `Pass ${spec.describe}`);
    }
    found[argument] = variadic ? left.splice(0) : left.shift();
    const value = found[argument];
    if (value !== undefined) {
      assertMatches(`<${argument}>`, { ...spec, array: variadic, name: argument, required }, value);
    }
  }
  if (left.length > 0) {
    const expected =
      ['no argument', 'at most one argument'][specs.length] ?? `at most ${specs.length} arguments`;
    throw invalidArgument(`clsort ${name}`, expected, words);
  }
  return found;
}
