/** The order of records, computed in the simplest way: key by key, numbers as the reference orders them. */
import { keyBytes, type RecordKey } from '../../src/io/records/record-keys.js';
import { referenceCode } from '../reference.js';

/** The bytes of a key in record `i` as a number, most significant byte first. */
function numberAt(bytes: Uint8Array, record: number, i: number, key: RecordKey): bigint {
  const length = keyBytes(key);
  const at = i * record + key.offset;
  const digits = [...bytes.subarray(at, at + length)];
  if ('dtype' in key && key.endian !== 'be') digits.reverse();
  return digits.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
}

/** Negative when record `i` precedes record `j`, positive when it follows. */
export function compareRecords(
  bytes: Uint8Array,
  record: number,
  keys: readonly RecordKey[],
  i: number,
  j: number,
): number {
  for (const key of keys) {
    let [a, b] = [i, j].map((one) => numberAt(bytes, record, one, key)) as [bigint, bigint];
    if ('dtype' in key) {
      const { dtype, descending = false, nan = 'last' } = key;
      const order = { descending, nan };
      [a, b] = [referenceCode(dtype, order, a), referenceCode(dtype, order, b)];
    } else if (key.descending) [a, b] = [b, a];
    if (a !== b) return a < b ? -1 : 1;
  }
  return 0;
}

/** Positions of the records in order. */
export const referencePositions = (bytes: Uint8Array, record: number, keys: readonly RecordKey[]): number[] =>
  Array.from({ length: bytes.length / record }, (_, i) => i).sort((i, j) =>
    compareRecords(bytes, record, keys, i, j),
  );
