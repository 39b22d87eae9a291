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
      describe: 'sort records of so many bytes, by the keys that --key names',
    })
    .option('key', {
      type: 'string',
      array: true,
      nargs: 1,
      describe:
        'OFFSET:LENGTH (bytes) or OFFSET:TYPE[be] (a number) in each record, with :desc for the largest first; may be repeated, the first decides',
    });
