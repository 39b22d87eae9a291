/** What a record is: so many bytes, and the keys in them that it is sorted by. */
import { DTYPES, type Dtype, dtypeInfo } from '../keys/dtype.js';
import type { Order } from '../keys/key-codec.js';
import { DtypeError, UsageError } from '../util/errors.js';
import { suggestion, unknownName } from '../util/suggest.js';

/** Bytes of a record, compared as unsigned numbers from the first to the last, as memcmp does. */
export interface BytesKey extends Pick<Order, 'descending'> {
  /** Bytes of the record before the key. */
  readonly offset: number;
  readonly length: number;
}

/** A number in a record, at any offset. */
export interface NumberKey extends Order {
  readonly offset: number;
  readonly dtype: Dtype;
  /** Whether its first byte is its lowest (default) or its highest. */
  readonly endian?: 'le' | 'be';
}

export type RecordKey = BytesKey | NumberKey;

/** Records, and by what they are sorted. */
export interface RecordLayout {
  /** Bytes of a record, 1 to 2^24. */
  readonly record: number;
  /**
   * At least one; the first decides, the next ones where it is equal. As objects or as text: `OFFSET:LENGTH` for
   * bytes, `OFFSET:TYPE` for a number, with `:desc` for the largest first, such as `0:10` or `16:u64be:desc`.
   */
  readonly keys: readonly (RecordKey | string)[];
  /**
   * Where NaNs of keys go that do not say so themselves.
   *
   * @defaultValue `'last'`
   */
  readonly nan?: 'first' | 'last' | undefined;
}

/** Most bytes of a record: as many as files are read at a time. */
const MAX_RECORD_BYTES = 2 ** 24;

const EXPECTED = 'expected OFFSET:LENGTH or OFFSET:TYPE, and :desc if wanted, such as 0:10 or 16:u64be:desc';

/**
 * Reads a key as the command line has it.
 *
 * @throws UsageError, DtypeError for an unknown type
 */
export function parseRecordKey(text: string): RecordKey {
  const [, at, what = '', direction = 'asc'] = /^(\d+):(\w+)(?::(\w+))?$/.exec(text) ?? [];
  if (at === undefined) throw new UsageError(`key '${text}': ${EXPECTED}`);
  if (!['asc', 'desc'].includes(direction)) {
    throw new UsageError(`key '${text}' ends with '${direction}': expected asc or desc`);
  }
  const place = { offset: Number(at), descending: direction === 'desc' };
  if (/^\d+$/.test(what)) return { ...place, length: Number(what) };
  const [, name = what, endian = 'le'] = /^(\w+?)(le|be)?$/.exec(what) ?? [];
  const dtype = DTYPES.find((known) => known === name);
  if (!dtype) throw new DtypeError(`key '${text}': ${unknownName('type', name, DTYPES)}`);
  return { ...place, dtype, endian: endian === 'be' ? 'be' : 'le' };
}

export const isNumberKey = (key: RecordKey): key is NumberKey => 'dtype' in key;

/** Bytes of a key. */
export const keyBytes = (key: RecordKey): number =>
  isNumberKey(key) ? dtypeInfo(key.dtype).bytes : key.length;

/** A key as the command line has it. */
export function keyText(key: RecordKey): string {
  const what = isNumberKey(key) ? `${key.dtype}${key.endian === 'be' ? 'be' : ''}` : key.length;
  return `${key.offset}:${what}${key.descending ? ':desc' : ''}`;
}

/**
 * The keys of a layout, checked.
 *
 * @throws UsageError when the layout is impossible, such as for a key that reaches beyond the record; DtypeError
 */
export function recordKeys({ record, keys, nan }: RecordLayout): RecordKey[] {
  if (!Number.isInteger(record) || record < 1 || record > MAX_RECORD_BYTES) {
    throw new UsageError(
      `a record of ${record} bytes: expected a whole number from 1 to ${MAX_RECORD_BYTES}`,
    );
  }
  if (!Array.isArray(keys) || keys.length === 0) {
    throw new UsageError(`records of ${record} bytes have no key to sort by: ${EXPECTED}`);
  }
  return keys.map((given: RecordKey | string) => {
    const key = checkedKey(typeof given === 'string' ? parseRecordKey(given) : given);
    const end = key.offset + keyBytes(key);
    if (end > record) {
      throw new UsageError(
        `key ${keyText(key)} ends at byte ${end}, beyond the record, which has ${record} bytes`,
        { details: { key: keyText(key), end, record } },
      );
    }
    return isNumberKey(key) && nan !== undefined ? { nan, ...key } : key;
  });
}

const FIELDS = ['offset', 'length', 'dtype', 'endian', 'descending', 'nan'];

const isCount = (value: unknown, minimum: number): boolean =>
  Number.isSafeInteger(value) && Number(value) >= minimum;

/** @throws UsageError, DtypeError for what only JavaScript lets through */
function checkedKey(key: RecordKey): RecordKey {
  const wrong = (field: string, value: unknown, expected: string) =>
    new UsageError(
      `${field} of a key is ${typeof value === 'string' ? `'${value}'` : value}: expected ${expected}`,
    );
  if (typeof key !== 'object' || key === null) throw new UsageError(`a key is ${key}: ${EXPECTED}`);
  const unknown = Object.keys(key).find((field) => !FIELDS.includes(field));
  if (unknown) throw new UsageError(`a key has no '${unknown}'${suggestion(unknown, FIELDS)}`);
  if (!isCount(key.offset, 0)) throw wrong('offset', key.offset, 'a whole number from 0 on');
  const { descending = false } = key;
  if (typeof descending !== 'boolean') throw wrong('descending', descending, 'true or false');
  if (!isNumberKey(key)) {
    if (!isCount(key.length, 1))
      throw wrong('length', key.length, 'a whole number from 1 on, or a dtype instead');
    return key;
  }
  dtypeInfo(key.dtype);
  if ('length' in key) throw wrong('length', key.length, 'none beside a dtype, which has one of its own');
  const { endian = 'le', nan = 'last' } = key;
  if (!['le', 'be'].includes(endian)) throw wrong('endian', endian, "'le' or 'be'");
  if (!['first', 'last'].includes(nan)) throw wrong('nan', nan, "'first' or 'last'");
  return key;
}
