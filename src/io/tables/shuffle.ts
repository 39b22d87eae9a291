import type { Sorter } from '../../sort/api/sorter.js';
import { Random } from '../../util/random.js';
import type { FileContext } from '../file-sort/file-job.js';
import type { Batch } from '../formats/subprocess/protocol.js';
import { CODE_BYTES, randomCodes } from './random-codes.js';
import { equalLengths } from './row-lengths.js';
import { type RowJob, type RowSource, withRows } from './row-source.js';
import { TableRows } from './table-rows.js';

/** Inputs, output, and the memory for the rows. */
export interface ShuffleJob extends RowJob {
  /** Seed of 64 bits. */
  readonly seed: bigint;
  /** Memory limit in bytes for rows and their order. Larger inputs are shuffled with temporary files. Default: no limit. */
  readonly memory?: number | undefined;
  /** Folder for temporary files; default: the folder of the output. */
  readonly tmp?: string | undefined;
}

export interface ShuffleReport extends Pick<RowSource, 'formats' | 'noun'> {
  /** Number of rows. */
  readonly n: number;
  /** Number of sorted runs in temporary files, and their bytes; absent when all rows fitted into memory. */
  readonly runs?: number;
  readonly spilledBytes?: number;
}

/**
 * Writes the rows of files in random order.
 *
 * Each row gets the next 64-bit number of the generator {@link Random} (sfc32), and the rows are sorted by them, stably.
 * The order depends on the seed and the number of rows only, not on format, memory or device. Every permutation is
 * equally likely as far as the numbers are random and distinct; two of n are equal with a probability below n² / 2^65.
 * Source of the algorithm: D. E. Knuth, "The Art of Computer Programming" 2, 3.4.2. Complexity: that of a sort.
 *
 * @param sorter sorts the numbers
 * @param job inputs, output, seed and memory
 * @param context streams, signal and callbacks
 * @throws the errors of `withRows` and of the sorter
 * @throws UsageError when the memory limit is too low for temporary files
 */
export const shuffleFile = (sorter: Sorter, job: ShuffleJob, context: FileContext): Promise<ShuffleReport> =>
  withRows(job, context, async (source, output) => {
    const rows = new TableRows(sorter, { job, context });
    try {
      await rows.read(withRandomCodes(source, job.seed), source.total);
      const { n } = await rows.sorted((count) => source.create(output, count), 1);
      return { n, formats: source.formats, noun: source.noun, ...rows.facts };
    } finally {
      await rows.close();
    }
  });

async function* withRandomCodes(source: RowSource, seed: bigint): AsyncGenerator<Batch> {
  const random = new Random(seed);
  for await (const batch of source.batches()) {
    const { rows, lengths, bytes } = batch;
    yield { rows, buffers: [equalLengths(rows, CODE_BYTES), randomCodes(random, batch), lengths, bytes] };
  }
}
