/** Parsers for the options of tables. */
import { assertTableOptions, type TableOptions } from '../io/tables/table-options.js';
import { cannotCombine } from './option-errors.js';
import type { SortArguments } from './options/sort.js';

/** Returns the first given option that applies only to keys or records; undefined when there is none. */
function conflictingOption(args: SortArguments): string | undefined {
  const given: Readonly<Record<string, boolean>> = {
    record: args.record !== undefined,
    key: args.key !== undefined,
    dtype: args.dtype !== undefined,
    descending: args.descending,
    bits: args.bits !== undefined,
    column: args.column !== undefined,
    axis: args.axis !== -1,
    argsort: args.argsort,
    counts: args.counts !== undefined,
    resume: args.resume,
  };
  return Object.keys(given).find((name) => given[name]);
}

/**
 * Reads the options of a table; called when `--by` is given.
 *
 * @throws UsageError when options conflict or are invalid
 */
export function readTable(args: SortArguments): TableOptions {
  const { by = [], columns, head, unique, 'unique-by': uniqueBy, type: types } = args;
  const other = conflictingOption(args);
  if (other !== undefined) {
    const reasons: Readonly<Record<string, readonly [reason: string, advice: string]>> = {
      descending: ['each column has its own order', `Pass --by ${by[0]}:desc`],
      resume: ['an interrupted sort of a table keeps no files', 'Omit --resume to start over'],
    };
    const [reason, advice] = reasons[other] ?? ['it does not apply to tables'];
    throw cannotCombine(`--${other}`, '--by', reason, advice);
  }
  const options = { by, columns, head, unique, uniqueBy, types };
  assertTableOptions(options);
  return options;
}
