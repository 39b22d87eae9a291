/** What a command takes, as data: for who parses, completes, configures and documents it. */
import type { Argv, Options, PositionalOptions } from 'yargs';

/** What a file in options/ exports. */
export interface Described {
  /** The name, then its arguments: `<one>`, `[one]` or `[many..]`. */
  readonly command: string;
  readonly describe: string;
  readonly builder: (yargs: Argv) => Argv<unknown>;
}

export interface OptionSpec {
  readonly name: string;
  /** The short form, a letter. */
  readonly alias: string | undefined;
  readonly type: 'boolean' | 'number' | 'string';
  /** Takes several values. */
  readonly array: boolean;
  /** The next word is the value, also when it begins with a dash. */
  readonly nargs: number | undefined;
  readonly describe: string;
  readonly choices: readonly string[] | undefined;
  readonly default: unknown;
  readonly required: boolean;
  readonly hidden: boolean;
}

export interface ArgumentSpec extends OptionSpec {
  /** Takes all words that are left. */
  readonly variadic: boolean;
}

export interface CommandSpec {
  readonly name: string;
  readonly command: string;
  readonly describe: string;
  readonly arguments: readonly ArgumentSpec[];
  /** Those of every command among them. */
  readonly options: readonly OptionSpec[];
  /** Command lines, with `$0` for the name of the program, and what they do. */
  readonly examples: readonly (readonly [line: string, what: string])[];
  readonly epilogue: string;
  readonly builder: Described['builder'];
}

/** Options of every command. */
export const GLOBAL_OPTIONS = {
  quiet: {
    alias: 'q',
    type: 'boolean',
    default: false,
    describe: 'no progress and no report; warnings and errors stay',
  },
} as const satisfies Record<string, Options>;

/** Options that are answered before a command is even looked for. */
export const ABOUT_OPTIONS = {
  help: { alias: 'h', type: 'boolean', describe: 'show what there is to say' },
  version: { alias: 'V', type: 'boolean', describe: 'show the version' },
} as const satisfies Record<string, Options>;

function optionSpec(name: string, { alias, type, ...rest }: Options | PositionalOptions): OptionSpec {
  const { array, nargs, demandOption, hidden, choices, describe = '' } = rest as Options;
  return {
    name,
    alias: typeof alias === 'string' ? alias : undefined,
    type: type === 'boolean' || type === 'number' ? type : 'string',
    array: array === true,
    nargs: typeof nargs === 'number' ? nargs : undefined,
    describe: describe || '',
    choices: choices?.map(String),
    default: rest.default,
    required: demandOption !== undefined && demandOption !== false,
    hidden: hidden === true,
  };
}

/** Stands in for yargs while a builder runs, and writes down what it is told. */
class Recorder {
  readonly #arguments = new Map<string, PositionalOptions>();
  readonly options: OptionSpec[] = [];
  readonly examples: [string, string][] = [];
  epilogueText = '';

  option(name: string, options: Options): this {
    this.options.push(optionSpec(name, options));
    return this;
  }

  positional(name: string, options: PositionalOptions): this {
    this.#arguments.set(name, options);
    return this;
  }

  example(line: string, what: string): this {
    this.examples.push([line, what]);
    return this;
  }

  epilogue(text: string): this {
    this.epilogueText = text;
    return this;
  }

  /** Of an argument, which is any word that is no option. */
  nargs(): this {
    return this;
  }

  /** Arguments in the order of the command's usage. */
  argumentsOf(command: string): ArgumentSpec[] {
    return [...command.matchAll(/[<[]([\w-]+)(\.\.)?[>\]]/g)].map(([text, name = '', dots]) => ({
      ...optionSpec(name, this.#arguments.get(name) ?? {}),
      required: text.startsWith('<'),
      variadic: dots !== undefined,
    }));
  }
}

/** What the builder of a command says. */
export function specOf({ command, describe, builder }: Described): CommandSpec {
  const recorder = new Recorder();
  builder(recorder as unknown as Argv); // builders use no more of yargs than a Recorder has
  const [name = ''] = command.split(' ');
  const global = Object.entries(GLOBAL_OPTIONS).map(([key, options]) => optionSpec(key, options));
  return {
    name,
    command,
    describe,
    arguments: recorder.argumentsOf(command),
    options: [...recorder.options, ...global],
    examples: recorder.examples,
    epilogue: recorder.epilogueText,
    builder,
  };
}
