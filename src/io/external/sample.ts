/** Samples: units from all over an input, which splitters are chosen from. */
import { Random } from '../../util/random.js';

/** Units of a sample for each partition that is to be made: most come out within a fifth of their size. */
export const SAMPLES_EACH = 256;

/** Reads in flight. */
const AT_ONCE = 16;

/** Reads bytes of an input at any position. */
export type ReadAt = (into: Uint8Array, position: number) => Promise<void>;

/**
 * A sample of an input of `n` units: by a seed, one unit of each of `count` even parts of it, or all if there are
 * fewer.
 *
 * @returns the units, one behind the other
 */
export async function sampleOf(
  readAt: ReadAt,
  { n, unit, count, seed }: { n: number; unit: number; count: number; seed: bigint | number },
): Promise<Uint8Array> {
  const random = new Random(seed);
  const places = Math.min(n, count);
  const sample = new Uint8Array(places * unit);
  const part = (i: number): number => Math.floor((i * n) / places);
  for (let first = 0; first < places; first += AT_ONCE) {
    const reads = Array.from({ length: Math.min(AT_ONCE, places - first) }, (_, j) => {
      const i = first + j;
      const position = part(i) + random.below(part(i + 1) - part(i));
      return readAt(sample.subarray(i * unit, (i + 1) * unit), position * unit);
    });
    await Promise.all(reads);
  }
  return sample;
}
