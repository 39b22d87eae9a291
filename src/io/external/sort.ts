/** The stage that sorts partitions in turn. Reading the next and writing the previous one overlap with each sort. */
import type { Sorter } from '../../sort/api/sorter.js';
import { MismatchError } from '../../util/errors.js';
import type { Multiset, Points } from '../checks/multiset.js';
import type { OrderingSortOptions, RecordOrdering } from '../records/record-ordering.js';
import { RecordVerifier } from '../records/record-verifier.js';
import { assertNotAborted } from '../streams/raw.js';
import { piecesOf } from './input.js';
import { MAX_UNSETTLED } from './policy.js';
import type { Spill } from './spill.js';
import type { SortedRecord } from './state.js';

/** A partition to sort: one that fits in memory, or one of equal records, which needs no sort. */
export interface Leaf {
  readonly name: string;
  readonly bytes: number;
  readonly single: boolean;
  /** Number of low bits in which the prefixes of its records may differ; undefined when unknown. */
  readonly differing?: number | undefined;
}

/** Destination of sorted partitions. */
export interface SortedOutput {
  /** Writes bytes at a position; sequential unless the output is resumable. */
  write(position: number, bytes: Uint8Array): Promise<void>;
  /** Makes a written partition durable and stores its task record. */
  done(name: string, record: SortedRecord): Promise<void>;
  /** Returns the task record of a partition that is already in the output. */
  recordOf(name: string): Promise<SortedRecord | undefined>;
}

