/** Orders records by their codes (record-codes.ts, code-order.ts). */
import { assertDisjoint } from '../../keys/array.js';
import type { Sorter } from '../../sort/api/sorter.js';
import { runSync, runYielding } from '../../sort/host/steps.js';
import { argsortCodes, type Span, WORD_BYTES, wordSpan } from '../../sort/operations/strings/code-order.js';
import { InputError, UnsupportedError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { gatherRecords } from './gather-records.js';
import { RecordCodes } from './record-codes.js';
import { type RecordLayout, recordKeys } from './record-keys.js';
import type { OrderingSortOptions, RecordOrdering } from './record-ordering.js';

/** Maximum number of records, a limit of 32-bit positions. */
export const MAX_RECORDS = 2 ** 32 - 1;

/** Bytes per record when one sort is enough: a word and a position. */
const EXACT_BYTES = WORD_BYTES + 4;
/** Bytes per record in the worst case, all tied: the order, places and groups twice, words and positions twice. */
const MAX_TIE_BYTES = 4 + 2 * 8 + 2 * EXACT_BYTES;

/** A record ordering that also returns positions. */
export interface LayoutOrdering extends RecordOrdering {
  /** Returns the positions of the records in sorted order, as `Sorter.argsort` does for keys. */
  positions(
    sorter: Sorter,
    bytes: Uint8Array,
    options?: Omit<OrderingSortOptions, 'into'>,
  ): Promise<Uint32Array>;
}

/**
 * Returns the ordering of a record layout.
 *
 * @throws UsageError when the layout is invalid
 * @throws DtypeError when a key has an unknown dtype
 */
export function layoutOrdering(layout: RecordLayout): LayoutOrdering {
  const { record } = layout;
  const codes = new RecordCodes(record, recordKeys(layout));
  const order: LayoutOrdering = {
    recordBytes: record,
    description: `records of ${record} bytes`,
    exact: codes.bytes <= WORD_BYTES,
    sortBytes: record + (codes.bytes <= WORD_BYTES ? EXACT_BYTES : MAX_TIE_BYTES),
    prefix(piece) {
      const words = new BigUint64Array(piece.length / record);
      runSync(codes.fill({ bytes: piece }, wordSpan(0, codes.bytes), words));
      return words;
    },
    compare: (a, i, b, j) => codes.compare(a, i * record, b, j * record),
    async positions(sorter, bytes, options = {}) {
      assertRecords(bytes.length, record);
      const n = bytes.length / record;
      const fill = (span: Span, words: BigUint64Array, at?: Uint32Array) =>
        codes.fill({ bytes, at }, span, words);
      return argsortCodes(sorter, { n, bytes: codes.bytes, fill }, options);
    },
    async sort(sorter, bytes, { into, ...options } = {}) {
      if (into && into.length !== bytes.length) {
        throw invalidArgument('into', `${bytes.length} bytes`, into.length, { type: InputError });
      }
      if (into) assertDisjoint(bytes, into, 'into and the records');
      const positions = await order.positions(sorter, bytes, options);
      const sorted = into ?? new Uint8Array(bytes.length);
      await runYielding(gatherRecords(bytes, record, positions, sorted), options.signal);
      return sorted;
    },
  };
  return order;
}

/**
 * @throws InputError when the bytes are not a whole number of records
 * @throws UnsupportedError when there are more than 2^32 − 1 records
 */
export function assertRecords(bytes: number, record: number): void {
  if (bytes % record !== 0) {
    throw new InputError(
      `cannot divide ${bytes} bytes into records of ${record} bytes: ${bytes % record} bytes are left over`,
      { details: { bytes, record } },
    );
  }
  const n = bytes / record;
  if (n <= MAX_RECORDS) return;
  throw new UnsupportedError(
    `cannot sort ${n} records in memory: positions have 32 bits, so at most ${MAX_RECORDS} records fit`,
    { details: { records: n, most: MAX_RECORDS } },
  );
}
