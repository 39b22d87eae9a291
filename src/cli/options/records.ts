/** Options of record files. */
import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { number, texts } from './kinds.js';

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

/** Each element of `key` may hold several keys, separated by commas. */
export type RecordArguments = ArgumentsOf<typeof withRecords<object>>;
