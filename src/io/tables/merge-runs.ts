/** K-way merge of runs with a binary heap. */
import { ElementSum, type SumSeeds } from '../../sort/host/element-sum.js';
import { MismatchError } from '../../util/errors.js';
import { assertNotAborted } from '../streams/raw.js';
import type { EntrySink } from './entry.js';
import { HEAD_BYTES, type Run, RunReader } from './run-file.js';

export interface MergeOptions {
  /** Bytes that are read from a run at a time. */
  readonly window: number;
  readonly signal: AbortSignal;
  /**
   * Seeds of the checksum, which verifies that entries are in order, complete and unchanged; undefined to skip this.
   */
  readonly seeds: SumSeeds | undefined;
}

/**
 * Merges runs into a sink in key order, and deletes the runs.
 *
 * @throws IoError when a run cannot be read
 * @throws AbortedError when the signal is aborted
 * @throws MismatchError when verification fails
 */
export async function mergeRuns(
  runs: readonly Run[],
  sink: EntrySink,
  { window, signal, seeds }: MergeOptions,
): Promise<void> {
  const readers: RunReader[] = [];
  try {
    for (const run of runs) readers.push(await RunReader.open(run, window));
    const heap: RunReader[] = [];
    for (const reader of readers) if (await reader.fill()) heap.push(reader);
    for (let i = heap.length >> 1; i >= 0; i--) siftDown(heap, i);
    const verifier = seeds && new MergeVerifier(seeds);
    for (let top = heap[0]; top && !sink.isDone; top = heap[0]) {
      verifier?.take(top);
      if (sink.put(top)) {
        await sink.flush();
        assertNotAborted(signal);
      }
      if (!top.advance() && !(await top.fill())) {
        const last = heap.pop() as RunReader;
        if (last !== top) heap[0] = last;
      }
      siftDown(heap, 0);
    }
    if (!sink.isDone) verifier?.end(runs);
  } finally {
    for (const reader of readers) await reader.close();
  }
}

/** Restores the heap order below index `i`. */
function siftDown(heap: RunReader[], i: number): void {
  const reader = heap[i];
  if (!reader) return;
  for (;;) {
    let child = 2 * i + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && (heap[child + 1] as RunReader).isBefore(heap[child] as RunReader)) child++;
    if (!(heap[child] as RunReader).isBefore(reader)) break;
    heap[i] = heap[child] as RunReader;
    i = child;
  }
  heap[i] = reader;
}

/** Verifies the order and the checksum of the merged entries. */
class MergeVerifier {
  readonly #sum: ElementSum;
  readonly #seeds: SumSeeds;
  #last = Buffer.alloc(0);

  constructor(seeds: SumSeeds) {
    this.#sum = new ElementSum(seeds);
    this.#seeds = seeds;
  }

  take(entry: RunReader): void {
    const { memory, keyAt, valueAt, end } = entry;
    if (this.#last.compare(memory, keyAt, valueAt) >= 0) {
      throw new MismatchError('cannot write the merged rows: they are not in order. The output is unchanged');
    }
    this.#last = Buffer.from(memory.subarray(keyAt, valueAt));
    this.#sum.addBytes(memory, keyAt - HEAD_BYTES, end);
  }

  end(runs: readonly Run[]): void {
    const wanted = new ElementSum(this.#seeds);
    for (const { sum } of runs) if (sum) wanted.include(sum);
    if (wanted.equals(this.#sum)) return;
    throw new MismatchError(
      'cannot write the merged rows: they are not those of the runs. The output is unchanged',
    );
  }
}
