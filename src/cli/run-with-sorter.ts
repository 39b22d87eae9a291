/** Shared parts of verbs that work on files with a Sorter: the sorter, progress, warnings and the result. */
import { deviceSpecs } from '../device/platform/select-device.js';
import type { FileContext } from '../io/file-sort/file-job.js';
import { maxKeyCount } from '../io/formats/key-count.js';
import { isStdout } from '../io/streams/raw.js';
import { dtypeInfo } from '../keys/dtype.js';
import { namedDtype } from '../keys/dtype-name.js';
import { hostSorter, startingHostSorter } from '../sort/api/host-sorter.js';
import type { SorterOperations } from '../sort/api/sorter-operations.js';
import type { OpenOptions, Progress } from '../sort/model/options.js';
import { type Console, print, say } from './console.js';
import type { RunArguments } from './options/run.js';
import type { SortArguments } from './options/sort.js';
import { ProgressBar } from './progress-bar.js';

/** What a command shows of its work. */
export interface ShownWork {
  readonly bar: ProgressBar;
  /** Prints a warning and adds it to `warnings`. */
  readonly onWarning: (warning: Pick<Error, 'message'>) => void;
  readonly warnings: readonly string[];
  /** The context for functions of the library. */
  readonly context: FileContext;
}

/** Shows warnings, notes and progress on stderr. */
export function showFileWork(console: Console): ShownWork {
  const bar = new ProgressBar(console);
  const warnings: string[] = [];
  const onWarning = ({ message }: Pick<Error, 'message'>): void => {
    bar.clear();
    warnings.push(message);
    say(console, `clsort: warning: ${message}`);
  };
  const onNote = (text: string): void => {
    bar.clear();
    if (!console.quiet) say(console, `clsort: ${text}`);
  };
  const onProgress = ({ phase, done, total }: Progress) => bar.update(phase, done, total);
  return { bar, onWarning, warnings, context: { ...console, onWarning, onNote, onProgress } };
}

/** Options that select the sorter. */
type SorterArguments = Pick<SortArguments, 'in' | 'device'> & {
  readonly dtype?: string | undefined;
} & Partial<Pick<SortArguments, 'record' | 'algorithm' | 'scan' | 'radix-bits'>>;

/** Runs `work` with a sorter, and shows progress, warnings and notes. */
export async function runWithSorter<T>(
  args: SorterArguments,
  console: Console,
  work: (sorter: SorterOperations, context: FileContext) => Promise<T>,
  { bar, onWarning, context } = showFileWork(console),
): Promise<T> {
  const sorter = await openSorter(args, onWarning);
  try {
    return await work(sorter, context);
  } finally {
    bar.clear();
    await sorter.close();
  }
}

/**
 * Opens the sorter for files. When the host sorts, no device is opened and its modules are not loaded: that takes longer
 * than the sort of most files.
 *
 * @throws the errors of `Sorter.open`
 */
async function openSorter(
  args: SorterArguments,
  onWarning: NonNullable<OpenOptions['onWarning']>,
): Promise<SorterOperations> {
  const { in: inputs, dtype, record, algorithm = 'auto', scan = 'auto', 'radix-bits': radixBits } = args;
  const specs = deviceSpecs(args.device ?? ['auto']);
  const [only] = specs.length === 1 ? specs : [];
  if (only === 'host') return hostSorter(onWarning);
  const ofDevice =
    algorithm !== 'host' && (algorithm !== 'auto' || scan !== 'auto' || radixBits !== undefined);
  if (only === 'auto' && !ofDevice) {
    const keyBytes = record ?? (dtype === undefined ? undefined : dtypeInfo(namedDtype(dtype).dtype).bytes);
    const maxKeys = await maxKeyCount(inputs, keyBytes);
    const sorter = maxKeys === undefined ? undefined : startingHostSorter(maxKeys, onWarning);
    if (sorter) return sorter;
  }
  const { Sorter } = await import('../sort/api/sorter.js');
  // An algorithm of devices opens the best device, even if the host engine is faster.
  return Sorter.open({
    ...(only === 'auto' && ofDevice ? { device: 'all' } : { devices: specs }),
    onWarning,
  });
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
