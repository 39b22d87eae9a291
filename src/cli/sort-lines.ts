/** `clsort sort` of lines of text, with the options of sort(1). */
import { contentBytes } from '../io/formats/key-count.js';
import { LineOrder, type LineOrderOptions } from '../io/lines/line-order.js';
import {
  findDisorder,
  type LineContext,
  type LineJob,
  mergeLines,
  sortLines,
} from '../io/lines/sort-lines.js';
import { isStdin } from '../io/streams/raw.js';
import { hostSorter, smallHostSorter } from '../sort/api/host-sorter.js';
import { UsageError } from '../util/errors.js';
import { invalidArgument } from '../util/invalid-argument.js';
import { type Console, say } from './console.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { readMemory } from './memory-options.js';
import type { SortArguments } from './options/sort.js';

/** Returns the byte that -t stands for; undefined for blanks. */
function separatorOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const bytes = Buffer.from(text === '\\0' ? '\0' : text === '\\t' ? '\t' : text);
  if (bytes.length !== 1) throw invalidArgument('-t', 'one character', text);
  return bytes[0];
}

function orderOptions(args: SortArguments): LineOrderOptions {
  const comparisons = [
    ...(args['numeric-sort'] ? (['n'] as const) : []),
    ...(args['general-numeric-sort'] ? (['g'] as const) : []),
    ...(args['version-sort'] ? (['V'] as const) : []),
    ...(args['random-sort'] ? (['R'] as const) : []),
  ];
  if (comparisons.length > 1) {
    throw new UsageError(`cannot compare lines by -${comparisons.join(' and -')}: pass one of them`);
  }
  const blanks = args['ignore-leading-blanks'];
  return {
    compare: comparisons[0] ?? 'text',
    fold: args['ignore-case'],
    dictionary: args['dictionary-order'],
    blanks: [blanks, blanks],
    reverse: args.descending,
    keys: args['line-key'] ?? [],
    separator: separatorOf(args.delimiter),
    stable: args.stable || args.unique,
  };
}

/** Whether no option says how lines are compared, so that numbers are compared as numbers. */
const isUndecided = (args: SortArguments): boolean => {
  const { compare, fold, dictionary, blanks, keys } = orderOptions(args);
  return compare === 'text' && !fold && !dictionary && !blanks[0] && keys.length === 0;
};

/**
 * Sorts, merges or checks lines.
 *
 * @throws UsageError when options contradict each other
 */
export async function runLines(args: SortArguments, console: Console): Promise<ExitCode> {
  const options = orderOptions(args);
  const { memory, tmp } = readMemory(args);
  const { in: inputs, out = '-', unique, 'zero-terminated': zero, check, 'check-quiet': quiet } = args;
  const job: LineJob = {
    in: inputs.length === 0 ? ['-'] : inputs,
    out,
    order: new LineOrder(options),
    numberOrder: isUndecided(args) ? new LineOrder({ ...options, compare: 'g' }) : undefined,
    terminator: zero ? 0 : 0x0a,
    unique,
    memory,
    tmp,
  };
  const context: LineContext = console;
  if (check || quiet) {
    const [file, ...others] = job.in;
    if (others.length > 0) throw invalidArgument('--check', 'one file', `${job.in.length} files`);
    const found = await findDisorder(job, context);
    if (found && !quiet) {
      const name = file === undefined || isStdin(file) ? '-' : file;
      say(console, `clsort: ${name}:${found.number}: disorder: ${found.text.toString()}`);
    }
    return found ? EXIT.notSorted : EXIT.ok;
  }
  if (args.merge) {
    await mergeLines(job, context);
    return EXIT.ok;
  }
  const onWarning = ({ message }: Error) => say(console, `clsort: warning: ${message}`);
  const bytes = await contentBytes(job.in); // a line has one or more
  const sorter = (bytes !== undefined && smallHostSorter(bytes, onWarning)) || hostSorter(onWarning);
  try {
    await sortLines(job, sorter, context);
  } finally {
    await sorter.close();
  }
  return EXIT.ok;
}
