import { inSlices, type Steps } from '../../sort/host/steps.js';
import type { ByteStrings } from '../../sort/operations/strings/byte-strings.js';
import { powerAtLeast } from '../../util/powers.js';

/** Inverse of the maximum load factor of the hash table. */
const INVERSE_LOAD_FACTOR = 2;
const EMPTY = 0xffffffff;

/** FNV-1a, with its upper bits mixed into the lower ones, which select the slot. */
function hash(bytes: Uint8Array): number {
  let sum = 0x811c9dc5;
  for (let i = 0; i < bytes.length; i++) sum = Math.imul(sum ^ (bytes[i] as number), 0x01000193);
  sum ^= sum >>> 15;
  sum = Math.imul(sum, 0x2c1b3c6d);
  return (sum ^ (sum >>> 13)) >>> 0;
}

/**
 * Selects one of each group of equal strings: the first one, or the preferred one.
 *
 * @param compare  negative if string `i` is preferred to the earlier string `j`; default: never
 * @returns the indices of the selected strings, in ascending order
 */
export function* distinctStrings(
  strings: ByteStrings,
  compare: (i: number, j: number) => number = () => 0,
): Steps<Uint32Array> {
  const { n } = strings;
  const size = powerAtLeast(Math.max(2, n * INVERSE_LOAD_FACTOR));
  const mask = size - 1;
  const places = new Uint32Array(size).fill(EMPTY);
  let count = 0;
  yield* inSlices(
    n,
    (start, end) => {
      for (let i = start; i < end; i++) {
        const bytes = strings.at(i);
        let at = hash(bytes) & mask;
        for (; places[at] !== EMPTY; at = (at + 1) & mask) {
          if (Buffer.compare(strings.at(places[at] as number), bytes) === 0) break;
        }
        const kept = places[at] as number;
        if (kept === EMPTY) count++;
        if (kept === EMPTY || compare(i, kept) < 0) places[at] = i;
      }
    },
    2 ** 12,
  );
  const found = new Uint32Array(count);
  let at = 0;
  for (const place of places) if (place !== EMPTY) found[at++] = place;
  return found.sort();
}
