/** Verifies a stream of records: their order, their multiset, and their first and last record. */

import { Multiset } from '../io/checks/multiset.js';
import type { RecordOrdering } from '../io/records/record-ordering.js';
import { RecordOrderChecker } from '../io/records/scan-record-order.js';
import { MismatchError } from '../util/errors.js';
import type { SortedPartRecord } from './layout.js';

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

export class PartVerifier {
  readonly #order: RecordOrdering;
  readonly #orderCheck: RecordOrderChecker;
  readonly #multiset: Multiset;
  #first: string | undefined;
  #last = '';

  constructor(order: RecordOrdering, points: BigUint64Array) {
    this.#order = order;
    this.#orderCheck = new RecordOrderChecker(order);
    this.#multiset = new Multiset(order.recordBytes, points);
  }

  /** @param piece whole records; must not change until the promise resolves */
  async add(piece: Uint8Array): Promise<void> {
    if (piece.length === 0) return;
    const counted = this.#multiset.add(piece);
    counted.catch(() => undefined); // awaited below, possibly after another failure
    this.#orderCheck.add(piece);
    const { recordBytes } = this.#order;
    this.#first ??= base64(piece.subarray(0, recordBytes));
    this.#last = base64(piece.subarray(-recordBytes));
    await counted;
  }

  /** @throws MismatchError when the records are not in order */
  get result(): Omit<SortedPartRecord, 'bytes'> {
    const { descent, n } = this.#orderCheck;
    if (descent !== undefined) {
      throw new MismatchError(`cannot verify the part: record ${descent} belongs before the previous one`);
    }
    const ends = this.#first === undefined ? null : ([this.#first, this.#last] as const);
    return { n, ends, products: this.#multiset.stored };
  }
}
