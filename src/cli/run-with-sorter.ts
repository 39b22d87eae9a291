/** Shared parts of verbs that make one file with a Sorter: progress and result. */

import type { FileContext } from '../io/file-sort/file-job.js';
import { isStdout } from '../io/streams/raw.js';
import type { SorterOperations } from '../sort/api/sorter-operations.js';
import type { Progress } from '../sort/model/options.js';
import { type Console, print, say } from './console.js';
import type { RunArguments } from './options/run.js';
import { ProgressBar } from './progress-bar.js';
import { sorterFor } from './sorter-for.js';

/** Arguments of the verbs that open a Sorter. */
type WorkArguments = Parameters<typeof sorterFor>[0];

/** Runs `work` with a sorter, shows a progress bar, and prints warnings and notes. */
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

/** Result for programs (JSON) and for people (text). */
interface CommandResult {
  readonly json: Readonly<Record<string, unknown>>;
  /** Text after the name of the output. */
  readonly text: string;
}

/** Prints the result as JSON or text. It goes to stderr as JSON, and is omitted as text, when the keys go to stdout. */
export function printResult(
  { out, json }: Pick<RunArguments, 'json'> & { readonly out: string },
  console: Console,
  result: CommandResult,
): void {
  if (json) (isStdout(out) ? say : print)(console, JSON.stringify(result.json));
  else if (!isStdout(out) && !console.quiet) print(console, `${out}: ${result.text}`);
}
