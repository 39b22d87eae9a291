import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withOut } from './in-out.js';
import { withFormat, withTo } from './key-files.js';
import { required, text, word } from './kinds.js';
import { withBudget } from './memory.js';
import { withRun } from './run.js';

export const builder = (yargs: Argv) =>
  withOut(withRun(withBudget(withTo(withFormat(yargs)))))
    .positional('left', required("table, '-' for stdin"))
    .positional('right', required('table of the same or another format'))
    .option('on', {
      type: 'string',
      nargs: 1,
      demandOption: true,
      describe: "columns with equal values, such as 'id,day', or A=B if their names differ",
    })
    .option('kind', {
      ...word('inner: pairs; left: also LEFT rows without a pair; anti: only these'),
      choices: ['inner', 'left', 'anti'] as const,
      default: 'inner' as const,
    })
    .option('suffix', { ...text('added to names of RIGHT columns that LEFT also has'), default: '_right' })
    .option('verify', {
      type: 'boolean',
      default: false,
      describe: 'verify the sorts, and read back the output',
    })
    .group(['on', 'kind', 'suffix'], 'Join:')
    .group(['out', 'to'], 'Output:')
    .group(['device', 'memory', 'verify', 'json'], 'Execution:')
    .example(
      '$0 join orders.csv customers.parquet --on customer=id -o all.csv',
      'orders with their customers',
    )
    .example('$0 join today.csv yesterday.csv --on id --kind anti', 'rows that are new today')
    .epilogue(
      'Rows have the order of LEFT, and the partners of a row have that of RIGHT. A column of --on that has one name in ' +
        'both tables is written once. Numbers are compared as numbers, whatever their types: all NaNs are equal, and so ' +
        'are both zeros. A missing value is equal to nothing. Both tables must fit in memory. OUT is replaced only on ' +
        'success.',
    );

export type JoinArguments = ArgumentsOf<typeof builder>;
