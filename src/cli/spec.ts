/** The specification of a command as data, for parsing, completion, configuration and documentation. */
import type { Argv, Options, PositionalOptions } from 'yargs';

/** A command: its entry in the list of commands, and what its file in `options/` exports. */
export interface Described {
  /** The name, then its arguments: `<one>`, `[one]` or `[many..]`. */
  readonly command: string;
  readonly describe: string;
  readonly builder: (yargs: Argv) => Argv<unknown>;
}

/** Options that a builder describes, as parsed. */
export type ArgumentsOf<B> = B extends (...args: never) => Argv<infer T>
  ? { readonly [Name in keyof T]: Readonly<T[Name]> }
  : never;

export interface OptionSpec {
  readonly name: string;
  /** The short form, one letter. */
  readonly alias: string | undefined;
  readonly type: 'boolean' | 'number' | 'string';
  /** Takes several values. */
  readonly array: boolean;
  /** With 1, the next word is the value even if it begins with a dash. */
  readonly nargs: number | undefined;
  readonly describe: string;
  readonly choices: readonly string[] | undefined;
  readonly default: unknown;
  readonly required: boolean;
  readonly hidden: boolean;
}

export interface ArgumentSpec extends OptionSpec {
  /** Takes all remaining words. */
  readonly variadic: boolean;
}

export interface CommandSpec {
  readonly name: string;
  readonly command: string;
  readonly describe: string;
  readonly arguments: readonly ArgumentSpec[];
  /** Includes the options of every command. */
  readonly options: readonly OptionSpec[];
  /** Command lines, with `$0` for the name of the program, and their explanation. */
  readonly examples: readonly (readonly [line: string, what: string])[];
  readonly epilogue: string;
  /** The most common options, which `--help` shows, by the title of their group. */
  readonly groups: readonly (readonly [title: string, names: readonly string[]])[];
  readonly builder: Described['builder'];
}

/** Options of every command. */
export const GLOBAL_OPTIONS = {
  quiet: {
    alias: 'q',
    type: 'boolean',
    default: false,
    describe: 'no progress and no report; warnings and errors are still printed',
  },
} as const satisfies Record<string, Options>;

/** Options that are handled before the command is looked up. */
export const ABOUT_OPTIONS = {
  help: { alias: 'h', type: 'boolean', describe: 'show help; --help=all shows all options' },
  version: { alias: 'V', type: 'boolean', describe: 'show the version' },
} as const satisfies Record<string, Options>;

export function optionSpec(name: string, { alias, type, ...rest }: Options | PositionalOptions): OptionSpec {
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

/** Stands in for yargs while a builder runs, and records its calls. */
class Recorder {
  readonly #arguments = new Map<string, PositionalOptions>();
  readonly options: OptionSpec[] = [];
  readonly examples: [string, string][] = [];
  readonly groups: [string, readonly string[]][] = [];
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

  group(names: readonly string[], title: string): this {
    this.groups.push([title, names]);
    return this;
  }

  epilogue(text: string): this {
    this.epilogueText = text;
    return this;
  }

  /** No-op: an argument is always one word that is no option. */
  nargs(): this {
    return this;
  }

  /** Returns the arguments in the order of the usage line. */
  argumentsOf(command: string): ArgumentSpec[] {
    return [...command.matchAll(/[<[]([\w-]+)(\.\.)?[>\]]/g)].map(([text, name = '', dots]) => ({
      ...optionSpec(name, this.#arguments.get(name) ?? {}),
      required: text.startsWith('<'),
      variadic: dots !== undefined,
    }));
  }
}

/** Returns the specification that the builder of a command defines. */
export function specOf({ command, describe, builder }: Described): CommandSpec {
  const recorder = new Recorder();
  builder(recorder as unknown as Argv); // builders use only methods of Recorder
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
    groups: recorder.groups,
    builder,
  };
}
