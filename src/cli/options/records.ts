/** Options of record files. */
import type { Argv } from 'yargs';

export interface RecordArguments {
  readonly record: number | undefined;
  /** Each element may hold several keys, separated by commas. */
  readonly key: readonly string[] | undefined;
}

/** Adds --record and --key. */
export const withRecords = <T>(yargs: Argv<T>) =>
  yargs
    .option('record', {
      type: 'number',
      nargs: 1,
      describe: 'size of a record in bytes; --key defines its keys',
    })
    .option('key', {
      type: 'string',
      array: true,
      nargs: 1,
      describe:
        'key of a record: OFFSET:LENGTH (bytes) or OFFSET:TYPE[be] (a number), with :desc for descending; may be repeated, most significant first',
    });
