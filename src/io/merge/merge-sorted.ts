/**
 * The merge of sorted inputs, block by block. In each round all that is certain to come next is taken at once: of each
 * window the units up to the smallest of the last units that windows end with, behind which more may come. Those are found
 * by binary search, put one behind the other in the order of the inputs, and sorted, stably, by whoever sorts: a device
 * brings as many units in order a second whether they come from two inputs or from a thousand, and no unit is compared with
 * another one by itself. Where the inputs do not overlap nothing is sorted.
 */
import type { Sorter } from '../../sort/api/sorter.js';
import type { OrderingSortOptions, RecordOrdering } from '../record-ordering.js';
import type { MergeInput } from './merge-input.js';

export interface MergeWork {
  readonly sorter: Sorter;
  readonly order: RecordOrdering;
  /** For what is merged in a round, three times; each as large as all windows together. */
  readonly buffers: readonly [from: Uint8Array, a: Uint8Array, b: Uint8Array];
  readonly options: OrderingSortOptions;
}

/**
 * All units of the inputs in order, equal ones in the order of the inputs.
 *
 * A piece is good until the next but one is asked for.
 *
 * @throws InputError where an input is not in order; what reading and the Sorter throw
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
      for (const part of parts) {
        concatenated.set(part, at);
        at += part.length;
      }
      filling = fill(inputs); // while these are sorted
      filling.catch(() => undefined); // it is awaited, perhaps after another failure
      if (!isSorted) {
        sorter.trim(); // scratch of another size than this one's
        await order.sort(sorter, concatenated, { ...options, into });
      }
      yield into;
    }
  } finally {
    await Promise.allSettled([filling]);
  }
}

/**
 * Fills all windows. Each is waited for, so that none is being read when the files are closed, and where several fail it is
 * the first of the inputs that is told, not the fastest: the same files give the same message.
 */
async function fill(inputs: readonly MergeInput[]): Promise<void> {
  for (const filled of await Promise.allSettled(inputs.map((input) => input.fill()))) {
    if (filled.status === 'rejected') throw filled.reason;
  }
}

/** Takes from each window what comes before all that may follow. */
function takeMergeable(inputs: readonly MergeInput[], order: RecordOrdering): Uint8Array[] {
  const smallest = findSmallestLast(inputs, order);
  const cut = smallest && lastRecord(smallest, order);
  let isBehind = false;
  return inputs.map((input) => {
    const { held } = input;
    // More of what equals the cut may follow in its own input, and has to come before that of the inputs behind it.
    const bytes = cut ? order.recordBytes * countBefore(held, cut, order, isBehind ? 0 : 1) : held.length;
    if (input === smallest) isBehind = true;
    input.drop(bytes);
    return held.subarray(0, bytes);
  });
}

/** The first of the inputs that end with the smallest unit, of those that go on; undefined when none does. */
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

/** How many sorted units compare with another one to less than `bound`: 0 for those before it, 1 with its equals. */
function countBefore(records: Uint8Array, other: Uint8Array, order: RecordOrdering, bound: 0 | 1): number {
  let [low, high] = [0, records.length / order.recordBytes];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (order.compare(records, middle, other, 0) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether parts that are sorted by themselves are so one behind the other. */
function areInOrder(parts: readonly Uint8Array[], order: RecordOrdering): boolean {
  let last: Uint8Array | undefined;
  for (const part of parts) {
    if (part.length === 0) continue;
    if (last && order.compare(last, last.length / order.recordBytes - 1, part, 0) > 0) return false;
    last = part;
  }
  return true;
}
