import { inSlices, type Steps } from '../sort/host/steps.js';

/** Units whose first bytes are fetched before they are copied: their cache misses then overlap. */
const PREFETCH_RECORDS = 32;

const LINE_BYTES = 64;

/** Most bytes that are fetched ahead of each unit; the rest of a longer one the processor foresees by itself. */
const MAX_PREFETCH_BYTES = 4 * LINE_BYTES;

/** Bytes that are copied in a step. */
const STEP_BYTES = 2 ** 22;

/** Units below this are copied byte by byte where words do not fit: a call for each costs more. */
const CALL_BYTES = 32;

/**
 * Copies units to where they are wanted: unit i of `to` is unit `positions[i]` of `from`.
 *
 * What it takes is cache misses, one after the other. So the units of a group are touched first, for which the
 * processor does not wait, and then copied: by words where these fit, else by a call for each.
 *
 * @param recordBytes bytes of a unit
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

/** What was read of units ahead, kept so that reading them is not optimised away. */
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

/** Four words a turn, since the checks around each are what a word costs. */
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
