import { invalidArgument } from '../util/invalid-argument.js';
import { didYouMean } from '../util/suggest.js';
import { COMMANDS } from './command-list.js';
import { type CommandSpec, type Described, specOf } from './spec.js';

type CommandName = keyof typeof COMMANDS;

export const COMMAND_NAMES: readonly string[] = Object.keys(COMMANDS);

const isCommand = (name: string): name is CommandName => Object.hasOwn(COMMANDS, name);

/** @throws UsageError when no command has the name */
export function assertCommand(name: string): asserts name is CommandName {
  if (isCommand(name)) return;
  throw invalidArgument('clsort', 'a command', name, { advice: didYouMean(name, COMMAND_NAMES) });
}

/**
 * Returns the specification of one command.
 *
 * @throws UsageError when the name is unknown
 */
export async function specNamed(name: string): Promise<CommandSpec> {
  assertCommand(name);
  const { builder }: Pick<Described, 'builder'> = await import(`./options/${name}.js`);
  return specOf({ ...COMMANDS[name], builder });
}

/** Returns the specifications of all commands. */
export const allSpecs = (): Promise<CommandSpec[]> => Promise.all(COMMAND_NAMES.map(specNamed));
