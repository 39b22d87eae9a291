/** Options of tables. */
import type { Argv } from 'yargs';
import { number, text, texts } from './kinds.js';

/** Adds --by, whose elements may hold several columns, separated by commas, --columns, --head, --unique-by and --type. */
export const withTables = <T>(yargs: Argv<T>) =>
  yargs
    .option(
      'by',
      texts(
        'sort the rows of a table by columns, such as price:f64:desc,time:nulls-first; nulls and NaNs last by default; quote names with a colon or comma, as "a:b"',
      ),
    )
    .option('columns', text('columns of a table to keep, in this order'))
    .option('head', number('number of first rows of a table to keep'))
    .option('unique-by', text('keep only the first of the rows that are equal in these columns'))
    .option(
      'type',
      texts(
        'types of text columns, such as price=f64,id=u64,day=date:%d/%m/%Y; detected from all values by default',
      ),
    );
