/** Verifies a stream of records: their order, their multiset, and their first and last record. */
import { runYielding } from '../../sort/host/steps.js';
import { Multiset, type Points, type StoredProducts } from '../checks/multiset.js';
import type { RecordOrdering } from './record-ordering.js';
import { RecordOrderChecker } from './scan-record-order.js';

/** The first and last record of a stream, as base64. */
export type RecordEnds = readonly [first: string, last: string];

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

export class RecordVerifier {
  readonly #recordBytes: number;
  readonly #orderCheck: RecordOrderChecker;
  readonly #multiset: Multiset;
  #ends: RecordEnds | undefined;

  constructor(order: RecordOrdering, points: Points) {
    this.#recordBytes = order.recordBytes;
    this.#orderCheck = new RecordOrderChecker(order);
    this.#multiset = new Multiset(order.recordBytes, points);
  }

  /** @param piece whole records; must not change until the promise resolves */
  async add(piece: Uint8Array, signal?: AbortSignal): Promise<void> {
    if (piece.length === 0) return;
    const counted = this.#multiset.add(piece); // runs on other threads
    counted.catch(() => undefined); // awaited below, possibly after another failure
    const first = this.#ends?.[0] ?? base64(piece.subarray(0, this.#recordBytes));
    this.#ends = [first, base64(piece.subarray(-this.#recordBytes))];
    await runYielding(this.#orderCheck.steps(piece), signal);
    await counted;
  }

  /** Number of records so far. */
  get n(): number {
    return this.#orderCheck.n;
  }

  /** Position of the first record that belongs before its predecessor, from 0. */
  get descent(): number | undefined {
    return this.#orderCheck.descent;
  }

  get ends(): RecordEnds | undefined {
    return this.#ends;
  }

  /** Whether the records so far are those of a multiset with the same points. */
  equals(multiset: Multiset): boolean {
    return this.#multiset.equals(multiset);
  }

  get products(): StoredProducts {
    return this.#multiset.stored;
  }
}
