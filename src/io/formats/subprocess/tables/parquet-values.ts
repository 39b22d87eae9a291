/** Converts values whose Parquet representation differs from that in rows. Runs in the subprocess. */
import { FormatError } from '../../../../util/errors.js';
import { WIDE_BYTES } from './parquet-footer.js';

/** Size of months and days together, of nanoseconds, and of a time. */
const PAIR_BYTES = 8;
const INTERVAL_BYTES = 16;
const US_PER_MS = 1000n;
const NS_PER_DAY = 86_400_000_000_000n;
/** Julian day number of 1970-01-01, as INT96 counts days. */
const EPOCH_DAY = 2_440_588n;

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/**
 * Converts INT96 times (nanoseconds of the day, and the day number) to nanoseconds since 1970-01-01.
 *
 * @param isNull  returns whether a row is null and its bytes are undefined
 * @throws FormatError when a time does not fit into 64 bits
 */
export function timesOfInt96(values: Uint8Array, isNull: (i: number) => boolean): Uint8Array {
  const from = viewOf(values);
  const rows = values.length / WIDE_BYTES;
  const times = new BigInt64Array(rows);
  for (let i = 0; i < rows; i++) {
    if (isNull(i)) continue;
    const at = i * WIDE_BYTES;
    const day = BigInt(from.getInt32(at + PAIR_BYTES, true)) - EPOCH_DAY;
    const time = day * NS_PER_DAY + from.getBigInt64(at, true);
    if (BigInt.asIntN(64, time) !== time) {
      throw new FormatError(
        'a time of INT96 is before 1677 or after 2262, outside the range of nanoseconds of 64 bits. Omit the column with --columns',
      );
    }
    times[i] = time;
  }
  return new Uint8Array(times.buffer);
}

/** Converts Parquet intervals, in milliseconds, to intervals in microseconds. */
export function intervalsOf(values: Uint8Array): Uint8Array {
  const from = viewOf(values);
  const rows = values.length / WIDE_BYTES;
  const intervals = new Uint8Array(rows * INTERVAL_BYTES);
  const to = viewOf(intervals);
  for (let i = 0; i < rows; i++) {
    const at = i * WIDE_BYTES;
    intervals.set(values.subarray(at, at + PAIR_BYTES), i * INTERVAL_BYTES);
    const ms = BigInt(from.getUint32(at + PAIR_BYTES, true));
    to.setBigInt64(i * INTERVAL_BYTES + PAIR_BYTES, ms * US_PER_MS, true);
  }
  return intervals;
}

/**
 * Converts intervals in microseconds to Parquet intervals.
 *
 * @throws FormatError when an interval is negative or not a whole number of milliseconds
 */
export function parquetIntervals(values: Uint8Array, rows: number): Uint8Array {
  const from = viewOf(values);
  const intervals = new Uint8Array(rows * WIDE_BYTES);
  const to = viewOf(intervals);
  for (let i = 0; i < rows; i++) {
    const at = i * INTERVAL_BYTES;
    const us = from.getBigInt64(at + PAIR_BYTES, true);
    const ms = us / US_PER_MS;
    if (us % US_PER_MS !== 0n || ms < 0n || ms >= 2n ** 32n) {
      throw new FormatError('an interval is negative or not a whole number of milliseconds');
    }
    intervals.set(values.subarray(at, at + PAIR_BYTES), i * WIDE_BYTES);
    to.setUint32(i * WIDE_BYTES + PAIR_BYTES, Number(ms), true);
  }
  return intervals;
}

/**
 * Converts seconds to milliseconds.
 *
 * @throws FormatError when a time does not fit into 64 bits
 */
export function secondsAsMs(values: Uint8Array, rows: number): Uint8Array {
  const times = new BigInt64Array(values.slice(0, rows * PAIR_BYTES).buffer);
  for (const [i, time] of times.entries()) {
    const ms = time * 1000n;
    if (BigInt.asIntN(64, ms) !== ms) {
      throw new FormatError('a time in seconds is outside the range of milliseconds of 64 bits');
    }
    times[i] = ms;
  }
  return new Uint8Array(times.buffer);
}
