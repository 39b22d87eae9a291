/** What verbs that make one file with a Sorter have in common: how it goes is shown, and what was done told. */
import { isStdout } from '../io/raw.js';
import type { FileContext } from '../io/sort-file.js';
import type { Progress } from '../sort/api/options.js';
import type { SorterOperations } from '../sort/api/sorter-operations.js';
import { type Console, print, say } from './console.js';
import type { RunArguments } from './options/run.js';
import { ProgressBar } from './progress-bar.js';
import { sorterFor } from './sorter-for.js';

/** Of files, whose positions are the same in all verbs. */
type WorkArguments = Parameters<typeof sorterFor>[0];

/** Runs `work` with what sorts, while a bar shows how it goes; warnings and notes are said. */
export async function runWithSorter<T>(
  args: WorkArguments,
  console: Console,
  work: (sorter: SorterOperations, context: FileContext) => Promise<T>,
): Promise<T> {
  const bar = new ProgressBar(console);
  const sayBelowBar = (text: string): void => {
    bar.clear();
    say(console, `clsort: ${text}`);
  };
  const onWarning = ({ message }: Error): void => sayBelowBar(`warning: ${message}`);
  const onNote = (text: string): void => {
    if (!console.quiet) sayBelowBar(text);
  };
  const onProgress = ({ phase, done, total }: Progress) => bar.update(phase, done, total);
  const sorter = await sorterFor(args, onWarning, console);
  try {
    return await work(sorter, { ...console, onWarning, onNote, onProgress });
  } finally {
    bar.clear();
    await sorter.close();
  }
}

/** What was made, for programs and for people. */
interface CommandResult {
  readonly json: Readonly<Record<string, unknown>>;
  /** What stands behind the name of the output. */
  readonly text: string;
}

/** Says what was made: as JSON where it is asked for, else in a line, unless the keys went to stdout themselves. */
export function printResult(
  { out, json }: Pick<RunArguments, 'json'> & { readonly out: string },
  console: Console,
  result: CommandResult,
): void {
  if (json) (isStdout(out) ? say : print)(console, JSON.stringify(result.json));
  else if (!isStdout(out) && !console.quiet) print(console, `${out}: ${result.text}`);
}
