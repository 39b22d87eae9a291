/** Values that lie otherwise in Parquet than in rows. Runs in the child. */
import { FormatError } from '../../../util/errors.js';
import { WIDE_BYTES } from './parquet-footer.js';

/** Of months and days together, of nanoseconds, and of a time. */
const PAIR_BYTES = 8;
const INTERVAL_BYTES = 16;
const US_PER_MS = 1000n;
const NS_PER_DAY = 86_400_000_000_000n;
/** Number of the day 1970-01-01 in INT96. */
const EPOCH_DAY = 2_440_588n;

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/**
 * Times as INT96 has them, which are nanoseconds of a day and the number of the day, in nanoseconds since 1970.
 *
 * @param isNull of places whose bytes mean nothing
 * @throws FormatError for a time that 64 bits do not hold
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
        'a time of INT96 is before 1677 or after 2262, which nanoseconds of 64 bits do not hold: leave the column out with --columns',
      );
    }
    times[i] = time;
  }
  return new Uint8Array(times.buffer);
}

/** Intervals of Parquet, in milliseconds, as ones in microseconds. */
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

/** Intervals in microseconds as those of Parquet. @throws FormatError for one that Parquet does not hold */
export function parquetIntervals(values: Uint8Array, rows: number): Uint8Array {
  const from = viewOf(values);
  const intervals = new Uint8Array(rows * WIDE_BYTES);
  const to = viewOf(intervals);
  for (let i = 0; i < rows; i++) {
    const at = i * INTERVAL_BYTES;
    const us = from.getBigInt64(at + PAIR_BYTES, true);
    const ms = us / US_PER_MS;
    if (us % US_PER_MS !== 0n || ms < 0n || ms >= 2n ** 32n) {
      throw new FormatError('an interval is negative or no number of milliseconds, as Parquet has them');
    }
    intervals.set(values.subarray(at, at + PAIR_BYTES), i * WIDE_BYTES);
    to.setUint32(i * WIDE_BYTES + PAIR_BYTES, Number(ms), true);
  }
  return intervals;
}

/** Seconds as milliseconds. @throws FormatError for what 64 bits do not hold */
export function secondsAsMs(values: Uint8Array, rows: number): Uint8Array {
  const times = new BigInt64Array(values.slice(0, rows * PAIR_BYTES).buffer);
  for (const [i, time] of times.entries()) {
    const ms = time * 1000n;
    if (BigInt.asIntN(64, ms) !== ms) {
      throw new FormatError('a time in seconds is too far away for milliseconds of 64 bits');
    }
    times[i] = ms;
  }
  return new Uint8Array(times.buffer);
}