export interface SortWork {
  readonly sorter: Sorter;
  readonly order: RecordOrdering;
  readonly spill: Spill;
  readonly output: SortedOutput;
  /** Four buffers, each of the maximum partition size. */
  readonly buffers: readonly [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  readonly options: OrderingSortOptions;
  readonly signal: AbortSignal;
  /** Receives everything that is written, and enables the order check; undefined disables both. */
  readonly checksum: Multiset | undefined;
  /** Points of the checksum. */
  readonly points: Points | undefined;
  /** @param isOld whether an earlier run sorted it */
  onDone(bytes: number, isOld: boolean): void;
}

/**
 * Sorts partitions into an output, in order.
 *
 * @throws the errors of the sorter
 * @throws IoError when reading or writing fails
 * @throws AbortedError when the signal aborts
 * @throws MismatchError when the order check fails
 */
export async function sortPartitions(leaves: readonly Leaf[], work: SortWork): Promise<void> {
  const { spill, output, order, signal, checksum } = work;
  const [inA, inB, outA, outB] = work.buffers;
  const records = await Promise.all(leaves.map(({ name }) => output.recordOf(name)));
  const todo = leaves.filter(({ bytes, single }, i) => !records[i] && !single && bytes > 0);
  const ends = new BoundaryCheck(order);
  let turn = 0;
  let sorts = 0;
  let scratchFor = 0;
  const load = (leaf: Leaf | undefined): Promise<Uint8Array> | undefined => {
    if (!leaf) return undefined;
    const into = (turn++ % 2 === 0 ? inA : inB).subarray(0, leaf.bytes);
    const loading = spill.read(leaf.name, 0, into).then(() => into);
    loading.catch(() => undefined); // awaited later, possibly after another failure
    return loading;
  };
  let loading = load(todo.shift());
  let writing: Promise<void> = Promise.resolve();
  const settling: Promise<void>[] = [];
  /** Finishes a partition once its bytes are written. */
  const settle = async (written: Promise<void>, name: string, own: SortedRecord): Promise<void> => {
    const settled = written.then(() => output.done(name, own)).then(() => work.onDone(own.bytes, false));
    settled.catch(() => undefined); // awaited later, possibly after another failure
    settling.push(settled);
    if (settling.length > MAX_UNSETTLED) await settling.shift();
  };
  let position = 0;
  try {
    for (const [i, leaf] of leaves.entries()) {
      const { name, bytes, single } = leaf;
      const start = position;
      position += bytes;
      if (bytes === 0) continue;
      assertNotAborted(signal);
      const record = records[i];
      if (record) {
        ends.add(record.ends);
        if (record.products) checksum?.include(record.products);
        await spill.drop(name); // its file may remain from an interrupted run
        work.onDone(bytes, true);
        continue;
      }
      if (single) {
        await writing;
        const own = await copyPartition(leaf, start, outA, work);
        ends.add(own.ends);
        await settle(writing, name, own);
        continue;
      }
      const piece = (await loading) as Uint8Array;
      loading = load(todo.shift());
      // Scratch is reused for partitions between half its size and its size, since mapping new pages takes time.
      if (bytes > scratchFor || bytes < scratchFor / 2) {
        work.sorter.trim();
        scratchFor = bytes;
      }
      const into = (sorts++ % 2 === 0 ? outA : outB).subarray(0, bytes);
      const sorted = await order.sort(work.sorter, piece, { ...work.options, into }, leaf.differing);
      const own = await verifyPartition(sorted, work);
      ends.add(own.ends);
      await writing;
      writing = output.write(start, sorted);
      await settle(writing, name, own);
    }
    await Promise.all(settling);
  } finally {
    await Promise.allSettled([...settling, loading]);
  }
}

/**
 * Returns the task record of a sorted partition.
 *
 * @throws MismatchError when it is not sorted
 */
async function verifyPartition(sorted: Uint8Array, work: SortWork): Promise<SortedRecord> {
  const verifier = work.points && new RecordVerifier(work.order, work.points);
  await verifier?.add(sorted, work.signal);
  return recordOf(sorted.length, verifier, work, ({ descent }) => {
    throw new MismatchError(
      `cannot use a sorted partition: its record ${descent} belongs before its predecessor`,
    );
  });
}

/** Returns a task record, and adds the checksum of the partition to the total. */
function recordOf(
  bytes: number,
  verifier: RecordVerifier | undefined,
  { checksum }: SortWork,
  onDescent: (verifier: RecordVerifier) => never,
): SortedRecord {
  if (!verifier) return { bytes };
  if (verifier.descent !== undefined) onDescent(verifier);
  const { ends, products } = verifier;
  checksum?.include(products);
  return { bytes, ends, products };
}

/** Copies a partition of equal records to the output. */
async function copyPartition(
  { name, bytes }: Leaf,
  start: number,
  buffer: Uint8Array,
  work: SortWork,
): Promise<SortedRecord> {
  const { spill, output, order, points, signal } = work;
  const { recordBytes } = order;
  const readAt = (into: Uint8Array, position: number) => spill.read(name, position, into);
  const verifier = points && new RecordVerifier(order, points);
  let at = start;
  for await (const piece of piecesOf(readAt, { begin: 0, end: bytes, recordBytes, buffer })) {
    assertNotAborted(signal);
    await verifier?.add(piece, signal);
    await output.write(at, piece);
    at += piece.length;
  }
  return recordOf(bytes, verifier, work, () => {
    throw new MismatchError('cannot use a partition of equal records: they differ');
  });
}

/** Compares the first and last records of adjacent partitions. */
class BoundaryCheck {
  readonly #order: RecordOrdering;
  #last: Uint8Array | undefined;

  constructor(order: RecordOrdering) {
    this.#order = order;
  }

  /** @throws MismatchError when a partition begins before the previous one ends */
  add(ends: SortedRecord['ends']): void {
    if (!ends) return;
    const [first, last] = ends.map((end) => new Uint8Array(Buffer.from(end, 'base64'))) as [
      Uint8Array,
      Uint8Array,
    ];
    if (this.#last && this.#order.compare(first, 0, this.#last, 0) < 0) {
      throw new MismatchError('cannot use a sorted partition: it begins before the end of its predecessor');
    }
    this.#last = last;
  }
}
