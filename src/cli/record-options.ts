/** Options of files of records, and how they are read. */
import type { Argv } from 'yargs';
import { parseRecordKey, type RecordLayout, recordKeys } from '../io/record-keys.js';
import { UsageError } from '../util/errors.js';
import { listed, type OrderArguments } from './arguments.js';

export interface RecordArguments {
  readonly record: number | undefined;
  /** All of them, with commas between. */
  readonly key: string | undefined;
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
      nargs: 1,
      describe:
        'OFFSET:LENGTH (bytes) or OFFSET:TYPE[be] (a number) in each record, with :desc for the largest first; may be repeated, the first decides',
    });

/**
 * A command line whose `--key` options are one, with commas between, since of an option that is given again the
 * last one holds.
 */
export function joinKeys(words: readonly string[]): string[] {
  const dashes = words.indexOf('--');
  const options = dashes === -1 ? words : words.slice(0, dashes);
  const isKey = (word: string | undefined): boolean =>
    word === '--key' || word?.startsWith('--key=') === true;
  if (options.filter(isKey).length < 2) return [...words];
  const keys: string[] = [];
  const others: string[] = [];
  for (let i = 0; i < options.length; i++) {
    const word = options[i] as string;
    if (!isKey(word)) others.push(word);
    else keys.push(word === '--key' ? (options[++i] ?? '') : word.slice('--key='.length));
  }
  return [...others, `--key=${keys.join(',')}`, ...words.slice(options.length)];
}

/**
 * The layout of records, as given on the command line; undefined where the file holds plain keys.
 *
 * @throws UsageError, DtypeError for an unknown type of a key
 */
export function readRecords(args: RecordArguments & Partial<OrderArguments>): RecordLayout | undefined {
  const { record, key, dtype, descending, nan, bits } = args;
  if (record === undefined && key === undefined) return undefined;
  if (record === undefined)
    throw new UsageError('--key is for records: say their size in bytes, --record 100');
  if (key === undefined) {
    throw new UsageError(
      `--record ${record} needs a key: --key OFFSET:LENGTH or --key OFFSET:TYPE, such as --key 0:10`,
    );
  }
  const texts = listed(key);
  if (descending) {
    throw new UsageError(
      `--descending is not for records: say it of the keys that it is meant for, --key ${texts[0]}:desc`,
    );
  }
  if (dtype !== undefined) {
    throw new UsageError(
      `--dtype ${dtype} is not for records, whose keys have types of their own: --key OFFSET:${dtype}`,
    );
  }
  if (bits !== undefined) throw new UsageError('--bits is not for records: a key may be any bytes of them');
  const layout = {
    record,
    keys: texts.map(parseRecordKey),
    nan: nan === 'first' ? 'first' : 'last',
  } as const;
  recordKeys(layout);
  return layout;
}
