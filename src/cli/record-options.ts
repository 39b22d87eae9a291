/** Parsers for the options of record files. */
import { parseRecordKey, type RecordLayout, recordKeys } from '../io/record-keys.js';
import { UsageError } from '../util/errors.js';
import { listed } from './arguments.js';
import type { OrderArguments } from './options/order.js';
import type { RecordArguments } from './options/records.js';

/**
 * Reads the layout of records from the options; undefined for files of plain keys.
 *
 * @throws UsageError when options conflict or are missing
 * @throws DtypeError when the type of a key is unknown
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
  const texts = key.flatMap(listed);
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

/**
 * Returns the single input file.
 *
 * @throws UsageError when there are several: record files are sorted one by one
 */
export function onlyInput(inputs: string | readonly string[]): string {
  const [first = '', ...more] = typeof inputs === 'string' ? [inputs] : inputs;
  if (more.length === 0) return first;
  throw new UsageError(
    'files of records are sorted one by one: name one with --out, or a folder for each alone with --out-dir',
  );
}
