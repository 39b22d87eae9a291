/** Settings: options from variables `CLSORT_COMMAND_OPTION`, or else from the user's configuration file. */

import { UsageError } from '../util/errors.js';
import { invalidArgument, withAdvice } from '../util/invalid-argument.js';
import { didYouMean } from '../util/suggest.js';
import { type Config, readConfig } from './config.js';
import { assertMatches } from './parse.js';
import type { CommandSpec, OptionSpec } from './spec.js';

/** A value for an option that the command line does not give. */
export interface Setting {
  readonly value: unknown;
  /** The variable or file that sets it. */
  readonly from: string;
}

export type Settings = Readonly<Record<string, Setting>>;

/**
 * Returns the settings for the options of a command.
 *
 * @param warn receives the reason when the configuration file is ignored
 * @throws UsageError when a name is unknown or a value is invalid
 */
export function settingsFor(spec: CommandSpec, warn: (message: string) => void): Settings {
  return { ...fromFile(spec, readConfig(warn)), ...fromVariables(spec, process.env) };
}

/** Returns the options of a command that may be set: those that are not hidden. */
const settable = ({ options }: CommandSpec): OptionSpec[] => options.filter(({ hidden }) => !hidden);

function fromFile(spec: CommandSpec, { file, commands }: Config): Settings {
  const known = settable(spec);
  const names = known.map(({ name }) => name);
  return Object.fromEntries(
    Object.entries(commands[spec.name] ?? {}).map(([name, value]) => {
      const option = known.find((one) => one.name === name);
      if (!option) {
        throw invalidArgument(`${spec.name} in ${file}`, 'known options', name, {
          advice: didYouMean(name, names),
        });
      }
      assertMatches(`${name} of ${spec.name} in ${file}`, option, value);
      return [name, { value, from: file }];
    }),
  );
}

/** Returns the name of the variable for an option, such as CLSORT_SORT_RADIX_BITS for --radix-bits of sort. */
export const variableOf = (command: string, option: string): string =>
  `CLSORT_${command}_${option}`.toUpperCase().replaceAll('-', '_');

function fromVariables(spec: CommandSpec, variables: NodeJS.ProcessEnv): Settings {
  const known = new Map(settable(spec).map((option) => [variableOf(spec.name, option.name), option]));
  const prefix = variableOf(spec.name, '');
  const given = Object.entries(variables).filter(([name, text]) => name.startsWith(prefix) && text);
  return Object.fromEntries(
    given.map(([variable, text = '']) => {
      const option = known.get(variable);
      if (!option) {
        const message = `cannot use the environment variable ${variable}: clsort has no such option`;
        throw new UsageError(withAdvice(message, didYouMean(variable, [...known.keys()])));
      }
      const value = option.array ? text.split(',').map((one) => parsed(option, one)) : parsed(option, text);
      assertMatches(variable, option, value);
      return [option.name, { value, from: variable }];
    }),
  );
}

const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, 1: true, false: false, 0: false };

/** Converts the text of a variable to the option's type; returns it unchanged when it does not parse. */
function parsed({ type }: OptionSpec, text: string): unknown {
  if (type === 'boolean') return BOOLEANS[text] ?? text;
  if (type === 'number') return Number.isNaN(Number(text)) ? text : Number(text);
  return text;
}
