/** Options of the verbs that combine the keys of two files as sets. */
import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withOut } from './in-out.js';
import { withInput, withTo } from './key-files.js';
import { required } from './kinds.js';
import { withBudget } from './memory.js';
import { withWholeOrder } from './order.js';
import { withRun } from './run.js';

/**
 * Returns the builder of a verb.
 *
 * @param example command line after the verb, and what its result is
 */
export const setBuilder =
  (verb: string, [line, what]: readonly [line: string, what: string]) =>
  (yargs: Argv) =>
    withOut(withRun(withBudget(withTo(withInput(withWholeOrder(yargs))))))
      .positional('a', required("file of keys, '-' for stdin"))
      .positional('b', required('file of keys with the same dtype'))
      .option('verify', {
        type: 'boolean',
        default: false,
        describe: 'verify the sorts and the search on the host',
      })
      .group(['dtype', 'column'], 'Input:')
      .group(['descending', 'nan'], 'Order:')
      .group(['out', 'to'], 'Output:')
      .group(['device', 'memory', 'verify', 'json'], 'Execution:')
      .example(`$0 ${verb} ${line}`, what)
      .epilogue(
        'The files need not be sorted, and may differ in format. Keys are compared as numbers: all NaNs are equal, and so ' +
          'are both zeros. Each result is the first of its equals in A, otherwise in B. Both files must fit in memory. ' +
          'OUT is replaced only on success.',
      );

export type SetArguments = ArgumentsOf<ReturnType<typeof setBuilder>>;
