/**
 * Merges sorted inputs in rounds. A round takes all records that are certain to come next: those up to the smallest
 * last record of the windows whose inputs continue. A binary search finds them in each window. Whole keys are merged by
 * `mergeMany`; other records are concatenated in input order and sorted stably. A device sorts as many records per second
 * from a thousand inputs as from two. Inputs that do not overlap are not merged.
 */
import type { Sorter } from '../../sort/api/sorter.js';
import type { OrderingSortOptions, RecordOrdering } from '../records/record-ordering.js';
import type { MergeInput } from './merge-input.js';

export interface MergeWork {
  readonly sorter: Sorter;
  readonly order: RecordOrdering;
  /** Buffers for the records of a round; each is as large as all windows together. */
  readonly buffers: readonly [from: Uint8Array, a: Uint8Array, b: Uint8Array];
  readonly options: OrderingSortOptions;
}

/**
 * Yields all records of the inputs in order. The merge is stable: equal records stay in the order of the inputs.
 *
 * A piece is valid until the second next one is requested.
 *
 * @throws InputError when an input is not sorted
 * @throws errors of reading and of the sorter
 */
export async function* mergeSorted(
  inputs: readonly MergeInput[],
  { sorter, order, buffers, options }: MergeWork,
): AsyncGenerator<Uint8Array> {
  const [from, a, b] = buffers;
  let filling = fill(inputs);
  try {
    for (let round = 0; ; round++) {
      await filling;
      const parts = takeMergeable(inputs, order);
      const bytes = parts.reduce((sum, { length }) => sum + length, 0);
      if (bytes === 0) return;
      const into = (round % 2 === 0 ? a : b).subarray(0, bytes);
      const isSorted = areInOrder(parts, order);
      const concatenated = isSorted ? into : from.subarray(0, bytes);
      let at = 0;
      const copies = parts.map((part) => {
        concatenated.set(part, at);
        at += part.length;
        return concatenated.subarray(at - part.length, at);
      });
      filling = fill(inputs); // overlaps with the merge
      filling.catch(() => undefined); // awaited later, possibly after another failure
      if (!isSorted) {
        sorter.trim(); // frees scratch of another size
        if (order.merge) await order.merge(sorter, copies, { ...options, into });
        else await order.sort(sorter, concatenated, { ...options, into });
      }
      yield into;
    }
  } finally {
    await Promise.allSettled([filling]);
  }
}

/**
 * Fills all windows. Waits for each, so that no read is pending when files are closed. Of several failures, the first
 * in input order is thrown, so that the message does not depend on timing.
 */
async function fill(inputs: readonly MergeInput[]): Promise<void> {
  for (const filled of await Promise.allSettled(inputs.map((input) => input.fill()))) {
    if (filled.status === 'rejected') throw filled.reason;
  }
}

/** Takes the records of each window that precede everything that may follow. */
function takeMergeable(inputs: readonly MergeInput[], order: RecordOrdering): Uint8Array[] {
  const smallest = findSmallestLast(inputs, order);
  const cut = smallest && lastRecord(smallest, order);
  let isBehind = false;
  return inputs.map((input) => {
    const { held } = input;
    // Records equal to the cut may follow in its input, and precede those of later inputs.
    const bytes = cut ? order.recordBytes * countBefore(held, cut, order, isBehind ? 0 : 1) : held.length;
    if (input === smallest) isBehind = true;
    input.drop(bytes);
    return held.subarray(0, bytes);
  });
}

/** Returns the first input with the smallest last record among those that continue; undefined when none does. */
function findSmallestLast(inputs: readonly MergeInput[], order: RecordOrdering): MergeInput | undefined {
  let smallest: MergeInput | undefined;
  for (const input of inputs) {
    if (input.isEnded) continue;
    if (!smallest || order.compare(lastRecord(input, order), 0, lastRecord(smallest, order), 0) < 0)
      smallest = input;
  }
  return smallest;
}

const lastRecord = ({ held }: MergeInput, { recordBytes }: RecordOrdering): Uint8Array =>
  held.slice(held.length - recordBytes);

/** Returns the number of sorted records before `other`; with bound 1, including its equals. */
function countBefore(records: Uint8Array, other: Uint8Array, order: RecordOrdering, bound: 0 | 1): number {
  let [low, high] = [0, records.length / order.recordBytes];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (order.compare(records, middle, other, 0) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether the concatenation of sorted parts is sorted. */
function areInOrder(parts: readonly Uint8Array[], order: RecordOrdering): boolean {
  let last: Uint8Array | undefined;
  for (const part of parts) {
    if (part.length === 0) continue;
    if (last && order.compare(last, last.length / order.recordBytes - 1, part, 0) > 0) return false;
    last = part;
  }
  return true;
}
