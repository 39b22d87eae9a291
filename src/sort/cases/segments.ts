import { Random } from '../../util/random.js';
import type { CaseInput } from './input.js';
import type { ReferenceOrder } from './reference.js';

const LARGEST_SEGMENT = 3000;

/** Returns offsets of segments of random lengths, up to `LARGEST_SEGMENT` - 1 keys; some are empty. */
export function segmentsOf({ n, random }: CaseInput): number[] {
  const offsets = [0];
  for (let end = 0; end < n; offsets.push(end)) end = Math.min(n, end + random.below(LARGEST_SEGMENT));
  return offsets.length > 1 ? offsets : [0, 0];
}

/** Returns the expected positions of keys that are sorted segment by segment. */
export function segmentOrder(
  { reference, n }: CaseInput,
  offsets: readonly number[],
  order: ReferenceOrder,
): number[] {
  const segment = new Uint32Array(n);
  offsets.slice(1).forEach((end, s) => {
    segment.fill(s, offsets[s], end);
  });
  const parts: number[][] = offsets.slice(1).map(() => []);
  for (const i of reference.order(order)) parts[segment[i] as number]?.push(i);
  return parts.flat();
}

/** Longest segment of the Zipf distribution, and its seed. */
const MAX_SEGMENT = 65536;
const ZIPF_SEED = 1;

/** Returns the offsets of segments of equal length; the last may be shorter. */
export function equalOffsets(n: number, length: number): Uint32Array {
  const segments = Math.ceil(n / length);
  return Uint32Array.from({ length: segments + 1 }, (_, i) => Math.min(n, i * length));
}

/**
 * Returns equal segments as segmented sorts take them: as their length if it divides n, which matches how peers take
 * rows of a matrix, or as offsets.
 */
export const equalSegments = (n: number, length: number): number | Uint32Array =>
  n % length === 0 ? length : equalOffsets(n, length);

/**
 * Returns the offsets of segments of 1 to `MAX_SEGMENT` keys whose lengths follow Zipf's law: probability proportional
 * to 1 / length.
 */
export function zipfOffsets(n: number): Uint32Array {
  const random = new Random(ZIPF_SEED);
  const offsets = [0];
  for (let end = 0; end < n; ) {
    const length = Math.floor(MAX_SEGMENT ** (random.u32() / 2 ** 32));
    end = Math.min(n, end + length);
    offsets.push(end);
  }
  return Uint32Array.from(offsets);
}
