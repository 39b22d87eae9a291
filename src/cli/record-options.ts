/** Parsers for the options of record files. */
import { parseRecordKey, type RecordLayout, recordKeys } from '../io/records/record-keys.js';
import { UsageError } from '../util/errors.js';
import { listed } from './arguments.js';
import { cannotCombine, cannotUseWithout, missingOption } from './option-errors.js';
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
    throw cannotUseWithout('--key', '--record', 'the record size is unknown', 'Pass --record 100');
  if (key === undefined) {
    const advice = 'Pass --key OFFSET:LENGTH or --key OFFSET:TYPE, such as --key 0:10';
    throw missingOption('compare records', '--key', advice);
  }
  const texts = key.flatMap(listed);
  if (descending) {
    const advice = `Pass --key ${texts[0]}:desc`;
    throw cannotCombine('--descending', '--record', 'each key has its own order', advice);
  }
  if (dtype !== undefined) {
    const advice = `Pass --key OFFSET:${dtype}`;
    throw cannotCombine('--dtype', '--record', 'each key has its own type', advice);
  }
  if (bits !== undefined) throw cannotCombine('--bits', '--record', 'a key can be any bytes of a record');
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
    'cannot sort these files together: files of records are sorted one at a time. Pass one file, or --out-dir',
  );
}
