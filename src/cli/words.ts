import yargs, { type Argv } from 'yargs';
import { Parser } from 'yargs/helpers';

/**
 * The words of a command line that are neither options nor their values, behind the name of the command. yargs itself hands
 * on the last one only of those that fill a list, and never '-'.
 *
 * @param builder of the command
 */
export function wordsOf(argv: readonly string[], builder: (yargs: Argv) => Argv<unknown>): string[] {
  const built = builder(yargs()) as unknown as { getOptions(): object };
  const configuration = { 'parse-positional-numbers': false, 'dot-notation': false };
  return Parser([...argv], { ...built.getOptions(), configuration })
    ._.slice(1)
    .map(String);
}

/** Name of the list that the words of a command fill, as `files` of `cat <files..>`. */
export const listOf = (command: string): string | undefined => /<(\w+)\.\.>/.exec(command)?.[1];
