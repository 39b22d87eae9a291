import { inSlices, type Steps } from '../../sort/host/steps.js';
import { CALL_BYTES, STEP_BYTES } from './policy.js';

/** Records that are prefetched before they are copied, so that their cache misses overlap. */
const PREFETCH_RECORDS = 32;

/** Bytes of a cache line. */
const LINE_BYTES = 64;

/** Maximum bytes to prefetch per record; the hardware prefetcher handles the rest of a longer one. */
const MAX_PREFETCH_BYTES = 4 * LINE_BYTES;

/**
 * Gathers records: record `i` of `to` becomes record `positions[i]` of `from`.
 *
 * The cost is dominated by cache misses. Each group of records is therefore touched first, which does not stall the
 * processor, and then copied: by words when aligned, otherwise by one call per record, or by bytes when small.
 *
 * @param from source records
 * @param recordBytes record size in bytes
 * @param positions index of the source record for each output record
 * @param to output, `positions.length` records
 */
export function* gatherRecords(
  from: Uint8Array,
  recordBytes: number,
  positions: Uint32Array,
  to: Uint8Array,
): Steps {
  const isAligned = (recordBytes | from.byteOffset | to.byteOffset) % 4 === 0;
  const width = isAligned ? 4 : 1;
  const words = recordBytes / width;
  const [source, target] = isAligned ? [from, to].map(words32) : [from, to];
  const bytes = Buffer.from(from.buffer, from.byteOffset, from.byteLength);
  const copy = (start: number, end: number): void => {
    for (let first = start; first < end; first += PREFETCH_RECORDS) {
      const last = Math.min(first + PREFETCH_RECORDS, end);
      prefetch(from, recordBytes, positions, first, last);
      if (isAligned || recordBytes < CALL_BYTES) {
        copyWords(source as Uint32Array, words, positions, first, last, target as Uint32Array);
      } else {
        for (let i = first; i < last; i++) {
          const at = (positions[i] as number) * recordBytes;
          bytes.copy(to, i * recordBytes, at, at + recordBytes);
        }
      }
    }
  };
  yield* inSlices(positions.length, copy, Math.max(PREFETCH_RECORDS, Math.floor(STEP_BYTES / recordBytes)));
}

const words32 = (bytes: Uint8Array): Uint32Array =>
  new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);

/** Receives a sum of prefetched bytes, so that the compiler cannot remove the reads. */
const prefetchSink = new Uint32Array(1);

function prefetch(
  from: Uint8Array,
  recordBytes: number,
  positions: Uint32Array,
  first: number,
  last: number,
): void {
  const length = Math.min(recordBytes, MAX_PREFETCH_BYTES);
  let sum = 0;
  for (let i = first; i < last; i++) {
    const at = (positions[i] as number) * recordBytes;
    for (let byte = 0; byte < length; byte += LINE_BYTES) sum += from[at + byte] as number;
  }
  prefetchSink[0] = sum;
}

/** Copies four words per iteration, since bounds checks dominate the cost of a word. */
function copyWords(
  from: Uint32Array,
  words: number,
  positions: Uint32Array,
  first: number,
  last: number,
  to: Uint32Array,
): void {
  for (let i = first; i < last; i++) {
    let source = (positions[i] as number) * words;
    let target = i * words;
    const end = source + words;
    for (; source + 4 <= end; source += 4, target += 4) {
      to[target] = from[source] as number;
      to[target + 1] = from[source + 1] as number;
      to[target + 2] = from[source + 2] as number;
      to[target + 3] = from[source + 3] as number;
    }
    for (; source < end; source++, target++) to[target] = from[source] as number;
  }
}
