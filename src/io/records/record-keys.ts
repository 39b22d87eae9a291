/** Record layouts: the record size and the keys to sort by. */
import { DTYPES, type Dtype, dtypeInfo } from '../../keys/dtype.js';
import type { Order } from '../../keys/key-codec.js';
import { DtypeError, UsageError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { invalidName } from '../../util/suggest.js';

/** A key of bytes, compared as unsigned numbers from the first to the last, as by memcmp. */
export interface BytesKey extends Pick<Order, 'descending'> {
  /** Byte offset in the record. */
  readonly offset: number;
  readonly length: number;
}

/** A key that is a number, at any byte offset. */
export interface NumberKey extends Order {
  readonly offset: number;
  readonly dtype: Dtype;
  /** Byte order; default `'le'`. */
  readonly endian?: 'le' | 'be';
}

export type RecordKey = BytesKey | NumberKey;

/** The layout of records and their sort keys. */
export interface RecordLayout {
  /** Record size in bytes, 1 to 2^24. */
  readonly record: number;
  /**
   * Sort keys, at least one; later keys break ties of earlier ones. Each is an object or a string: `OFFSET:LENGTH` for
   * bytes, `OFFSET:TYPE` for a number, with `:desc` for descending order, such as `0:10` or `16:u64be:desc`.
   */
  readonly keys: readonly (RecordKey | string)[];
  /**
   * Position of NaNs, for keys that do not specify it.
   *
   * @defaultValue `'last'`
   */
  readonly nan?: 'first' | 'last' | undefined;
}

/** Maximum record size: the size of a file read. */
const MAX_RECORD_BYTES = 2 ** 24;

const EXPECTED = 'OFFSET:LENGTH or OFFSET:TYPE, optionally with :desc (such as 0:10 or 16:u64be:desc)';

/**
 * Parses a key in the syntax of the command line.
 *
 * @throws UsageError when the syntax is invalid
 * @throws DtypeError when the type is unknown
 */
export function parseRecordKey(text: string): RecordKey {
  const [, at, what = '', direction = 'asc'] = /^(\d+):(\w+)(?::(\w+))?$/.exec(text) ?? [];
  if (at === undefined) throw invalidArgument('key', EXPECTED, text);
  if (!['asc', 'desc'].includes(direction)) throw invalidArgument('key', 'asc or desc at the end', text);
  const place = { offset: Number(at), descending: direction === 'desc' };
  if (/^\d+$/.test(what)) return { ...place, length: Number(what) };
  const [, name = what, endian = 'le'] = /^(\w+?)(le|be)?$/.exec(what) ?? [];
  const dtype = DTYPES.find((known) => known === name);
  if (!dtype) throw invalidName(`the type of key ${text}`, name, DTYPES, DtypeError);
  return { ...place, dtype, endian: endian === 'be' ? 'be' : 'le' };
}

export const isNumberKey = (key: RecordKey): key is NumberKey => 'dtype' in key;

/** Returns the size of a key in bytes. */
export const keyBytes = (key: RecordKey): number =>
  isNumberKey(key) ? dtypeInfo(key.dtype).bytes : key.length;

/** Formats a key in the syntax of the command line. */
export function keyText(key: RecordKey): string {
  const what = isNumberKey(key) ? `${key.dtype}${key.endian === 'be' ? 'be' : ''}` : key.length;
  return `${key.offset}:${what}${key.descending ? ':desc' : ''}`;
}

/**
 * Returns the checked keys of a layout.
 *
 * @throws UsageError when the layout is invalid, for example when a key exceeds the record
 * @throws DtypeError when a type is unknown
 */
export function recordKeys({ record, keys, nan }: RecordLayout): RecordKey[] {
  if (!Number.isInteger(record) || record < 1 || record > MAX_RECORD_BYTES) {
    throw invalidArgument('record', `a whole number of bytes from 1 to ${MAX_RECORD_BYTES}`, record);
  }
  if (!Array.isArray(keys) || keys.length === 0) {
    throw invalidArgument('keys', `one or more of ${EXPECTED}`, keys);
  }
  return keys.map((given: RecordKey | string) => {
    const key = checkedKey(typeof given === 'string' ? parseRecordKey(given) : given);
    const end = key.offset + keyBytes(key);
    if (end > record) {
      throw new UsageError(
        `cannot sort by key ${keyText(key)}: it ends at byte ${end}, and a record has ${record} bytes`,
        { details: { key: keyText(key), end, record } },
      );
    }
    return isNumberKey(key) && nan !== undefined ? { nan, ...key } : key;
  });
}

const FIELDS = ['offset', 'length', 'dtype', 'endian', 'descending', 'nan'];

const isCount = (value: unknown, minimum: number): boolean =>
  Number.isSafeInteger(value) && Number(value) >= minimum;

/**
 * Checks a key for values that only the type system excludes.
 *
 * @throws UsageError when a field is invalid
 * @throws DtypeError when the dtype is unknown
 */
function checkedKey(key: RecordKey): RecordKey {
  const wrong = (field: string, value: unknown, expected: string) =>
    invalidArgument(`${field} of a key`, expected, value);
  if (typeof key !== 'object' || key === null) throw invalidArgument('key', EXPECTED, key);
  const unknown = Object.keys(key).find((field) => !FIELDS.includes(field));
  if (unknown) throw invalidName('a field of a key', unknown, FIELDS);
  if (!isCount(key.offset, 0)) throw wrong('offset', key.offset, 'a whole number, 0 or more,');
  const { descending = false } = key;
  if (typeof descending !== 'boolean') throw wrong('descending', descending, 'true or false');
  if (!isNumberKey(key)) {
    if (!isCount(key.length, 1))
      throw wrong('length', key.length, 'a whole number, 1 or more, or a dtype instead');
    return key;
  }
  dtypeInfo(key.dtype);
  if ('length' in key) throw wrong('length', key.length, 'no value beside a dtype');
  const { endian = 'le', nan = 'last' } = key;
  if (!['le', 'be'].includes(endian)) throw wrong('endian', endian, "'le' or 'be'");
  if (!['first', 'last'].includes(nan)) throw wrong('nan', nan, "'first' or 'last'");
  return key;
}
