/** Options of tables. */
import type { Argv } from 'yargs';

export interface TableArguments {
  /** Each element may hold several columns, separated by commas. */
  readonly by: readonly string[] | undefined;
  readonly columns: string | undefined;
  readonly head: number | undefined;
  readonly 'unique-by': string | undefined;
  readonly type: readonly string[] | undefined;
}

/** Adds --by, --columns, --head, --unique-by and --type. */
export const withTables = <T>(yargs: Argv<T>) =>
  yargs
    .option('by', {
      type: 'string',
      array: true,
      nargs: 1,
      describe:
        'sort the rows of a table by columns, as price:f64:desc,time:nulls-first; nulls and NaNs come last; "a:b" for a name with a colon or comma',
    })
    .option('columns', {
      type: 'string',
      nargs: 1,
      describe: 'of a table, keep these columns, in this order',
    })
    .option('head', { type: 'number', nargs: 1, describe: 'of a table, keep the first N rows only' })
    .option('unique-by', {
      type: 'string',
      nargs: 1,
      describe: 'of a table, keep the first of rows that are equal in these columns',
    })
    .option('type', {
      type: 'string',
      array: true,
      nargs: 1,
      describe:
        'types of columns of texts, as price=f64,id=u64,day=date:%d/%m/%Y; found in all values by default',
    });
