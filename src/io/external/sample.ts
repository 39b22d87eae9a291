/** Samples of an input, from which splitters are chosen. */
import { Random } from '../../util/random.js';
import type { ReadAt } from '../records/record-input.js';

import { MAX_READS_IN_FLIGHT } from './policy.js';

/**
 * Draws a stratified sample of `n` records: one random record from each of `count` equal ranges, or all records if
 * there are fewer.
 *
 * @returns the records, contiguously
 */
export async function takeSample(
  readAt: ReadAt,
  { n, recordBytes, count, seed }: { n: number; recordBytes: number; count: number; seed: bigint | number },
): Promise<Uint8Array> {
  const random = new Random(seed);
  const places = Math.min(n, count);
  const sample = new Uint8Array(places * recordBytes);
  const part = (i: number): number => Math.floor((i * n) / places);
  for (let first = 0; first < places; first += MAX_READS_IN_FLIGHT) {
    const reads = Array.from({ length: Math.min(MAX_READS_IN_FLIGHT, places - first) }, (_, j) => {
      const i = first + j;
      const position = part(i) + random.below(part(i + 1) - part(i));
      return readAt(sample.subarray(i * recordBytes, (i + 1) * recordBytes), position * recordBytes);
    });
    await Promise.all(reads);
  }
  return sample;
}
