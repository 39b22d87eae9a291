/** Options of record files. */
import type { Argv } from 'yargs';
import { number, texts } from './kinds.js';

export interface RecordArguments {
  readonly record: number | undefined;
  /** Each element may hold several keys, separated by commas. */
  readonly key: readonly string[] | undefined;
}

/** Adds --record and --key. */
export const withRecords = <T>(yargs: Argv<T>) =>
  yargs
    .option('record', number('size of a record in bytes; --key defines its keys'))
    .option(
      'key',
      texts(
        'key of a record: OFFSET:LENGTH (bytes) or OFFSET:TYPE[be] (a number), with :desc for descending; may be repeated, most significant first',
      ),
    );
